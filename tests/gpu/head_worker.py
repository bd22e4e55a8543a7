#!/usr/bin/env python3
"""The PyTorch detection head of a chains.py, waiting for orders: one long-lived process of tracer_cost.py.

usage: head_worker.py CHAINS.py --mode eager|graph [--profiler none|torch_cuda|torch_cpu_cuda|proton]

Reads "measure N" lines from stdin, runs N frames for each and prints {"median_us": ..., "mean_us": ...}; ends
with its input. A frame is one call of the head and a synchronisation. A profiler that lives in the process is
on during the frames that are timed and a few before them; starting it and reading it out are not timed.
"""
import argparse
import contextlib
import importlib.util
import json
import pathlib
import sys
import tempfile
import time

import torch

HEAD = "detect_head_3scales_f16"
WARM_UP_FRAMES = 20


def load_head(path):
    spec = importlib.util.spec_from_file_location("chains", path)
    chains = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(chains)
    function, specs, _ = chains.CHAINS[HEAD]
    return function, chains.make_inputs(specs, device="cuda")


def frame_of(function, inputs, mode):
    for _ in range(3):
        function(*inputs)
    torch.cuda.synchronize()
    if mode == "eager":
        return lambda: function(*inputs)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        function(*inputs)
    return graph.replay


@contextlib.contextmanager
def profiler(name):
    if name == "none":
        yield
    elif name == "proton":
        import triton.profiler as proton
        with tempfile.TemporaryDirectory() as folder:
            proton.start(f"{folder}/head")
            yield
            proton.finalize()
    else:
        kinds = torch.profiler.ProfilerActivity
        activities = [kinds.CUDA] + ([kinds.CPU] if name == "torch_cpu_cuda" else [])
        with torch.profiler.profile(activities=activities):
            yield


def measure(frame, frames):
    times_ns = []
    for index in range(-WARM_UP_FRAMES, frames):
        begin = time.perf_counter_ns()
        frame()
        torch.cuda.synchronize()
        if index >= 0:
            times_ns.append(time.perf_counter_ns() - begin)
    times_ns.sort()
    return {"median_us": times_ns[len(times_ns) // 2] / 1e3, "mean_us": sum(times_ns) / len(times_ns) / 1e3}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("chains", type=pathlib.Path)
    parser.add_argument("--mode", choices=("eager", "graph"), required=True)
    parser.add_argument("--profiler", choices=("none", "torch_cuda", "torch_cpu_cuda", "proton"), default="none")
    options = parser.parse_args()
    with torch.inference_mode():
        function, inputs = load_head(options.chains)
        frame = frame_of(function, inputs, options.mode)
        print(json.dumps({"ready": True}), flush=True)
        for line in sys.stdin:
            frames = int(line.split()[1])
            with profiler(options.profiler):
                result = measure(frame, frames)
            print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
