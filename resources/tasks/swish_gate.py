# SPDX-License-Identifier: Apache-2.0
"""A gated activation, x * sigmoid(x) * gate: pointwise, limited by memory bandwidth."""

import torch

rows = 2048
columns = 1024


class Model(torch.nn.Module):
    """Gates the swish of one tensor by another of the same shape."""

    def forward(self, x, gate):
        return x * torch.sigmoid(x) * gate


def get_inputs():
    return [torch.randn(rows, columns), torch.rand(rows, columns)]


def get_init_inputs():
    return []
