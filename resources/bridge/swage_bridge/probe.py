# SPDX-License-Identifier: Apache-2.0
"""The command `probe`: what this Python environment offers to the C++ side."""

from __future__ import annotations

import glob
import importlib.metadata
import os
import platform
import sys

from .errors import EXIT_ENVIRONMENT, BridgeError, one_line

_TOOLS = ("ptxas", "cuobjdump", "nvdisasm")


def _version(distribution):
    """Installed version of a distribution, or None."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _nvidia_folders():
    """Folders of the nvidia-* wheels: all `lib` and `include` folders, and where key files lie."""
    roots = [path for entry in sys.path if os.path.isdir(path := os.path.join(entry or ".", "nvidia"))]
    libraries = sorted({os.path.realpath(p) for root in roots for p in glob.glob(os.path.join(root, "*", "lib"))})
    includes = sorted({os.path.realpath(p) for root in roots for p in glob.glob(os.path.join(root, "*", "include"))})

    def first(folders, pattern):
        return next((path for folder in folders for path in sorted(glob.glob(os.path.join(folder, pattern)))), None)

    return {
        "lib_dirs": libraries,
        "include_dirs": includes,
        "nvrtc": first(libraries, "libnvrtc.so.*"),
        "nvrtc_builtins": first(libraries, "libnvrtc-builtins.so.*"),
        "cupti": first(libraries, "libcupti.so.*"),
        "cudart": first(libraries, "libcudart.so.*"),
        "cuda_h": first(includes, "cuda.h"),
        "nvrtc_h": first(includes, "nvrtc.h"),
        "cupti_h": first(includes, "cupti.h"),
        "cuda_fp16_h": first(includes, "cuda_fp16.h"),
    }


def _triton():
    """Triton's version, folder and bundled NVIDIA tools; nulls for what is missing."""
    result = {
        "version": _version("triton") or _version("pytorch-triton"),
        "dir": None,
        **{tool: None for tool in _TOOLS},
    }
    try:
        import triton
    except Exception as exc:  # broken installations raise more than ImportError
        result["error"] = one_line(exc)
        return result
    folder = os.path.dirname(triton.__file__)
    result.update(version=triton.__version__, dir=folder)
    for tool in _TOOLS:
        path = os.path.join(folder, "backends", "nvidia", "bin", tool)
        result[tool] = path if os.access(path, os.X_OK) else None
    return result


def _mapped_library(stem):
    """Path of a shared library that this process has mapped and whose file name starts with `stem`."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as handle:
            paths = {line.split(maxsplit=5)[5].strip() for line in handle if line.count("/")}
    except OSError:
        return None
    return next((path for path in sorted(paths) if os.path.basename(path).startswith(stem)), None)


def _devices(torch):
    """One object per CUDA device that PyTorch sees."""
    if not torch.cuda.is_available():
        return []
    found = []
    for index in range(torch.cuda.device_count()):
        info = torch.cuda.get_device_properties(index)
        found.append(
            {
                "index": index,
                "name": info.name,
                "capability": [info.major, info.minor],
                "memory_bytes": info.total_memory,
                "l2_bytes": info.L2_cache_size,
                "multiprocessors": info.multi_processor_count,
                "uuid": str(info.uuid),
            }
        )
    return found


def _torch():
    """What C++ needs to link and run libtorch. Raises BridgeError no_torch (exit 5)."""
    try:
        import torch
        from torch.utils import cpp_extension
    except Exception as exc:
        raise BridgeError(
            "no_torch",
            f"PyTorch cannot be imported by {sys.executable}: {one_line(exc)}",
            "Choose a Python environment with torch 2.11.",
            code=EXIT_ENVIRONMENT,
        ) from exc
    root = os.path.dirname(torch.__file__)
    torch.zeros(4096, 64).sum()  # makes sure that the OpenMP runtime is loaded
    return {
        "version": torch.__version__,
        "dir": root,
        "lib_dir": os.path.join(root, "lib"),
        "include_dirs": cpp_extension.include_paths(),
        "cmake_dir": torch.utils.cmake_prefix_path,
        "cxx11_abi": bool(torch.compiled_with_cxx11_abi()),
        "git_version": torch.version.git_version,
        "cuda_version": torch.version.cuda,
        "cuda_available": torch.cuda.is_available(),
        "devices": _devices(torch),
        "threads": torch.get_num_threads(),
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "openmp": _mapped_library("libgomp") or _mapped_library("libomp") or _mapped_library("libiomp5"),
    }


def run():
    """The description as one document; absent things are null."""
    return {
        "python": {"version": platform.python_version(), "executable": sys.executable, "prefix": sys.prefix},
        "torch": _torch(),
        "triton": _triton(),
        "nvidia": _nvidia_folders(),
        "packages": {name: _version(name) for name in ("safetensors", "numpy", "setuptools")},
        "cpus": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
    }
