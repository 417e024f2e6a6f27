# SPDX-License-Identifier: Apache-2.0
"""Loading a user's Python file, with module-level constants overridden before they are used."""

from __future__ import annotations

import ast
import dataclasses
import hashlib
import io
import math
import os
import sys
import tokenize
import types

from .bytecode import bytecode
from .errors import BridgeError, user_code


@dataclasses.dataclass
class Source:
    """A loaded file: its bytes, its module object and its constants.

    `path` is absolute, `applied` is `data` as it was run, with what --set changed, `constants` maps each
    module-level assigned name to its final value (only int, float, bool, str and tuples of those), `overrides` is
    what --set changed.
    """

    path: str
    data: bytes
    applied: bytes
    module: types.ModuleType
    constants: dict
    overrides: dict

    @property
    def sha256(self):
        """Hash of the file's bytes, in hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def file(self):
        """The file's name without its folder."""
        return os.path.basename(self.path)


def parse_overrides(pairs):
    """Parses `NAME=VALUE` strings; VALUE is a literal (int, float, bool, str, tuple, list)."""
    result = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        name = name.strip()
        if not equals or not name.isidentifier():
            raise BridgeError(
                "bad_set", f"--set {pair!r} is not of the form NAME=VALUE.", "Write for example --set batch_size=16."
            )
        try:
            value = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            value = None
        if not _is_literal(value):
            raise BridgeError(
                "bad_set",
                f"The value of --set {pair!r} is not a literal.",
                "Use a number, True/False, a tuple such as (4,8), a list, or a quoted string.",
            )
        result[name] = value
    return result


def _is_literal(value):
    """Whether --set accepts the value: finite numbers, strings, and tuples or lists of those."""
    if isinstance(value, (tuple, list)):
        return all(_is_literal(item) for item in value)
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, (bool, int, str))


def literal_to_json(value):
    """JSON form of a constant: a tuple becomes {"tuple": […]}, nan and infinity {"float": "nan"}: JSON lacks them."""
    if isinstance(value, tuple):
        return {"tuple": [literal_to_json(item) for item in value]}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    return [literal_to_json(item) for item in value] if isinstance(value, list) else value


def literal_from_json(value):
    """Inverse of literal_to_json."""
    if isinstance(value, dict):
        return float(value["float"]) if "float" in value else tuple(map(literal_from_json, value["tuple"]))
    return [literal_from_json(item) for item in value] if isinstance(value, list) else value


def read_source(path):
    """The bytes of the file; a BridgeError of kind `file_missing` when it cannot be read."""
    try:
        with open(path, "rb") as handle:
            return handle.read()
    except OSError as exc:
        reason = exc.strerror or str(exc)
        raise BridgeError(
            "file_missing", f"The task file {path} cannot be read: {reason}.", "Check the path.", path
        ) from exc


def parse_source(data, path):
    """The syntax tree of the file; a BridgeError of kind `not_python` with the line otherwise."""
    try:
        return ast.parse(data, filename=path)
    except (SyntaxError, ValueError) as exc:
        line = getattr(exc, "lineno", 0) or 0
        reason = getattr(exc, "msg", None) or str(exc)
        where = f", line {line}" if line else ""
        raise BridgeError(
            "not_python",
            f"{os.path.basename(path)} is not valid Python: {reason}{where}.",
            "Give a Python file that defines an nn.Module.",
            path,
            line,
        ) from exc


def _target_names(target):
    """Names that an assignment target binds."""
    if isinstance(target, ast.Name):
        return [target.id]
    if isinstance(target, (ast.Tuple, ast.List)):
        return [name for item in target.elts for name in _target_names(item)]
    if isinstance(target, ast.Starred):
        return _target_names(target.value)
    return []


def bound_names(statement):
    """Names that a module-level statement assigns, in order; [] for any other statement."""
    if isinstance(statement, ast.Assign):
        return [name for target in statement.targets for name in _target_names(target)]
    if isinstance(statement, ast.AugAssign) or (isinstance(statement, ast.AnnAssign) and statement.value):
        return _target_names(statement.target)
    return []


def assigned_names(tree):
    """Names assigned on the first level of the module, in order of appearance, no dunders."""
    names = [name for statement in tree.body for name in bound_names(statement)]
    return list(dict.fromkeys(name for name in names if not name.startswith("__")))


def _require_known(tree, overrides, path):
    """Raises BridgeError `unknown_constant` when the file assigns no name that --set changes."""
    known = assigned_names(tree)
    unknown = [name for name in overrides if name not in known]
    if unknown:
        available = ", ".join(known) or "none"
        raise BridgeError(
            "unknown_constant",
            f"{os.path.basename(path)} has no module-level constant {', '.join(unknown)}; it has: {available}.",
            "Use one of those names with --set.",
            path,
        )


def apply_overrides(data, overrides, path):
    """The file's bytes with each overridden name at its new value from its first assignment on.

    The new assignment stands in the place of the original one, or behind it on the same line when the
    statement binds other names, too: no line moves, so errors and `where` of a graph still name the user's
    lines. Acting on the text before it runs is what makes dependants (`shape = (dim,)`) see the value, and
    what lets an export take the text over as it is.
    """
    if not overrides:
        return data
    tree = parse_source(data, path)
    _require_known(tree, overrides, path)
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    # Columns of a syntax tree count bytes of UTF-8.
    text = data.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
    lines = [line.encode() for line in text.split("\n")]
    for statement in reversed(tree.body):
        bound = bound_names(statement)
        changed = [name for name in bound if name in overrides]
        if changed:
            _replace(lines, statement, changed, overrides, keep=len(changed) < len(bound))
    return b"\n".join(lines).decode().encode(encoding)


def _replace(lines, statement, names, overrides, keep):
    """Puts new assignments of `names` in the place of a statement, or behind it when it is to be kept."""
    last = statement.end_lineno - 1
    head, tail = lines[statement.lineno - 1][: statement.col_offset], lines[last][statement.end_col_offset :]
    fresh = "; ".join(f"{name} = {overrides[name]!r}" for name in names).encode()
    if keep:
        lines[last] = lines[last][: statement.end_col_offset] + b"; " + fresh + tail
        return
    # What follows on the last line of the statement moves up; the lines below stay where they are.
    lines[statement.lineno - 1 : last + 1] = [head + fresh + tail] + [b""] * (last + 1 - statement.lineno)


def _is_plain(value):
    """Whether a value is a number, a string or a tuple of those."""
    if isinstance(value, tuple):
        return all(_is_plain(item) for item in value)
    return isinstance(value, (bool, int, float, str))


def load(path, overrides=None, search_path=""):
    """Runs the file as a module with `overrides` in force and returns a Source.

    `search_path` is a folder added to sys.path (default: the file's own), so that files beside the
    user's can be imported. Raises BridgeError: file_missing, not_python, unknown_constant, load_failed.
    """
    overrides = dict(overrides or {})
    path = os.path.abspath(path)
    data = read_source(path)
    applied = apply_overrides(data, overrides, path)
    tree = parse_source(applied, path)
    names = assigned_names(tree)
    folder = search_path or os.path.dirname(path)
    if os.path.isdir(folder) and folder not in sys.path:
        sys.path.insert(0, folder)
    module = types.ModuleType("swage_task_" + hashlib.sha256(path.encode() + data).hexdigest()[:12])
    module.__file__ = path
    # Dynamo, dataclasses and pickling look a class's module up here.
    sys.modules[module.__name__] = module
    hint = (
        "The file must run without errors; modules that it imports must be installed in the environment of "
        + sys.prefix
    )
    # Importing a task leaves nothing beside the user's files.
    with user_code("load_failed", "running the module level", path, hint + "."), bytecode(kept=False):
        exec(compile(tree, path, "exec"), module.__dict__)  # the user's own file, run on purpose
    constants = {n: module.__dict__[n] for n in names if _is_plain(module.__dict__.get(n))}
    return Source(path, data, applied, module, constants, overrides)


def find_class(source, name):
    """The nn.Module class called `name`; BridgeError `no_model` listing the candidates otherwise."""
    import torch

    found = getattr(source.module, name, None)
    if isinstance(found, type) and issubclass(found, torch.nn.Module):
        return found
    classes = [
        key
        for key, value in vars(source.module).items()
        if isinstance(value, type) and issubclass(value, torch.nn.Module) and value.__module__ == source.module.__name__
    ]
    listed = ", ".join(classes) or "no nn.Module at all"
    raise BridgeError(
        "no_model",
        f"{source.file} defines no nn.Module class named {name} (it defines {listed}).",
        "Name the class with --class NAME or FILE.py:NAME.",
        source.path,
    )


def list_call(source, name):
    """Calls the module's function `name` (get_inputs, get_init_inputs) and returns a list.

    Raises BridgeError `<name>_failed` if it raises or returns neither a list nor a tuple.
    """
    kind = name + "_failed"
    with user_code(kind, f"calling {name}()", source.path):
        result = getattr(source.module, name)()
    if not isinstance(result, (list, tuple)):
        raise BridgeError(
            kind,
            f"{name}() of {source.file} returned {type(result).__name__}, not a list.",
            f"Make {name}() return a list of arguments.",
            source.path,
        )
    return list(result)
