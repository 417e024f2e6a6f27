# SPDX-License-Identifier: Apache-2.0
"""The little language of --inputs.

    SPEC      = ITEM { ";" ITEM }
    ITEM      = DTYPE "[" [ DIM { "," DIM } ] "]" [ GENERATOR ]
    DIM       = integer | name of a module-level integer constant of the file
    GENERATOR = "randn" | "rand" | "zeros" | "ones" | "randint(LOW,HIGH)" | "uniform(LOW,HIGH)"

Without a generator, floating-point inputs are drawn by randn and the others by randint(0,2), which
means the values 0 and 1. LOW is included, HIGH is not. Example: `float32[16,64]; int64[16] randint(0,10)`.
"""

from __future__ import annotations

import dataclasses
import re

from .errors import BridgeError

DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")

_ITEM = re.compile(r"^\s*(\w+)\s*\[([^\]]*)\]\s*(.*?)\s*$")
_NUMBER = r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+)"
_GENERATOR = re.compile(rf"^(\w+)(?:\(\s*({_NUMBER})\s*,\s*({_NUMBER})\s*\))?$")


@dataclasses.dataclass
class InputSpec:
    """One tensor: dtype name, shape in elements, generator name and its bounds (low, high)."""

    dtype: str
    shape: list
    generator: str
    low: float = 0.0
    high: float = 2.0

    def make(self):
        """Draws the tensor on torch's default device from its default generator."""
        import torch

        dtype = getattr(torch, self.dtype)
        if self.generator in ("zeros", "ones"):
            return getattr(torch, self.generator)(self.shape, dtype=dtype)
        if self.generator == "randint":
            return torch.randint(int(self.low), int(self.high), self.shape).to(dtype)
        if self.generator == "uniform":
            return (torch.rand(self.shape) * (self.high - self.low) + self.low).to(dtype)
        return getattr(torch, self.generator)(self.shape).to(dtype)


def _fail(item, why):
    raise BridgeError(
        "bad_inputs",
        f"--inputs item {item.strip()!r} {why}.",
        'Write for example --inputs "float32[16,64]; int64[16] randint(0,10)".',
    )


def _dimension(text, item, constants):
    """One extent: a literal or a module-level constant, at least 0."""
    text = text.strip()
    value = int(text) if text.isdigit() else constants.get(text)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        _fail(item, f"has the extent {text!r}, which is neither a number nor an integer constant of the file")
    return value


def _parse_item(item, constants):
    match = _ITEM.match(item)
    if not match:
        _fail(item, "is not of the form dtype[extents] generator")
    dtype, extents, generator = match.groups()
    if dtype not in DTYPES:
        _fail(item, f"has the unknown dtype {dtype!r} (known: {', '.join(DTYPES)})")
    shape = [_dimension(part, item, constants) for part in extents.split(",") if part.strip()]
    floating = "float" in dtype
    match = _GENERATOR.match(generator or ("randn" if floating else "randint"))
    name, low, high = match.groups() if match else ("", None, None)
    if name not in ("randn", "rand", "zeros", "ones", "randint", "uniform"):
        _fail(item, f"has the unknown generator {generator!r}")
    if name in ("randn", "rand", "uniform") and not floating:
        _fail(item, f"cannot be drawn by {name}, which needs a floating-point dtype")
    spec = InputSpec(dtype, shape, name)
    if low is not None:
        spec.low, spec.high = float(low), float(high)
    elif name == "uniform":
        spec.high = 1.0
    if spec.high <= spec.low:
        _fail(item, "has an empty range")
    return spec


def parse(text, constants):
    """Parses a SPEC; `constants` are the file's module-level constants. Raises BridgeError bad_inputs."""
    items = [item for item in text.split(";") if item.strip()]
    if not items:
        _fail(text, "names no tensor")
    return [_parse_item(item, constants) for item in items]
