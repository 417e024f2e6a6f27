# SPDX-License-Identifier: Apache-2.0
"""Smaller values for the constants of a file, so that no tensor of its task is larger than a limit.

A file made for a large GPU then also runs on a laptop. Only constants whose value is written down as
numbers are changed: one that is computed from others follows them by itself. What a change does to
the tensors is found out by running the module without data.
"""

from __future__ import annotations

import ast
import logging

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from . import exporting, source as source_module
from .errors import BridgeError

# A halving that changes less than this share of the excess is only taken when there is no better one.
_WORTH_IT = 0.9
# Where a constant divided another into at least so many elements, it is to leave as many of the shrunk one.
_LEAST_PARTS = 4
_MOST_TRIALS = 400


class _Excess(TorchDispatchMode):
    """Adds up by how many bytes the tensors that operators make are larger than the limit."""

    def __init__(self, limit):
        super().__init__()
        self.limit = limit
        self.bytes = 0

    def add(self, value):
        """Counts the tensors in `value`."""
        for leaf in pytree.tree_leaves(value):
            if isinstance(leaf, torch.Tensor):
                self.bytes += max(0, leaf.untyped_storage().nbytes() - self.limit)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        self.add(result)
        return result


def excess(task, limit):
    """By how many bytes the task's tensors exceed the limit, all together; None when the module does not run."""
    mode = exporting.fake_mode()
    counter = _Excess(limit)
    try:
        model = exporting.build_fake(task, mode)
        counter.add([*model.parameters(), *model.buffers()])
        with mode, torch.no_grad(), counter:
            model(*exporting.fake_inputs(task))
    except Exception:  # the user's own code, at sizes that it may refuse
        return None
    return counter.bytes


def shapes(task):
    """The shapes of the task's parameters, buffers and inputs; None when they cannot be made."""
    mode = exporting.fake_mode()
    try:
        model = exporting.build_fake(task, mode)
        with mode:
            inputs = pytree.tree_leaves(exporting.fake_inputs(task))
    except BridgeError:
        return None
    tensors = [*model.parameters(), *model.buffers(), *(leaf for leaf in inputs if isinstance(leaf, torch.Tensor))]
    return [tuple(tensor.shape) for tensor in tensors]


def _is_number_only(node):
    """Whether an expression consists of numbers, and containers and sums and products of numbers."""
    allowed = (ast.Constant, ast.Tuple, ast.List, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context)
    return all(isinstance(part, allowed) for part in ast.walk(node))


def _sizes(value):
    """The integers in a constant, or nothing when it holds anything else."""
    if isinstance(value, bool):
        return []
    if isinstance(value, int):
        return [value]
    if isinstance(value, (tuple, list)) and all(_sizes(item) for item in value):
        return [size for item in value for size in _sizes(item)]
    return []


def shrinkable(loaded):
    """Name -> value of the constants that may be made smaller, in order of appearance."""
    literal, computed = [], set()
    for statement in ast.parse(loaded.data).body:
        names = source_module.bound_names(statement)
        if names and isinstance(statement, (ast.Assign, ast.AnnAssign)) and _is_number_only(statement.value):
            literal += names
        else:
            computed.update(names)
    values = {name: loaded.module.__dict__.get(name) for name in literal if name not in computed}
    return {name: value for name, value in values.items() if _sizes(value)}


def _scaled(value, change):
    """The constant with each of its integers changed."""
    if isinstance(value, int):
        return change(value)
    return type(value)(_scaled(item, change) for item in value)


def _halved(value):
    return _scaled(value, lambda size: size // 2 if size >= 4 else size)


class _Search:
    """The constants as they are now, and what the module makes of changed ones."""

    def __init__(self, load, limit):
        self.load = load
        self.limit = limit
        first = load({})
        self.original = shrinkable(first.source)
        self.values = dict(self.original)
        self.left = _MOST_TRIALS
        self.excess = excess(first, limit)

    def changed(self):
        """What is to be set, name -> value."""
        return {name: value for name, value in self.values.items() if value != self.original[name]}

    def trial(self, changes):
        """The excess with these changes as well; None when the module refuses them."""
        if self.left == 0:
            return None
        self.left -= 1
        try:
            task = self.load(self.changed() | changes)
        except BridgeError:
            return None
        return excess(task, self.limit)

    def _moves(self):
        """Changes to try, those of the largest constants first; then all constants of one value together."""
        order = sorted(self.values, key=lambda name: -max(_sizes(self.values[name])))
        for name in order:
            yield {name: _halved(self.values[name])}
        for value in dict.fromkeys(str(self.values[name]) for name in order):
            tied = [name for name in order if str(self.values[name]) == value]
            if len(tied) > 1:
                yield {name: _halved(self.values[name]) for name in tied}

    def step(self):
        """Takes the first move that is worth it, else the best one. False: no move helps."""
        best = None
        for move in self._moves():
            if all(value == self.values[name] for name, value in move.items()):
                continue
            found = self.trial(move)
            if found is None or found >= self.excess:
                continue
            if best is None or found < best[0]:
                best = (found, move)
            if found <= _WORTH_IT * self.excess:
                break
        if best is None:
            return False
        self.excess = best[0]
        self.values.update(best[1])
        return True

    def follow(self):
        """Shrinks counts that divide a shrunk size and would leave too little of it: 512 groups of 8192 channels.

        A count is told from a size by the shapes of weights and inputs, which it does not change.
        """
        for name, value in self.original.items():
            if not isinstance(value, int) or value < 2 * _LEAST_PARTS:
                continue
            for whole, size in self.original.items():
                now = self.values[whole]
                if not isinstance(size, int) or now == size or size < _LEAST_PARTS * value or size % value:
                    continue
                if now < _LEAST_PARTS * self.values[name]:
                    self._try_count(name, max(2, value * now // size))
                    break

    def _try_count(self, name, value):
        if self.trial({name: value}) is None:
            return
        if shapes(self.load(self.changed())) == shapes(self.load(self.changed() | {name: value})):
            self.values[name] = value


def find(load, limit):
    """The constants to set, name -> value, so that no tensor is larger than `limit` bytes, or as far as it goes.

    `load` makes the task with given constants. Empty where nothing is too large, and where the module does not run
    without data: what is wrong with it, the import says.
    """
    logging.disable(logging.ERROR)  # PyTorch logs a traceback for every size that a module refuses
    try:
        search = _Search(load, limit)
        if not search.excess:
            return {}
        while search.excess > 0 and search.step():
            pass
        search.follow()
        return search.changed()
    finally:
        logging.disable(logging.NOTSET)
