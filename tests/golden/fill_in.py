"""Completes chain 1 of tests/fixtures/short_kernels_h200 as a person would: from what its Open ops say.

usage: fill_in.py CHAIN_FILE
"""
import json
import sys

with open(sys.argv[1]) as file:
    chain = json.load(file)
ops = []


def tensor(role, **more):
    name = "x%d" % len(chain["tensors"])
    chain["tensors"].append({"name": name, "role": role, "dtype": "float32", **more})
    return name


def scalar(value):
    return tensor("constant", shape=[], values=[value])


def op(kind, *inputs, **more):
    result = tensor("intermediate", shape=[65536])
    ops.append({"type": kind, "inputs": list(inputs), "outputs": [result], **more})
    return result


for kernel in chain["ops"]:
    read = kernel["inputs"]
    floats = [float(argument["value"]) for argument in kernel["arguments"] if argument["type"] == "float"]
    if kernel["source"].startswith("scale_and_shift("):
        result = op("Add", op("Mul", read[0], scalar(floats[0])), scalar(floats[1]))
    elif kernel["source"].startswith("add_rows("):
        result = op("Add", read[0], read[1])
    else:
        result = op("Clip", read[0], attributes={"min": floats[0], "max": floats[1]})
    ops.append({"type": "RoundTo", "inputs": [result], "outputs": kernel["outputs"], "source": kernel["source"]})

chain["ops"] = ops
with open(sys.argv[1], "w") as file:
    json.dump(chain, file)
