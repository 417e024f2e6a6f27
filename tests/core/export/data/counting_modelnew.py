# SPDX-License-Identifier: MIT-0
# Written by Swage; this file belongs to whoever exported it. Change, copy and sell it as you like.
"""counting: a module whose forward runs kernels that were verified against PyTorch.

task          counting (class Model of counting.py); task id 0123abcd; run 3; candidate 17
lineage       made by crossover from 12, 15; before them 4; seed 7; cell A1 B0 C1
speedup       1.25x (1.20 to 1.31) against the fastest baseline (compile), 1.50x (1.46 to 1.54) against eager
measured      2 us (1.98 to 2.03) on Test device; eager (interleaved) 3 us (2.96 to 3.05)
error         relative L2 1.2e-07 (eager 1.3e-07), class fp32; device Test device (test-1, driver 580.1)
verified with PyTorch 2.11.0; compiled by test-cc 1.2; written by Swage 0.1.0; with scale = 2.0
baseline      compile 2.5 us (2.48 to 2.52), class fp32, PyTorch 2.11.0; max-autotune failed
checked       unseen seeds passed: 3 seeds that no other check used

ModelNew takes the place of the original module, whose operators run for gradients, and where the constructor
arguments, the mode, or shape, strides, dtype or device of a tensor are not the verified ones. Replaced parameters and
buffers are noticed; submodules and other attributes that are changed after construction are not.
"""
from __future__ import annotations

import collections as _collections
import contextlib as _contextlib
import ctypes as _ctypes
import functools as _functools
import hashlib as _hashlib
import os as _os
import pathlib as _pathlib
import shlex as _shlex
import shutil as _shutil
import subprocess as _subprocess
import tempfile as _tempfile
import warnings as _warnings

# ---------------------------------------------------------------- the module as it was given
import torch
from torch import nn

features = 3
scale = 2.0

class Scaled(nn.Module):
    def forward(self, x):
        return x * scale

class _OriginalModel(nn.Module):
    def __init__(self, inputs, outputs, *, bias=True):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs, bias=bias)
        self.scaled = Scaled()
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.calls += 1
        y = self.scaled(self.linear(x))
        return torch.relu(y), [y]


def _original_init_inputs():
    return [[features, 4], {"bias": True}]

# ---------------------------------------------------------------- the kernels
_SWAGE_SOURCE = r"""
extern "C" void scaled_relu(void** arguments) {
  const float* x = *static_cast<const float**>(arguments[0]);
  float* scaled = *static_cast<float**>(arguments[1]);
  float* out = *static_cast<float**>(arguments[2]);
  float* scratch = *static_cast<float**>(arguments[3]);
  const float scale = *static_cast<const float*>(arguments[4]);
  for (int pass_ = 0; pass_ < 8; ++pass_) {
    scaled[pass_] = x[pass_] * scale;
    scratch[pass_] += scaled[pass_];
    out[pass_] = scratch[pass_] > 0.0f ? scratch[pass_] : 0.0f;
  }
}

extern "C" __attribute__((visibility("default"))) void swage_step0(void* a0, void* a1, void* a2, void* a3, float a4) {
  void* arguments[] = {&a0, &a1, &a2, &a3, &a4};
  scaled_relu(arguments);
}
"""
# The launchers at the end of the source, and the types of their arguments.
_SWAGE_STEPS = (
    ("swage_step0", (_ctypes.c_void_p, _ctypes.c_void_p, _ctypes.c_void_p, _ctypes.c_void_p, _ctypes.c_float)),
)
_SWAGE_FLAGS = ["-std=c++20", "-O3", "-march=native", "-fopenmp", "-fno-math-errno", "-fno-trapping-math",
                "-fno-exceptions", "-shared", "-fPIC"]


@_functools.cache
def _swage_steps(_):
    """The launchers, from a cache or compiled now; None when the original operators must run."""
    compiler = _shlex.split(_os.environ.get("CXX", "")) or [_shutil.which("g++") or _shutil.which("c++") or ""]
    if not _shutil.which(compiler[0]):
        _warnings.warn("No C++ compiler was found (set CXX): the original operators run instead of the kernels.")
        return None
    # The kernels are for this processor, and a home directory may be shared between machines.
    parts, info = [_SWAGE_SOURCE, *_SWAGE_FLAGS, *compiler, _os.uname().machine], _pathlib.Path("/proc/cpuinfo")
    lines = info.read_text("utf-8", "replace").splitlines() if info.exists() else []
    parts += sorted({line for line in lines if line.startswith(("flags", "model name", "Features"))})
    folder = _pathlib.Path(_os.environ.get("XDG_CACHE_HOME") or _pathlib.Path.home() / ".cache", "swage", "export")
    library = folder / (_hashlib.sha256("\0".join(parts).encode()).hexdigest() + ".so")
    if not library.exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _tempfile.TemporaryDirectory(dir=folder) as work:
            command = [*compiler, *_SWAGE_FLAGS, "-x", "c++", "-", "-o", work + "/kernels.so"]
            run = _subprocess.run(command, input=_SWAGE_SOURCE, capture_output=True, text=True, check=False)
            if run.returncode != 0:
                _warnings.warn(f"{compiler[0]} cannot compile it, original operators run instead: {run.stderr[:2000]}")
                return None
            _os.replace(work + "/kernels.so", library)  # another process may do the same: either result is whole
    # PyTorch is imported by now and brings libgomp.so.1, so the kernels share its threads and thread count.
    loaded = _ctypes.CDLL(library)
    for name, types in _SWAGE_STEPS:
        getattr(loaded, name).argtypes, getattr(loaded, name).restype = types, None
    return tuple(getattr(loaded, name) for name, _ in _SWAGE_STEPS)

# ---------------------------------------------------------------- the launch plan
# Shape, strides, dtype and name of what the plan reads: the arguments of forward, then parameters and buffers.
_SWAGE_INPUTS = (
    ((2, 3), (3, 1), torch.float32, "x"),
    ((4, 3), (3, 1), torch.float32, "linear.weight"),
    ((4,), (1,), torch.float32, "linear.bias"),
    ((), (), torch.int64, "calls"),
)
_SWAGE_USER_INPUTS, _SWAGE_TRAINING, _SWAGE_DEVICE = 1, True, "cpu"
_swage_aten_add_Tensor = torch.ops.aten.add.Tensor
_swage_aten_linear_default = torch.ops.aten.linear.default


def _swage_layout(tensor, shape, strides):
    """The tensor in the layout that the kernels were verified with."""
    if _swage_same_strides(tensor, strides):
        return tensor
    return torch.empty_strided(shape, strides, dtype=tensor.dtype, device=tensor.device).copy_(tensor)


def _swage_same_strides(tensor, strides):
    """Whether strides agree where they matter: a dimension of one element may have any."""
    return tensor.stride() == strides or all(
        size == 1 or have == want for size, have, want in zip(tensor.shape, tensor.stride(), strides))


def _swage_plan(steps, device, v3, v0, v1, v2):
    """The verified plan, step by step; returns the outputs of the graph."""
    v5 = _swage_aten_add_Tensor(v2, 1)
    v4 = _swage_aten_linear_default(v3, v0, v1)
    v8 = torch.empty_strided((2, 4), (4, 1), dtype=torch.float32, device=device)
    v8.zero_()
    v4 = _swage_layout(v4, (2, 4), (4, 1))
    v6 = torch.empty_strided((2, 4), (4, 1), dtype=torch.float32, device=device)
    v7 = torch.empty_strided((2, 4), (4, 1), dtype=torch.float32, device=device)
    steps[0](v4.data_ptr(), v6.data_ptr(), v7.data_ptr(), v8.data_ptr(), 2.0)  # scaled_relu
    del v4, v8
    return (v5, v7, v6,)


def _swage_signature(value):
    """What must agree of constructor arguments; of tensors shape and dtype, since their values become state."""
    if isinstance(value, dict):
        return {key: _swage_signature(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_swage_signature(item) for item in value]
    return (value.shape, value.dtype) if isinstance(value, torch.Tensor) else (type(value), value)


def _swage_verified_constructor():
    """Positional and keyword arguments of the constructor that the kernels were verified with."""
    values = list(_original_init_inputs())
    is_pair = len(values) == 2 and isinstance(values[0], list) and isinstance(values[1], dict)
    return values if is_pair else [values, {}]


# A way in which verified tensors have come: how to know it again, and what is the same at each call.
_SwageCase = _collections.namedtuple("_SwageCase", "check steps device index has_gradients")
_SWAGE_CASES = ()  # newest first
# torch.compile gets the original operators. torch.compiler.is_compiling() says the same of more, and takes longer.
_swage_is_traced = getattr(torch.compiler, "is_dynamo_compiling", torch.compiler.is_compiling)


def _swage_examine(tensors):
    """The case of tensors that have not come in this way before; None when the original operators must run."""
    global _SWAGE_CASES
    device = tensors[0].get_device() if isinstance(tensors[0], torch.Tensor) else None
    for tensor, (shape, strides, dtype, _) in zip(tensors, _SWAGE_INPUTS):
        if (type(tensor) not in (torch.Tensor, torch.nn.Parameter) or tensor.shape != shape or tensor.dtype is not dtype
                or not tensor.is_cpu or tensor.get_device() != device or tensor.layout is not torch.strided
                or tensor.stride() != strides):
            return None
    if torch.is_autocast_enabled(_SWAGE_DEVICE) or torch.compiler.is_compiling():
        return None
    steps, check = _swage_steps(device), None
    if steps is None:
        return None
    # As PyTorch guards compiled functions: a tenth of the time that the checks above take, and dispatch keys too. A
    # version that lacks it gets the checks above at each call.
    with _contextlib.suppress(AttributeError, TypeError, RuntimeError, SystemError):
        check = torch._C._dynamo.guards.TensorGuards(*tensors, dynamic_dims_sizes=[list(t.shape) for t in tensors],
                                                     dynamic_dims_strides=[list(t.stride()) for t in tensors]).check
    case = _SwageCase(check, steps, tensors[0].device, device, any(t.requires_grad for t in tensors))
    _SWAGE_CASES = _SWAGE_CASES if check is None else (case, *_SWAGE_CASES[:7])
    return case


class _SwageWithGradients(torch.autograd.Function):
    """The plan forward; backward computes the original forward again, with its operators, and differentiates it."""

    @staticmethod
    def forward(ctx, module, case, args, *tensors):
        ctx.module = module
        # The plan overwrites buffers; backward needs what they held before.
        ctx.save_for_backward(*(t.clone() if i in (3,) else t for i, t in enumerate(tensors)))
        outputs = module._swage_run(case, tensors)
        ctx.mark_non_differentiable(*(o for o in outputs if not o.is_floating_point()))
        return outputs

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, *gradients):
        inputs = [t.detach().requires_grad_(n) for t, n in zip(ctx.saved_tensors, ctx.needs_input_grad[3:])]
        state = {"module." + name: t for (*_, name), t in zip(_SWAGE_INPUTS[1:], inputs[1:])}
        original = torch.nn.Module()  # without what hooks of ModelNew would do a second time
        original.module, original.forward = ctx.module, super(ModelNew, ctx.module).forward
        with torch.enable_grad():
            leaves = torch.utils._pytree.tree_leaves(torch.func.functional_call(original, state, tuple(inputs[:1])))
        outputs = zip((leaf for leaf in leaves if isinstance(leaf, torch.Tensor)), gradients)
        pairs = [(o, g) for o, g in outputs if o.requires_grad and g is not None]
        torch.autograd.backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, None, None, *(t.grad for t in inputs))


class ModelNew(_OriginalModel):
    """Model with verified kernels."""

    def __init__(self, *args, **kwargs):
        self._swage_same_constructor = False  # for an original constructor that calls forward
        super().__init__(*args, **kwargs)
        self._swage_modules = list(self.modules())
        self._swage_modes = [m.training and _SWAGE_TRAINING for m in self._swage_modules]
        same = _swage_signature([args, kwargs]) == _swage_signature(_swage_verified_constructor())
        # The plan has what hooks of the module's own do, which would then be done twice.
        self._swage_same_constructor = bool(same) and not (self._forward_hooks or self._forward_pre_hooks)

    def forward(self, *args, **kwargs):
        """The verified kernels when they fit the arguments, the original operators when they do not."""
        if _swage_is_traced() or kwargs or not self._swage_same_constructor or len(args) != 1:
            return super().forward(*args, **kwargs)
        tensors = (*args,
                   self._modules["linear"]._parameters.get("weight"),
                   self._modules["linear"]._parameters.get("bias"),
                   self._buffers.get("calls"))
        for case in _SWAGE_CASES:
            if case.check(*tensors):
                break
        else:
            case = _swage_examine(tensors)
        if case is None or [m.training for m in self._swage_modules] != self._swage_modes:
            return super().forward(*args)
        for tensor in tensors:
            if tensor.data_ptr() % 64:  # kernels may use vector accesses
                return super().forward(*args)
        if case.has_gradients and torch.is_grad_enabled():
            outputs = _SwageWithGradients.apply(self, case, args, *tensors)
        else:
            outputs = self._swage_run(case, tensors)
        return (outputs[0], [outputs[1]])

    def _swage_run(self, case, tensors):
        """Runs the plan, gives the buffers their new values and returns what forward returns."""
        outputs = _swage_plan(case.steps, case.device, *tensors)
        self._buffers.get("calls").copy_(outputs[0])
        return outputs[1:]
