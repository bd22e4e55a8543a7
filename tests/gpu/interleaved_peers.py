#!/usr/bin/env python3
"""Emitted kernels and torch.compile in turns, in one process: what a run that measures them one after another hides.

usage: interleaved_peers.py CHAINS.py EMITTED_FOLDER [EMITTED_FOLDER ...]

CHAINS.py is the harness that `run --chains` takes. Each round captures and times a graph of 20 calls for every
candidate, on the same inputs.
"""
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(sys.argv[1]).resolve().parent))
import chains  # noqa: E402

ROUNDS = 4
NAMES = ("add_relu_scale_add_1m_plus_1", "add_relu_scale_add_1m", "add_relu_scale_add_1m_plus_1")

for name in NAMES:
    function, specs, _ = chains.CHAINS[name]
    sets = [chains.make_inputs(specs, seed=seed, device="cuda") for seed in range(8)]
    torch._dynamo.reset()
    candidates = {"compiled": torch.compile(function, fullgraph=True, dynamic=False)}
    candidates.update((folder, chains.load_emitted(folder, name)) for folder in sys.argv[2:])
    for candidate in candidates.values():
        candidate(*sets[0])
    for turn in range(ROUNDS):
        print(name, turn, {key: round(chains.graph_us(candidate, sets), 2) for key, candidate in candidates.items()},
              flush=True)
