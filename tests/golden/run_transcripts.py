#!/usr/bin/env python3
"""Runs console transcripts and compares what they print. See README.md in this folder for the format."""

import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77  # CTest's SKIP_RETURN_CODE
TIMEOUT_SECONDS = 60
STDERR_MARK = "! "
PLACEHOLDERS = {
    "{any}": ".*",
    "{path}": r"[^\s']+",
    "{number}": r"[0-9][0-9,.]*",
    "{size}": r"[0-9.]+ (?:[KMGT]iB|B)",
    "{duration}": r"-?[0-9.]+ (?:ns|µs|ms|s)",
}
ANY_LINES = "{lines}"


@dataclasses.dataclass
class Step:
    command: str
    expected: list
    exit_code: int = 0


@dataclasses.dataclass
class Transcript:
    needs: list
    parts: list  # comment lines (str) and Step, in the order of the file

    def steps(self):
        return [part for part in self.parts if isinstance(part, Step)]


def parse(text):
    transcript = Transcript(needs=[], parts=[])
    step = None
    for line in text.splitlines():
        exit_line = re.fullmatch(r"\[exit (\d+)\]", line)
        if line.startswith("$ "):
            step = Step(line[2:], [])
            transcript.parts.append(step)
        elif step is not None and exit_line:
            step.exit_code = int(exit_line.group(1))
            step = None
        elif step is None:
            if line.startswith("# needs: "):
                transcript.needs += line.removeprefix("# needs: ").split()
            if line.strip() and not line.startswith("#"):
                raise ValueError(f"neither a comment nor part of a command: {line!r}")
            transcript.parts.append(line)
        else:
            step.expected.append(line)
    if step is not None:
        raise ValueError(f"the command has no [exit N] line: {step.command!r}")
    return transcript


def pattern_of(expected):
    """A regular expression for the expected lines, joined by newlines."""
    lines = []
    for line in expected:
        if line == ANY_LINES:
            lines.append(r"(?:.*\n)*?")
            continue
        words = re.split("(" + "|".join(map(re.escape, PLACEHOLDERS)) + ")", line)
        lines.append("".join(PLACEHOLDERS.get(word, re.escape(word)) for word in words) + r"\n")
    return re.compile("".join(lines))


def run(step, folder, environment):
    """The lines printed, those of stderr marked and after those of stdout, and the exit code."""
    ended = subprocess.run(
        ["bash", "-c", step.command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    lines = ended.stdout.decode(errors="backslashreplace").splitlines()
    lines += [STDERR_MARK + line for line in ended.stderr.decode(errors="backslashreplace").splitlines()]
    return lines, ended.returncode if ended.returncode >= 0 else 128 - ended.returncode


def missing_need(need, tools):
    """Why a transcript that needs `need` cannot run here, or None."""
    if need == "mount":
        probe = subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False)
        return None if probe.returncode == 0 else "this user may not mount a file system in a namespace"
    if need == "tracer":
        return None if tools.tracer.exists() else f"{tools.tracer} has not been built"
    if need == "fake-cuda":
        built = tools.fake_cuda and (tools.fake_cuda / "fake_cuda_launch").exists()
        return None if built else "the fake CUDA driver has not been built"
    return None if shutil.which(need) else f"there is no program '{need}'"


def check_transcript(path, tools, update):
    transcript = parse(path.read_text())
    for need in transcript.needs:
        reason = missing_need(need, tools)
        if reason:
            print(f"skipped {path.name}: {reason}")
            return SKIPPED
    folder = pathlib.Path(tempfile.mkdtemp(prefix="deepjit-transcript."))
    (folder / "tmp").mkdir()
    environment = {
        "PATH": f"{tools.deepjit.parent}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        "HOME": str(folder),
        "TMPDIR": str(folder / "tmp"),
        "LC_ALL": "C.UTF-8",
        "TRACES": str(path.parent.parent / "fixtures"),
    }
    if "fake-cuda" in transcript.needs:
        environment["PATH"] = f"{tools.fake_cuda}:{environment['PATH']}"
        environment["LD_LIBRARY_PATH"] = str(tools.fake_cuda)
        environment["DEEPJIT_CUPTI_LIBRARY"] = str(tools.fake_cuda / "libcupti.so.13")
    failed = False
    try:
        for step in transcript.steps():
            lines, exit_code = run(step, folder, environment)
            printed = "".join(line + "\n" for line in lines)
            if exit_code == step.exit_code and pattern_of(step.expected).fullmatch(printed):
                continue
            failed = True
            print(f"{path}: $ {step.command}")
            print("  expected:", *step.expected, f"[exit {step.exit_code}]", sep="\n    ")
            print("  got:", *lines, f"[exit {exit_code}]", sep="\n    ")
            step.expected, step.exit_code = lines, exit_code
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if failed and update:
        path.write_text(text_of(transcript))
        print(f"updated {path}; put the placeholders back and read the difference")
    return 1 if failed else 0


def text_of(transcript):
    lines = []
    for part in transcript.parts:
        if isinstance(part, Step):
            lines += ["$ " + part.command, *part.expected, f"[exit {part.exit_code}]"]
        else:
            lines.append(part)
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deepjit", type=pathlib.Path, required=True, help="the executable under test")
    parser.add_argument("--fake-cuda", type=pathlib.Path, help="folder of the fake libcuda and libcupti")
    parser.add_argument("--update", action="store_true", help="write what was printed into the transcripts")
    parser.add_argument("transcripts", type=pathlib.Path, nargs="+")
    tools = parser.parse_args()
    tools.deepjit = tools.deepjit.resolve()
    tools.fake_cuda = tools.fake_cuda and tools.fake_cuda.resolve()
    tools.tracer = tools.deepjit.parent.parent / "lib" / "deepjit" / "libdeepjit_tracer.so"
    codes = [check_transcript(path.resolve(), tools, tools.update) for path in tools.transcripts]
    if 1 in codes:
        return 1
    return SKIPPED if all(code == SKIPPED for code in codes) else 0


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main())
