# SPDX-License-Identifier: Apache-2.0
"""From a module to a functional torch.export program, and exceptions of that to BridgeErrors.

The module and its inputs live in a FakeTensorMode on the CPU: no memory is used for their data, yet
devices, autocast and constants behave as they would in a real run, which they do not on `meta`.
"""

from __future__ import annotations

import os
import re
import traceback
import warnings

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from . import composites, einsum, recurrent
from .errors import BridgeError, at_line, one_line, user_line

_DATA_DEPENDENT = (
    "GuardOnDataDependentSymNode",
    "DataDependentOutputException",
    "DynamicOutputShapeException",
    "PendingUnbackedSymbolNotFound",
)
_UNSUPPORTED = ("UnsupportedOperatorException", "UnsupportedFakeTensorException")


def fake_mode():
    """A mode in which tensors have shapes but no data; real tensors made elsewhere may take part."""
    return FakeTensorMode(allow_non_fake_inputs=True)


def build_fake(task, mode):
    """The module, its tensors without data in `mode` if its constructor allows it.

    Constructors that read a tensor's values (Tensor.item(), numpy) cannot run without data. If the
    real build fails too, its error is the one reported: it is what the user would see.
    """
    try:
        with mode:
            return task.build()
    except BridgeError as exc:
        if exc.kind != "constructor_failed":
            raise
    return task.build()


def fake_inputs(task):
    """The arguments of forward in the mode in force; inputs that depend on drawn values are told apart."""
    try:
        return task.make_inputs()
    except BridgeError as exc:
        if any(type(item).__name__ in _DATA_DEPENDENT for item in _causes(exc.__cause__)):
            raise translate(exc.__cause__, task, "get_inputs") from exc
        raise


def promote_attributes(model):
    """Registers plain tensor attributes as non-persistent buffers; returns their dotted names.

    torch.export 2.11 refuses a plain tensor attribute that forward changes, but follows buffers.
    """
    promoted = []
    for prefix, module in model.named_modules():
        for name in [key for key, value in vars(module).items() if isinstance(value, torch.Tensor)]:
            value = vars(module).pop(name)
            module.register_buffer(name, value.detach(), persistent=False)
            promoted.append(f"{prefix}.{name}" if prefix else name)
    return promoted


def export_task(task):
    """Exports the task without data; plain attributes are promoted only when it fails without.

    Returns (program, names of promoted attributes).
    """
    mode = fake_mode()
    model = build_fake(task, mode)
    with mode:
        inputs = fake_inputs(task)
    try:
        return export(task, model, inputs, mode), []
    except BridgeError as exc:
        if exc.kind not in ("export_failed", "forward_failed"):
            raise
        first = exc
    # A fresh module: the first attempt may have left its own tensors in the attributes.
    model = build_fake(task, mode)
    promoted = promote_attributes(model)
    if not promoted:
        raise first
    try:
        return export(task, model, inputs, mode), promoted
    except BridgeError:
        raise first from None


def export(task, model, inputs, mode):
    """The functional ExportedProgram of model(*inputs), composite operators kept whole.

    Raises BridgeError: forward_failed, data_dependent, unsupported_operator, export_failed.
    """
    path = task.source.path
    if not all(_is_argument(value) for value in inputs):
        raise BridgeError(
            "unsupported_input",
            f"get_inputs() of {task.source.file} returns something that is not a "
            "tensor, number, string, None or a list of those.",
            "Return tensors and numbers.",
            path,
        )
    try:
        with mode, recurrent.kept_whole(), warnings.catch_warnings():
            # What torch.export warns about (attributes assigned while tracing) does not change the graph.
            warnings.simplefilter("ignore")
            program = torch.export.export(model, tuple(inputs), strict=False)
            program = program.run_decompositions({**einsum.DECOMPOSITIONS, **composites.decompositions()})
        recurrent.name_back(program.graph)
        return program
    except (Exception, SystemExit) as exc:
        raise translate(exc, task, "forward") from exc


def _is_argument(value):
    """Whether a forward argument is a tensor, a plain value, or a container of those."""
    if isinstance(value, (list, tuple)):
        return all(_is_argument(item) for item in value)
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_argument(item) for key, item in value.items())
    return value is None or isinstance(value, (torch.Tensor, bool, int, float, str))


def _causes(exc):
    """The exception and those it came from, outermost first."""
    seen = []
    while exc is not None and exc not in seen:
        seen.append(exc)
        exc = exc.__cause__ or exc.__context__
    return seen


def _operator_in(text):
    """The first `aten.name.overload` in a message, or nothing."""
    found = re.search(r"\b(aten|prims|torchvision|[a-z_]\w*)[.:]+(\w+)\.(default|[A-Za-z_]\w*)\b", text)
    return found.group(0) if found else ""


def translate(exc, task, stage):
    """A BridgeError for an exception that came out of tracing `stage` of the task."""
    chain = _causes(exc)
    names = [type(item).__name__ for item in chain]
    line = next((n for n in (user_line(item, task.source.path) for item in chain) if n), 0)
    file, path = task.source.file, task.source.path
    what = f"{task.class_name}.{stage}" if stage == "forward" else stage
    if any(name in _DATA_DEPENDENT for name in names) or "data-dependent" in str(exc):
        return BridgeError(
            "data_dependent",
            f"{what} of {file} branches or sizes a tensor by computed values"
            f"{at_line(line)}, so it has no fixed graph: {one_line(exc)}",
            "Remove the dependence of control flow and shapes on tensor values.",
            path,
            line,
        )
    if any(name in _UNSUPPORTED for name in names) or isinstance(exc, NotImplementedError):
        operator = _operator_in(str(exc)) or "an operator"
        return BridgeError(
            "unsupported_operator",
            f"{what} of {file} uses {operator}{at_line(line)}, which cannot be " f"traced: {one_line(exc)}",
            "Replace the operator by standard PyTorch ones.",
            path,
            line,
        )
    unknown = re.search(r"Found <class '(?:[\w.]*\.)?(\w+)'> in output, which is not a known type", str(exc))
    if unknown:
        return BridgeError(
            "unsupported_output",
            f"forward of {file} returns a {unknown.group(1)}, which is not a tensor, tuple, list or dictionary.",
            "Return tensors. For a model of transformers that returns a cache, set use_cache=False in its configuration.",
            path,
            line,
        )
    if _raised_by_user_code(exc, path):
        return BridgeError(
            "forward_failed",
            f"{what} of {file} failed{at_line(line)} on the shapes of its inputs: " f"{one_line(exc)}",
            "Make the module run on its own inputs first.",
            path,
            line,
        )
    return BridgeError(
        "export_failed",
        f"torch.export could not export {what} of {file}{at_line(line)}: {one_line(exc)}",
        "Run with --debug for PyTorch's full message.",
        path,
        line,
    )


def _raised_by_user_code(exc, path):
    """Whether a frame of the user's file is on the stack of the exception."""
    wanted = os.path.realpath(path)
    return any(os.path.realpath(frame.filename) == wanted for frame in traceback.extract_tb(exc.__traceback__))


def trace_generator(task):
    """The fx graph module of get_inputs(), purely functional; its outputs are the tensor inputs in order.

    Raises BridgeError get_inputs_failed, also when the inputs cannot be traced.
    """
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.utils import _pytree as pytree

    def tensors():
        leaves = pytree.tree_leaves(tuple(fake_inputs(task)))
        return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            functional = torch.func.functionalize(tensors, remove="mutations")
            return make_fx(functional, tracing_mode="fake")()
    except BridgeError:
        raise
    except (Exception, SystemExit) as exc:
        raise BridgeError(
            "get_inputs_failed",
            f"get_inputs() of {task.source.file} cannot be traced: {one_line(exc)}",
            "Draw the inputs with PyTorch's random functions.",
            task.source.path,
            user_line(exc, task.source.path),
        ) from exc
