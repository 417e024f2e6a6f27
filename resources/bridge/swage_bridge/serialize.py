# SPDX-License-Identifier: Apache-2.0
"""Writing fx graphs as GRAPH of core/wire/TASK_FORMAT.md."""

from __future__ import annotations

import math
import operator
import os
import re

import torch

from .cleanup import value_of
from .errors import BridgeError, at_line
from .inputs_spec import DTYPES
from .statements import Statements

_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')


class Places:
    """Finds the source line of a node: the innermost frame in the user's file, else the innermost.

    `source` is the user's file, a source.Source.
    """

    def __init__(self, source):
        self._path = os.path.realpath(source.path)
        self._statements = Statements(source.applied)

    def _frames(self, node):
        """All frames of the node, and those in the user's file; outermost first."""
        frames = _FRAME.findall(node.meta.get("stack_trace") or "")
        return frames, [frame for frame in frames if os.path.realpath(frame[0]) == self._path]

    def __call__(self, node):
        """(`file.py:14 in forward`, line in the user's file); ("", 0) when the node has no stack."""
        frames, own = self._frames(node)
        if not frames:
            return "", 0
        file, line, function = (own or frames)[-1]
        return f"{os.path.basename(file)}:{line} in {function}", int(line) if own else 0

    def described(self, node):
        """Members of the node in the task: `where` it is, the `code` of that line, and the `name` assigned there."""
        where, line = self(node)
        members = {"where": where, "code": self._statements.code(line), "name": self._statements.name(line)}
        return {key: text for key, text in members.items() if text or key == "where"}

    def statements(self, node):
        """Numbers of the statements of the user's file that the node is computed in, outermost first."""
        return [self._statements.number(int(line)) for _, line, _ in self._frames(node)[1]]


class GraphWriter:
    """Builds one GRAPH. Raises BridgeError unsupported_operator, data_dependent or unsupported_dtype."""

    def __init__(self, task, places):
        self._task = task
        self._places = places
        self._ids = {}
        self._pieces = {}
        self._named = {}
        """Statement that is being executed -> its last node so far."""
        self._values = []
        self.aliases = {}
        """Value id -> id of the value whose storage it shares (views); used to estimate memory."""
        self.graph = {"values": self._values, "inputs": [], "nodes": [], "outputs": []}

    def _fail(self, kind, node, what, hint):
        where, line = self._places(node)
        raise BridgeError(
            kind,
            f"{self._task.source.file} {what}{at_line(line)}{f' ({where})' if where else ''}.",
            hint,
            self._task.source.path,
            line,
        )

    def _value(self, tensor, node):
        """Appends a value and returns its id."""
        dtype = str(tensor.dtype).removeprefix("torch.")
        if dtype not in DTYPES:
            self._fail(
                "unsupported_dtype", node, f"computes a value of dtype {dtype}", f"Use one of {', '.join(DTYPES)}."
            )
        shape, strides = list(tensor.shape), list(tensor.stride())
        if not all(isinstance(extent, int) for extent in shape + strides):
            self._fail(
                "data_dependent",
                node,
                f"computes a value whose shape depends on data, by {node.target}",
                "Use operators whose result shapes follow from their input shapes.",
            )
        self._values.append({"dtype": dtype, "shape": shape, "strides": strides})
        return len(self._values) - 1

    def add_input(self, node, kind, name):
        """Declares a placeholder (or constant attribute) as graph input."""
        self._ids[node] = self._value(value_of(node), node)
        self.graph["inputs"].append({"value": self._ids[node], "kind": kind, "name": name})

    def add_call(self, node):
        """Writes one operator call; getitem only picks among a call's results."""
        if node.target is operator.getitem:
            self._ids[node] = self._pieces[node.args[0]][node.args[1]]
            return
        if not isinstance(node.target, torch._ops.OpOverload):
            self._fail(
                "unsupported_operator",
                node,
                f"uses {node.target}, which is not an ATen operator",
                "Replace it by standard PyTorch operators.",
            )
        result = value_of(node)
        if isinstance(result, (list, tuple)):
            used = {user.args[1] for user in node.users if user.target is operator.getitem}
            ids = [
                self._value(item, node) if isinstance(item, torch.Tensor) and index in used else -1
                for index, item in enumerate(result)
            ]
            self._pieces[node] = ids
        elif isinstance(result, torch.Tensor):
            ids = [self._value(result, node)]
            self._ids[node] = ids[0]
        elif result is None:
            ids = []
        else:
            self._fail(
                "data_dependent",
                node,
                f"uses {node.target}, whose result is a number computed from data",
                "Keep computed numbers in tensors.",
            )
        self._note_aliases(node, ids)
        self.graph["nodes"].append(
            {
                "op": str(node.target),
                "args": [self._argument(item, node) for item in node.args],
                "kwargs": {key: self._argument(item, node) for key, item in node.kwargs.items() if key != "pin_memory"},
                "outputs": ids,
                **self._places.described(node),
            }
        )
        self._name_last(node)

    def _name_last(self, node):
        """Takes the name of the statement from all nodes but the last, and from one with several results."""
        statements = self._places.statements(node)
        made = self.graph["nodes"][-1]
        self._named = {number: last for number, last in self._named.items() if number in statements}
        if statements:
            self._named.pop(statements[-1], {}).pop("name", None)
            self._named[statements[-1]] = made
        if sum(value >= 0 for value in made["outputs"]) != 1:
            made.pop("name", None)

    def _note_aliases(self, node, ids):
        """Records that the results of a view share the storage of its first argument."""
        is_view = any(part.alias_info is not None for part in node.target._schema.returns)
        first = node.args[0] if node.args else None
        if is_view and isinstance(first, torch.fx.Node) and first in self._ids:
            self.aliases.update({value: self._ids[first] for value in ids if value >= 0})

    def add_output(self, node, kind, name):
        """Declares a node as graph output."""
        self.graph["outputs"].append({"value": self._ids[node], "kind": kind, "name": name})

    def _argument(self, item, node):
        """JSON form of one argument."""
        if item is None or isinstance(item, (bool, int, str)):
            return item
        if isinstance(item, float):
            return (
                item if math.isfinite(item) else {"float": "nan" if math.isnan(item) else "inf" if item > 0 else "-inf"}
            )
        if isinstance(item, torch.fx.Node):
            if item not in self._ids:
                self._fail(
                    "data_dependent",
                    node,
                    f"passes a number computed from data to {node.target}",
                    "Keep computed numbers in tensors.",
                )
            return {"value": self._ids[item]}
        if isinstance(item, (list, tuple)):
            return [self._argument(part, node) for part in item]
        for kind, key in ((torch.dtype, "dtype"), (torch.layout, "layout"), (torch.memory_format, "memory_format")):
            if isinstance(item, kind):
                return {key: str(item).removeprefix("torch.")}
        if isinstance(item, torch.device):
            return {"device": True}
        return self._fail(
            "unsupported_operator",
            node,
            f"passes {type(item).__name__} {item} to {node.target}",
            "Use tensors, numbers and strings as arguments.",
        )


def write_generator(module, task, places):
    """GRAPH of the traced get_inputs() and the constants it needs, by their names in the weights file."""
    writer = GraphWriter(task, places)
    constants = {}
    for node in module.graph.nodes:
        if node.op == "get_attr":
            tensor = getattr(module, node.target)
            node.meta["val"] = tensor
            if node.users:
                name = f"input_generator.{len(constants)}"
                constants[name] = tensor
                writer.add_input(node, "constant", name)
        elif node.op == "call_function":
            writer.add_call(node)
        elif node.op == "output":
            for item in node.args[0]:
                writer.add_output(item, "user", "")
    return writer.graph, constants
