# SPDX-License-Identifier: Apache-2.0
"""The command `baseline`: what PyTorch itself needs for a task, eager and compiled."""

from __future__ import annotations

import time

import torch

from . import compare, conditions, task as task_module, timing
from .errors import EXIT_USAGE, BridgeError, one_line, user_code

CHECKED_DRAWS = 3  # of inputs, the task's own first: KernelBench itself makes five
MODES = {"eager": None, "compile": "default", "max-autotune": "max-autotune"}


class Mode:
    """One way of running the module: its callable, compile time, accuracy and failure."""

    def __init__(self, name, model, inputs):
        self.name = name
        # Each mode has its own copy: running statistics of one must not move those of another.
        self._model = compare.copied(model)
        self._inputs = inputs
        self.compile_seconds = 0.0
        self.relative = self.absolute = self.accuracy = None
        self.error = None
        self.rejection = ""  # why KernelBench's checker would reject the mode
        kind = MODES[name]
        self._callable = self._model if kind is None else torch.compile(self._model, mode=kind)

    def call(self, inputs=None):
        """Runs the module once without gradients; the result is only valid until the next call."""
        if self.name == "max-autotune":
            torch.compiler.cudagraph_mark_step_begin()
        with torch.no_grad():
            return self._callable(*(self._inputs if inputs is None else inputs))

    def prepare(self, exact, full, device):
        """First call: compiles, measures compile_seconds, the error against `exact` (or None) and its class.

        `full` are compare.output_errors() of eager without TF32.
        """
        start = time.monotonic()
        try:
            results = compare.tensors(self.call())
            synchronise(device)
            if self.name != "eager":
                self.compile_seconds = time.monotonic() - start
            if exact is not None:
                self.relative, self.absolute = compare.errors(results, exact)
                self.accuracy = compare.accuracy_class(compare.output_errors(results, exact), full)
        except Exception as exc:  # a mode that cannot compile is data, not a failure of the command
            self.error = one_line(exc)

    def document(self, measured, clock, watch):
        """The JSON object of the mode, from a timing.Measured by the named clock under a conditions.Watch."""
        return {
            **timing.summarise(measured.samples.get(self.name, []), measured.throttled),
            "clock": clock,
            "repeated": measured.repeated,
            "conditions": watch.summary(),
            "compile_seconds": round(self.compile_seconds, 3),
            "error_vs_fp64": self.relative,
            "max_abs_error": self.absolute,
            "accuracy": self.accuracy,
            "error": self.error or self.rejection or None,
        }


def synchronise(device):
    """Waits for the device."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def parse_modes(text):
    """The list of modes named in `--modes`. Raises BridgeError usage."""
    names = list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    unknown = [name for name in names if name not in MODES]
    if unknown or not names:
        raise BridgeError(
            "usage",
            f"--modes {text!r} names no known mode ({', '.join(MODES)}).",
            "Use eager,compile.",
            code=EXIT_USAGE,
        )
    return names


def prepare(task, device):
    """The module and inputs of the task on the device. Raises BridgeError not_enough_memory and others."""
    try:
        model = task.build().to(device)
        inputs = compare.draw_inputs(task, device, task.seed)
    except torch.OutOfMemoryError as exc:
        raise BridgeError(
            "not_enough_memory",
            f"{task.source.file} does not fit on {device}: {one_line(exc)}",
            "Import it with smaller constants (--set).",
            task.source.path,
        ) from exc
    return model, inputs


def check_runs(task, model, inputs):
    """Runs the module once eagerly, so that its own failure is told apart from a mode's."""
    with user_code("forward_failed", f"running {task.class_name}.forward", task.source.path):
        compare.run_once(model, inputs)


def full_precision_errors(model, inputs, exact):
    """compare.output_errors() of eager without TF32, by which accuracy classes are defined; [] without `exact`."""
    if exact is None:
        return []
    with compare.without_tf32():
        results, _ = compare.run_once(model, inputs)
    return compare.output_errors(results, exact)


def has_checker(source):
    """Whether KernelBench's checker judges the task (a task.json's `source`)."""
    return source.get("kind") == "kernelbench" and source.get("checker") != "none"


def find_rejections(task, modes, model, device):
    """Fills in `rejection` of the compiled modes that KernelBench's checker would reject.

    Its rule for a kernel: each result within a tolerance of eager's, on several draws of inputs. A way of PyTorch
    that does not keep to it is no solution of the problem either, and nothing to compare kernels with.
    """
    for draw in range(CHECKED_DRAWS):
        working = [mode for mode in modes if mode.name != "eager" and not (mode.error or mode.rejection)]
        if not working:
            return
        inputs = compare.draw_inputs(task, device, task.seed + draw)
        wanted, _ = compare.run_once(model, inputs)
        for mode in working:
            try:
                results = compare.tensors(mode.call(compare.move(inputs)))
            except Exception as exc:  # as in prepare()
                mode.error = one_line(exc)
                continue
            problems = [compare.mismatch(f"result {i}", *pair) for i, pair in enumerate(zip(results, wanted))]
            problem = next(filter(None, problems), "")
            if problem:
                mode.rejection = f"KernelBench would reject it: against eager, {problem}"


def time_modes(modes, device, budget_s):
    """Times the modes that work, in turns; returns the documents of all by name, and the clock."""
    clock = timing.Clock(device)
    contention = conditions.Contention(torch.get_num_threads()) if device.type == "cpu" else None
    watch = conditions.Watch(clock.nvml(), contention)
    working = {mode.name: mode for mode in modes if mode.error is None}
    calls = {name: mode.call for name, mode in working.items()}
    measured = timing.interleave(clock, calls, budget_s, watch=watch, reference="eager")
    for name, exc in measured.failures.items():
        working[name].error = one_line(exc)
    documents = {mode.name: mode.document(measured, clock.name, watch) for mode in modes}
    for name, document in documents.items():
        document.update(eager_speedup(name, documents, measured))
    return documents, clock


def eager_speedup(name, documents, measured):
    """How many times as fast eager is as a mode, in turns with it, with the 95 % interval; nulls where unknown."""
    keys = ("eager_speedup", "eager_speedup_low", "eager_speedup_high")
    worked = all(mode in documents and not documents[mode]["error"] for mode in (name, "eager"))
    if not worked:
        return dict.fromkeys(keys)
    if name == "eager":
        return dict.fromkeys(keys, 1.0)
    found = timing.ratio(measured.samples[name], measured.samples["eager"], measured.throttled)
    return dict(zip(keys, found or (None, None, None)))


def fastest(documents):
    """Name of the fastest mode that worked, or None."""
    timed = {name: item["median_ns"] for name, item in documents.items() if item["median_ns"] and not item["error"]}
    return min(timed, key=timed.get) if timed else None


def run(options):
    """Runs `baseline`. Returns the result document; raises BridgeError."""
    names = parse_modes(options.modes)
    device = compare.choose_device(options.device, options.threads)
    task, document = task_module.from_bundle(options.bundle)
    model, inputs = prepare(task, device)
    check_runs(task, model, inputs)
    exact, why = compare.reference(model, inputs)
    full = full_precision_errors(model, inputs, exact)
    modes = [Mode(name, model, inputs) for name in names]
    for mode in modes:
        mode.prepare(exact, full, device)
    exact = None  # frees the largest tensors before anything is timed
    if has_checker(document.get("source", {})):
        find_rejections(task, modes, model, device)
    documents, clock = time_modes(modes, device, options.time_budget)
    return {
        "task": document["name"],
        "mode": document["mode"],
        "device": str(device),
        "threads": torch.get_num_threads(),
        "torch_version": torch.__version__,
        "flush_bytes": clock.flush_bytes,
        "reference_error": why or None,
        "modes": documents,
        "fastest": fastest(documents),
    }
