# SPDX-License-Identifier: Apache-2.0
"""Cross entropy over many classes: a row reduction, a gather and a mean in one scalar."""

import torch

batch_size = 2048
classes = 1000
logits_shape = (batch_size, classes)


class Model(torch.nn.Module):
    """Mean negative log likelihood of the target classes."""

    def forward(self, logits, targets):
        return torch.nn.functional.cross_entropy(logits, targets)


def get_inputs():
    return [torch.randn(logits_shape), torch.randint(0, classes, (batch_size,))]


def get_init_inputs():
    return []
