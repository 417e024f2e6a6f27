# SPDX-License-Identifier: Apache-2.0
"""Operators that PyTorch itself computes by others, in the same way on every device, and that no kernel of Swage computes
whole: a graph has the others, so that kernels can join them. Eager runs them one by one as well, so measuring against
the graph's operators stays measuring against eager.
"""

from __future__ import annotations

import torch

_TAKEN_APART = (
    "kron",
    "margin_ranking_loss",
    "outer",
    "pairwise_distance",
    "poisson_nll_loss",
)


def cosine_similarity(a, b, dim=1, eps=1e-8):
    """As ATen does it (native/Distance.cpp), with the limit of the norms as a number."""
    a, b = torch.broadcast_tensors(a, b)
    parts = [x / torch.linalg.vector_norm(x, 2, dim, keepdim=True).clamp_min(eps) for x in (a, b)]
    return (parts[0] * parts[1]).sum(dim)


def decompositions():
    """{operator: what it does, by other operators}, for run_decompositions()."""
    table = torch.export.default_decompositions()
    overloads = [getattr(torch.ops.aten, name).default for name in _TAKEN_APART]
    return {
        **{overload: table[overload] for overload in overloads},
        torch.ops.aten.cosine_similarity.default: cosine_similarity,
    }
