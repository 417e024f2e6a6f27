# SPDX-License-Identifier: Apache-2.0
"""Comparing results: flattening, errors against float64, tolerances; choosing the device."""

from __future__ import annotations

import contextlib
import copy

import torch
from torch.utils import _pytree as pytree

from .errors import EXIT_ENVIRONMENT, BridgeError, one_line


def choose_device(text, threads):
    """The torch.device named `cpu` or `cuda[:N]`; also sets the number of threads.

    Raises BridgeError no_device (exit 5) when the device is not there, bad_device otherwise.
    """
    if threads:
        torch.set_num_threads(threads)
    try:
        device = torch.device(text)
    except RuntimeError as exc:
        raise BridgeError("bad_device", f"{text!r} is not a device.", "Use cpu, cuda or cuda:N.") from exc
    if device.type not in ("cpu", "cuda"):
        raise BridgeError("bad_device", f"The device {text!r} is not supported.", "Use cpu, cuda or cuda:N.")
    if device.type == "cuda":
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if (device.index or 0) >= count:
            raise BridgeError(
                "no_device",
                f"{text} is not available: PyTorch sees {count} CUDA devices.",
                "Use --device cpu or check the driver.",
                code=EXIT_ENVIRONMENT,
            )
        device = torch.device("cuda", device.index or 0)
        torch.cuda.set_device(device)
    return device


def move(tree, device=None, dtype=None):
    """A copy of a nest of values: tensors cloned, moved to `device`, floating ones cast to `dtype`."""

    def convert(leaf):
        if not isinstance(leaf, torch.Tensor):
            return leaf
        cast = dtype if dtype and leaf.is_floating_point() else None
        return leaf.detach().to(device=device, dtype=cast, copy=True)

    return pytree.tree_map(convert, tree)


def tensors(tree):
    """The tensors of a nest of values, in order."""
    return [leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def draw_inputs(task, device, seed):
    """Fresh arguments of forward: the file's get_inputs() with `device` as default, under the seed."""
    torch.manual_seed(seed)
    with torch.device(device):
        inputs = task.make_inputs()
    return pytree.tree_map(lambda leaf: leaf.to(device) if isinstance(leaf, torch.Tensor) else leaf, inputs)


def copied(model):
    """A deep copy of the module, or the module itself when it holds what cannot be copied.

    Exports may keep compiled extensions or driver handles in attributes.
    """
    try:
        return copy.deepcopy(model)
    except Exception:  # copy, pickle and user code raise what they like
        return model


def run_once(model, inputs):
    """(result tensors, buffers by name after the call) of one call; neither module nor inputs change."""
    used = copied(model)
    before = {name: value.clone() for name, value in used.named_buffers()} if used is model else {}
    with torch.no_grad():
        results = tensors(used(*move(inputs)))
    buffers = {name: value.clone() for name, value in used.named_buffers()}
    for name, value in before.items():
        used.get_buffer(name).copy_(value)
    return results, buffers


def reference(model, inputs):
    """(result tensors of the module run in float64, ""), or (None, why) when that is not possible.

    The reference may need twice the memory and some code fixes its dtype; both are ordinary.
    """
    try:
        with torch.no_grad():
            exact = copy.deepcopy(model).double()
            return tensors(exact(*move(inputs, dtype=torch.float64))), ""
    except Exception as exc:
        return None, one_line(exc)


def output_errors(results, exact):
    """(dtype, relative l2 error, absolute error) of each floating tensor of the results.

    Integer results are left out: the distance of two indices says nothing.
    """
    found = []
    for result, wanted in zip(results, exact):
        if not (wanted.is_floating_point() and wanted.numel()):
            continue
        difference = result.double() - wanted.double()
        finite = torch.isfinite(wanted)
        # inf - inf is nan: equal infinities are no error.
        difference = torch.where((result == wanted.to(result.dtype)) & ~finite, 0.0, difference)
        norm = torch.linalg.vector_norm(torch.where(finite, wanted.double(), 0.0)).item()
        size = torch.linalg.vector_norm(difference).item()
        found.append((result.dtype, size / norm if norm else size, difference.abs().max().item()))
    return found


def errors(results, exact):
    """(worst relative l2 error, worst absolute error) over floating tensors; (None, None) if none."""
    found = output_errors(results, exact)
    if not found:
        return None, None
    return _worst([relative for _, relative, _ in found]), _worst([absolute for _, _, absolute in found])


@contextlib.contextmanager
def without_tf32():
    """Products and convolutions in full float32 precision inside."""
    matmul, cudnn = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = matmul, cudnn


_CLASSES = ("fp32", "tf32", "half")  # from the most exact on
_TF32_LIMIT = 1e-3


def accuracy_class(found, full):
    """The accuracy class of output_errors() `found`; `full` are those of eager without TF32.

    By the rule of the worker: a 16-bit result is `half`; a float32 one is `fp32` up to twice the error of
    full precision or 8 epsilon, `tf32` up to 1e-3.
    """
    worst = 0
    for (dtype, relative, _), (_, full_relative, _) in zip(found, full):
        if dtype in (torch.float16, torch.bfloat16):
            worst = 2
        elif not relative <= max(2 * full_relative, 8 * torch.finfo(dtype).eps):
            worst = max(worst, 1 if relative <= _TF32_LIMIT else 2)  # nan is in the last class
    return _CLASSES[worst]


def _worst(numbers):
    """The maximum; nan or infinity become the string that JSON can hold."""
    bad = [number for number in numbers if number != number or number == float("inf")]
    return str(bad[0]) if bad else max(numbers)


def tolerance(tensor):
    """Relative and absolute tolerance for a dtype: 1e-2 for half precisions, 1e-4 otherwise."""
    return 1e-2 if tensor.dtype in (torch.float16, torch.bfloat16) else 1e-4


def is_as_exact(result, wanted, exact):
    """Whether `result` is no farther from the float64 tensor `exact` than PyTorch's own `wanted`."""
    if tuple(result.shape) != tuple(exact.shape) or not exact.is_floating_point():
        return False
    (_, relative, absolute), (_, own_relative, own_absolute) = (
        found[0] if found else (None, 0.0, 0.0) for found in (output_errors([r], [exact]) for r in (result, wanted))
    )
    return relative <= own_relative and absolute <= own_absolute


def mismatch(name, result, wanted):
    """Why two results differ beyond tolerance, as one sentence; "" when they agree."""
    if tuple(result.shape) != tuple(wanted.shape):
        return f"{name} has shape {list(result.shape)} instead of {list(wanted.shape)}"
    if result.dtype != wanted.dtype:
        return f"{name} has dtype {result.dtype} instead of {wanted.dtype}"
    if not wanted.is_floating_point():
        wrong = int((result != wanted).sum())
        return f"{name} differs in {wrong} of {wanted.numel()} elements" if wrong else ""
    bound = tolerance(wanted)
    if torch.allclose(result, wanted, rtol=bound, atol=bound, equal_nan=True):
        return ""
    wrong = int((~torch.isclose(result, wanted, rtol=bound, atol=bound, equal_nan=True)).sum())
    worst = (result.double() - wanted.double()).abs().max().item()
    return f"{name} differs in {wrong} of {wanted.numel()} elements, by at most {worst:.3g} (tolerance {bound:g})"
