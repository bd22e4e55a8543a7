#!/usr/bin/env python3
"""Kills a profiled program at random moments and reads what is left.

usage: killed_runs.py DEEPJIT [--kills N] [--from-ms A] [--to-ms B] [--seed S] -- PROGRAM [ARGUMENT ...]

PROGRAM must launch kernels for longer than B. Each time it is started by `deepjit profile` and gets SIGKILL some time
after its first launch was recorded. A trace passes when it opens, says that the program was killed, holds nothing
but complete rows, and its last kernel ended at most 200 ms before the kill. Prints one line of JSON; status 1 where a
trace does not pass.
"""
import argparse
import json
import os
import pathlib
import random
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

MOST_LOST_MS = 200
START_DEADLINE_S = 60


def child_of(profile):
    """The program's process id, once it has been started and is no longer a copy of deepjit."""
    own = os.readlink(f"/proc/{profile.pid}/exe")
    deadline = time.monotonic() + START_DEADLINE_S
    while time.monotonic() < deadline and profile.poll() is None:
        children = pathlib.Path(f"/proc/{profile.pid}/task/{profile.pid}/children").read_text().split()
        for child in children:
            try:
                if os.readlink(f"/proc/{child}/exe") != own:
                    return int(child)
            except OSError:
                pass
        time.sleep(0.001)
    raise RuntimeError("deepjit started no program")


def wait_for_recording(temporary, process_id):
    """Until the program's recording is begun."""
    deadline = time.monotonic() + START_DEADLINE_S
    while time.monotonic() < deadline:
        if list(temporary.glob(f"*/process-{process_id}.djw")):
            return
        time.sleep(0.001)
    raise RuntimeError("the program was not recorded")


def killed_run(deepjit, program, folder, delay_ms):
    trace = folder / "trace.db"
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    profile = subprocess.Popen([deepjit, "profile", "--no-calibrate", "--force", "-o", trace, "--", *program],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, "TMPDIR": str(temporary)})
    process_id = child_of(profile)
    wait_for_recording(temporary, process_id)
    time.sleep(delay_ms / 1e3)
    os.kill(process_id, signal.SIGKILL)
    killed_ns = time.time_ns()
    said = profile.communicate(timeout=120)[1]
    problems = []
    if profile.returncode != 128 + signal.SIGKILL:
        problems.append(f"status {profile.returncode}")
    with sqlite3.connect(f"file:{trace}?mode=ro", uri=True) as database:
        if database.execute("PRAGMA integrity_check").fetchone() != ("ok",):
            problems.append("the trace is damaged")
        kernels, last_ns, nameless = database.execute(
            "SELECT count(*), max(end_ns), count(*) FILTER (WHERE name = '' OR end_ns < start_ns) FROM kernels").fetchone()
        ended = database.execute("SELECT count(*) FROM processes WHERE end_ns IS NOT NULL").fetchone()[0]
    if nameless or ended:
        problems.append(f"{nameless} kernels are incomplete, {ended} processes ended")
    silence = "last moments" not in said if kernels else "was ended before its recording reached the disk" not in said
    if silence:
        problems.append("nothing says that something is missing")
    lost_ms = (killed_ns - last_ns) / 1e6 if last_ns else delay_ms
    if lost_ms > MOST_LOST_MS:
        problems.append(f"the last {lost_ms:.0f} ms are lost")
    return {"delay_ms": round(delay_ms, 1), "kernels": kernels, "lost_ms": round(lost_ms, 1), "problems": problems,
            "said": said if problems else ""}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("deepjit")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--from-ms", type=float, default=0)
    parser.add_argument("--to-ms", type=float, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()
    moments = random.Random(options.seed)
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.kills):
            runs.append(killed_run(options.deepjit, options.program, pathlib.Path(folder),
                                   moments.uniform(options.from_ms, options.to_ms)))
    failed = [run for run in runs if run["problems"]]
    lost = [run["lost_ms"] for run in runs]
    print(json.dumps({"kills": len(runs), "failed": len(failed), "empty": sum(run["kernels"] == 0 for run in runs),
                      "lost_ms": {"median": statistics.median(lost), "max": max(lost)}, "failures": failed[:5]}))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
