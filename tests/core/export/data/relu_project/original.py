import torch
import torch.nn as nn

class Model(nn.Module):
    """Applies ReLU."""
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The forward pass."""
        return torch.relu(x)

batch_size = 16
dim = 64

def get_inputs():
    return [torch.rand(batch_size, dim)]

def get_init_inputs():
    return []  # nothing to pass
