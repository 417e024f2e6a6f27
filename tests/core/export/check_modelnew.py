# SPDX-License-Identifier: Apache-2.0
"""Checks an exported file against the file it came from: check_modelnew.py CHECK EXPORT.py ORIGINAL.py

Files run the way KernelBench runs them: as text, both in one namespace. Prints `ok`.
"""

import copy
import sys
import warnings

import torch


def load(path, namespace):
    """Runs a file in `namespace`."""
    with open(path, encoding="utf-8") as stream:
        exec(compile(stream.read(), path, "exec"), namespace)  # files of this test


def launches(space):
    """Counts how often the plan runs, in a list of one number."""
    count, plan = [0], space["_swage_plan"]

    def counted(*args):
        count[0] += 1
        return plan(*args)

    space["_swage_plan"] = counted
    return count


def build(space, *args, **kwargs):
    """The original and the new module with the same weights."""
    torch.manual_seed(0)
    old = space["Model"](*args, **kwargs)
    torch.manual_seed(0)
    return old, space["ModelNew"](*args, **kwargs)


def check_relu(space):
    """No state; shapes, strides, dtypes, alignment and keyword arguments outside the verified ones."""
    old, new = build(space)
    count = launches(space)
    assert list(new.state_dict()) == list(old.state_dict()) == []
    x = torch.randn(16, 64)
    torch.testing.assert_close(new(x), old(x), rtol=0, atol=0)
    assert count[0] == 1
    assert space["batch_size"] == 16 and space["dim"] == 64, "--set is applied"
    others = (torch.randn(3, 5), torch.randn(64, 16).t(), torch.randn(16, 64).double(), torch.randn(1025)[1:].view(16, 64))
    for other in others:
        torch.testing.assert_close(new(other), old(other), rtol=0, atol=0)
    torch.testing.assert_close(new(x=x), old(x), rtol=0, atol=0)
    new.eval()
    torch.testing.assert_close(new(x), old(x), rtol=0, atol=0)
    assert count[0] == 1, "kernels ran outside of the verified case"
    new.train()
    torch.testing.assert_close(copy.deepcopy(new)(x), old(x), rtol=0, atol=0)
    assert count[0] == 2
    y = x.clone().requires_grad_()
    new(y).sum().backward()
    torch.testing.assert_close(y.grad, (x > 0).float())
    assert count[0] == 3


def check_counting(space):
    """Parameters, a buffer that forward changes, nested results, gradients, constructor arguments."""
    old, new = build(space, 3, 4, bias=True)
    count = launches(space)
    assert list(new.state_dict()) == list(old.state_dict()) == ["calls", "linear.weight", "linear.bias"]
    assert [name for name, _ in new.named_modules()] == [name for name, _ in old.named_modules()]
    x = torch.randn(2, 3)
    for tracked in (x, x.clone().requires_grad_()):
        # Model was run by the test with scale = 1, as its file says; the export has --set scale=2.
        first, rest = new(tracked)
        wanted = torch.nn.functional.linear(x, new.linear.weight, new.linear.bias) * 2.0
        torch.testing.assert_close(first, torch.relu(wanted))
        torch.testing.assert_close(rest, [wanted])
    assert count[0] == 2 and int(new.calls) == 2
    (first.sum() + 3 * rest[0].sum()).backward()
    assert int(new.calls) == 2, "gradients change no buffer"
    grad = 2 * ((wanted > 0).float() + 3)
    torch.testing.assert_close(new.linear.weight.grad, grad.t() @ x)
    torch.testing.assert_close(new.linear.bias.grad, grad.sum(0))
    torch.testing.assert_close(tracked.grad, grad @ new.linear.weight)
    new.load_state_dict(old.state_dict())
    assert int(new.calls) == 0
    new.linear.weight = torch.nn.Parameter(torch.ones(4, 3))
    with torch.no_grad():
        torch.testing.assert_close(new(x)[1][0], 2 * (x @ torch.ones(3, 4) + new.linear.bias))
        assert count[0] == 3
        new.double()
        torch.testing.assert_close(new(x.double())[1][0], 2 * (x.double() @ torch.ones(3, 4).double() + new.linear.bias))
        other = space["ModelNew"](3, 4, bias=False)
        assert other(x)[0].shape == (2, 4)
    assert count[0] == 3, "kernels ran outside of the verified case"


def check_deep(space):
    """Many layers: parameters that are replaced, and copies of the module."""
    old, new = build(space)
    count = launches(space)
    x = torch.rand(2, 4)
    torch.testing.assert_close(new(x), old(x))
    new.layers[8].bias = torch.nn.Parameter(torch.full((4,), 7.0))
    old.layers[8].bias = torch.nn.Parameter(torch.full((4,), 7.0))
    torch.testing.assert_close(new(x), old(x))
    other = copy.deepcopy(new)
    with torch.no_grad():
        other.layers[0].weight.zero_()
    torch.testing.assert_close(new(x), old(x))
    old.layers[0].weight = other.layers[0].weight
    torch.testing.assert_close(other(x), old(x))
    assert count[0] == 4 and int(new.calls) == 3 and int(other.calls) == 3


class FakeGraphs:
    """torch.cuda's graphs without a GPU: what is captured is computed again, into the same tensors, by replay()."""

    def __init__(self, space):
        self.now, self.fails, self.captures, self.plan, self.copy = None, False, 0, space["_swage_plan"], torch._foreach_copy_
        space["_swage_plan"], torch._foreach_copy_ = self.run, self.write
        torch.cuda.CUDAGraph, torch.cuda.graph = lambda: self.Graph(self), self.Capture
        torch.cuda.is_current_stream_capturing = lambda: self.now is not None
        torch._C._cuda_getCurrentRawStream = lambda index: 0
        torch.cuda.synchronize = lambda: None

    def run(self, *args):
        outputs = self.plan(*args)
        if self.now is not None:
            self.now.steps.append(lambda: self.copy(list(outputs), list(self.plan(*args))))
        return outputs

    def write(self, to, values):
        assert self.now is not None, "buffers are written in the graph"
        self.now.steps.append(lambda: self.copy(to, values))

    class Graph:
        def __init__(self, graphs):
            self.graphs, self.steps = graphs, []

        def replay(self):
            for step in self.steps:
                step()

    class Capture:
        def __init__(self, graph, capture_error_mode):
            self.graph, self.graphs = graph, graph.graphs

        def __enter__(self):
            if self.graphs.fails:
                raise RuntimeError("operation not permitted when stream is capturing")
            self.graphs.now = self.graph
            self.graphs.captures += 1

        def __exit__(self, *_):
            self.graphs.now = None


def check_captured(space):
    """A captured plan: fresh arguments and state, results of their own, and what cannot be captured."""
    old, new = build(space)
    graphs = FakeGraphs(space)
    case = space["_SwageCase"](None, (), torch.device("cpu"), 0, False)

    def call(module, x):
        with torch.no_grad():
            return module._swage_run(case, (x, *[registry.get(key) for registry, key in module._swage_state]))[0]

    x, y = torch.rand(2, 4), torch.rand(2, 4)
    with torch.no_grad():
        first, second = call(new, x), call(new, y)
        torch.testing.assert_close(first, old(x))  # not overwritten by the second call
        torch.testing.assert_close(second, old(y))
        assert graphs.captures == 1 and int(new.calls) == 2
        new.layers[3].weight.mul_(0.5)  # where it lies
        old.layers[3].weight.mul_(0.5)
        torch.testing.assert_close(call(new, x), old(x))
        assert graphs.captures == 1
        new.layers[3].weight = torch.nn.Parameter(torch.ones(4, 4))
        old.layers[3].weight = torch.nn.Parameter(torch.ones(4, 4))
        torch.testing.assert_close(call(new, x), old(x))
        assert graphs.captures == 2 and int(new.calls) == 4
        graphs.now = graphs.Graph(graphs)  # somebody else captures
        torch.testing.assert_close(call(new, y), old(y))
        assert graphs.captures == 2 and int(new.calls) == 5
        graphs.now = None
        modules = [copy.deepcopy(new) for _ in range(5)]  # kept: their addresses are not used again
        for module in modules:
            torch.testing.assert_close(call(module, x), old(x))
            assert len(space["_SWAGE_CAPTURES"]) <= 4
        graphs.fails = True
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            other = copy.deepcopy(new)
            torch.testing.assert_close(call(other, x), old(x))
            torch.testing.assert_close(call(other, y), old(y))
        assert len(caught) == 1 and "launched one by one" in str(caught[0].message), caught
        assert int(other.calls) == 7


def check_pytorch(space):
    """PyTorch's own way: the module's constructor, state and results, with nothing in between."""
    # Compiling for real takes a minute and is PyTorch's business.
    compiled = []
    torch.nn.Module.compile = lambda module, **kwargs: compiled.append(kwargs)
    old, new = build(space, 3, 4, bias=True)
    assert list(new.state_dict()) == list(old.state_dict()) and not hasattr(new, "_swage_original")
    assert compiled in ([], [{}])
    x = torch.randn(2, 3)
    wanted = torch.nn.functional.linear(x, new.linear.weight, new.linear.bias) * 2.0
    torch.testing.assert_close(new(x)[0], torch.relu(wanted))
    assert int(new.calls) == 1 and "forward" not in vars(type(new))


def check_cases(space):
    """What was checked once is not checked again, and what has changed since is noticed."""
    _, new = build(space, 3, 4, bias=True)
    count, examined, examine = launches(space), [0], space["_swage_examine"]

    def counted(tensors):
        examined[0] += 1
        return examine(tensors)

    space["_swage_examine"] = counted
    x = torch.randn(2, 3)
    with torch.no_grad():
        for _ in range(5):
            new(x)
        assert count[0] == 5 and examined[0] == 1 and len(space["_SWAGE_CASES"]) == 1
        # Other strides, the same object.
        new.linear.weight.data = new.linear.weight.data.t().contiguous().t()
        new(x)
        assert count[0] == 5 and examined[0] == 2, "strides of a parameter were not looked at"
        new.linear.weight.data = new.linear.weight.data.contiguous()
        new(x)
        assert count[0] == 6 and examined[0] == 2
        new.linear.eval()
        new(x)
        assert count[0] == 6, "the mode of a part was not looked at"
        new.linear.train()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert new(x)[0].dtype is torch.bfloat16
        assert count[0] == 6, "kernels ran under autocast"
        unaligned = torch.randn(7)[1:].view(2, 3)
        new(unaligned)
        assert count[0] == 6, "alignment was not looked at"
    with torch.inference_mode():
        new(torch.randn(2, 3))
        new(torch.randn(2, 3))
    assert count[0] == 8 and len(space["_SWAGE_CASES"]) == 2


def check_hooks(space):
    """Hooks run once, of whoever they are; a constructor may call forward."""
    _, new = build(space)
    count = launches(space)
    new.register_forward_hook(lambda module, args, result: 2 * result)
    x = torch.randn(16, 64, requires_grad=True)
    result = new(x)
    torch.testing.assert_close(result, 2 * torch.relu(x))
    result.sum().backward()
    torch.testing.assert_close(x.grad, 2 * (x > 0).float())
    assert count[0] == 1
    original = space["_OriginalModel"]
    constructor = original.__init__

    def hooked(module):
        constructor(module)
        torch.testing.assert_close(module(x), torch.relu(x))
        module.register_forward_hook(lambda module, args, result: 3 * result)

    original.__init__ = hooked
    torch.testing.assert_close(space["ModelNew"]()(x), 3 * torch.relu(x))
    original.__init__ = constructor
    assert count[0] == 1, "the plan has what hooks of the original do"


def check_traced(space):
    """torch.compile gets the original operators as one graph."""
    _, new = build(space)
    count, graphs = launches(space), []

    def backend(graph, _):
        graphs.append([str(node.target) for node in graph.graph.nodes if node.op.startswith("call")])
        return graph.forward

    x = torch.randn(16, 64)
    torch.testing.assert_close(torch.compile(new, backend=backend, fullgraph=True)(x), torch.relu(x))
    assert count[0] == 0 and len(graphs) == 1 and len(graphs[0]) == 1, graphs
    new(x)
    assert count[0] == 1


def check_uncompilable(space):
    """Source that no compiler takes."""
    old, new = build(space)
    count = launches(space)
    x = torch.randn(16, 64)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.testing.assert_close(new(x), old(x), rtol=0, atol=0)
        torch.testing.assert_close(new(x), old(x), rtol=0, atol=0)
    assert count[0] == 0 and len(caught) == 1 and "cannot compile" in str(caught[0].message)


def check_large(space):
    """Outputs large enough for huge pages."""
    old, new = build(space)
    count = launches(space)
    advised, advise = [], space["_SWAGE_MADVISE"]
    space["_SWAGE_MADVISE"] = lambda *args: advised.append((args[1].value, advise(*args)))
    x = torch.randn(1024, 4096)
    torch.testing.assert_close(new(x), old(x), rtol=0, atol=0)
    assert count[0] == 1 and len(advised) == 1
    assert advised[0][0] >= 12 << 20 and advised[0][0] % (2 << 20) == 0 and advised[0][1] in (0, -1), advised


def check_maps(space):
    """Tensor maps, with a driver that only keeps the address (tests/fake_cuda): once for each address, 128 bytes,
    where the driver expects them among packed arguments."""
    import ctypes
    import struct

    driver = ctypes.CDLL("libcuda.so.1")
    driver.swageFakeCudaMaps.restype = ctypes.c_char_p
    tensor_map = space["_swage_map0"]
    for _ in range(3):
        for address in (4096, 8192):
            encoded = tensor_map[address]
            assert len(encoded) == 128 and struct.unpack_from("P", encoded) == (address + 32,)
    line = b"type 7 of 64/32/1 15/8/1 strides 256 swizzle 3 promotion 2 fill 0\n"
    assert driver.swageFakeCudaMaps() == line + line, driver.swageFakeCudaMaps()
    step = space["_SWAGE_STEPS"][0]
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    image = f"{step['entry']} 0 1024 8 128 4 128 8\n".encode()  # as tests/fake_cuda reads modules
    assert driver.cuModuleLoadData(ctypes.byref(module), image) == 0
    assert driver.cuModuleGetFunction(ctypes.byref(function), module, step["entry"].encode()) == 0
    layout = space["_swage_packing"](driver, function, step)
    # The maps lie at multiples of 128 from byte 0x210, where the compiler has the first argument.
    packed = struct.pack(layout, 4096, tensor_map[4096], 5, tensor_map[8192], 8192)
    assert [struct.unpack_from("P", packed, at)[0] for at in (0, 112, 368, 496)] == [4096, 4128, 8224, 8192], layout
    assert struct.unpack_from("i", packed, 240) == (5,) and len(packed) == 504
    torch._C._cuda_getCurrentRawStream = lambda index: 0
    launch = space["_swage_launcher"](driver, function, step, 0, None)
    launch(4096, tensor_map[4096], 5, tensor_map[8192], 8192)
    driver.swageFakeCudaMapAddress.restype = ctypes.c_size_t
    assert driver.swageFakeCudaMapAddress() == 8224


def check_other_device(space):
    """Source for another device, compiled once and kept; a device without its instructions gets none."""
    import os
    import tempfile

    from torch.utils import cpp_extension

    cpp_extension.CUDA_HOME = os.environ["SWAGE_CUDA_HOME"]  # PyTorch for CPUs looks for none
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        (binary,) = space["_swage_compile"]((9, 0))
        assert binary[:4] == b"\x7fELF" and space["_SWAGE_STEPS"][0]["entry"].encode() in binary
        cpp_extension.CUDA_HOME = None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert space["_swage_compile"]((9, 0)) is None
        assert "no nvcc" in str(caught[0].message), caught
        cpp_extension.CUDA_HOME = os.environ["SWAGE_CUDA_HOME"]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert space["_swage_compile"]((1, 0)) is None
        assert "nvcc cannot compile them here" in str(caught[0].message), caught
        assert len(list(os.scandir(os.path.join(cache, "swage", "export")))) == 1


def main():
    """Runs one check."""
    check, exported, original = sys.argv[1:]
    space = {}
    load(original, space)
    load(exported, space)
    globals()["check_" + check](space)
    print("ok")


main()
