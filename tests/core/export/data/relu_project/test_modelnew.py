# SPDX-License-Identifier: MIT-0
# Written by Swage; this file belongs to whoever exported it. Change, copy and sell it as you like.
"""Compares ModelNew with the module that it replaces: `python test_modelnew.py`, or pytest.

original.py is the module as it was given, modelnew.py what was exported. Both get the same weights and inputs; their
results must agree, and the kernels must really have run.
"""
import importlib.util
import pathlib
import sys
import warnings

import torch
from torch.utils import _pytree

SEEDS = 3
TOLERANCE = 1e-4  # relative and absolute, of the accuracy class fp32


def load(name):
    """A file of this folder as a module."""
    spec = importlib.util.spec_from_file_location(name, pathlib.Path(__file__).with_name(name + ".py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def make_inputs(original, exported, device):
    """The task's own inputs; where it has none, random ones of the verified shapes and types."""
    if hasattr(original, "get_inputs"):
        return _pytree.tree_map_only(torch.Tensor, lambda t: t.to(device), list(original.get_inputs()))
    inputs = []
    for shape, strides, dtype, _ in exported._SWAGE_INPUTS[:exported._SWAGE_USER_INPUTS]:
        # Whole numbers may be indices, of which 0 and 1 are nearly always there.
        drawn = torch.randn(shape) if dtype.is_floating_point else torch.randint(0, 2, shape)
        inputs.append(torch.empty_strided(shape, strides, dtype=dtype, device=device).copy_(drawn))
    return inputs


def make_modules(original, exported, device):
    """The module and ModelNew with the same weights, in the verified mode."""
    args, kwargs = exported._swage_verified_constructor()
    torch.manual_seed(0)
    old = getattr(original, "Model")(*args, **kwargs).to(device)
    new = exported.ModelNew(*args, **kwargs).to(device)
    new.load_state_dict(old.state_dict())
    return old.train(exported._SWAGE_TRAINING), new.train(exported._SWAGE_TRAINING)


def compare(what, found, wanted):
    """Fails with the name of what differs."""
    if isinstance(wanted, torch.Tensor):
        torch.testing.assert_close(found, wanted, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True,
                                   msg=lambda text: f"{what}: {text}")


def test_modelnew_matches_the_module():
    """Results and buffers on several seeds."""
    original, exported = load("original"), load("modelnew")
    device = exported._SWAGE_DEVICE
    if device == "cuda" and not torch.cuda.is_available():
        raise RuntimeError("the kernels are for a CUDA device, and there is none")
    old, new = make_modules(original, exported, device)
    runs, plan = [], exported._swage_plan
    exported._swage_plan = lambda *args: runs.append(True) or plan(*args)
    for seed in range(SEEDS):
        torch.manual_seed(seed)
        inputs = make_inputs(original, exported, device)
        copies = _pytree.tree_map_only(torch.Tensor, torch.clone, inputs)
        with torch.no_grad(), warnings.catch_warnings():
            warnings.filterwarnings("error", message=".*original operators run instead.*")
            wanted, found = old(*inputs), new(*copies)
        for index, pair in enumerate(zip(_pytree.tree_leaves(found), _pytree.tree_leaves(wanted))):
            compare(f"seed {seed}, output {index}", *pair)
        for name, buffer in old.named_buffers():
            compare(f"seed {seed}, buffer {name}", dict(new.named_buffers())[name], buffer)
    assert len(runs) == SEEDS, f"the kernels ran {len(runs)} times on {SEEDS} inputs of the task"


if __name__ == "__main__":
    test_modelnew_matches_the_module()
    print(f"ModelNew matches Model on {SEEDS} seeds")
