# SPDX-License-Identifier: Apache-2.0
"""The command `check-export`: does an exported ModelNew do what its source's module does?"""

from __future__ import annotations

import copy
import os
import warnings

import torch
from torch.utils import _pytree as pytree

from . import baseline, compare, source as source_module, task as task_module
from .errors import BridgeError, one_line, user_code

_MAX_PROBLEMS = 20


def _build_pair(task, path, device):
    """The source's module and the export's ModelNew with the same state. Returns (pair, problems)."""
    exported = source_module.load(path)
    model = task.build()
    new = task.build("ModelNew", exported)
    problems = []
    try:
        new.load_state_dict(copy.deepcopy(model.state_dict()))
    except RuntimeError as exc:
        problems.append(
            f"ModelNew does not accept the state_dict of {task.class_name}: {' '.join(str(exc).split())[:300]}"
        )
    new.train(model.training)
    return (model.to(device), new.to(device)), problems


def _compare_once(pair, inputs, path, exact=None):
    """Sentences for every difference of one run, and the results of both modules.

    With `exact`, the results in float64, an output may differ from PyTorch's where it is no less exact.
    """
    model, new = pair
    wanted, wanted_buffers = compare.run_once(model, inputs)
    with user_code("forward_failed", "running ModelNew.forward", path):
        found, found_buffers = compare.run_once(new, inputs)
    problems = []
    if len(found) != len(wanted):
        problems.append(f"ModelNew returns {len(found)} tensors instead of {len(wanted)}")
    for index, (result, own) in enumerate(zip(found, wanted)):
        problem = compare.mismatch(f"output {index}", result, own)
        if problem and exact and result.dtype == own.dtype and compare.is_as_exact(result, own, exact[index]):
            problem = ""
        problems.append(problem)
    for name, own in wanted_buffers.items():
        if name in found_buffers:
            problems.append(compare.mismatch(f"buffer {name}", found_buffers[name], own))
        elif name in model.state_dict():
            problems.append(f"ModelNew has no buffer {name}")
    return [problem for problem in problems if problem], found, wanted


def _fallen_back(caught):
    """The export's own words when its kernels do not run although the inputs are the verified ones: equal results
    would then prove nothing."""
    texts = [str(item.message) for item in caught]
    return [f"ModelNew: {text.splitlines()[0][:300]}" for text in texts if "original operators run instead" in text]


def _check_seeds(task, document, pair, device, seeds, path):
    """Compares on `seeds` sets of inputs. Returns (problems, errors against float64 per seed)."""
    problems, accuracy = [], []
    is_judged = document["source"]["kind"] == "kernelbench" and document["source"].get("checker") != "none"
    for seed in range(task.seed, task.seed + seeds):
        inputs = compare.draw_inputs(task, device, seed)
        exact, why = compare.reference(pair[0], inputs)
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                found, new, old = _compare_once(pair, inputs, path, None if is_judged else exact)
        except BridgeError as exc:
            problems.append(f"seed {seed}: {exc.message}")
            continue
        problems += _fallen_back(caught)
        problems += [f"seed {seed}: {problem}" for problem in found]
        if exact is None:
            accuracy.append({"seed": seed, "error": why})
            continue
        (new_relative, new_absolute), (relative, absolute) = _errors(new, exact), _errors(old, exact)
        accuracy.append(
            {
                "seed": seed,
                "exported": new_relative,
                "exported_max_abs": new_absolute,
                "eager": relative,
                "eager_max_abs": absolute,
            }
        )
    return problems, accuracy


def _errors(results, exact):
    """compare.errors, or nulls when the shapes do not even agree."""
    if [tuple(r.shape) for r in results] != [tuple(e.shape) for e in exact]:
        return None, None
    return compare.errors(results, exact)


def _halved(inputs):
    """The inputs with half the batch, or None when they share no even first extent of at least 2."""
    found = compare.tensors(inputs)
    extents = {leaf.shape[0] if leaf.dim() else 0 for leaf in found}
    if len(extents) != 1 or min(extents) < 2 or min(extents) % 2:
        return None
    return pytree.tree_map(
        lambda leaf: leaf[: leaf.shape[0] // 2].clone() if isinstance(leaf, torch.Tensor) else leaf, inputs
    )


def _check_fallback(task, pair, device, path):
    """Compares on a shape that was not verified. Returns (what happened, problems)."""
    inputs = _halved(compare.draw_inputs(task, device, task.seed))
    if inputs is None:
        return "not checked: the inputs share no even batch extent", []
    try:
        compare.run_once(pair[0], inputs)
    except Exception as exc:  # a module of fixed batch size is no fault of the export
        return f"not checked: {task.class_name} itself fails on half the batch: {one_line(exc)}", []
    try:
        problems, _, _ = _compare_once(pair, inputs, path)
    except BridgeError as exc:
        problems = [exc.message]
    return ("differs" if problems else "matches"), [f"half the batch: {problem}" for problem in problems]


def _time(task, pair, device, budget_s):
    """Interleaved medians of eager, compile and the export, and the fastest of them."""
    inputs = compare.draw_inputs(task, device, task.seed)
    exact, _ = compare.reference(pair[0], inputs)
    full = baseline.full_precision_errors(pair[0], inputs, exact)
    modes = [
        baseline.Mode("eager", pair[0], inputs),
        baseline.Mode("compile", pair[0], inputs),
        baseline.Mode("eager", pair[1], inputs),
    ]
    modes[-1].name = "exported"
    for mode in modes:
        mode.prepare(exact, full, device)
    exact = None
    documents, clock = baseline.time_modes(modes, device, budget_s)
    return {"flush_bytes": clock.flush_bytes, "modes": documents, "fastest": baseline.fastest(documents)}


def run(options):
    """Runs `check-export`. The document's `match` decides the exit code (8 when false)."""
    device = compare.choose_device(options.device, options.threads)
    task, document = task_module.from_bundle(options.bundle)
    path = os.path.abspath(options.file)
    pair, problems = _build_pair(task, path, device)
    fallback, accuracy = "not checked", []
    if not problems:
        baseline.check_runs(task, pair[0], compare.draw_inputs(task, device, task.seed))
        problems, accuracy = _check_seeds(task, document, pair, device, options.seeds, path)
        fallback, more = _check_fallback(task, pair, device, path)
        problems += more
    result = {
        "match": not problems,
        "task": document["name"],
        "file": path,
        "device": str(device),
        "seeds": options.seeds,
        "problems": problems[:_MAX_PROBLEMS],
        "problem_count": len(problems),
        "fallback": fallback,
        "error_vs_fp64": accuracy,
    }
    if options.time and not problems:
        result["timing"] = _time(task, pair, device, options.time_budget)
    return result
