# SPDX-License-Identifier: MIT-0
# Written by Swage; this file belongs to whoever exported it. Change, copy and sell it as you like.
"""19_ReLU: PyTorch's own way, eager execution. No kernel that was found is significantly faster.

task          19_ReLU (class Model of 19_ReLU.py); task id 0123abcd; run 3; candidate 17
lineage       made by baseline from 12, 15; before them 4; seed 7; cell A1 B0 C1
measured      2 us (1.98 to 2.03) on Test device; eager (interleaved) 3 us (2.96 to 3.05)
error         relative L2 1.2e-07 (eager 1.3e-07), class fp32; device Test device (test-1, driver 580.1)
verified with PyTorch 2.11.0; compiled by test-cc 1.2; written by Swage 0.1.0; with batch_size = 16; dim = 64
baseline      compile 2.5 us (2.48 to 2.52), class fp32, PyTorch 2.11.0; max-autotune failed
checked       unseen seeds passed: 3 seeds that no other check used
"""
# ---------------------------------------------------------------- the module as it was given

import torch
import torch.nn as nn

class _OriginalModel(nn.Module):
    """Applies ReLU."""
    def __init__(self):
        super(_OriginalModel, self).__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        ...
        return torch.relu(x)

batch_size = 16
dim = 64


def _original_init_inputs():
    return []  # nothing to pass

# ---------------------------------------------------------------- the way to run it

class ModelNew(_OriginalModel):
    """Model in PyTorch's own way, eager execution."""

