# SPDX-License-Identifier: Apache-2.0
"""The command `bench-export`: what a call of an exported ModelNew costs beside the launches it makes."""

from __future__ import annotations

import statistics
import time

import torch

from . import source as source_module
from .errors import BridgeError, one_line, user_code

_BATCH = 20  # calls between two looks at the clock
_MICROSECOND = 1e3  # nanoseconds


def _batch(call):
    """Nanoseconds of one call, from a batch of them."""
    begin = time.perf_counter_ns()
    for _ in range(_BATCH):
        call()
    return (time.perf_counter_ns() - begin) / _BATCH


def _median_us(samples):
    return statistics.median(samples) / _MICROSECOND


def difference(call, bare, calls, wait):
    """Medians of a call, of the bare work inside it and of their difference, in microseconds.

    Batches of both are taken in turns, so that what else runs on the machine meets both; a device's queue is emptied
    between them, as a full one makes launches wait.
    """
    whole, inner, between = [], [], []
    for turn in range(max(10, calls // _BATCH)):
        wait()
        first = _batch(call if turn % 2 == 0 else bare)
        wait()
        second = _batch(bare if turn % 2 == 0 else call)
        outer, own = (first, second) if turn % 2 == 0 else (second, first)
        whole.append(outer)
        inner.append(own)
        between.append(outer - own)
    return {"call_us": _median_us(whole), "launch_us": _median_us(inner), "guard_us": _median_us(between)}


def _launches(space, model, inputs):
    """The plan alone, as the export calls it after its checks."""
    plan, seen = space["_swage_plan"], []

    def record(*arguments):
        seen.append(arguments)
        return plan(*arguments)

    space["_swage_plan"] = record
    model(*inputs)
    space["_swage_plan"] = plan
    if not seen:
        raise BridgeError("no_kernels", "The export runs the original operators here, so there is nothing to measure.")
    arguments = seen[0]
    return lambda: plan(*arguments)


def _compiled(space, model, inputs, calls, wait):
    """The same under torch.compile, which compiles the original operators: beside the original module, compiled."""
    original = torch.compile(space["_OriginalModel"]())
    exported = torch.compile(model)
    try:
        for _ in range(3):
            exported(*inputs)
            original(*inputs)
    except Exception as exc:  # no C++ compiler, or a device that Triton does not know
        return {"failure": one_line(exc)}
    return difference(lambda: exported(*inputs), lambda: original(*inputs), calls, wait)


def _captured(call):
    """A CUDA graph of one call."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph


def run(options):
    """Loads the export and measures it. Raises BridgeError when its kernels do not run here."""
    device = torch.device(options.device)
    if device.type == "cuda":
        torch.cuda.set_device(device)
    wait = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    space = vars(source_module.load(options.file).module)
    with user_code("forward_failed", "running ModelNew.forward", options.file), torch.no_grad():
        model = space["ModelNew"]()
        inputs = tuple(
            torch.ones(shape, dtype=dtype, device=device) for shape, _, dtype, *_ in space["_SWAGE_INPUTS"]
        )
        bare = _launches(space, model, inputs)
        document = {
            "device": options.device,
            "calls": options.calls,
            "eager": difference(lambda: model(*inputs), bare, options.calls, wait),
            "compiled": _compiled(space, model, inputs, options.calls, wait),
            "graph": None,
        }
        if device.type == "cuda":
            whole, inner = _captured(lambda: model(*inputs)), _captured(bare)
            document["graph"] = difference(whole.replay, inner.replay, options.calls, wait)
    return document
