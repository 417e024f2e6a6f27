# SPDX-License-Identifier: Apache-2.0
"""Residual addition and RMS normalisation with a learnt scale; the sum is returned too, as decoders need it."""

import torch

tokens = 1024
width = 1024
epsilon = 1e-6


class Model(torch.nn.Module):
    """Adds the residual, then divides each token by its root mean square."""

    def __init__(self, width, epsilon):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(width))
        self.epsilon = epsilon

    def forward(self, x, residual):
        total = x + residual
        mean_square = total.pow(2).mean(dim=-1, keepdim=True)
        return total * torch.rsqrt(mean_square + self.epsilon) * self.scale, total


def get_inputs():
    return [torch.randn(tokens, width), torch.randn(tokens, width)]


def get_init_inputs():
    return [width, epsilon]
