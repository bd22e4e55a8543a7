"""Calls an emitted PyTorch operator in the ways a program would; prints one line of JSON.

usage: call_emitted.py PATH/relu_chain.py

The operator must compute relu(a + b) * 0.5 + c.
"""
import importlib.util
import json
import pathlib
import sys

import torch


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # torch.compile looks a function's module up by name
    spec.loader.exec_module(module)
    return getattr(module, path.stem)


def first(value):
    return value[0] if isinstance(value, (tuple, list)) else value


def on_side_stream(function, tensors):
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        result = first(function(*tensors))
    torch.cuda.current_stream().wait_stream(stream)
    return result


def in_graph(function, tensors):
    on_side_stream(function, tensors)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = first(function(*tensors))
    graph.replay()
    return result


def refuses_gradients(function, tensors):
    try:
        function(tensors[0].clone().requires_grad_(), *tensors[1:])
    except Exception:
        return True
    return False


def main():
    function = load(pathlib.Path(sys.argv[1]))
    torch.manual_seed(1)
    tensors = [torch.randn(1 << 20, device="cuda") for _ in range(3)]
    a, b, c = tensors
    eager = torch.relu(a + b) * 0.5 + c
    # Rows of a padded buffer start off a 16-byte boundary, so the general entry point is taken.
    shifted = [torch.empty(tensor.numel() + 1, device="cuda")[1:].copy_(tensor) for tensor in tensors]
    results = {
        "plain": first(function(*tensors)),
        "side_stream": on_side_stream(function, tensors),
        "cuda_graph": in_graph(function, tensors),
        "torch_compile": first(torch.compile(lambda *xs: first(function(*xs)), fullgraph=True)(*tensors)),
        "shifted_base": first(function(*shifted)),
    }
    torch.cuda.synchronize()
    line = {name: "bit-identical to eager" if torch.equal(value, eager)
            else f"differs by {(value - eager).abs().max().item():.3g}" for name, value in results.items()}
    line["refuses_gradients"] = refuses_gradients(function, tensors)
    print(json.dumps(line))


if __name__ == "__main__":
    main()
