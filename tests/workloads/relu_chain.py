#!/usr/bin/env python3
"""relu(a + b) * 0.5 + c on float32 vectors, one frame after another: the PyTorch program of the demo.

Prints the wall time of a frame as one line of JSON. The check against float64 runs on the CPU, so that the
GPU sees nothing but the frames.
"""
import argparse
import json
import sys
import time


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=200)
    parser.add_argument("--floats", type=int, default=1 << 20)
    parser.add_argument("--warm-up", type=int, default=3)
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        sys.exit("relu_chain.py: PyTorch is not installed")
    if not torch.cuda.is_available():
        sys.exit("relu_chain.py: PyTorch sees no GPU")

    torch.manual_seed(0)
    on_host = [torch.randn(options.floats) for _ in range(3)]
    a, b, c = (tensor.cuda() for tensor in on_host)
    times = []
    with torch.inference_mode():
        for frame in range(-options.warm_up, options.frames):
            begin = time.perf_counter()
            result = torch.relu(a + b) * 0.5 + c
            torch.cuda.synchronize()
            if frame >= 0:
                times.append((time.perf_counter() - begin) * 1e6)
    wide = [tensor.double() for tensor in on_host]
    expected = torch.relu(wide[0] + wide[1]) * 0.5 + wide[2]
    if not torch.allclose(result.cpu().double(), expected, rtol=1e-5, atol=1e-6):
        sys.exit("relu_chain.py: the result is wrong")
    times.sort()
    print(json.dumps({"program": "relu_chain", "floats": options.floats, "frames": options.frames,
                      "warm_up_frames": options.warm_up, "median_us": round(times[len(times) // 2], 2),
                      "min_us": round(times[0], 2), "p10_us": round(times[len(times) // 10], 2)}))


if __name__ == "__main__":
    main()
