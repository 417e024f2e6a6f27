# SPDX-License-Identifier: Apache-2.0
"""Graph passes that remove what carries no arithmetic, and the check for random operators.

They act on fx graphs whose call nodes have `meta["val"]` (a fake tensor, or a list or tuple of
them) and in which no node mutates a value; that is why an identity may simply be bypassed.
"""

from __future__ import annotations

import operator

import torch

from .errors import BridgeError, at_line

aten = torch.ops.aten

# Identity in a functional graph, whatever the arguments.
_ALWAYS_IDENTITY = {
    aten.alias.default,
    aten.detach.default,
    aten.lift.default,
    aten.lift_fresh.default,
    aten.lift_fresh_copy.default,
}

# Identity when the result has its first argument's type, shape and strides.
_LAYOUT_IDENTITY = {
    aten.clone.default,
    aten._to_copy.default,
    aten.view.default,
    aten._unsafe_view.default,
    aten.reshape.default,
    aten.expand.default,
    aten.contiguous.default,
    aten.slice.Tensor,
    aten.permute.default,
    aten.dropout.default,
    aten.to.dtype,
    aten.squeeze.default,
    aten.squeeze.dim,
    aten.squeeze.dims,
}

# Checked while tracing; nothing is left to do at run time.
_ASSERTIONS = {aten._assert_tensor_metadata.default}

_SIZED_VIEWS = {aten.view.default, aten._unsafe_view.default, aten.reshape.default}

# Random only with a positive probability: operator -> index of the probability, name of the argument.
_PROBABILITY = {
    aten.scaled_dot_product_attention.default: ("dropout_p", None),
    aten.lstm.input: ("dropout", "train"),
    aten.gru.input: ("dropout", "train"),
    aten.rnn_tanh.input: ("dropout", "train"),
    aten.rnn_relu.input: ("dropout", "train"),
    aten.rrelu.default: (None, "training"),
    aten.dropout.default: ("p", "train"),
    aten.native_dropout.default: ("p", "train"),
    aten.feature_dropout.default: ("p", "train"),
    aten.alpha_dropout.default: ("p", "train"),
    aten.feature_alpha_dropout.default: ("p", "train"),
}


def value_of(node):
    """The fake value(s) of a node: a tensor, a sequence of tensors and None, or None."""
    return node.meta.get("val")


def _calls(graph):
    return [node for node in graph.nodes if node.op == "call_function"]


def _same_layout(a, b):
    """Whether two fake values are tensors of the same dtype, shape and strides."""
    if not (isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)):
        return False
    return a.dtype == b.dtype and a.shape == b.shape and a.stride() == b.stride()


def argument(node, name):
    """Value of the argument `name` of an operator call, or its default from the schema."""
    if name in node.kwargs:
        return node.kwargs[name]
    for index, parameter in enumerate(node.target._schema.arguments):
        if parameter.name == name:
            return node.args[index] if index < len(node.args) else parameter.default_value
    return None


def _bypass(node, source):
    """Replaces every use of `node` by `source` and removes the node."""
    node.replace_all_uses_with(source)
    node.graph.erase_node(node)


def _is_tensor_node(value):
    return isinstance(value, torch.fx.Node) and isinstance(value_of(value), torch.Tensor)


def _identity_source(node):
    """The node whose value `node` repeats, or None when it computes something."""
    first = node.args[0] if node.args else None
    if node.target is operator.getitem:
        # Losses broadcast their arguments even when the shapes already agree.
        if first.target is aten.broadcast_tensors.default:
            first = first.args[0][node.args[1]]
            return first if _same_layout(value_of(first), value_of(node)) else None
        return None
    if not _is_tensor_node(first):
        return None
    if node.target in _ALWAYS_IDENTITY:
        return first
    if node.target is aten.copy.default:
        # copy(self, src) is src in the layout of self.
        source = node.args[1]
        return source if _is_tensor_node(source) and _same_layout(value_of(source), value_of(node)) else None
    if node.target in _LAYOUT_IDENTITY and _same_layout(value_of(first), value_of(node)):
        # A module that returns a copy of an input must keep one node that makes the copy.
        escapes = any(user.op == "output" for user in node.users)
        return None if first.op == "placeholder" and escapes else first
    return None


def _normalise_views(graph):
    """Gives view-like nodes one name (aten.view) and concrete extents instead of -1."""
    for node in _calls(graph):
        if node.target in _SIZED_VIEWS and isinstance(value_of(node), torch.Tensor):
            if all(isinstance(extent, int) for extent in value_of(node).shape):
                node.args = (node.args[0], list(value_of(node).shape))
        if node.target is aten._unsafe_view.default:
            node.target = aten.view.default


def is_random(node):
    """Whether a call draws from the random generator, given its probabilities and flags."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return False
    if node.target in _PROBABILITY:
        chance, flag = _PROBABILITY[node.target]
        active = flag is None or bool(argument(node, flag))
        return active and (chance is None or argument(node, chance) > 0)
    return torch.Tag.nondeterministic_seeded in node.target.tags


def simplify(graph, keep_random=False):
    """Removes assertions, identities and unused nodes from the graph, in place.

    `keep_random` keeps unused random nodes, so that the generator of inputs draws the same stream
    as the Python function it was traced from.
    """
    for node in _calls(graph):
        if node.target in _ASSERTIONS and not node.users:
            graph.erase_node(node)
    for node in _calls(graph):
        source = _identity_source(node)
        if source is not None:
            _bypass(node, source)
    _normalise_views(graph)
    for node in reversed(_calls(graph)):
        if not node.users and not (keep_random and is_random(node)):
            graph.erase_node(node)


def refuse_random(graph, task, place):
    """Raises BridgeError random_operator for the first random call; `place(node)` tells (where, line)."""
    for node in _calls(graph):
        if is_random(node):
            where, line = place(node)
            raise BridgeError(
                "random_operator",
                f"{task.class_name} of {task.source.file} draws random numbers in "
                f"forward: {node.target}{at_line(line)} ({where}), so its result cannot be verified.",
                "Import with --eval, which turns dropout off, or remove the operator.",
                task.source.path,
                line,
            )


def refuse_hidden_mutation(graph, task, place):
    """Raises BridgeError for instance_norm updating running statistics, which export does not record."""
    for node in _calls(graph):
        if (
            node.target is aten.instance_norm.default
            and argument(node, "running_mean") is not None
            and argument(node, "use_input_stats")
        ):
            where, line = place(node)
            raise BridgeError(
                "unsupported_operator",
                f"aten.instance_norm of {task.source.file} ({where}) updates running "
                "statistics in training mode, which torch.export does not record.",
                "Import with --eval or set track_running_stats=False.",
                task.source.path,
                line,
            )
