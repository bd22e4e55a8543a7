#!/usr/bin/env python3
"""What recording costs the program, beside other profilers, in one run on one machine.

usage: tracer_cost.py BUILD_FOLDER --chains CHAINS.py --output RECORD.json [--work FOLDER] [--sets N] [--only STEP ...]

BUILD_FOLDER holds deepjit built, and tests/libdo_nothing_client.so: a CUPTI client that takes kernel records and
throws them away, the floor under any tracer. Two programs are measured, each in a stream and as a CUDA Graph:

  head    the PyTorch detection head of chains.py (41 kernels a frame), in processes that live for a whole set of
          turns: every kind is measured once a turn, so that a pair lies within seconds
  native  short_kernels (30 kernels of about 2 us a frame), one process a kind and turn

The ratio of two kinds is that of their medians, with a 95 % interval from a bootstrap over the turns. "truth" is
the frame time that `deepjit advise` estimates for the untraced program over what untraced processes of the same
turn measured.
"""
import argparse
import glob
import json
import os
import pathlib
import random
import shlex
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time
import traceback

from machine import environment

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKER = ROOT / "tests/gpu/head_worker.py"
HEAD_FRAMES = 300
TURNS_IN_SET = 4
NATIVE_TURNS = 15
NATIVE_KERNELS, NATIVE_FRAMES, NATIVE_WARM_UP_FRAMES = 30, 2000, 3
HEAD_KERNELS = 41
BOOTSTRAP_SAMPLES = 4000

STEPS = {}


def step(function):
    STEPS[function.__name__] = function
    return function


class Machine:
    """Where things are, and how a program is started under each profiler."""

    def __init__(self, options):
        self.build = options.build.resolve()
        self.work = options.work.resolve()
        self.chains = options.chains.resolve() if options.chains else None
        self.sets = options.sets
        self.deepjit = str(self.build / "bin/deepjit")
        self.client = str(self.build / "tests/libdo_nothing_client.so")
        found = glob.glob("/opt/nvidia/nsight-*/**/nsys", recursive=True)
        self.nsys = shutil.which("nsys") or (found[0] if found else None)
        self.work.mkdir(parents=True, exist_ok=True)

    def start(self, kind, name, command):
        """The command line and variables that run `command` under the profiler `kind`; its recording is `name`."""
        command = [str(word) for word in command]
        if kind in ("deepjit", "deepjit_graph_level"):
            level = ["--graph-level"] if kind == "deepjit_graph_level" else []
            trace = self.work / f"{name}.db"
            return [self.deepjit, "profile", *level, "-o", str(trace), "--force", "--", *command], {}
        if kind == "client":
            return command, {"CUDA_INJECTION64_PATH": self.client}
        if kind == "nsys":
            return [self.nsys, "profile", "--trace=cuda", "--sample=none", "--cpuctxsw=none", "--cuda-graph-trace=node",
                    "--force-overwrite=true", "-o", str(self.work / name), *command], {}
        return command, {}

    def kinds(self, *names):
        return [name for name in names if name != "nsys" or self.nsys is not None]


def json_lines(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


class Worker:
    """A live head_worker.py under one profiler."""

    IN_PROCESS = ("torch_cuda", "torch_cpu_cuda", "proton")

    def __init__(self, machine, kind, mode, name):
        self.kind, self.mode, self.name = kind, mode, name
        inside = kind if kind in self.IN_PROCESS else "none"
        command, variables = machine.start(kind, name, [sys.executable, WORKER, machine.chains, "--mode", mode,
                                                        "--profiler", inside])
        self.log = open(machine.work / f"{name}.log", "w+")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True,
                                        env={**os.environ, **variables}, cwd=machine.work)

    def answer(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        self.log.seek(0)
        raise RuntimeError(f"{self.kind} ({self.mode}) ended: {self.log.read()[-800:]}")

    def measure(self, frames):
        self.process.stdin.write(f"measure {frames}\n")
        self.process.stdin.flush()
        return self.answer()["median_us"]

    def end(self):
        with self.process.stdin:
            pass
        self.process.stdout.read()
        return self.process.wait(timeout=120)


def interval(pairs, statistic):
    """95 % of `statistic` over resampled turns."""
    chooser = random.Random(1)
    values = sorted(statistic([chooser.choice(pairs) for _ in pairs]) for _ in range(BOOTSTRAP_SAMPLES))
    return [round(values[int(share * (len(values) - 1))], 4) for share in (0.025, 0.975)]


def ratio_of_medians(pairs):
    return statistics.median(a for a, _ in pairs) / statistics.median(b for _, b in pairs)


def difference_of_medians(pairs):
    return statistics.median(a for a, _ in pairs) - statistics.median(b for _, b in pairs)


def compare(turns, kernels, base="untraced"):
    """`turns`: one {kind: frame_us} a turn."""
    result = {"turns": turns, "kinds": {}}
    kinds = sorted({kind for turn in turns for kind in turn})
    for kind in kinds:
        pairs = [(turn[kind], turn[base]) for turn in turns if kind in turn and base in turn]
        if not pairs:
            continue
        row = {"pairs": len(pairs), "median_us": round(statistics.median(a for a, _ in pairs), 2)}
        if kind != base:
            row["over_untraced"] = round(ratio_of_medians(pairs), 4)
            row["over_untraced_95"] = interval(pairs, ratio_of_medians)
        floor = [(turn[kind], turn["client"]) for turn in turns if kind in turn and "client" in turn]
        if floor and kind not in (base, "client"):
            row["us_a_kernel_above_client"] = round(difference_of_medians(floor) / kernels, 4)
            row["us_a_kernel_above_client_95"] = [round(us / kernels, 4) for us in interval(floor, difference_of_medians)]
        result["kinds"][kind] = row
    return result


def estimated_untraced_us(machine, trace):
    done = subprocess.run([machine.deepjit, "advise", str(trace), "--format", "json"], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-800:])
    report = json.loads(done.stdout)
    return report["verdict"]["ways_to_run"]["as_recorded_ns"] / 1e3


def truth(pairs):
    """`pairs`: (estimated, measured) untraced frame times of one turn or set."""
    low, high = interval(pairs, ratio_of_medians)
    return {"pairs": [[round(a, 2), round(b, 2)] for a, b in pairs], "estimated_over_measured": round(ratio_of_medians(pairs), 4),
            "interval_95": [low, high], "verdict": "holds" if 0.95 <= low and high <= 1.05 else "AMBIGUOUS"}


def measure_head(machine, mode, kinds):
    turns, estimates, failures = [], [], {}
    for number in range(machine.sets):
        workers = [Worker(machine, kind, mode, f"head_{mode}_{kind}") for kind in kinds if kind not in failures]
        ready = []
        for worker in workers:
            try:
                worker.answer()
                ready.append(worker)
            except Exception as error:  # one profiler that does not work here must not end the others
                failures[worker.kind] = str(error)
        for turn in range(TURNS_IN_SET):
            order = ready[turn % len(ready):] + ready[:turn % len(ready)]
            row = {}
            for worker in order:
                try:
                    row[worker.kind] = worker.measure(HEAD_FRAMES)
                except Exception as error:
                    failures[worker.kind] = str(error)
            turns.append(row)
            ready = [worker for worker in ready if worker.kind not in failures]
        for worker in workers:
            try:
                worker.end()
            except Exception as error:
                failures.setdefault(worker.kind, str(error))
        untraced = statistics.median(turn["untraced"] for turn in turns[-TURNS_IN_SET:])
        estimates.append((estimated_untraced_us(machine, machine.work / f"head_{mode}_deepjit.db"), untraced))
        print(f"head {mode} set {number + 1}: {turns[-1]}", file=sys.stderr, flush=True)
    return {**compare(turns, HEAD_KERNELS), "truth": truth(estimates), "failures": failures}


@step
def head_eager(machine):
    return measure_head(machine, "eager", machine.kinds("untraced", "client", "deepjit", "torch_cuda", "torch_cpu_cuda",
                                                         "proton", "nsys"))


@step
def head_graph(machine):
    return measure_head(machine, "graph", machine.kinds("untraced", "client", "deepjit", "deepjit_graph_level", "torch_cuda",
                                                         "nsys"))


def measure_native(machine, mode, kinds):
    program = [machine.build / "bin/short_kernels", "--mode", mode, "--frames", NATIVE_FRAMES, "--kernels", NATIVE_KERNELS]
    turns, estimates, failures = [], [], {}
    for number in range(NATIVE_TURNS):
        order = kinds[number % len(kinds):] + kinds[:number % len(kinds)]
        row = {}
        for kind in order:
            if kind in failures:
                continue
            command, variables = machine.start(kind, f"native_{mode}_{kind}", program)
            done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **variables}, cwd=machine.work,
                                  timeout=120)
            lines = json_lines(done.stdout)
            if not lines:
                failures[kind] = f"{shlex.join(command)}: {done.stderr[-800:]}"
            else:
                row[kind] = lines[-1]["median_us"]
        turns.append(row)
        estimates.append((estimated_untraced_us(machine, machine.work / f"native_{mode}_deepjit.db"), row["untraced"]))
    return {**compare(turns, NATIVE_KERNELS), "truth": truth(estimates), "failures": failures}


@step
def native_stream(machine):
    return measure_native(machine, "stream", machine.kinds("untraced", "client", "deepjit", "nsys"))


@step
def native_graph(machine):
    return measure_native(machine, "graph", machine.kinds("untraced", "client", "deepjit", "deepjit_graph_level", "nsys"))


def run_and_watch_memory(command, variables, folder):
    """Runs a program; its highest resident memory in MiB and its wall time."""
    begin = time.monotonic()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True, cwd=folder,
                               env={**os.environ, **variables})
    highest_kib = 0
    while process.poll() is None:
        try:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            highest_kib = max([highest_kib] + [int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")])
        except OSError:
            pass
        time.sleep(0.05)
    if process.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with {process.returncode}")
    return {"resident_mib": round(highest_kib / 1024, 1), "wall_s": round(time.monotonic() - begin, 1),
            "median_us": json_lines(process.stdout.read())[-1]["median_us"]}


@step
def long_run(machine):
    """20 million kernels: what the target's memory grows by, what lies on the disk, how fast it is imported."""
    frames = 20_000_000 // NATIVE_KERNELS + 1
    program = [machine.build / "bin/short_kernels", "--mode", "stream", "--frames", frames, "--kernels", NATIVE_KERNELS]
    folder = machine.work / "long_run"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    client = run_and_watch_memory(program, {"CUDA_INJECTION64_PATH": machine.client}, machine.work)
    traced = run_and_watch_memory(program, {"CUDA_INJECTION64_PATH": str(machine.build / "lib/deepjit/libdeepjit_tracer.so"),
                                            "DEEPJIT_RUN_DIR": str(folder)}, machine.work)
    launched = NATIVE_KERNELS * (frames + NATIVE_WARM_UP_FRAMES)
    wire_bytes = sum(path.stat().st_size for path in folder.glob("*.djw"))
    trace = machine.work / "long_run.db"
    begin = time.monotonic()
    # On two cores, as the target says; elsewhere a machine would be measured, not deepjit.
    subprocess.run(["taskset", "-c", "0,1", machine.deepjit, "import", str(folder), "-o", str(trace), "--force"], check=True,
                   capture_output=True)
    import_s = time.monotonic() - begin
    with sqlite3.connect(f"file:{trace}?mode=ro", uri=True) as database:
        recorded, joined = database.execute("SELECT count(*), count(launch_id) FROM kernels").fetchone()
        dropped = database.execute("SELECT sum(dropped_records) FROM processes").fetchone()[0]
    result = {"client": client, "traced": traced, "kernels_launched": launched, "kernels_recorded": recorded,
              "kernels_with_their_launch": joined, "dropped_records": dropped,
              "resident_mib_above_client": round(traced["resident_mib"] - client["resident_mib"], 1),
              "wire_bytes_a_kernel": round(wire_bytes / launched, 2),
              "import_s": round(import_s, 1), "kernels_imported_a_second": round(recorded / import_s),
              "trace_bytes_a_kernel": round(trace.stat().st_size / recorded, 1)}
    trace.unlink()
    shutil.rmtree(folder)
    return result


@step
def killed(machine):
    """SIGKILL at 100 random moments."""
    done = subprocess.run([sys.executable, ROOT / "tests/gpu/killed_runs.py", machine.deepjit, "--kills", "100", "--",
                           machine.build / "bin/short_kernels", "--frames", "10000000"], capture_output=True, text=True)
    return json_lines(done.stdout)[-1]


@step
def outside_window(machine):
    """Frames that lie outside the window of a recording, beside those of no recording and of a CUPTI client that
    subscribes and enables nothing."""
    turns = {mode: [] for mode in ("stream", "graph")}
    for _ in range(NATIVE_TURNS):
        for mode, rows in turns.items():
            program = [str(machine.build / "bin/short_kernels"), "--mode", mode, "--frames", str(NATIVE_FRAMES)]
            row = {}
            outside = [machine.deepjit, "profile", "--no-calibrate", "--no-modules", "-o", str(machine.work / "outside.db"), "--force"]
            for kind, command, variables in (
                    ("untraced", program, {}),
                    ("subscriber", program, {"CUDA_INJECTION64_PATH": machine.client, "DO_NOTHING_CLIENT_SUBSCRIBES": "1"}),
                    ("before_frames", [*outside, "--skip", "1000000000", "--", *program], {}),
                    ("before_delay", [*outside, "--delay", "1000s", "--", *program], {})):
                done = subprocess.run(command, capture_output=True, text=True, cwd=machine.work, timeout=120,
                                      env={**os.environ, **variables})
                row[kind] = json_lines(done.stdout)[-1]["median_us"]
            rows.append(row)
    return {mode: compare(rows, NATIVE_KERNELS) for mode, rows in turns.items()}


@step
def overlap(machine):
    """Kernels of two streams that run at the same time without a tracer do so with it, too."""
    program = ("import torch; s = [torch.cuda.Stream() for _ in range(2)]; torch.cuda.synchronize()\n"
               "for _ in range(20):\n"
               "    for one in s:\n"
               "        with torch.cuda.stream(one): torch.cuda._sleep(2000000)\n"
               "torch.cuda.synchronize()")
    trace = machine.work / "overlap.db"
    subprocess.run([machine.deepjit, "profile", "-o", str(trace), "--force", "--", sys.executable, "-c", program], check=True,
                   capture_output=True)
    with sqlite3.connect(f"file:{trace}?mode=ro", uri=True) as database:
        spans = database.execute("SELECT stream_id, start_ns, end_ns FROM kernels WHERE name LIKE '%spin%' ORDER BY start_ns").fetchall()
    first, last = min(start for _, start, _ in spans), max(end for _, _, end in spans)
    summed = sum(end - start for _, start, end in spans)
    return {"kernels": len(spans), "streams": len({stream for stream, _, _ in spans}),
            "kernel_time_over_wall": round(summed / (last - first), 3)}


@step
def calibrate(machine):
    done = subprocess.run([machine.deepjit, "calibrate", "--format", "json"], capture_output=True, text=True)
    text = subprocess.run([machine.deepjit, "calibrate", "--show"], capture_output=True, text=True).stdout
    return {"text": text, **json.loads(done.stdout)}


def table(results):
    for name, result in results.items():
        if name in ("long_run", "killed", "outside_window", "overlap", "calibrate") and not isinstance(result.get("failed"), str):
            shown = {mode: one["kinds"] for mode, one in result.items() if isinstance(one, dict)} if name == "outside_window" else result
            print(f"{name}:", result.get("text") or json.dumps(shown))
            continue
        if "kinds" not in result:
            print(f"{name}: {result.get('failed', '').strip().splitlines()[-1:]}")
            continue
        for kind, row in result["kinds"].items():
            ratio = f"{row['over_untraced']:.3f} {row['over_untraced_95']}" if "over_untraced" in row else ""
            above = (f"{row['us_a_kernel_above_client']:+.3f} us {row['us_a_kernel_above_client_95']}"
                     if "us_a_kernel_above_client" in row else "")
            print(f"{name:<14} {kind:<20} {row['median_us']:>9} us  {ratio:<26} {above}")
        truth_row = result["truth"]
        print(f"{name:<14} estimated / measured  {truth_row['estimated_over_measured']} {truth_row['interval_95']} "
              f"{truth_row['verdict']}")
        for kind, reason in result["failures"].items():
            print(f"{name:<14} {kind:<20} failed: {reason.strip().splitlines()[-1][:120]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--chains", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("gpu-run"))
    parser.add_argument("--sets", type=int, default=4, help=f"sets of processes for the head, {TURNS_IN_SET} turns each")
    parser.add_argument("--only", nargs="+", choices=sorted(STEPS))
    options = parser.parse_args()
    machine = Machine(options)
    results = {}
    for name, function in STEPS.items():
        if options.only and name not in options.only:
            continue
        begin = time.monotonic()
        try:
            results[name] = function(machine)
        except Exception:
            results[name] = {"failed": traceback.format_exc()}
        results[name]["seconds"] = round(time.monotonic() - begin, 1)
        print(f"{name}: {results[name]['seconds']} s", file=sys.stderr, flush=True)
        record = {**environment(), "command": shlex.join(sys.argv), "nsys": machine.nsys, "results": results}
        options.output.write_text(json.dumps(record, indent=1) + "\n")
    table(results)
    return 1 if any(isinstance(result.get("failed"), str) for result in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
