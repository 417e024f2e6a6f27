# SPDX-License-Identifier: Apache-2.0
"""The command `variants`: the task of a bundle at other sizes, each as a bundle of its own.

A variant draws the inputs as the task does and cuts them: what an index or a mask may hold stays
valid, and nothing is larger than before. Which sizes the module accepts is found by trying.
"""

from __future__ import annotations

import dataclasses
import logging
import os

import torch
from torch.utils import _pytree as pytree

from . import exporting, importing
from .errors import BridgeError
from .task import Task, from_bundle

# Each trial traces the module once.
_MOST_TRIALS = 16


@dataclasses.dataclass
class Variant(Task):
    """A task whose tensor inputs are cut: (number of the tensor, dimension) -> size."""

    cuts: dict = dataclasses.field(default_factory=dict)

    def make_inputs(self):
        leaves, spec = pytree.tree_flatten(super().make_inputs())
        tensors = [position for position, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        for (number, dim), size in self.cuts.items():
            position = tensors[number]
            leaves[position] = leaves[position].narrow(dim, 0, size).contiguous()
        return pytree.tree_unflatten(leaves, spec)


def cut(task, cuts):
    """The task with these cuts."""
    return Variant(*(getattr(task, field.name) for field in dataclasses.fields(Task)), cuts)


def shapes_of(task):
    """The shapes of the task's tensor inputs, in order."""
    with exporting.fake_mode():
        leaves = pytree.tree_leaves(exporting.fake_inputs(task))
    return [tuple(leaf.shape) for leaf in leaves if isinstance(leaf, torch.Tensor)]


def odd(size):
    """The largest odd number below `size`: no tile and no vector of a kernel divides it, or hardly any."""
    return size - 1 if size % 2 == 0 else size - 2


class Trials:
    """Which cuts the module accepts. Remembers, for the report, what it did not."""

    def __init__(self, task):
        self.task = task
        self.shapes = shapes_of(task)
        self.left = _MOST_TRIALS
        self.refused = []

    def accepts(self, cuts, what):
        """Whether the module can be traced with these cuts."""
        if self.left == 0:
            self.refused.append({"what": what, "why": "not tried: there are too many sizes"})
            return False
        self.left -= 1
        try:
            exporting.export_task(cut(self.task, cuts))
        except BridgeError as exc:
            self.refused.append({"what": what, "why": exc.message})
            return False
        return True

    def _places(self, size, dims=None):
        return [
            (number, dim)
            for number, shape in enumerate(self.shapes)
            for dim, extent in enumerate(shape)
            if extent == size and (dims is None or dim in dims)
        ]

    def batch(self):
        """Cuts to a batch of one, or nothing: inputs whose first dimension is as long as that of the first."""
        if not self.shapes or not self.shapes[0] or self.shapes[0][0] < 2:
            return {}
        size = self.shapes[0][0]
        cuts = {place: 1 for place in self._places(size, dims=(0,))}
        return cuts if self.accepts(cuts, f"a batch of 1 instead of {size}") else {}

    def odd_sizes(self):
        """Cuts of every dimension that may change. Dimensions of one size are tied at first, then by position."""
        cuts = {}
        for size in sorted({extent for shape in self.shapes for extent in shape if extent > 2}, reverse=True):
            places = self._places(size)
            groups = [places]
            if len({dim for _, dim in places}) > 1:
                groups += [self._places(size, dims=(dim,)) for dim in sorted({dim for _, dim in places})]
            for group in groups:
                more = cuts | {place: odd(size) for place in group}
                where = ", ".join(f"dimension {dim} of input {number}" for number, dim in group)
                if self.accepts(more, f"{odd(size)} instead of {size} as {where}"):
                    cuts = more
                    break
        return cuts


def describe(trials, cuts):
    """What became of the shapes, as text: "16x64 -> 15x63"."""
    parts = []
    for number, shape in enumerate(trials.shapes):
        changed = tuple(cuts.get((number, dim), extent) for dim, extent in enumerate(shape))
        if changed != shape:
            parts.append(f"{'x'.join(map(str, shape))} -> {'x'.join(map(str, changed))}")
    return ", ".join(parts)


def run(options):
    """Runs `variants`. Returns the result document; raises BridgeError when the bundle cannot be used."""
    logging.disable(logging.ERROR)  # PyTorch logs a traceback for every size that a module refuses
    try:
        return _run(options)
    finally:
        logging.disable(logging.NOTSET)


def _run(options):
    task, _ = from_bundle(options.bundle)
    trials = Trials(task)
    found = []
    for name, cuts in (("batch of 1", trials.batch()), ("odd sizes", trials.odd_sizes())):
        if not cuts:
            continue
        folder = os.path.join(options.output, name.replace(" ", "-"))
        try:
            importing.write(cut(task, cuts), folder, options.memory_limit)
        except BridgeError as exc:
            trials.refused.append({"what": name, "why": exc.message})
            continue
        found.append({"name": name, "bundle": os.path.abspath(folder), "sizes": describe(trials, cuts)})
    return {"variants": found, "refused": trials.refused}
