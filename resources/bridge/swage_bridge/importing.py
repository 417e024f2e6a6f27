# SPDX-License-Identifier: Apache-2.0
"""The command `import`: a Python file becomes a task bundle."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import tempfile

import torch

from . import SCHEMA, cleanup, exporting, inputs_spec, memory, program as program_module, source as source_module
from .errors import BridgeError
from .serialize import Places, write_generator
from .task import Task


def split_target(target, class_name):
    """Splits `FILE.py:Class` unless a file of that very name exists; --class wins. Returns (file, class)."""
    if ":" in target and not os.path.exists(target):
        path, _, named = target.rpartition(":")
        if named.isidentifier():
            return path, class_name or named
    return target, class_name or "Model"


def _prepare(options):
    """Loads the file and checks what can be checked before any tracing."""
    path, class_name = split_target(options.task, options.class_name)
    chosen = source_module.parse_overrides(options.set)

    def load(overrides):
        loaded = source_module.load(path, chosen | overrides)
        return Task(loaded, class_name, options.inputs or "", options.init or "", options.eval, options.seed)

    task = load({})
    source_module.find_class(task.source, class_name)
    if options.largest_tensor:
        from . import shrink

        task = load(shrink.find(load, options.largest_tensor))
    loaded = task.source
    if task.inputs:
        inputs_spec.parse(task.inputs, loaded.constants)
    elif not hasattr(loaded.module, "get_inputs"):
        raise BridgeError(
            "no_get_inputs",
            f"{loaded.file} has no get_inputs() and --inputs was not given.",
            'Add get_inputs() or pass --inputs "float32[16,64]".',
            loaded.path,
        )
    return task


def _write_bundle(folder, document, tensors, loaded):
    """Writes the bundle's files beside `folder` and moves them into place; an old bundle is replaced."""
    from safetensors.torch import save_file

    folder = os.path.abspath(folder)
    if os.path.isdir(folder):
        if os.listdir(folder) and not os.path.exists(os.path.join(folder, "task.json")):
            raise BridgeError(
                "bad_output", f"{folder} exists and is not a task bundle; it is left alone.", "Choose another -o."
            )
    elif os.path.lexists(folder):
        raise BridgeError("bad_output", f"{folder} exists and is not a folder.", "Choose another -o.")
    parent = os.path.dirname(folder)
    try:
        os.makedirs(parent, exist_ok=True)
        fresh = tempfile.mkdtemp(prefix=f".{os.path.basename(folder)}.", dir=parent)
    except OSError as exc:
        raise BridgeError(
            "bad_output", f"The bundle {folder} cannot be written: {exc.strerror}.", "Choose another -o."
        ) from exc
    try:
        os.chmod(fresh, 0o755)
        save_file(tensors, os.path.join(fresh, "weights.safetensors"))
        with open(os.path.join(fresh, "source.py"), "wb") as handle:
            handle.write(loaded.data)
        if loaded.overrides:
            with open(os.path.join(fresh, "applied.py"), "wb") as handle:
                handle.write(loaded.applied)
        with open(os.path.join(fresh, "task.json"), "w", encoding="utf-8") as handle:
            json.dump(document, handle, ensure_ascii=False, allow_nan=False)
        _replace(fresh, folder)
    except OSError as exc:
        raise BridgeError(
            "bad_output", f"The bundle {folder} cannot be written: {exc.strerror}.", "Choose another -o."
        ) from exc
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _replace(fresh, folder):
    """Renames `fresh` to `folder`. A folder cannot be renamed over a full one, so the old steps aside."""
    if not os.path.isdir(folder):
        os.rename(fresh, folder)
        return
    aside = tempfile.mkdtemp(prefix=".old.", dir=os.path.dirname(folder))
    try:
        os.rename(folder, os.path.join(aside, "old"))
        os.rename(fresh, folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _argument_names(model, call):
    """Names of forward's arguments in their order, by which they may be given as well; [] where one may not."""
    parameters = list(inspect.signature(model.forward).parameters.values())[: len(call["args"]["tuple"])]
    named = len(parameters) == len(call["args"]["tuple"]) and all(
        parameter.kind is parameter.POSITIONAL_OR_KEYWORD for parameter in parameters
    )
    return [parameter.name for parameter in parameters] if named else []


def _document(task, model, imported, generator, sizes):
    """The content of task.json."""
    loaded = task.source
    source = {
        "kind": task.kind,
        "file": loaded.file,
        "path": loaded.path,
        "class": task.class_name,
        "sha256": loaded.sha256,
        "inputs": task.inputs or None,
        "init": task.init or None,
        "eval": task.evaluate,
        "set": {name: source_module.literal_to_json(value) for name, value in loaded.overrides.items()},
    }
    if task.kind == "kernelbench" and task.checker == "none":
        source["checker"] = "none"
    return {
        "schema": SCHEMA,
        "name": task.name,
        "source": source,
        "mode": "train" if model.training else "eval",
        "torch_version": torch.__version__.split("+")[0],
        "seed": task.seed,
        "graph": imported.graph,
        "input_generator": generator,
        "call": {**imported.call, "names": _argument_names(model, imported.call)},
        "bytes": sizes,
        "warnings": imported.warnings,
    }


def _summary(task, document):
    """The short description of the task in the result."""
    graph = document["graph"]

    def describe(items):
        return [
            {
                "name": item["name"],
                "dtype": graph["values"][item["value"]]["dtype"],
                "shape": graph["values"][item["value"]]["shape"],
            }
            for item in items
            if item["kind"] == "user"
        ]

    operators = {}
    for node in graph["nodes"]:
        operators[node["op"]] = operators.get(node["op"], 0) + 1
    return {
        "name": document["name"],
        "mode": document["mode"],
        "nodes": len(graph["nodes"]),
        "operators": operators,
        "inputs": describe(graph["inputs"]),
        "outputs": describe(graph["outputs"]),
        "bytes": document["bytes"],
        "constants": {k: source_module.literal_to_json(v) for k, v in task.source.constants.items()},
    }


def write(task, output, memory_limit=None):
    """Traces the task and writes its bundle. Returns (content of task.json, what was imported); raises BridgeError."""
    program, promoted = exporting.export_task(task)
    imported = program_module.read(program, task, promoted)
    traced = exporting.trace_generator(task)
    cleanup.simplify(traced.graph, keep_random=True)
    generator, constants = write_generator(traced, task, Places(task.source))
    sizes = memory.estimate(imported.graph, imported.aliases)
    limit = memory_limit if memory_limit is not None else int(memory.available() * 0.8)
    memory.enforce(sizes, task, limit)
    model = task.build()  # always a fresh one: tracing may have replaced attributes
    tensors = program_module.collect_weights(imported, program, model, task)
    tensors.update(constants)
    document = _document(task, model, imported, generator, sizes)
    _write_bundle(output, document, tensors, task.source)
    return document, imported


def run(options):
    """Runs `import`. Returns the result document; raises BridgeError."""
    task = _prepare(options)
    document, imported = write(task, options.output, options.memory_limit)
    return {"bundle": os.path.abspath(options.output), "task": _summary(task, document), "warnings": imported.warnings}
