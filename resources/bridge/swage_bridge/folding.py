# SPDX-License-Identifier: Apache-2.0
"""Integers and booleans that depend on the task's sizes alone, such as positions and attention masks, which transformers
makes in dozens of small steps in every forward. They are computed once, at import.

Floating-point values stay in the graph: the reference computes them in float64, and devices round them differently.
Results of forward stay as well, with all that they are made from: each call returns new tensors.
"""

from __future__ import annotations

import torch
from torch.utils import _pytree as pytree

from . import cleanup

# Of one constant: exported files carry them. What is larger is made from its parts at each call.
_MOST_BYTES = 256 << 10


def fold(graph):
    """Replaces such nodes that others read by placeholders, in place; returns {name: tensor} of these."""
    known = _known(graph)
    folded = {}
    first = next(iter(graph.nodes))
    for node in list(known):
        if all(user in known for user in node.users):
            continue
        with graph.inserting_before(first):
            constant = graph.placeholder(f"folded_{node.name}")
        constant.meta["val"] = cleanup.value_of(node)
        node.replace_all_uses_with(constant)
        folded[constant.name] = known[node]
    for node in reversed(list(known)):
        graph.erase_node(node)
    return folded


def _known(graph):
    """{node: value} of nodes that depend on no input, each before those that read it."""
    left_out = set()
    while True:
        known = {}
        for node in graph.nodes:
            if node not in left_out and _is_foldable(node, known):
                known[node] = _run(node, known)
        # Strides of what reads a constant follow from its own, and it is stored as it lies.
        refused = {
            node
            for node, value in known.items()
            if any(user not in known for user in node.users)
            and (not cleanup.value_of(node).is_contiguous() or value.nbytes > _MOST_BYTES)
        }
        for node in known:
            if any(user.op == "output" for user in node.users):
                refused |= _with_sources(node)
        if not refused:
            return known
        left_out |= refused


def _with_sources(node):
    """The node and all that it is made from."""
    found, left = set(), [node]
    while left:
        node = left.pop()
        if node not in found:
            found.add(node)
            left += node.all_input_nodes
    return found


def _is_floating(node):
    value = cleanup.value_of(node)
    return not isinstance(value, torch.Tensor) or value.dtype.is_floating_point or value.dtype.is_complex


def _is_foldable(node, known):
    return (
        node.op == "call_function"
        and isinstance(node.target, torch._ops.OpOverload)
        and not _is_floating(node)
        and not node.target._schema.is_mutable
        and not cleanup.is_random(node)
        and all(source in known for source in node.all_input_nodes)
    )


def _run(node, known):
    """The node's value, on the CPU."""

    def real(argument):
        if isinstance(argument, torch.fx.Node):
            return known[argument]
        return torch.device("cpu") if isinstance(argument, torch.device) else argument

    args, kwargs = pytree.tree_map(real, (node.args, node.kwargs))
    return node.target(*args, **kwargs)
