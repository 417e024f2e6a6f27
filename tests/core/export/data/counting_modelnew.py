# SPDX-License-Identifier: MIT-0
# Written by Swage; this file belongs to whoever exported it. Change, copy and sell it as you like.
"""counting: a module whose forward runs kernels that were verified against PyTorch.

task          counting (class Model of counting.py)
task id       0123abcd
run           3
candidate     17
lineage       made by crossover from 12, 15; before them 4
seed          7
cell          A1 B0 C1
measured      2 us (1.98 to 2.03), 1.50x of eager (1.46 to 1.54), which takes 3 us (2.96 to 3.05) on Test device
error         relative L2 1.2e-07 (eager 1.3e-07), class fp32
device        Test device (test-1, driver 580.1)
verified with PyTorch 2.11.0
compiled by   test-cc 1.2
written by    Swage 0.1.0
with          scale = 2.0
baseline      compile 2.5 us (2.48 to 2.52), class fp32, PyTorch 2.11.0
baseline      max-autotune failed
checked       unseen seeds passed: 3 seeds that no other check used

ModelNew takes the constructor arguments of the original module and has the same state_dict. Its kernels run when
the constructor arguments, the mode, and the shapes, strides, dtypes and device of all tensors are the verified
ones; otherwise, and for gradients, the original operators run. Replaced parameters and buffers are noticed;
submodules and other attributes that are changed after construction are not.
"""
from __future__ import annotations

import base64 as _base64
import contextlib as _contextlib
import ctypes as _ctypes
import hashlib as _hashlib
import os as _os
import platform as _platform
import shlex as _shlex
import shutil as _shutil
import struct as _struct
import subprocess as _subprocess
import tempfile as _tempfile
import warnings as _warnings
import zlib as _zlib

import torch
from torch import nn as _nn
from torch.utils import _pytree

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

# The argument types of each launcher at the end of the source.
_SWAGE_STEPS = (
    ("swage_step0", (_ctypes.c_void_p, _ctypes.c_void_p, _ctypes.c_void_p, _ctypes.c_void_p, _ctypes.c_float)),
)
_SWAGE_FLAGS = ["-std=c++20", "-O3", "-march=native", "-fopenmp", "-fno-math-errno", "-fno-trapping-math", "-fno-exceptions", "-shared", "-fPIC"]
_SWAGE_READY = {}


def _swage_cpu_name():
    """What tells this processor from others: a home directory may be shared between machines."""
    if not _os.path.exists("/proc/cpuinfo"):
        return _platform.processor()
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
        return "".join(sorted({line for line in lines if line.startswith(("flags", "model name", "Features"))}))


def _swage_compile():
    """The path of the compiled kernels, from the cache or made now; None when they cannot be compiled here."""
    compiler = _shlex.split(_os.environ.get("CXX", "")) or [_shutil.which("g++") or _shutil.which("c++") or ""]
    if not _shutil.which(compiler[0]):
        _warnings.warn("No C++ compiler was found (set CXX): the original operators run instead of the kernels.")
        return None
    parts = (_SWAGE_SOURCE, *_SWAGE_FLAGS, *compiler, _platform.machine(), _swage_cpu_name())
    key = _hashlib.sha256("\0".join(parts).encode()).hexdigest()
    cache = _os.environ.get("XDG_CACHE_HOME") or _os.path.join(_os.path.expanduser("~"), ".cache")
    folder = _os.path.join(cache, "swage", "export")
    library = _os.path.join(folder, key + ".so")
    if _os.path.exists(library):
        return library
    _os.makedirs(folder, mode=0o700, exist_ok=True)
    with _tempfile.TemporaryDirectory(dir=folder) as work:
        source, fresh = _os.path.join(work, "kernels.cpp"), _os.path.join(work, "kernels.so")
        with open(source, "w", encoding="utf-8") as stream:
            stream.write(_SWAGE_SOURCE)
        run = _subprocess.run([*compiler, *_SWAGE_FLAGS, source, "-o", fresh], capture_output=True, text=True, check=False)
        if run.returncode != 0:
            _warnings.warn(f"{compiler[0]} cannot compile the kernels, the original operators run instead: "
                           f"{run.stderr[:2000]}")
            return None
        # Another process may do the same; renaming makes either result whole.
        _os.replace(fresh, library)
    return library


def _swage_steps(_):
    """The launchers, ready to be called; False when there are none and the original operators must run."""
    if "cpu" not in _SWAGE_READY:
        library = _swage_compile() if _SWAGE_STEPS else None
        # PyTorch is imported by now and brings libgomp.so.1, so the kernels share its threads and thread count.
        loaded = _ctypes.CDLL(library) if library else None
        ready = []
        for name, types in _SWAGE_STEPS if loaded else ():
            launcher = getattr(loaded, name)
            launcher.argtypes, launcher.restype = types, None
            ready.append(launcher)
        _SWAGE_READY["cpu"] = tuple(ready) if len(ready) == len(_SWAGE_STEPS) else False
    return _SWAGE_READY["cpu"]


def _swage_current_device():
    """The CPU's number, as Tensor.get_device() has it."""
    return -1


_SWAGE_MADVISE = getattr(_ctypes.CDLL(None), "madvise", None)
if _SWAGE_MADVISE is not None:
    _SWAGE_MADVISE.argtypes, _SWAGE_MADVISE.restype = (_ctypes.c_void_p, _ctypes.c_size_t, _ctypes.c_int), _ctypes.c_int


def _swage_huge_pages(tensor):
    """Asks the system to back a large fresh tensor by huge pages, and returns it.

    The allocator maps large blocks anew for each tensor, and the kernel that writes such a block first takes a
    fault for every 4 KiB of it, which costs more than the arithmetic. With 2 MiB pages there are 512 times fewer.
    It is advice: where it is refused, only time is lost.
    """
    huge = 1 << 21
    begin = (tensor.data_ptr() + huge - 1) // huge * huge
    length = (tensor.data_ptr() + tensor.untyped_storage().nbytes()) // huge * huge - begin
    if _SWAGE_MADVISE is not None and length > 0:
        _SWAGE_MADVISE(begin, length, 14)  # MADV_HUGEPAGE
    return tensor


# ---------------------------------------------------------------- the launch plan

# Shape, strides and dtype of what the plan reads: the arguments of forward, then parameters and buffers.
_SWAGE_INPUTS = (
    ((2, 3), (3, 1), torch.float32),  # x
    ((4, 3), (3, 1), torch.float32),  # linear.weight
    ((4,), (1,), torch.float32),  # linear.bias
    ((), (), torch.int64),  # calls
)
_SWAGE_USER_INPUTS = 1
_SWAGE_MUTATED = (3, )  # of them, buffers that forward overwrites
_SWAGE_TRAINING = True
_SWAGE_DEVICE = "cpu"
_SWAGE_ALIGNMENT = 64  # bytes; kernels may use vector accesses

_swage_aten_add_Tensor = torch.ops.aten.add.Tensor
_swage_aten_linear_default = torch.ops.aten.linear.default


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


class _SwageTensor:
    """Stands for a tensor in a pattern of arguments."""


def _swage_match(pattern, value, tensors):
    """Whether a nest of arguments is the verified one but for its tensors, which are appended to `tensors`."""
    if pattern is _SwageTensor:
        tensors.append(value)
        return isinstance(value, torch.Tensor)
    if type(pattern) is not type(value):
        return False
    if isinstance(pattern, dict):
        return list(pattern) == list(value) and all(_swage_match(pattern[k], value[k], tensors) for k in pattern)
    if isinstance(pattern, (tuple, list)):
        return len(pattern) == len(value) and all(_swage_match(p, v, tensors) for p, v in zip(pattern, value))
    return pattern == value


def _swage_same_strides(tensor, strides):
    """Whether strides agree where they matter: a dimension of one element may have any."""
    return all(size == 1 or have == want for size, have, want in zip(tensor.shape, tensor.stride(), strides))


def _swage_layout(tensor, shape, strides):
    """The tensor in the layout that the kernels were verified with."""
    if tensor.stride() == strides or _swage_same_strides(tensor, strides):
        return tensor
    return torch.empty_strided(shape, strides, dtype=tensor.dtype, device=tensor.device).copy_(tensor)


def _swage_equal(left, right):
    """Equality of constructor arguments. Tensors need the same shape and dtype: their values become state."""
    if isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor):
        return left.shape == right.shape and left.dtype == right.dtype
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(_swage_equal(a, b) for a, b in zip(left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_swage_equal(left[k], right[k]) for k in left)
    return type(left) is type(right) and bool(left == right)


def _swage_verified_constructor():
    """Positional and keyword arguments of the constructor that the kernels were verified with."""
    values = list(_original_init_inputs())
    if len(values) == 2 and isinstance(values[0], list) and isinstance(values[1], dict):
        return [values[0], values[1]]
    return [values, {}]


class _SwageCase:
    """A way in which verified tensors have come, and what does not change from call to call."""

    __slots__ = ("check", "steps", "device", "index", "has_gradients")

    def __init__(self, check, steps, tensors):
        self.check, self.steps, self.device = check, steps, tensors[0].device
        self.index = tensors[0].get_device()
        self.has_gradients = any(t.requires_grad for t in tensors)


_SWAGE_CASES = ()  # newest first
# In what torch.compile traces this is true; torch.compiler.is_compiling() says the same of more, and takes longer.
_swage_is_traced = getattr(torch.compiler, "is_dynamo_compiling", torch.compiler.is_compiling)


def _swage_quick_check(tensors):
    """PyTorch's own check that tensors are like these in type, shape, strides, dtype, device and dispatch keys.

    It is what guards compiled functions, and takes a tenth of the time that the same takes in Python. A version of
    PyTorch that lacks it gets the checks in Python at each call.
    """
    with _contextlib.suppress(AttributeError, TypeError, RuntimeError, SystemError):
        return torch._C._dynamo.guards.TensorGuards(
            *tensors, dynamic_dims_sizes=[list(t.shape) for t in tensors],
            dynamic_dims_strides=[list(t.stride()) for t in tensors]).check
    return None


def _swage_examine(tensors):
    """The case of tensors that have not come in this way before; None when the original operators must run."""
    global _SWAGE_CASES
    device = tensors[0].get_device() if isinstance(tensors[0], torch.Tensor) else None
    for tensor, (shape, strides, dtype) in zip(tensors, _SWAGE_INPUTS):
        if (type(tensor) not in (torch.Tensor, _nn.Parameter) or tensor.shape != shape or tensor.dtype is not dtype
                or not tensor.is_cpu or tensor.get_device() != device
                or tensor.layout is not torch.strided
                or not (tensor.stride() == strides or _swage_same_strides(tensor, strides))):
            return None
    if torch.is_autocast_enabled(_SWAGE_DEVICE) or torch.compiler.is_compiling():
        return None
    steps = _swage_steps(device)
    if steps is False:
        return None
    case = _SwageCase(_swage_quick_check(tensors), steps, tensors)
    if case.check is not None:
        _SWAGE_CASES = (case, *_SWAGE_CASES[:7])
    return case


def _swage_find(tensors):
    """The case of these tensors; None when the original operators must run."""
    for case in _SWAGE_CASES:
        if case.check(*tensors):
            break
    else:
        case = _swage_examine(tensors)
        if case is None:
            return None
    if case.index != _swage_current_device():
        return None
    for tensor in tensors:
        if tensor.data_ptr() % _SWAGE_ALIGNMENT:
            return None
    return case


class _SwageWithGradients(torch.autograd.Function):
    """The plan forward; backward computes the original forward again, with its operators, and differentiates it."""

    @staticmethod
    def forward(ctx, module, case, args, *tensors):
        # The plan overwrites buffers; backward needs what they held before.
        ctx.module, ctx.args = module, _pytree.tree_map_only(torch.Tensor, lambda _: _SwageTensor, args)
        ctx.save_for_backward(*(t.clone() if i in _SWAGE_MUTATED else t for i, t in enumerate(tensors)))
        outputs = module._swage_run(case, tensors)
        ctx.mark_non_differentiable(*(o for o in outputs if not o.is_floating_point()))
        return tuple(outputs)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, *gradients):
        module = ctx.module
        inputs = [t.detach().requires_grad_(n) for t, n in zip(ctx.saved_tensors, ctx.needs_input_grad[3:])]
        users = iter(inputs[:_SWAGE_USER_INPUTS])
        # Tensors were replaced by their stand-in above, in the order in which they are saved.
        args = _pytree.tree_map(lambda leaf: next(users) if leaf is _SwageTensor else leaf, ctx.args)
        state = dict(zip(module._swage_state_names, inputs[_SWAGE_USER_INPUTS:]))
        with torch.enable_grad():
            result = torch.func.functional_call(module._swage_original, state, args)
        outputs = [leaf for leaf in _pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor)]
        pairs = [(o, g) for o, g in zip(outputs, gradients) if o.requires_grad and g is not None]
        wanted = [t for t in inputs if t.requires_grad]
        found = iter(torch.autograd.grad([o for o, _ in pairs], wanted, [g for _, g in pairs], allow_unused=True))
        return (None, None, None, *(next(found) if t.requires_grad else None for t in inputs))


class ModelNew(_nn.Module):
    """Model with verified kernels."""

    _swage_state_names = ("linear.weight", "linear.bias", "calls", )

    def __init__(self, *args, **kwargs):
        super().__init__()
        original = _OriginalModel(*args, **kwargs)
        # Not registered as a submodule, which would change the names in state_dict. Instead both share their
        # registries, so that .to(), load_state_dict() and the like act on both.
        object.__setattr__(self, "_swage_original", original)
        for registry in ("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set", "_state_dict_hooks",
                         "_state_dict_pre_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks"):
            object.__setattr__(self, registry, getattr(original, registry))
        self.training = original.training
        self._swage_modules = list(original.modules())
        self._swage_modes = [m.training and _SWAGE_TRAINING for m in self._swage_modules]
        self._swage_same_constructor = _swage_equal([list(args), kwargs], _swage_verified_constructor())

    def train(self, mode=True):
        """Sets the mode of the original module, whose own train() may treat parts of it differently."""
        self._swage_original.train(mode)
        self.training = self._swage_original.training
        return self

    def forward(self, *args, **kwargs):
        """The verified kernels when they fit the arguments, the original operators when they do not."""
        # torch.compile gets the original operators, and compiles them without anything of this file in between.
        if _swage_is_traced() or kwargs or not self._swage_same_constructor:
            return self._swage_original(*args, **kwargs)
        if len(args) != 1:
            return self._swage_original(*args)
        tensors = args
        tensors = (*tensors,
                   self._modules["linear"]._parameters.get("weight"),
                   self._modules["linear"]._parameters.get("bias"),
                   self._buffers.get("calls"),)
        case = _swage_find(tensors)
        if case is None or [m.training for m in self._swage_modules] != self._swage_modes:
            return self._swage_original(*args)
        if case.has_gradients and torch.is_grad_enabled():
            outputs = _SwageWithGradients.apply(self, case, args, *tensors)
        else:
            outputs = self._swage_run(case, tensors)
        return (outputs[0], [outputs[1]])

    def _swage_run(self, case, tensors):
        """Runs the plan, gives the buffers their new values and returns what forward returns, as a flat tuple."""
        outputs = _swage_plan(case.steps, case.device, *tensors)
        self._buffers.get("calls").copy_(outputs[0])

        return outputs[1:]
