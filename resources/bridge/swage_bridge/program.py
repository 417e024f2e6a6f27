# SPDX-License-Identifier: Apache-2.0
"""From an ExportedProgram to GRAPH, the calling convention of forward, and where weights come from."""

from __future__ import annotations

import dataclasses
import sys

import torch
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind
from torch.utils import _pytree as pytree

from . import cleanup, folding
from .errors import BridgeError
from .serialize import GraphWriter, Places

_WEIGHT_KINDS = {InputKind.PARAMETER: "parameter", InputKind.BUFFER: "buffer", InputKind.CONSTANT_TENSOR: "constant"}


@dataclasses.dataclass
class Imported:
    """Result of reading a program.

    `graph` is GRAPH; `aliases` maps value ids of views to what they look at; `weights` maps the name
    of each parameter, buffer and constant of the graph (its path in the module) to its kind; `call`
    tells how forward's arguments and result are put together from tensors.
    """

    graph: dict
    aliases: dict
    weights: dict
    call: dict
    warnings: list


class _Leaf:
    """Stands for a leaf while a tree is put together again."""

    def __init__(self, document):
        self.document = document


def _class_of(value, task):
    """{"type": [module, name]} for a dictionary or tuple of a class of its own, such as the outputs of Hugging Face's
    models and named tuples, that the parts alone make again; else {}. The module is "" for the task's own file."""
    cls = type(value)
    if cls in (dict, tuple) or getattr(sys.modules.get(cls.__module__), cls.__name__, None) is not cls:
        return {}
    try:
        again = cls(**value) if isinstance(value, dict) else cls(*value)
        same = dict(again) == dict(value) if isinstance(value, dict) else tuple(again) == tuple(value)
    except Exception:  # noqa: BLE001: whatever a class of somebody else raises
        return {}
    own = cls.__module__ == task.source.module.__name__
    return {"type": ["" if own else cls.__module__, cls.__name__]} if same else {}


def _tree(value, task):
    """TREE of TASK_FORMAT.md for a nest of lists, tuples and dictionaries with _Leaf leaves."""
    if isinstance(value, _Leaf):
        return value.document
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: _tree(item, task) for key, item in value.items()}, **_class_of(value, task)}
    if isinstance(value, list):
        return {"list": [_tree(item, task) for item in value]}
    if isinstance(value, tuple):
        return {"tuple": [_tree(item, task) for item in value], **_class_of(value, task)}
    if value is None:
        return {"constant": None}
    raise BridgeError(
        "unsupported_output",
        f"forward of {task.source.file} takes or returns a {type(value).__name__}.",
        "Take and return tensors in tuples, lists or dictionaries.",
        task.source.path,
    )


def _call_tree(spec, arguments, task):
    """TREE for a pytree spec whose leaves are `arguments` of the signature, tensors numbered in order."""
    leaves, count = [], 0
    for argument in arguments:
        if isinstance(argument, ConstantArgument):
            leaves.append(_Leaf({"constant": argument.value}))
        else:
            leaves.append(_Leaf({"tensor": count}))
            count += 1
    return _tree(pytree.tree_unflatten(leaves, spec), task)


def _keep_outputs(program, task, promoted, warnings):
    """Drops graph outputs that are not part of a task.

    Returns the output node and (kind, name) of what stays. State that forward keeps in plain
    attributes (`promoted`) goes too: it is in no state_dict, so only the first call is the task.
    """
    output = next(node for node in program.graph.nodes if node.op == "output")
    nodes, kept = [], []
    for node, spec in zip(output.args[0], program.graph_signature.output_specs):
        if spec.kind == OutputKind.USER_OUTPUT:
            if isinstance(node, torch.fx.Node):
                nodes.append(node)
                kept.append(("user", ""))
        elif spec.kind == OutputKind.BUFFER_MUTATION and spec.target in promoted:
            warnings.append(
                f"forward changes the plain attribute {spec.target}; the task is the first call, without the change"
            )
        elif spec.kind == OutputKind.BUFFER_MUTATION:
            nodes.append(node)
            kept.append(("buffer_mutation", spec.target))
        elif spec.kind == OutputKind.USER_INPUT_MUTATION:
            warnings.append(f"forward changes its input {spec.target} in place; the change is not part of the task")
        else:
            raise BridgeError(
                "unsupported_operator",
                f"forward of {task.source.file} has an effect that a task cannot "
                f"express: {spec.kind.name.lower()} of {spec.target}.",
                "Remove the effect.",
                task.source.path,
            )
    if not any(kind == "user" for kind, _ in kept):
        raise BridgeError(
            "no_output", f"forward of {task.source.file} returns no tensor.", "Return a tensor.", task.source.path
        )
    output.args = (tuple(nodes),)
    return output, kept


def _add_inputs(writer, program, placeholders, task, promoted):
    """Writes the inputs that are used (and all user tensors); returns names and kinds of the weights."""
    weights = {}
    for spec in program.graph_signature.input_specs:
        node = placeholders[spec.arg.name]
        if spec.kind == InputKind.USER_INPUT:
            if not isinstance(spec.arg, ConstantArgument):
                writer.add_input(node, "user", spec.arg.name)
        elif spec.kind in _WEIGHT_KINDS:
            if node.users:
                kind = "constant" if spec.target in promoted else _WEIGHT_KINDS[spec.kind]
                writer.add_input(node, kind, spec.target)
                weights[spec.target] = kind
        elif node.users:
            raise BridgeError(
                "unsupported_operator",
                f"forward of {task.source.file} uses a {spec.kind.name.lower()}, which " "a task cannot express.",
                "Use tensors only.",
                task.source.path,
            )
    return weights


def read(program, task, promoted=()):
    """Simplifies the program's graph and writes it. `promoted` names buffers that are plain attributes.

    Raises BridgeError for what a task cannot express.
    """
    places, warnings = Places(task.source), []
    output, kept = _keep_outputs(program, task, promoted, warnings)
    cleanup.simplify(program.graph)
    cleanup.refuse_random(program.graph, task, places)
    cleanup.refuse_hidden_mutation(program.graph, task, places)
    constants = folding.fold(program.graph)
    program.constants.update(constants)
    writer = GraphWriter(task, places)
    placeholders = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    weights = _add_inputs(writer, program, placeholders, task, promoted)
    for name in constants:
        writer.add_input(placeholders[name], "constant", name)
        weights[name] = "constant"
    for node in program.graph.nodes:
        if node.op == "call_function":
            writer.add_call(node)
        elif node.op == "get_attr" and node.users:
            raise BridgeError(
                "unsupported_operator",
                f"forward of {task.source.file} holds a nested graph ({node.target}).",
                "Avoid control-flow operators and context managers in forward.",
                task.source.path,
            )
    for node, (kind, name) in zip(output.args[0], kept):
        writer.add_output(node, kind, name)
    signature = program.graph_signature
    users = [spec.arg for spec in signature.input_specs if spec.kind == InputKind.USER_INPUT]
    results = [spec.arg for spec in signature.output_specs if spec.kind == OutputKind.USER_OUTPUT]
    arguments = _call_tree(program.call_spec.in_spec, users, task)["tuple"][0]
    call = {"args": arguments, "result": _call_tree(program.call_spec.out_spec, results, task)}
    return Imported(writer.graph, writer.aliases, weights, call, warnings)


def _attribute(model, path):
    """The tensor at a dotted path of a module, or None."""
    value = model
    for part in path.split("."):
        value = getattr(value, part, None)
    return value if isinstance(value, torch.Tensor) else None


def collect_weights(imported, program, model, task):
    """The tensors of the graph's weights from a module with real data, contiguous, dtype kept.

    Constants come from the program when it holds their data, else from the attribute of that name.
    Raises BridgeError constant_lost.
    """
    from torch._subclasses.fake_tensor import FakeTensor

    tensors = {}
    for name, kind in imported.weights.items():
        tensor = program.constants.get(name) if kind == "constant" else None
        if tensor is None or isinstance(tensor, FakeTensor) or tensor.is_meta:
            tensor = _attribute(model, name)
        if tensor is None:
            raise BridgeError(
                "constant_lost",
                f"The value of the constant {name} of {task.source.file} could not be read.",
                "Register it with register_buffer.",
                task.source.path,
            )
        # A copy of its own: safetensors refuses tensors that share storage (tied weights).
        tensors[name] = tensor.detach().clone(memory_format=torch.contiguous_format)
    return tensors
