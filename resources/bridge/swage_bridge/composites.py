# SPDX-License-Identifier: Apache-2.0
"""Composite operators that no kernel of Swage computes, decomposed so that kernels can compute their parts.

Only those that PyTorch decomposes in the same way on every device (CompositeImplicitAutograd): the graph's operators then
take as long as eager does, which the worker relies on.
"""

from __future__ import annotations

import torch

_DECOMPOSED = (
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
    """{operator: its decomposition}, for run_decompositions()."""
    table = torch.export.default_decompositions()
    overloads = [getattr(torch.ops.aten, name).default for name in _DECOMPOSED]
    return {
        **{overload: table[overload] for overload in overloads},
        torch.ops.aten.cosine_similarity.default: cosine_similarity,
    }
