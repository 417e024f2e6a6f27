# SPDX-License-Identifier: Apache-2.0
"""Tests of what `swage bench kernelbench` asks of the bridge: smaller sizes, and KernelBench's checker."""

import os
import sys
import types

import torch

from test_bridge import BridgeCase, module_text
from swage_bridge import cli, kernelbench_check, shrink, source, task as task_module
from swage_bridge.errors import BridgeError

_HERE = os.path.dirname(os.path.abspath(__file__))

# The functions that the bridge calls, by their names and arguments; written for this test.
_CHECKER = '''
import no_such_client_of_language_models
from no_such_models import BaseModel
import torch
from . import helpers

class KernelExecResult(BaseModel):
    correctness = False
    metadata = {}

def set_seed(seed):
    torch.manual_seed(seed)

def load_original_model_and_inputs(text, context):
    exec(text, context)
    return context["Model"], context["get_init_inputs"], context["get_inputs"]

def load_custom_model(text, context, build_directory):
    exec(text, context)
    return context["ModelNew"]

def _process_input_tensor(value, device, backend, precision):
    return value.to(precision) if isinstance(value, torch.Tensor) else value

def run_and_check_correctness(original, new, get_inputs, metadata, trials, verbose, seed, device, backend, precision):
    torch.cuda.synchronize(device=device)
    passed = 0
    for trial in range(trials):
        torch.manual_seed(seed + trial)
        inputs = [_process_input_tensor(value, device, backend, precision) for value in get_inputs()]
        passed += bool(torch.allclose(original(*inputs), new(*inputs), atol=1e-4, rtol=1e-4))
    metadata["correctness_trials"] = f"({passed} / {trials})"
    if passed < trials:
        metadata["correctness_issue"] = "Output mismatch"
    return KernelExecResult(correctness=passed == trials, metadata=metadata)
'''


class Shrink(BridgeCase):
    def constants(self, text, limit):
        """Imports the text with the limit and returns the constants of the result."""
        self.load(self.write(text), "--largest-tensor", str(limit))
        return self.result["task"]["constants"]

    def largest_tensor(self):
        """Bytes of the largest input or output of what was imported last."""
        found = self.result["task"]["inputs"] + self.result["task"]["outputs"]
        return max(4 * torch.Size(item["shape"]).numel() for item in found)

    def test_no_tensor_is_larger_than_the_limit(self):
        text = module_text(
            "return torch.relu(x)", constants="rows = 4096\ncolumns = 65536", inputs="[torch.rand(rows, columns)]"
        )
        found = self.constants(text, 1_000_000)
        self.assertLessEqual(self.largest_tensor(), 1_000_000)
        self.assertGreater(self.largest_tensor(), 200_000)
        self.assertGreater(min(found["rows"], found["columns"]), 200)

    def test_a_task_that_fits_stays_as_it_is(self):
        text = module_text("return x + 1", constants="rows = 16", inputs="[torch.rand(rows, 4)]")
        self.assertEqual(self.constants(text, 1_000_000), {"rows": 16})
        self.assertEqual(self.load(self.path("task.py")).task["source"]["set"], {})

    def test_what_is_computed_from_a_constant_follows_it(self):
        text = module_text(
            "return x * self.scale",
            constants="width = 1 * 65536\nshape = (width,)\nrows, depth = 512, 3",
            init="self.scale = nn.Parameter(torch.ones(shape))",
            inputs="[torch.rand(rows, *shape)]",
        )
        found = self.constants(text, 500_000)
        self.assertEqual(found["shape"], {"tuple": [found["width"]]})
        self.assertEqual(found["depth"], 3)

    def test_sizes_that_belong_together_shrink_together(self):
        text = module_text(
            "return x + x @ self.weight",
            constants="features = 2048\noutputs = 2048",
            init="self.weight = nn.Parameter(torch.rand(features, outputs))",
            inputs="[torch.rand(4, features)]",
        )
        found = self.constants(text, 1_000_000)
        self.assertEqual((found["features"], found["outputs"]), (256, 256))

    def test_groups_keep_their_size(self):
        text = module_text(
            "return self.norm(x @ self.weight)",
            constants="features = 4096\ngroups = 256",
            init="self.weight = nn.Parameter(torch.rand(features, features))\n"
            "self.norm = nn.GroupNorm(groups, features)",
            inputs="[torch.rand(8, features)]",
        )
        found = self.constants(text, 1_048_576)
        self.assertEqual((found["features"], found["groups"]), (512, 32))

    def test_a_file_without_sizes_is_imported_as_it_is(self):
        self.assertEqual(self.constants(module_text("return x + 1"), 16), {})


class Check(BridgeCase):
    TEXT = module_text(
        "return torch.relu(x) * factor", constants="factor = 2.0\nrows = 64", inputs="[torch.randn(rows, 8)]"
    )

    def setUp(self):
        super().setUp()
        package = os.path.join(self.path("checkout"), "src", "kernelbench")
        os.makedirs(package)
        self.write("", "checkout/src/kernelbench/__init__.py")
        self.write("", "checkout/src/kernelbench/helpers.py")
        self.write(_CHECKER, "checkout/src/kernelbench/eval.py")
        self.addCleanup(self.forget)

    def forget(self):
        """Each test has a checkout of its own."""
        for name in [name for name in sys.modules if name.startswith(("kernelbench", "no_such"))]:
            del sys.modules[name]
        sys.path[:] = [folder for folder in sys.path if not folder.startswith(self.path("checkout"))]

    def check(self, text, original=None, checkout="checkout"):
        """The document about an export that is `text`."""
        self.load(self.write(original or self.TEXT), "--set", "rows=32")
        export = self.write(text.replace("class Model(", "class ModelNew(").replace("rows = 64", "rows = 32"), "new.py")
        return kernelbench_check.run(
            cli.parse(
                [
                    "kernelbench-check",
                    export,
                    "--bundle",
                    self.path("out.swage"),
                    "--checkout",
                    self.path(checkout),
                    "--device",
                    "cpu",
                ]
            )
        )

    def test_an_export_that_does_the_same_is_accepted(self):
        found = self.check(self.TEXT)
        self.assertEqual((found["verdict"], found["trials"], found["problem"]), ("accepted", "(5 / 5)", ""), found)
        self.assertIn("needs a GPU; its parts ran on the CPU", found["note"])
        self.assertIn("no_such_client_of_language_models", found["note"])

    def test_an_export_that_does_something_else_is_rejected(self):
        found = self.check(self.TEXT.replace("* factor", "* factor + 0.01"))
        self.assertEqual((found["verdict"], found["problem"]), ("rejected", "Output mismatch"))

    def test_an_export_that_does_not_run_is_rejected(self):
        found = self.check(self.TEXT.replace("return torch.relu(x) * factor", "raise ValueError('no kernel')"))
        self.assertEqual((found["verdict"], found["problem"]), ("rejected", "ValueError: no kernel"))

    def test_inputs_are_drawn_on_the_gpu_and_again_on_the_cpu_when_that_is_not_accepted(self):
        for correct, devices in ((True, ["meta"]), (False, ["meta", "cpu"])):
            drawn = []

            def evaluate(*_, **options):
                drawn.append(torch.get_default_device().type)
                return types.SimpleNamespace(correctness=correct, metadata={})

            checker = types.SimpleNamespace(eval_kernel_against_ref=evaluate)
            found = kernelbench_check._check_on_gpu(checker, "", "", 5, torch.device("meta"))
            self.assertEqual((found[:2], drawn), ((correct, {}), devices))
            self.assertEqual("drawn on the GPU" in found[2], correct)

    def test_a_reference_that_the_checker_cannot_run_is_told_apart(self):
        text = module_text("return x[0][x[1]]", constants="rows = 64", inputs="[[torch.randn(rows), torch.tensor(3)]]")
        text = text.replace("def forward(self, x):", "def forward(self, *x):").replace(
            "[[torch.randn(rows), torch.tensor(3)]]", "[torch.randn(rows, 4), torch.randint(0, rows, (5,))]"
        )
        found = self.check(text, text)
        self.assertEqual(found["verdict"], "reference failed", found)
        self.assertIn("int64 into float32", found["note"])

    def test_a_folder_without_the_checker_is_refused(self):
        with self.assertRaises(BridgeError) as caught:
            self.check(self.TEXT, checkout="elsewhere")
        self.assertEqual(caught.exception.kind, "bad_checkout")

    def test_the_reference_has_the_constants_of_the_import(self):
        self.load(self.write(self.TEXT), "--set", "rows=16")
        task, _ = task_module.from_bundle(self.path("out.swage"))
        self.assertIn("rows = 16", kernelbench_check.reference_text(task))
        self.assertNotIn("rows = 64", kernelbench_check.reference_text(task))

    def test_other_packages_are_told_that_a_module_is_missing(self):
        kernelbench_check.load_checker(self.path("checkout"))
        with self.assertRaises(ModuleNotFoundError):
            import no_such_progress_bar  # noqa: F401


class Names(BridgeCase):
    def test_numbers_alone_can_be_shrunk(self):
        loaded = source.load(
            self.write("a = 8\nb = a\nc = 'x'\nd = True\ne = [16] * 4\nf = g = 2 * 3\nh = 0.5\ni = 4\ni = a\n")
        )
        self.assertEqual(shrink.shrinkable(loaded), {"a": 8, "e": [16] * 4, "f": 6, "g": 6})
