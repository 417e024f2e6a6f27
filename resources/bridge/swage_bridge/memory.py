# SPDX-License-Identifier: Apache-2.0
"""How many bytes a task needs, estimated from its graph before anything is allocated."""

from __future__ import annotations

import math

from .errors import BridgeError

_ITEM_SIZE = {
    "bool": 1,
    "uint8": 1,
    "int8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "float16": 2,
    "bfloat16": 2,
    "float32": 4,
    "float64": 8,
}


def value_bytes(value):
    """Bytes of a value of GRAPH, as if it were dense."""
    return math.prod(value["shape"]) * _ITEM_SIZE[value["dtype"]]


def _value_ids(argument):
    """Ids of the values in one argument of a node."""
    if isinstance(argument, dict):
        return [argument["value"]] if "value" in argument else []
    if isinstance(argument, list):
        return [value for item in argument for value in _value_ids(item)]
    return []


def estimate(graph, aliases):
    """Bytes of user inputs, of weights, of outputs, and the peak of all other values live at once.

    Views cost nothing and keep alive what they look at (`aliases`). Operators' own workspaces are
    not known and not counted.
    """

    def root(value):
        while value in aliases:
            value = aliases[value]
        return value

    sizes = [value_bytes(value) for value in graph["values"]]
    users = {item["value"] for item in graph["inputs"] if item["kind"] == "user"}
    weights = {item["value"] for item in graph["inputs"]} - users
    outputs = {root(item["value"]) for item in graph["outputs"]} - users - weights
    fixed = users | weights | outputs
    last = {}
    for step, node in enumerate(graph["nodes"]):
        reads = _value_ids(node["args"]) + [v for item in node["kwargs"].values() for v in _value_ids(item)]
        for value in reads + [v for v in node["outputs"] if v >= 0]:
            last[root(value)] = step
    live, peak, dying = 0, 0, {}
    for value, step in last.items():
        dying.setdefault(step, []).append(value)
    for step, node in enumerate(graph["nodes"]):
        live += sum(sizes[v] for v in node["outputs"] if v >= 0 and root(v) == v and v not in fixed)
        peak = max(peak, live)
        live -= sum(sizes[v] for v in dying.get(step, []) if v not in fixed)
    return {
        "inputs": sum(sizes[v] for v in users),
        "parameters": sum(sizes[v] for v in weights),
        "outputs": sum(sizes[v] for v in outputs),
        "intermediates": peak,
    }


def available():
    """MemAvailable of /proc/meminfo in bytes; 0 where the system does not tell."""
    try:
        with open("/proc/meminfo", encoding="ascii") as handle:
            for line in handle:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return 0


def text(count):
    """A number of bytes for people, in GB or MB (powers of ten)."""
    return f"{count / 1e9:.2f} GB" if count >= 1e8 else f"{count / 1e6:.2f} MB"


def _hint(task, total, limit):
    """Suggests a smaller value of the largest integer constant."""
    numbers = {
        k: v for k, v in task.source.constants.items() if isinstance(v, int) and not isinstance(v, bool) and v > 1
    }
    largest = sorted(numbers, key=numbers.get, reverse=True)[:3]
    if not largest:
        return "Use smaller inputs, or free memory."
    shrunk = max(1, numbers[largest[0]] // math.ceil(total / max(limit, 1)))
    listed = ", ".join(f"{name}={numbers[name]}" for name in largest)
    example = f"for example --set {largest[0]}={shrunk} (largest constants: {listed})"
    return f"Make a size smaller, {example}, or free memory."


def enforce(sizes, task, limit):
    """Raises BridgeError not_enough_memory when the task needs more than `limit` bytes (0: no limit)."""
    total = sum(sizes.values())
    if limit and total > limit:
        parts = ", ".join(f"{name} {text(count)}" for name, count in sizes.items())
        raise BridgeError(
            "not_enough_memory",
            f"{task.source.file} needs about {text(total)} ({parts}), more than the " f"limit of {text(limit)}.",
            _hint(task, total, limit),
            task.source.path,
        )
