# SPDX-License-Identifier: Apache-2.0
"""Sum over the rows: a reduction along the slow axis, where neighbouring lanes own neighbouring columns."""

import torch

batch_size = 8
rows = 512
columns = 1024


class Model(torch.nn.Module):
    """Sums [batch, rows, columns] over the rows and keeps the axis."""

    def forward(self, x):
        return torch.sum(x, dim=1, keepdim=True)


def get_inputs():
    return [torch.randn(batch_size, rows, columns)]


def get_init_inputs():
    return []
