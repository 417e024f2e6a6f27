# SPDX-License-Identifier: Apache-2.0
"""A task before export: which class, which constructor arguments, which inputs."""

from __future__ import annotations

import dataclasses
import json
import os

import torch

from . import inputs_spec, source as source_module
from .errors import BridgeError, user_code


# resources/tasks, beside resources/bridge
_BUNDLED = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..", "tasks"))


@dataclasses.dataclass
class Task:
    """What is needed to build the module and its inputs, any number of times, from a seed.

    `inputs` and `init` are the texts of --inputs and --init ("" when the file's own functions are
    used); `evaluate` is true when --eval asked for evaluation mode.
    """

    source: source_module.Source
    class_name: str
    inputs: str
    init: str
    evaluate: bool
    seed: int

    @property
    def kind(self):
        """`kernelbench` when the file brings get_inputs and they are used, else `module`."""
        return "module" if self.inputs else "kernelbench"

    @property
    def checker(self):
        """`kernelbench` when KernelBench's own checker can judge an export of this task, else `none`.

        It wants a class `Model`, get_inputs() and get_init_inputs(). Bundled tasks have those, but are none of its
        problems.
        """
        module = self.source.module
        is_problem = (
            self.kind == "kernelbench"
            and not self.init
            and self.class_name == "Model"
            and hasattr(module, "get_inputs")
            and hasattr(module, "get_init_inputs")
            and os.path.dirname(os.path.realpath(self.source.path)) != _BUNDLED
        )
        return "kernelbench" if is_problem else "none"

    @property
    def name(self):
        """Name of the task: the file's stem, with the class when it is not `Model`."""
        stem = os.path.splitext(self.source.file)[0]
        return stem if self.class_name == "Model" else f"{stem}.{self.class_name}"

    def init_arguments(self):
        """Positional and keyword arguments of the constructor, under the seed."""
        if self.init:
            try:
                value = json.loads(self.init)
            except ValueError as exc:
                raise BridgeError(
                    "bad_init",
                    f"--init is not JSON: {exc}.",
                    'Write a list such as --init "[8, 16]" or an object of keywords.',
                ) from exc
            if isinstance(value, dict):
                return [], value
            return (value, {}) if isinstance(value, list) else ([value], {})
        if not hasattr(self.source.module, "get_init_inputs"):
            return [], {}
        torch.manual_seed(self.seed)
        return self._split(source_module.list_call(self.source, "get_init_inputs"))

    @staticmethod
    def _split(values):
        """KernelBench also allows `[positional list, keyword dict]`."""
        if len(values) == 2 and isinstance(values[0], list) and isinstance(values[1], dict):
            return values[0], values[1]
        return values, {}

    def build(self, class_name=None, source=None):
        """A fresh module in its own mode (evaluation mode if asked), initialised under the seed.

        Tensors are made on the device in force. Another class or source (the exported file's
        ModelNew) is built from the same arguments. Raises BridgeError: no_model, constructor_failed.
        """
        source = source or self.source
        class_name = class_name or self.class_name
        cls = source_module.find_class(source, class_name)
        args, kwargs = self.init_arguments()
        torch.manual_seed(self.seed)
        hint = "Make the constructor run with the arguments of get_init_inputs() or --init."
        with user_code("constructor_failed", f"building {class_name}", source.path, hint):
            model = cls(*args, **kwargs)
        return model.eval() if self.evaluate else model

    def make_inputs(self):
        """The arguments of forward, drawn on the device in force. Raises BridgeError get_inputs_failed."""
        if self.inputs:
            return [spec.make() for spec in inputs_spec.parse(self.inputs, self.source.constants)]
        if not hasattr(self.source.module, "get_inputs"):
            raise BridgeError(
                "no_get_inputs",
                f"{self.source.file} has no get_inputs() and --inputs was not given.",
                'Add get_inputs() or pass --inputs "float32[16,64]".',
                self.source.path,
            )
        return source_module.list_call(self.source, "get_inputs")


def from_bundle(folder):
    """Reads task.json of a bundle and loads its source.py. Returns (Task, task.json's content).

    Raises BridgeError `bad_bundle` when the folder is not a bundle of this schema or its source
    was changed after the import.
    """
    from . import SCHEMA

    path = os.path.join(folder, "task.json")
    try:
        with open(path, encoding="utf-8") as handle:
            document = json.load(handle)
    except (OSError, ValueError) as exc:
        raise BridgeError(
            "bad_bundle", f"{folder} is not a task bundle: {exc}.", "Import the task again.", path
        ) from exc
    if document.get("schema") != SCHEMA:
        raise BridgeError(
            "bad_bundle",
            f"{folder} has bundle schema {document.get('schema')}, not {SCHEMA}.",
            "Import the task again.",
            path,
        )
    recorded = document["source"]
    overrides = {name: source_module.literal_from_json(value) for name, value in recorded["set"].items()}
    folder_of_file = os.path.dirname(recorded.get("path") or "")
    loaded = source_module.load(os.path.join(folder, "source.py"), overrides, folder_of_file)
    if loaded.sha256 != recorded["sha256"]:
        raise BridgeError(
            "bad_bundle", f"source.py in {folder} was changed after the import.", "Import the task again.", path
        )
    task = Task(
        loaded,
        recorded["class"],
        recorded.get("inputs") or "",
        recorded.get("init") or "",
        bool(recorded.get("eval")),
        document["seed"],
    )
    return task, document
