# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers in a trace: one call each, whose result shapes are known without walking through its steps.

torch.export keeps aten.lstm and its like whole, but finds the shapes of their results by tracing all steps of all
layers, which takes minutes for long sequences, and torch 2.11 gives the states of oneDNN's LSTM a dimension that real
ones have not. So modules call operators of ours while they are traced, which get their real names afterwards.
"""

from __future__ import annotations

import contextlib

import torch
from torch import _VF

_LIBRARY = torch.library.Library("swage_bridge", "DEF")
_REST = "Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first"
_KINDS = ("lstm", "gru", "rnn_tanh", "rnn_relu")


def _results(x, hx, num_layers, bidirectional, batch_first):
    """The results of all steps and the last states, as PyTorch lays them out."""
    units = (2 if bidirectional else 1) * hx.shape[-1]
    steps, batch = (x.shape[1], x.shape[0]) if batch_first else (x.shape[0], x.shape[1])
    made = x.new_empty(steps, batch, units)
    return made.transpose(0, 1) if batch_first else made, hx.new_empty(hx.shape)


def _lstm(x, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    made, last = _results(x, hx[0], num_layers, bidirectional, batch_first)
    return made, last, hx[1].new_empty(hx[1].shape)


def _other(x, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    return _results(x, hx, num_layers, bidirectional, batch_first)


_LIBRARY.define(f"lstm(Tensor input, Tensor[] hx, {_REST}) -> (Tensor, Tensor, Tensor)")
torch.library.register_fake("swage_bridge::lstm", _lstm, lib=_LIBRARY)
for _kind in _KINDS[1:]:
    _LIBRARY.define(f"{_kind}(Tensor input, Tensor hx, {_REST}) -> (Tensor, Tensor)")
    torch.library.register_fake(f"swage_bridge::{_kind}", _other, lib=_LIBRARY)


def _stand_in(kind, original):
    ours = getattr(torch.ops.swage_bridge, kind).default

    def call(*args):
        # Of packed sequences, the second argument is the sizes of the batches; of unbatched ones, nothing has 3 dimensions.
        is_plain = isinstance(args[1], (list, tuple)) if kind == "lstm" else isinstance(args[2], (list, tuple))
        return ours(*args) if len(args) == 9 and is_plain and args[0].dim() == 3 else original(*args)

    return call


@contextlib.contextmanager
def kept_whole():
    """In it, the modules of torch.nn call operators of ours."""
    try:
        for kind in _KINDS:
            setattr(_VF, kind, _stand_in(kind, getattr(torch._C._VariableFunctions, kind)))
        yield
    finally:
        for kind in _KINDS:
            delattr(_VF, kind)


def name_back(graph):
    """Gives calls of our operators the names of PyTorch's."""
    names = {getattr(torch.ops.swage_bridge, kind).default: getattr(torch.ops.aten, kind).input for kind in _KINDS}
    for node in graph.nodes:
        node.target = names.get(node.target, node.target) if node.op == "call_function" else node.target
