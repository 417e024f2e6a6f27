# SPDX-License-Identifier: Apache-2.0
"""Batch normalisation in training mode with a ReLU: the running statistics are outputs too."""

import torch

batch_size = 16
channels = 32
side = 48


class Model(torch.nn.Module):
    """Normalises each channel over the batch and clips at zero."""

    def __init__(self, channels):
        super().__init__()
        self.norm = torch.nn.BatchNorm2d(channels)

    def forward(self, x):
        return torch.relu(self.norm(x))


def get_inputs():
    return [torch.randn(batch_size, channels, side, side)]


def get_init_inputs():
    return [channels]
