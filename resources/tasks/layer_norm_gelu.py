# SPDX-License-Identifier: Apache-2.0
"""Layer normalisation followed by GELU, as in the blocks of a transformer."""

import torch

tokens = 2048
width = 768


class Model(torch.nn.Module):
    """Normalises each token, scales and shifts it, and applies the exact GELU."""

    def __init__(self, width):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)

    def forward(self, x):
        return torch.nn.functional.gelu(self.norm(x))


def get_inputs():
    return [torch.randn(tokens, width)]


def get_init_inputs():
    return [width]
