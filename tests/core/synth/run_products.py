#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs products beside PyTorch's on a GPU: time, error, and what each launch takes.

    swage_synth_products patterns "CASES" PATTERNS COUNT > products.jsonl
    run_products.py products.jsonl [--seconds 140] [--rounds 5] [--cases NAME,NAME] [--only KEY=N] [--without KEY=N]

Needs PyTorch with CUDA and its NVRTC. Times are medians with a cold cache. Errors are those of a sample of rows and
columns against float64, relative in the L2 norm, for normal and for uniform operands. At the end of each case the
fastest program gets operands with lines of other magnitudes, zeros and infinities, and must give what PyTorch gives.
"""

import argparse
import concurrent.futures
import ctypes
import json
import statistics
import sys
import time

import torch

import compare_programs
from compare_programs import Attribute, CLUSTER, COOPERATIVE, Config, MAX_SHARED, NON_PORTABLE_CLUSTER, TYPES, check, cuda

ELEMENTS = {"float16": (6, 2), "float32": (7, 4), "bfloat16": (9, 2)}
SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
PROMOTIONS = {0: 0, 64: 1, 128: 2, 256: 3}
SAMPLE = 96


def tensor_map(description, tensors):
    """The driver's CUtensorMap, on 64 bytes."""
    room = ctypes.create_string_buffer(256)
    at = (ctypes.addressof(room) + 127) // 128 * 128
    element, size = ELEMENTS[description["element"]]
    rank = len(description["sizes"])
    address = tensors[description["buffer"]].data_ptr() + description["offset"] * size
    check(cuda.cuTensorMapEncodeTiled(
        ctypes.c_void_p(at), element, rank, ctypes.c_void_p(address),
        (ctypes.c_uint64 * rank)(*description["sizes"]), (ctypes.c_uint64 * rank)(*description["strides"], 0),
        (ctypes.c_uint32 * rank)(*description["box"]), (ctypes.c_uint32 * rank)(*description["element_strides"]),
        0, SWIZZLES[description["swizzle"]], PROMOTIONS[description["promotion"]], 0), "tensor map")
    return room, at


class Program(compare_programs.Program):
    """One whose launches may have tensor maps."""

    def __init__(self, entry, cubin, inputs):
        self.plan = entry["plan"]
        self.module = ctypes.c_void_p()
        check(cuda.cuModuleLoadData(ctypes.byref(self.module), cubin), "cuModuleLoadData")
        self.tensors = dict(inputs)
        for number, one in enumerate(self.plan["buffers"]):
            if number not in self.tensors:
                tensor = torch.empty_strided(one["shape"], one["strides"], dtype=TYPES[one["dtype"]], device="cuda")
                self.tensors[number] = tensor
        self.launches = [self._launch(step) for step in self.plan["steps"]]

    def _launch(self, step):
        if "kernel" not in step:
            return super()._launch(step)
        kernel = step["kernel"]
        function = ctypes.c_void_p()
        check(cuda.cuModuleGetFunction(ctypes.byref(function), self.module, kernel["entry"].encode()), "no kernel")
        if kernel["shared"] > 0:
            check(cuda.cuFuncSetAttribute(function, MAX_SHARED, kernel["shared"]), "shared memory")
        attributes = (Attribute * 2)()
        count = 0
        if kernel["cluster"] != [1, 1, 1]:
            check(cuda.cuFuncSetAttribute(function, NON_PORTABLE_CLUSTER, 1), "cluster")
            attributes[0].id = CLUSTER
            ctypes.memmove(attributes[0].value, (ctypes.c_uint * 3)(*kernel["cluster"]), 12)
            count = 1
        if kernel["cooperative"]:
            attributes[count].id = COOPERATIVE
            ctypes.memmove(attributes[count].value, (ctypes.c_int * 1)(1), 4)
            count += 1
        config = Config((ctypes.c_uint * 3)(*kernel["grid"]), (ctypes.c_uint * 3)(*kernel["block"]), kernel["shared"],
                        torch.cuda.current_stream().cuda_stream, attributes, count)
        keep, addresses = [attributes], []
        for argument in kernel["arguments"]:
            if "map" in argument:
                room, at = tensor_map(argument["map"], self.tensors)
                keep.append(room)
                addresses.append(at)
            else:
                if "i64" in argument:
                    value = ctypes.c_int64(argument["i64"])
                else:
                    value = ctypes.c_void_p(self.tensors[argument["buffer"]].data_ptr())
                keep.append(value)
                addresses.append(ctypes.addressof(value))
        pointers = (ctypes.c_void_p * len(addresses))(*addresses)
        return lambda: (keep, check(cuda.cuLaunchKernelEx(ctypes.byref(config), function, pointers, None), "launch"))


def median_time(work, flush, rounds):
    """In microseconds."""
    taken = []
    for _ in range(rounds):
        flush.zero_()
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        work()
        end.record()
        end.synchronize()
        taken.append(start.elapsed_time(end) * 1e3)
    return statistics.median(taken)


def fill(tensors, kind):
    for tensor in tensors:
        tensor.normal_() if kind == "normal" else tensor.uniform_()


class Sample:
    """Some rows and columns of a product, exactly."""

    def __init__(self, equation, left, right):
        sides, self.result = equation.split("->")
        self.sides = sides.split(",")
        self.picked = {}
        for letters, tensor in zip(self.sides, (left, right)):
            for axis, letter in enumerate(letters):
                count = tensor.shape[axis]
                few = 2 if letter == "b" else SAMPLE
                if letter != "z" and letter not in self.picked:
                    self.picked[letter] = torch.randperm(count, device="cuda")[:few].sort().values
        self.exact = torch.einsum(equation, *[self.of(letters, tensor).double()
                                              for letters, tensor in zip(self.sides, (left, right))])

    def of(self, letters, tensor):
        for axis, letter in enumerate(letters):
            if letter in self.picked:
                tensor = tensor.index_select(axis, self.picked[letter])
        return tensor

    def error(self, result):
        return ((self.of(self.result, result).double() - self.exact).norm() / self.exact.norm()).item()


def spoil(tensors, equation):
    """Lines of other magnitudes, zeros, an infinity and NaN."""
    for letters, tensor in zip(equation.split("->")[0].split(","), tensors):
        line = [axis for axis, letter in enumerate(letters) if letter in "xy"][0]
        for number, factor in enumerate((2.0**-40, 0.0, 2.0**30, 1.0, 1.0)):
            tensor.select(line, min(3 * number + 1, tensor.shape[line] - 1)).mul_(factor)
        flat = tensor.select(line, min(10, tensor.shape[line] - 1))
        flat[..., 5] = float("inf")
        tensor.select(line, min(13, tensor.shape[line] - 1))[..., 7] = float("nan")


def spoiled_difference(program, expression, tensors, equation):
    fill(tensors, "normal")
    spoil(tensors, equation)
    program.run()
    got, want = program.results()[0], expression()
    few = tuple(slice(0, 2 if letter == "b" else 64) for letter in equation.split("->")[1])
    got, want = got[few].double(), want[few].double()
    exact = torch.einsum(equation, *[tensor[tuple(slice(0, 2 if letter == "b" else 64) if letter != "z" else slice(None)
                                                  for letter in letters)].double()
                                     for letters, tensor in zip(equation.split("->")[0].split(","), tensors)])
    if not torch.equal(got.isnan(), want.isnan()) or not torch.equal(got.isinf(), want.isinf()):
        return "infinities or NaN differ"
    finite = want.isfinite()
    scale = torch.einsum(equation, *[tensor[tuple(slice(0, 2 if letter == "b" else 64) if letter != "z" else slice(None)
                                                  for letter in letters)].double().abs()
                                     for letters, tensor in zip(equation.split("->")[0].split(","), tensors)])
    finite &= scale.isfinite() & (scale > 2.0**-120)
    ours, theirs = [((one - exact).abs() / scale)[finite].max().item() for one in (got, want)]
    return f"largest error {ours:.1e} of the magnitudes that are added up, PyTorch {theirs:.1e}"


def run_case(name, entries, cubins, flush, rounds):
    equation = entries[0]["equation"]
    buffers = entries[0]["plan"]["buffers"]
    numbers = entries[0]["plan"]["inputs"]
    tensors = [torch.empty(buffers[number]["shape"], device="cuda") for number in numbers]
    left, right = tensors
    swap = {"xz,zy->xy": lambda: left @ right, "bxz,bzy->bxy": lambda: torch.bmm(left, right),
            "xz,yz->xy": lambda: left @ right.T, "zx,zy->xy": lambda: left.T @ right}
    expression = swap.get(equation, lambda: torch.einsum(equation, left, right))
    fill(tensors, "normal")
    expression()
    eager = median_time(expression, flush, rounds)
    shape = {}
    for letters, tensor in zip(equation.split("->")[0].split(","), tensors):
        shape.update(zip(letters, tensor.shape))
    operations = 2.0
    for extent in shape.values():
        operations *= extent
    samples = {}
    for kind in ("normal", "uniform"):
        torch.manual_seed(3)
        fill(tensors, kind)
        samples[kind] = Sample(equation, left, right)
    torch.manual_seed(3)
    errors = []
    for kind in ("normal", "uniform"):
        torch.manual_seed(3)
        fill(tensors, kind)
        errors.append(samples[kind].error(expression()))
    print(f"{name} {shape}: PyTorch {eager:.1f} us, {operations / eager / 1e6:.1f} TFLOP/s, error {errors[0]:.2e} "
          f"normal, {errors[1]:.2e} uniform", flush=True)
    best = None
    for entry, cubin in zip(entries, cubins):
        label = entry["pattern"] + " " + " ".join(f"{key}={value}" for key, value in entry["parameters"].items())
        if isinstance(cubin, str):
            print(f"  {label}: does not compile: {cubin[:300]}", flush=True)
            continue
        program = None
        try:
            program = Program(entry, cubin, dict(zip(numbers, tensors)))
            found = []
            for kind in ("normal", "uniform"):
                torch.manual_seed(3)
                fill(tensors, kind)
                program.run()
                torch.cuda.synchronize()
                found.append(samples[kind].error(program.results()[0]))
            fill(tensors, "normal")
            taken = median_time(program.run, flush, rounds)
            each = [median_time(launch, flush, 3) for launch in program.launches]
            print(f"  {taken:9.1f} us (model {entry['estimate'] * 1e6:.0f})  x{eager / taken:.2f}  "
                  f"{operations / taken / 1e6:.1f} TFLOP/s  errors {found[0]:.2e} {found[1]:.2e}  launches "
                  f"{' '.join(f'{one:.0f}' for one in each)}  {label}", flush=True)
            if entry["pattern"] == "product_onepass" and (best is None or taken < best[0]):
                best = (taken, entry, cubin)
        except RuntimeError as error:
            print(f"  {label}: {error}", flush=True)
            torch.cuda.synchronize()
        finally:
            if program is not None:
                program.close()
                program.tensors = None
    if best is not None:
        program = Program(best[1], best[2], dict(zip(numbers, tensors)))
        print(f"  lines that halves do not hold: {spoiled_difference(program, expression, tensors, equation)}; "
              f"{median_time(program.run, flush, 1):.0f} us", flush=True)
        program.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("products")
    parser.add_argument("--seconds", type=float, default=140)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cases", default="")
    parser.add_argument("--only", default="", help="programs with this parameter")
    parser.add_argument("--without", default="")
    options = parser.parse_args()
    begin = time.monotonic()
    entries = [json.loads(line) for line in open(options.products)]
    if options.cases:
        entries = [entry for entry in entries if entry["case"] in options.cases.split(",")]
    def has(entry, text):
        key, value = text.split("=")
        return entry["parameters"].get(key) == int(value)
    if options.only:
        entries = [entry for entry in entries if has(entry, options.only)]
    if options.without:
        entries = [entry for entry in entries if entry["pattern"] != "product_onepass" or
                   not has(entry, options.without)]
    with concurrent.futures.ProcessPoolExecutor() as pool:
        torch.cuda.init()
        torch.zeros(1, device="cuda")
        cubins = list(pool.map(compare_programs.compile_source, [entry["source"] for entry in entries],
                               ["sm_90a"] * len(entries)))
    print(f"compiled {len(entries)} programs in {time.monotonic() - begin:.1f} s on "
          f"{torch.cuda.get_device_name()}", flush=True)
    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    for name in dict.fromkeys(entry["case"] for entry in entries):
        if time.monotonic() - begin > options.seconds:
            print(f"{name}: no time left", flush=True)
            continue
        mine = [number for number, entry in enumerate(entries) if entry["case"] == name]
        try:
            run_case(name, [entries[number] for number in mine], [cubins[number] for number in mine], flush,
                     options.rounds)
        except RuntimeError as error:
            print(f"{name}: {error}", flush=True)
        torch.cuda.empty_cache()
    return 0


if __name__ == "__main__":
    sys.exit(main())
