#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the programs of two builds of Swage on a GPU: the same genomes, results and times.

    swage_synth_programs patterns > programs.jsonl        # once with each build
    compare_programs.py before.jsonl after.jsonl [--cases NAME,NAME] [--patterns ID,ID] [--most N] [--output FILE]

Needs PyTorch with CUDA and its NVRTC. A genome that only one of the lists has is named. Both programs of a genome get
the same inputs; their results are compared element by element, and their times are taken in turns with a cold cache.
Ends with the geometric mean of after / before for each pattern and for all, and with 1 where something is wrong.
"""

import argparse
import collections
import concurrent.futures
import ctypes
import glob
import json
import math
import os
import statistics
import sys

import torch

TYPES = {"bool": torch.bool, "uint8": torch.uint8, "int8": torch.int8, "int16": torch.int16, "int32": torch.int32,
         "int64": torch.int64, "float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32,
         "float64": torch.float64}
ROUNDING = {torch.float16: 2e-3, torch.bfloat16: 2e-2, torch.float32: 3e-6, torch.float64: 1e-13}

cuda = ctypes.CDLL("libcuda.so.1")


def nvrtc():
    site = os.path.dirname(os.path.dirname(torch.__file__))
    found = sorted(glob.glob(site + "/nvidia/cu*/lib/libnvrtc.so.*") +
                   glob.glob(site + "/nvidia/cuda_nvrtc/lib/libnvrtc.so.*") +
                   glob.glob(site + "/torch/lib/libnvrtc*.so*") + glob.glob("/usr/local/cuda*/lib64/libnvrtc.so*"))
    return ctypes.CDLL([name for name in found if "builtins" not in name][0])


def check(code, what):
    if code != 0:
        raise RuntimeError(f"{what}: error {code}")


def compile_source(source, architecture):
    """The cubin, or the compiler's complaint as text. Runs in a process without the device."""
    library = nvrtc()
    program = ctypes.c_void_p()
    library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None)
    flags = [f"-arch={architecture}".encode(), b"--std=c++20", b"-default-device"]
    code = library.nvrtcCompileProgram(program, len(flags), (ctypes.c_char_p * len(flags))(*flags))
    size = ctypes.c_size_t()
    if code != 0:
        library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        library.nvrtcGetProgramLog(program, log)
        return log.value.decode()
    library.nvrtcGetCUBINSize(program, ctypes.byref(size))
    cubin = ctypes.create_string_buffer(size.value)
    library.nvrtcGetCUBIN(program, cubin)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return cubin.raw


class Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_int), ("value", ctypes.c_byte * 64)]


class Config(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
                ("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(Attribute)), ("count", ctypes.c_uint)]


CLUSTER, COOPERATIVE = 4, 2
MAX_SHARED, NON_PORTABLE_CLUSTER = 8, 14


class Program:
    """A compiled program with memory for its results; `inputs` are shared with the other one."""

    def __init__(self, entry, cubin, inputs):
        self.plan = entry["plan"]
        self.module = ctypes.c_void_p()
        check(cuda.cuModuleLoadData(ctypes.byref(self.module), cubin), "cuModuleLoadData")
        self.tensors = dict(inputs)
        used = {a["buffer"] for s in self.plan["steps"] if "kernel" in s for a in s["kernel"]["arguments"]}
        for number in used:
            if number not in self.tensors:
                one = self.plan["buffers"][number]
                tensor = torch.empty_strided(one["shape"], one["strides"], dtype=TYPES[one["dtype"]], device="cuda")
                self.tensors[number] = tensor.fill_(math.nan if tensor.dtype.is_floating_point else 1)
        self.launches = [self._launch(step) for step in self.plan["steps"]]

    def _launch(self, step):
        if "zero" in step:
            tensor = self.tensors[step["zero"]]
            return lambda: tensor.zero_()
        kernel = step["kernel"]
        function = ctypes.c_void_p()
        check(cuda.cuModuleGetFunction(ctypes.byref(function), self.module, kernel["entry"].encode()), "no kernel")
        if kernel["shared"] > 0:
            check(cuda.cuFuncSetAttribute(function, MAX_SHARED, kernel["shared"]), "shared memory")
        cluster = [kernel["cluster"][axis] for axis in range(3)]
        attributes = (Attribute * 2)()
        count = 0
        if cluster != [1, 1, 1]:
            check(cuda.cuFuncSetAttribute(function, NON_PORTABLE_CLUSTER, 1), "cluster")
            attributes[count].id = CLUSTER
            ctypes.memmove(attributes[count].value, (ctypes.c_uint * 3)(*cluster), 12)
            count += 1
        if kernel["cooperative"]:
            attributes[count].id = COOPERATIVE
            ctypes.memmove(attributes[count].value, (ctypes.c_int * 1)(1), 4)
            count += 1
        config = Config((ctypes.c_uint * 3)(*kernel["grid"]), (ctypes.c_uint * 3)(*kernel["block"]), kernel["shared"],
                        torch.cuda.current_stream().cuda_stream, attributes, count)
        values = [ctypes.c_void_p(self.tensors[a["buffer"]].data_ptr()) for a in kernel["arguments"]]
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
        keep = (attributes, values)
        return lambda: (keep, check(cuda.cuLaunchKernelEx(ctypes.byref(config), function, pointers, None), "launch"))

    def run(self):
        for launch in self.launches:
            launch()

    def results(self):
        return [self.tensors[number] for number in self.plan["outputs"]]

    def close(self):
        cuda.cuModuleUnload(self.module)


def make_inputs(plan):
    torch.manual_seed(7)
    inputs = {}
    for number in plan["inputs"]:
        one = plan["buffers"][number]
        dtype = TYPES[one["dtype"]]
        if dtype == torch.bool:
            tensor = torch.rand(one["shape"], device="cuda") > 0.5
        elif dtype.is_floating_point:
            tensor = torch.randn(one["shape"], device="cuda").to(dtype)
        else:
            tensor = torch.randint(0, 1000, one["shape"], device="cuda").to(dtype)
        inputs[number] = tensor.as_strided(one["shape"], one["strides"])
    return inputs


def difference(before, after):
    """Empty, or how the results differ beyond rounding."""
    for number, (a, b) in enumerate(zip(before.results(), after.results())):
        if not a.dtype.is_floating_point:
            if not torch.equal(a, b):
                return f"result {number}: {(a != b).sum().item()} of {a.numel()} differ"
            continue
        wide = torch.float64
        gap = (a.to(wide) - b.to(wide)).abs()
        scale = a.to(wide).abs().max().clamp(min=1e-30)
        if not torch.equal(a.isnan(), b.isnan()) or (gap > ROUNDING[a.dtype] * scale).any():
            return f"result {number}: by {(gap.max() / scale).item():.3g} of the largest"
    return ""


def times(programs, flush, rounds):
    taken = [[] for _ in programs]
    for _ in range(rounds):
        for index, program in enumerate(programs):
            flush.zero_()
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            program.run()
            end.record()
            end.synchronize()
            taken[index].append(start.elapsed_time(end) * 1e3)
    return [statistics.median(one) for one in taken]


def read(path, options):
    found = {}
    for line in open(path):
        one = json.loads(line)
        wanted = (not options.cases or one["case"] in options.cases.split(",")) and (
            not options.patterns or one["pattern"] in options.patterns.split(","))
        if wanted and not any("aten" in step for step in one["plan"]["steps"]):
            found[(one["case"], one["pattern"], one["genome"])] = one
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--cases", default="")
    parser.add_argument("--patterns", default="")
    parser.add_argument("--most", type=int, default=0, help="genomes of each case and pattern")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--output", default="")
    options = parser.parse_args()
    torch.cuda.init()
    torch.zeros(1, device="cuda")
    before, after = read(options.before, options), read(options.after, options)
    bad = [f"only one list has {key}" for key in before.keys() ^ after.keys()]
    chosen, seen = [], collections.Counter()
    for key in before:
        if key in after and (options.most == 0 or seen[key[:2]] < options.most):
            seen[key[:2]] += 1
            chosen.append(key)
    with concurrent.futures.ProcessPoolExecutor() as pool:
        sources = [table[key]["source"] for key in chosen for table in (before, after)]
        major, minor = torch.cuda.get_device_capability()
        architecture = f"sm_{major}{minor}{'a' if major >= 9 else ''}"
        cubins = list(pool.map(compile_source, sources, [architecture] * len(sources), chunksize=4))
    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    ratios = collections.defaultdict(list)
    rows = []
    inputs, of_case = {}, None
    for number, key in enumerate(chosen):
        pair = cubins[2 * number:2 * number + 2]
        if any(isinstance(one, str) for one in pair):
            bad.append(f"{key} does not compile: {[one for one in pair if isinstance(one, str)][0][:300]}")
            continue
        if of_case != key[0]:
            inputs, of_case = make_inputs(before[key]["plan"]), key[0]
        try:
            programs = [Program(table[key], cubin, inputs) for table, cubin in zip((before, after), pair)]
            for program in programs:
                program.run()
            torch.cuda.synchronize()
        except RuntimeError as error:
            bad.append(f"{key}: {error}")
            continue
        if wrong := difference(*programs):
            bad.append(f"{key}: {wrong}")
        first, second = times(programs, flush, options.rounds)
        ratios[key[1]].append(second / first)
        rows.append({"case": key[0], "pattern": key[1], "genome": key[2], "before_us": first, "after_us": second})
        print(f"{key[0]:18} {key[1]:14} {first:10.1f} us {second:10.1f} us  {second / first:6.3f}  "
              f"{json.loads(key[2])['regions'][0].get('parameters', '')}", flush=True)
        for program in programs:
            program.close()
    if options.output:
        json.dump(rows, open(options.output, "w"))
    for pattern, values in sorted(ratios.items()):
        print(f"{pattern:14} {len(values):4} genomes, after / before {math.exp(statistics.mean(map(math.log, values))):.4f}"
              f", worst {max(values):.3f}, best {min(values):.3f}")
    everything = [value for values in ratios.values() for value in values]
    if everything:
        print(f"all            {len(everything):4} genomes, after / before "
              f"{math.exp(statistics.mean(map(math.log, everything))):.4f}")
    for line in bad:
        print("WRONG", line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
