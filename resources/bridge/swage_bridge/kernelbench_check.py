# SPDX-License-Identifier: Apache-2.0
"""The command `kernelbench-check`: what KernelBench's own checker says of an export.

The checker is taken from the user's checkout and runs in this process, which ends afterwards. With a
GPU it is called as a whole. It refuses to start without one; then its parts are called in its order,
with a device synchronisation that does nothing in the place of CUDA's.
"""

from __future__ import annotations

import ast
import importlib
import importlib.machinery
import os
import sys
import types
import unittest.mock
import warnings

import torch
from torch.utils import _pytree as pytree

from . import exporting, source as source_module, task as task_module
from .errors import BridgeError, one_line

_SEED = 42  # that of KernelBench
_PACKAGE = "kernelbench"
_FELL_BACK = "original operators run instead"


class _Unused:
    """Anything that the checker imports and does not need: can be called, and derived from."""

    def __init__(self, *_, **fields):
        self.__dict__.update(fields)


class _StandIn(types.ModuleType):
    """A module that is not installed."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Unused


class _StandIns:
    """Finds what KernelBench imports and this environment lacks: clients of language models, progress bars, ...

    Only its own imports are answered. Other packages try whether a module is there, and have to be told the truth.
    """

    def __init__(self):
        self.names = []

    def find_spec(self, name, _path=None, _target=None):
        if name.partition(".")[0] == _PACKAGE or not self._is_asked_by_kernelbench():
            return None
        self.names.append(name)
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    @staticmethod
    def _is_asked_by_kernelbench():
        frame = sys._getframe(2)
        while frame is not None and "importlib" in frame.f_code.co_filename:
            frame = frame.f_back
        return frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE

    def create_module(self, spec):
        return _StandIn(spec.name)

    def exec_module(self, module):
        """There is nothing to run."""


def load_checker(checkout):
    """The checkout's module kernelbench.eval, and the names of what stands in for missing packages."""
    folder = os.path.join(checkout, "src")
    if not os.path.isfile(os.path.join(folder, _PACKAGE, "eval.py")):
        raise BridgeError(
            "bad_checkout",
            f"{checkout} has no src/kernelbench/eval.py.",
            "Name the folder of a checkout of KernelBench.",
        )
    stand_ins = _StandIns()
    sys.path.insert(0, folder)
    sys.meta_path.append(stand_ins)
    try:
        checker = importlib.import_module(f"{_PACKAGE}.eval")
    except (Exception, SystemExit) as exc:
        raise BridgeError(
            "bad_checkout",
            f"KernelBench's checker in {checkout} cannot be imported: {one_line(exc)}",
            "Install what KernelBench needs in the environment of " + sys.prefix + ".",
        ) from exc
    finally:
        sys.meta_path.remove(stand_ins)
    return checker, sorted({name.partition(".")[0] for name in stand_ins.names})


def reference_text(task):
    """The task's file as text, with the constants that were set when it was imported."""
    return ast.unparse(source_module.parse_source(task.source.applied, task.source.path))


def _fields(result):
    """(whether it is correct, what it says) of a KernelExecResult; None is a checker that could not decide."""
    if result is None:
        return False, {"compilation_error": "the checker asks to be run again"}
    return bool(result.correctness), dict(result.metadata)


def _convert(checker, values, device):
    """Arguments as the checker passes them on."""
    return [checker._process_input_tensor(value, device, "cuda", torch.float32) for value in values]


def _build(checker, text, custom, device):
    """The reference and the export, as the checker builds them. Returns (pair, get_inputs)."""
    context = {}
    model, init_inputs, get_inputs = checker.load_original_model_and_inputs(text, context)
    checker.set_seed(_SEED)
    arguments = _convert(checker, init_inputs(), device)
    with torch.no_grad():
        checker.set_seed(_SEED)
        original = model(*arguments)
        exported = checker.load_custom_model(custom, context, None)
        checker.set_seed(_SEED)
        pair = (original, exported(*arguments))
    return tuple(one.to(device=device, dtype=torch.float32) for one in pair), get_inputs


def _check_on_cpu(checker, text, custom, trials):
    """The steps of eval_kernel_against_ref up to its answer about correctness."""
    device = torch.device("cpu")
    with unittest.mock.patch("torch.cuda.synchronize", lambda device=None: None):
        try:
            (original, exported), get_inputs = _build(checker, text, custom, device)
            return _fields(
                checker.run_and_check_correctness(
                    original, exported, get_inputs, {}, trials, False, _SEED, device, "cuda", torch.float32
                )
            )
        except (Exception, SystemExit) as exc:
            return False, {"runtime_error": one_line(exc)}


def _check_on_gpu(checker, text, custom, trials, device):
    """The checker with weights and inputs drawn on the GPU, which takes seconds where the CPU takes a minute for 6 GB.

    What is not accepted so is checked again as KernelBench itself does it, with everything drawn on the CPU. Returns
    (whether it is correct, what the checker says, a note of where they were drawn).
    """
    try:
        with torch.device(device):
            correct, metadata = _evaluate(checker, text, custom, trials, device)
    except (Exception, SystemExit):
        correct = False  # the other way says what is wrong
    if correct:
        return correct, metadata, "weights and inputs were drawn on the GPU, which KernelBench does on the CPU"
    return *_evaluate(checker, text, custom, trials, device), ""


def _evaluate(checker, text, custom, trials, device):
    return _fields(
        checker.eval_kernel_against_ref(
            text,
            custom,
            seed_num=_SEED,
            num_correct_trials=trials,
            num_perf_trials=1,
            measure_performance=False,
            device=device,
            backend="cuda",
            precision=torch.float32,
        )
    )


def reference_failure(checker, text, device):
    """Why the checker cannot run its own reference on its own inputs; empty when it can.

    It turns every input into float32, which a class index or an embedding's index does not survive.
    """
    try:
        with torch.no_grad():
            context = {}
            model, init_inputs, get_inputs = checker.load_original_model_and_inputs(text, context)
            checker.set_seed(_SEED)
            original = model(*_convert(checker, init_inputs(), device)).to(device=device, dtype=torch.float32)
            original(*_convert(checker, get_inputs(), device))
    except (Exception, SystemExit) as exc:
        return one_line(exc)
    return ""


def _problem(metadata):
    """What the checker found wrong, in one line."""
    for key in ("runtime_error", "compilation_error", "correctness_issue"):
        if metadata.get(key):
            text = str(metadata[key]).strip().splitlines()
            more = f", largest difference {metadata['max_difference'][0]}" if metadata.get("max_difference") else ""
            return (text[0] if text else key)[:400] + more
    return "the checker gives no reason"


def _converted(task):
    """The types of the task's tensor inputs that the checker turns into float32."""
    with exporting.fake_mode():
        leaves = pytree.tree_leaves(exporting.fake_inputs(task))
    found = {leaf.dtype for leaf in leaves if isinstance(leaf, torch.Tensor)} - {torch.float32}
    return sorted(str(dtype).removeprefix("torch.") for dtype in found)


def _note(device, drawn, stand_ins, converted, has_no_compiler):
    notes = [drawn] if drawn else []
    if device.type == "cpu":
        notes.append("KernelBench's comparison needs a GPU; its parts ran on the CPU")
    if stand_ins:
        notes.append("without " + ", ".join(stand_ins) + ", which are not installed")
    if converted:
        notes.append(
            f"the checker turns inputs of type {' and '.join(converted)} into float32, "
            "for which the export runs the module's own operators"
        )
    if has_no_compiler:
        notes.append("the export found no compiler and ran the module's own operators")
    return "; ".join(notes)


def run(options):
    """Runs `kernelbench-check`. The document's `verdict` is accepted, rejected or reference failed."""
    task, _ = task_module.from_bundle(options.bundle)
    device = torch.device(options.device)
    custom = source_module.read_source(os.path.abspath(options.file)).decode("utf-8")
    text = reference_text(task)
    checker, stand_ins = load_checker(options.checkout)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if device.type == "cpu":
            correct, metadata = _check_on_cpu(checker, text, custom, options.trials)
            drawn = ""
        else:
            correct, metadata, drawn = _check_on_gpu(checker, text, custom, options.trials, device)
        failure = "" if correct else reference_failure(checker, text, device)
    return {
        "verdict": "accepted" if correct else "reference failed" if failure else "rejected",
        "trials": metadata.get("correctness_trials", ""),
        "problem": "" if correct else failure or _problem(metadata),
        "note": _note(
            device, drawn, stand_ins, _converted(task), any(_FELL_BACK in str(item.message) for item in caught)
        ),
    }
