# SPDX-License-Identifier: Apache-2.0
"""Sums of products of more than two tensors, taken apart into those of two, which kernels can be made for."""

from __future__ import annotations

import torch


def in_pairs(equation, operands, *, path=None):
    """aten.einsum as PyTorch computes it: pairs in the order of `path`, or from left to right.

    NotImplemented, which leaves the operator whole, for two operands, and where a label is missing from the
    equation (`...`, no output) or is there twice in an operand.
    """
    equation = equation.replace(" ", "")
    terms = equation.partition("->")[0].split(",")
    is_plain = "->" in equation and "." not in equation and all(len(set(term)) == len(term) for term in terms)
    if len(operands) < 3 or not is_plain:
        return NotImplemented
    output = equation.partition("->")[2]
    left = list(zip(terms, operands))
    order = list(zip(path[::2], path[1::2])) if path else [(0, 1)] * (len(operands) - 1)
    for one, other in order:
        taken = [left[one], left[other]]
        left = [item for at, item in enumerate(left) if at not in (one, other)]
        wanted = set(output).union(*(term for term, _ in left))
        result = _pair(taken, wanted, output if not left else None)
        # With a path PyTorch puts results at the end; without one, what is left is taken up from the left.
        left = [*left, result] if path else [result, *left]
    return left[0][1]


def _pair(taken, wanted, output):
    """(term, tensor) of the product of two, summed over labels that are not wanted any more."""
    (term, tensor), (other_term, other) = taken
    labels = list(dict.fromkeys(term + other_term))
    if output is None:
        output = "".join(label for label in labels if label in wanted)
    if len(output) < len(labels):
        return output, torch.ops.aten.einsum.default(f"{term},{other_term}->{output}", [tensor, other])
    return output, _aligned(term, tensor, output) * _aligned(other_term, other, output)


def _aligned(term, tensor, output):
    """The tensor with its dimensions in the order of the output, and ones of size 1 where it has none."""
    tensor = tensor.permute([term.index(label) for label in output if label in term])
    for at, label in enumerate(output):
        if label not in term:
            tensor = tensor.unsqueeze(at)
    return tensor


DECOMPOSITIONS = {torch.ops.aten.einsum.default: in_pairs}
