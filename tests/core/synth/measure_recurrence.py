#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of swage_recurrence_programs on a GPU: error against float64, and times beside PyTorch's.

    swage_recurrence_programs patterns > programs.jsonl
    measure_recurrence.py programs.jsonl [--seconds 90] [--cases NAME,NAME]

Needs PyTorch with CUDA and its NVRTC. Of each case: PyTorch as it is and without TF32, in microseconds with a cold
cache, and its error; then each program, and how many of its elements are not near eager's by KernelBench's tolerance. Ends
with 1 where something is wrong.
"""

import sys
import time

import torch

import cases
from run_products import Program, median_time

LIMIT = 2.0  # times eager's error
NEAR = 1e-4


def make_inputs(plan):
    """Inputs from 0 to 1, weights as torch.nn initialises them."""
    torch.manual_seed(7)
    units = plan["buffers"][plan["inputs"][1]]["shape"][-1]
    states = sum(len(plan["buffers"][number]["shape"]) == 3 for number in plan["inputs"])
    inputs = {}
    for place, number in enumerate(plan["inputs"]):
        tensor = torch.rand(plan["buffers"][number]["shape"], device="cuda")
        inputs[number] = tensor if place < states else (tensor * 2 - 1) / units**0.5
    return inputs, states


def pack(entry, tensors, states):
    """Moves weights into one piece of memory as modules of torch.nn do; without that cuDNN copies them at each call."""
    weights = tensors[states:]
    mode, gates = {"rnn_relu": (0, 1), "rnn_tanh": (1, 1), "lstm": (2, 4), "gru": (3, 3)}[entry["cell"]]
    with torch.no_grad():
        torch._cudnn_rnn_flatten_weight(weights, 4, weights[0].shape[1], mode, weights[0].shape[0] // gates, 0,
                                        entry["layers"], entry["batch_first"], entry["directions"] == 2)


def call(entry, tensors, states):
    function = getattr(torch, entry["cell"])
    hx = list(tensors[1:states]) if entry["cell"] == "lstm" else tensors[1]
    with torch.no_grad():
        results = function(tensors[0], hx, list(tensors[states:]), True, entry["layers"], 0.0, False,
                           entry["directions"] == 2, entry["batch_first"])
    return [result for place, result in enumerate(results) if entry["results" if place == 0 else "states"]]


def error_of(results, exact):
    return max(((result.double() - want).norm() / want.norm()).item() for result, want in zip(results, exact))


def far_from(results, eager):
    return sum((~torch.isclose(result, own, rtol=NEAR, atol=NEAR)).sum().item() for result, own in zip(results, eager))


def run_case(name, entries, cubins, options, flush, bad):
    deadline = time.monotonic() + options.case_seconds
    inputs, states = make_inputs(entries[0]["plan"])
    tensors = [inputs[number] for number in entries[0]["plan"]["inputs"]]
    apart = [tensor.clone() for tensor in tensors]
    pack(entries[0], tensors, states)
    exact = call(entries[0], [tensor.double() for tensor in tensors], states)
    errors, times, results = {}, {}, {}
    for way, allowed in (("eager", True), ("without TF32", False)):
        torch.backends.cudnn.allow_tf32 = allowed
        results[way] = call(entries[0], tensors, states)
        errors[way] = error_of(results[way], exact)
        times[way] = median_time(lambda: call(entries[0], tensors, states), flush, options.rounds)
    torch.backends.cudnn.allow_tf32 = True
    times["eager with weights apart"] = median_time(lambda: call(entries[0], apart, states), flush, options.rounds)
    errors["eager with weights apart"] = error_of(call(entries[0], apart, states), exact)
    print(f"{name}: " + ", ".join(f"{way} {times[way]:.0f} us, error {errors[way]:.2e}" for way in times), flush=True)
    for number, (entry, cubin) in enumerate(zip(entries, cubins)):
        if time.monotonic() > deadline and number > 2:
            break
        label = entry["label"]
        if isinstance(cubin, str):
            bad.append(f"{name} {label} does not compile: {cubin[:300]}")
            continue
        program = Program(entry, cubin, inputs)
        try:
            program.run()
            torch.cuda.synchronize()
            error = error_of(program.results(), exact)
            taken = median_time(program.run, flush, options.rounds)
        except RuntimeError as problem:
            bad.append(f"{name} {label}: {problem}")
            if "illegal" in str(problem) or "failure" in str(problem):
                raise
            continue
        again = error_of(program.results(), exact)
        far = far_from(program.results(), results["eager"])
        print(f"  {taken:9.1f} us (model {entry['estimate'] * 1e6:.0f})  x{times['eager'] / taken:.2f}  error {error:.2e} "
              f"{again:.2e} far from eager {far} {label}", flush=True)
        like = errors["eager" if entry["rounds"] else "without TF32"]
        if not max(error, again) < max(LIMIT * like, 1e-6):
            bad.append(f"{name} {label}: error {error:.3g} {again:.3g}")
        program.close()
        del program
        torch.cuda.empty_cache()


def main():
    return cases.run_cases(cases.parser().parse_args(), run_case)


if __name__ == "__main__":
    sys.exit(main())
