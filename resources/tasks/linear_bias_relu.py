# SPDX-License-Identifier: Apache-2.0
"""A linear layer with bias and ReLU: arithmetic-bound, with a pointwise end to fuse."""

import torch

batch_size = 256
in_features = 512
out_features = 1024


class Model(torch.nn.Module):
    """max(0, x W^T + b)."""

    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = torch.nn.Linear(in_features, out_features)

    def forward(self, x):
        return torch.relu(self.linear(x))


def get_inputs():
    return [torch.randn(batch_size, in_features)]


def get_init_inputs():
    return [in_features, out_features]
