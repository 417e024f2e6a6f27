# SPDX-License-Identifier: Apache-2.0
"""Runs GRAPH of a bundle with PyTorch's operators, reading nothing but the bundle's files.

A second reader of core/wire/TASK_FORMAT.md, written from the document: it shows that a bundle is
enough to reproduce the module.
"""

import json
import os

import torch
from safetensors.torch import load_file


class Bundle:
    """The files of a bundle folder."""

    def __init__(self, folder):
        with open(os.path.join(folder, "task.json"), encoding="utf-8") as handle:
            self.task = json.load(handle)
        self.weights = load_file(os.path.join(folder, "weights.safetensors"))

    def inputs(self, seed):
        """The user inputs of `graph`, drawn by input_generator on the CPU under a seed."""
        torch.manual_seed(seed)
        return run(self.task["input_generator"], [], self.weights)

    def outputs(self, inputs):
        """(user outputs in order, new buffer values by name) of `graph` on the inputs."""
        results = run(self.task["graph"], inputs, self.weights)
        declared = self.task["graph"]["outputs"]
        user = [value for value, item in zip(results, declared) if item["kind"] == "user"]
        mutated = {item["name"]: value for value, item in zip(results, declared) if item["kind"] == "buffer_mutation"}
        return user, mutated


def _operator(name):
    namespace, operator, overload = name.split(".")
    return getattr(getattr(getattr(torch.ops, namespace), operator), overload)


def _decode(argument, environment):
    """The Python value of one argument."""
    if isinstance(argument, list):
        return [_decode(item, environment) for item in argument]
    if not isinstance(argument, dict):
        return argument
    ((kind, content),) = argument.items()
    if kind == "value":
        return environment[content]
    if kind == "device":
        return torch.device("cpu")
    return float(content) if kind == "float" else getattr(torch, content)


def _check(value, declared):
    """Requires the dtype, shape and strides that the graph declares (strides of extents above 1)."""
    assert str(value.dtype) == "torch." + declared["dtype"], (value.dtype, declared)
    assert list(value.shape) == declared["shape"], (value.shape, declared)
    if value.numel():
        for extent, found, wanted in zip(value.shape, value.stride(), declared["strides"]):
            assert extent == 1 or found == wanted, (value.stride(), declared)


def run(graph, user, weights):
    """Values of the graph's outputs. `user` holds the user inputs, `weights` all others by name."""
    environment, user = {}, iter(user)
    for item in graph["inputs"]:
        environment[item["value"]] = next(user) if item["kind"] == "user" else weights[item["name"]]
        _check(environment[item["value"]], graph["values"][item["value"]])
    for node in graph["nodes"]:
        arguments = [_decode(item, environment) for item in node["args"]]
        named = {key: _decode(item, environment) for key, item in node["kwargs"].items()}
        with torch.no_grad():
            result = _operator(node["op"])(*arguments, **named)
        results = list(result) if isinstance(result, (list, tuple)) else [result]
        assert len(results) == len(node["outputs"]), node
        for value, identity in zip(results, node["outputs"]):
            if identity >= 0:
                _check(value, graph["values"][identity])
                environment[identity] = value
    return [environment[item["value"]] for item in graph["outputs"]]
