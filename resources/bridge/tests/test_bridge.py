# SPDX-License-Identifier: Apache-2.0
"""Self-test of the bridge: `python -m unittest` in this folder, or this file by its path. No GPU needed."""

import copy
import glob
import json
import math
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(_HERE), _HERE]
os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")

import torch  # noqa: E402

from interpreter import Bundle  # noqa: E402
from swage_bridge import cli, compare, importing, inputs_spec, source, task as task_module, variants  # noqa: E402
from swage_bridge.bytecode import bytecode  # noqa: E402
from swage_bridge.errors import BridgeError  # noqa: E402

TASKS = os.path.join(os.path.dirname(os.path.dirname(_HERE)), "tasks")

# Each test writes only the lines that matter; this puts a module around them.
_TEMPLATE = '''
import torch
import torch.nn as nn
import torch.nn.functional as F
{constants}
class Model(nn.Module):
    def __init__(self{parameters}):
        super().__init__()
{init}
    def forward(self, x):
{forward}
def get_inputs():
    return {inputs}
def get_init_inputs():
    return {arguments}
'''


def module_text(forward, init="pass", constants="", inputs="[torch.randn(4, 8)]", parameters="", arguments="[]"):
    """Source of a task from its interesting lines."""
    return _TEMPLATE.format(
        constants=constants,
        parameters=parameters,
        inputs=inputs,
        arguments=arguments,
        init=textwrap.indent(textwrap.dedent(init).strip(), " " * 8),
        forward=textwrap.indent(textwrap.dedent(forward).strip(), " " * 8),
    )


class BridgeCase(unittest.TestCase):
    """A temporary folder, and shorthands to import tasks in this process."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)

    def path(self, name):
        return os.path.join(self._folder.name, name)

    def write(self, text, name="task.py"):
        with open(self.path(name), "w", encoding="utf-8") as handle:
            handle.write(text)
        return self.path(name)

    def load(self, file, *arguments):
        """Imports a file and returns its Bundle."""
        folder = self.path("out.swage")
        self.result = importing.run(cli.parse(["import", file, "-o", folder, *arguments]))
        return Bundle(folder)

    def fail_import(self, kind, file, *arguments):
        """Imports a file, requires the error `kind`, and returns the error."""
        with self.assertRaises(BridgeError) as caught:
            self.load(file, *arguments)
        error = caught.exception
        self.assertEqual(error.kind, kind, error.message)
        self.assertNotIn("\n", error.message)
        self.assertEqual(error.code, 4)
        self.assertFalse(os.path.exists(self.path("out.swage")))
        return error

    def operators(self, bundle):
        return [node["op"] for node in bundle.task["graph"]["nodes"]]

    def check_equal(self, bundle):
        """Requires the bundle's graph and generator to do exactly what the module does, on two seeds."""
        task, _ = task_module.from_bundle(self.path("out.swage"))
        for seed in (1, 2):
            inputs = compare.draw_inputs(task, "cpu", seed)
            drawn = bundle.inputs(seed)
            for ours, theirs in zip(drawn, compare.tensors(inputs), strict=True):
                self.assertTrue(torch.equal(ours, theirs), "the generator draws other inputs")
            model = task.build()
            with torch.no_grad():
                wanted = compare.tensors(model(*copy.deepcopy(inputs)))
            found, buffers = bundle.outputs(drawn)
            for ours, theirs in zip(found, wanted, strict=True):
                torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-6)
            for name, value in buffers.items():
                torch.testing.assert_close(value, model.get_buffer(name), rtol=1e-6, atol=1e-6)


class BundledTasks(BridgeCase):
    def test_every_bundled_task_reproduces_its_module(self):
        files = sorted(glob.glob(os.path.join(TASKS, "*.py")))
        self.assertGreaterEqual(len(files), 6)
        for file in files:
            with self.subTest(os.path.basename(file)):
                bundle = self.load(file)
                self.assertEqual(bundle.task["warnings"], [])
                self.check_equal(bundle)

    def test_batch_norm_has_five_results_and_three_mutations(self):
        bundle = self.load(os.path.join(TASKS, "batch_norm_train.py"))
        nodes = {node["op"]: node for node in bundle.task["graph"]["nodes"]}
        node = nodes["aten._native_batch_norm_legit_functional.default"]
        self.assertEqual([value >= 0 for value in node["outputs"]], [True, False, False, True, True])
        outputs = [(item["kind"], item["name"]) for item in bundle.task["graph"]["outputs"]]
        names = ("running_mean", "running_var", "num_batches_tracked")
        self.assertEqual(outputs, [("buffer_mutation", "norm." + name) for name in names] + [("user", "")])
        self.assertIn("batch_norm_train.py:", node["where"])


class Constants(BridgeCase):
    TEXT = module_text(
        "return x * gain",
        constants="rows = 4\nshape = (rows, 8)\ngain, bias = 2.0, 1\nrows2: int = rows * 2",
        inputs="[torch.randn(*shape)]",
    )

    def shape(self, *pairs):
        bundle = self.load(self.write(self.TEXT), *[part for pair in pairs for part in ("--set", pair)])
        self.check_equal(bundle)
        return bundle.task["graph"]["values"][0]["shape"]

    def test_set_acts_before_dependants(self):
        self.assertEqual(self.shape("rows=6"), [6, 8])
        self.assertEqual(self.result["task"]["constants"]["rows2"], 12)

    def test_set_of_tuples_and_of_one_name_of_several(self):
        self.assertEqual(self.shape("shape=(3, 5)", "gain=0.5"), [3, 5])
        self.assertEqual(self.result["task"]["constants"]["gain"], 0.5)
        self.assertEqual(self.result["task"]["constants"]["bias"], 1)

    def applied(self, text, **overrides):
        return source.apply_overrides(text.encode(), overrides, "task.py").decode()

    def test_the_new_value_stands_at_every_assignment_and_no_line_moves(self):
        for text, expected in (
            ("n = 64\nm = n * 2\n", "n = 7\nm = n * 2\n"),
            ("n: int = (\n    64)\nm = 1", "n = 7\n\nm = 1"),
            ("n, m = 1, 2  # both\n", "n, m = 1, 2; n = 7  # both\n"),
            ("m = n = 1\n", "m = n = 1; n = 7\n"),
            ("n = 1; m = 2\n", "n = 7; m = 2\n"),
            ("n = [\n  1]; m = 2\nk = 3\n", "n = 7; m = 2\n\nk = 3\n"),
            ("n = 1\nn += 1\n", "n = 7\nn = 7\n"),
            ("n = 1\nif n == 1:\n    m = 2\n", "n = 7\nif n == 1:\n    m = 2\n"),
            ("n = 1\nx.n = 2\ny[n] = f(n=3)\n", "n = 7\nx.n = 2\ny[n] = f(n=3)\n"),
            ("s = 'ü'; n = 1\r\n", "s = 'ü'; n = 7\n"),
        ):
            with self.subTest(text):
                self.assertEqual(self.applied(text, n=7), expected)
        self.assertEqual(self.applied("s = 0\n", s=(1, 2.0, "a'b", [True])), "s = (1, 2.0, \"a'b\", [True])\n")
        latin = "# coding: latin-1\ns = 'ü'; n = 1\n".encode("latin-1")
        changed = source.apply_overrides(latin, {"n": 7}, "task.py")
        self.assertEqual(changed, latin.replace(b"n = 1", b"n = 7"))

    def test_the_bundle_has_the_file_as_it_is_and_as_it_was_run(self):
        def content(name):
            with open(os.path.join(self.path("out.swage"), name), encoding="utf-8") as handle:
                return handle.read()

        self.load(self.write(self.TEXT), "--set", "rows=6")
        self.assertEqual(content("source.py"), self.TEXT)
        self.assertEqual(content("applied.py"), self.TEXT.replace("rows = 4", "rows = 6"))
        self.load(self.write(self.TEXT))
        self.assertNotIn("applied.py", os.listdir(self.path("out.swage")))

    def test_unknown_name_lists_the_available(self):
        error = self.fail_import("unknown_constant", self.write(self.TEXT), "--set", "cols=3")
        for name in ("rows", "shape", "gain", "bias", "rows2"):
            self.assertIn(name, error.message)

    def test_bad_values(self):
        for pair in ("rows", "rows=four", "rows=open('x')", "1rows=3", "rows={1: 2}"):
            with self.subTest(pair):
                self.fail_import("bad_set", self.write(self.TEXT), "--set", pair)

    def test_literals_survive_json(self):
        value = (1, (2.5, "a", math.inf), [True, ()])
        self.assertEqual(source.literal_from_json(json.loads(json.dumps(source.literal_to_json(value)))), value)
        nan = json.dumps(source.literal_to_json([math.nan]), allow_nan=False)
        self.assertTrue(math.isnan(source.literal_from_json(json.loads(nan))[0]))


class Modules(BridgeCase):
    TEXT = "import torch\nwidth = 16\nclass Net(torch.nn.Linear):\n    pass\n"

    def test_class_inputs_and_init(self):
        file = self.write(self.TEXT)
        bundle = self.load(
            file + ":Net", "--inputs", "float32[4,width] rand", "--init", '{"in_features": 16, "out_features": 3}'
        )
        self.assertEqual(bundle.task["source"]["kind"], "module")
        self.assertEqual(bundle.task["name"], "task.Net")
        self.check_equal(bundle)

    def test_only_files_in_the_form_of_kernelbench_have_its_checker(self):
        inputs = "def get_inputs():\n    return [torch.rand(4, 16)]\n"
        model = "import torch\nclass Model(torch.nn.Linear):\n    pass\n"
        problem = model + inputs + "def get_init_inputs():\n    return [16, 3]\n"
        self.assertNotIn("checker", self.load(self.write(problem)).task["source"])
        without = self.load(self.write(model + inputs), "--init", "[16, 3]")
        self.assertEqual(without.task["source"]["checker"], "none")
        net = self.load(self.write(problem.replace("Model", "Net")) + ":Net")
        self.assertEqual(net.task["source"]["checker"], "none")
        folder = os.path.join(os.path.dirname(__file__), "..", "..", "tasks")
        bundled = self.load(os.path.join(folder, "softmax_rows.py"))
        self.assertEqual((bundled.task["source"]["kind"], bundled.task["source"]["checker"]), ("kernelbench", "none"))

    def test_results_may_be_more_exact_than_pytorchs(self):
        exact = torch.tensor([1.0, 2.0], dtype=torch.float64)
        own, better = torch.tensor([1.001, 2.0]), torch.tensor([1.0, 2.0005])
        self.assertTrue(compare.is_as_exact(better, own, exact))
        self.assertFalse(compare.is_as_exact(own, better, exact))
        self.assertFalse(compare.is_as_exact(better[:1], own, exact))

    def test_specs(self):
        specs = inputs_spec.parse("float16[2,n]; int64[3] randint(-1,4); bool[2];float32[] uniform(1,2)", {"n": 5})
        self.assertEqual([list(spec.make().shape) for spec in specs], [[2, 5], [3], [2], []])
        self.assertEqual(specs[1].make().dtype, torch.int64)
        for text in (
            "",
            "float32",
            "float33[2]",
            "float32[m]",
            "int64[2] randn",
            "float32[2] foo(1)",
            "int64[2] randint(3,3)",
        ):
            with self.subTest(text), self.assertRaises(BridgeError):
                inputs_spec.parse(text, {})

    def test_missing_parts(self):
        file = self.write(self.TEXT)
        self.assertIn("Net", self.fail_import("no_model", file).message)
        self.fail_import("no_get_inputs", file, "--class", "Net")
        self.fail_import("bad_init", file, "--class", "Net", "--inputs", "float32[4,16]", "--init", "[16,")


    def test_importing_a_task_leaves_no_bytecode_beside_the_files_of_the_user(self):
        self.write("FACTOR = 3\n", "factor_of_the_task.py")
        file = self.write(module_text("return x * FACTOR", constants="from factor_of_the_task import FACTOR"))
        with bytecode(kept=True):
            source.load(file)
            self.assertFalse(sys.dont_write_bytecode)
        self.assertIn("factor_of_the_task", sys.modules)
        self.assertFalse(os.path.exists(self.path("__pycache__")))


class Variants(BridgeCase):
    def variants(self, text):
        self.load(self.write(text))
        return variants.run(cli.parse(["variants", self.path("out.swage"), "-o", self.path("variants")]))

    def test_every_size_of_a_pointwise_task_changes(self):
        found = self.variants(module_text("return torch.relu(x)", inputs="[torch.randn(4, 8)]"))["variants"]
        self.assertEqual([item["sizes"] for item in found], ["4x8 -> 1x8", "4x8 -> 3x7"])
        for item, shape in zip(found, ((1, 8), (3, 7))):
            bundle = Bundle(item["bundle"])
            self.assertEqual(tuple(bundle.inputs(7)[0].shape), shape)

    def test_a_size_that_weights_fix_stays(self):
        text = module_text("return self.fc(x)", init="self.fc = nn.Linear(8, 8)", inputs="[torch.randn(4, 8)]")
        document = self.variants(text)
        self.assertEqual([item["sizes"] for item in document["variants"]], ["4x8 -> 1x8", "4x8 -> 3x8"])
        self.assertIn("7 instead of 8", document["refused"][0]["what"])

    def test_sizes_that_belong_together_change_together(self):
        text = module_text("return x[0] @ x[1]", inputs="[[torch.randn(4, 8), torch.randn(8, 6)]]")
        found = self.variants(text)["variants"]
        self.assertEqual(found[-1]["sizes"], "4x8 -> 3x7, 8x6 -> 7x5")

    def test_indices_stay_valid(self):
        text = module_text(
            "return self.table(x)", init="self.table = nn.Embedding(5, 3)", inputs="[torch.randint(0, 5, (4, 6))]"
        )
        found = self.variants(text)["variants"]
        drawn = Bundle(found[-1]["bundle"]).inputs(7)[0]
        self.assertEqual((tuple(drawn.shape), bool((drawn < 5).all())), ((3, 5), True))


class Errors(BridgeCase):
    def fail_text(self, kind, *args, **kwargs):
        return self.fail_import(kind, self.write(module_text(*args, **kwargs)))

    def test_file_missing(self):
        self.fail_import("file_missing", self.path("nothing.py"))

    def test_not_python(self):
        self.assertEqual(self.fail_import("not_python", self.write("import torch\ndef f(:\n")).line, 2)
        self.fail_import("not_python", self.write("a = '\0'"))

    def test_module_level_fails(self):
        self.assertEqual(self.fail_import("load_failed", self.write("import torch\nimport not_there\n")).line, 2)
        self.fail_import("load_failed", self.write("import sys\nsys.exit(0)\n"))

    def test_constructor_raises(self):
        error = self.fail_text("constructor_failed", "return x", init="raise ValueError('too wide')")
        self.assertIn("too wide", error.message)
        self.assertGreater(error.line, 0)

    def test_forward_raises(self):
        error = self.fail_text("forward_failed", "y = x + 1\nreturn y @ torch.ones(3, 3)")
        with open(error.file, encoding="utf-8") as handle:
            self.assertIn("torch.ones(3, 3)", handle.read().splitlines()[error.line - 1])

    def test_result_of_an_unknown_type(self):
        error = self.fail_text("unsupported_output", "import types\nreturn types.SimpleNamespace(y=x + 1)")
        self.assertIn("returns a SimpleNamespace", error.message)
        self.assertIn("use_cache=False", error.hint)

    def test_data_dependent(self):
        self.assertGreater(self.fail_text("data_dependent", "return x if x.sum() > 0 else -x").line, 0)
        self.assertGreater(self.fail_text("data_dependent", "return x[x > 0]").line, 0)

    def test_dtype_and_hidden_mutation(self):
        self.assertIn("complex64", self.fail_text("unsupported_dtype", "return torch.fft.rfft(x).abs()").message)
        self.fail_text(
            "unsupported_operator",
            "return self.n(x)",
            init="self.n = nn.InstanceNorm1d(4, track_running_stats=True)",
            inputs="[torch.randn(2, 4, 8)]",
        )

    def test_custom_operator_without_shapes(self):
        constants = (
            "lib = torch.library.Library('swagetest', 'FRAGMENT')\nlib.define('twice(Tensor x) -> Tensor')\n"
            "lib.impl('twice', lambda x: x * 2, 'CPU')"
        )
        error = self.fail_text("unsupported_operator", "return torch.ops.swagetest.twice(x)", constants=constants)
        self.assertIn("swagetest.twice", error.message)

    def test_get_inputs(self):
        self.fail_text("get_inputs_failed", "return x", inputs="[undefined]")
        self.fail_text("get_inputs_failed", "return x", inputs="3")
        self.fail_text("unsupported_input", "return x", inputs="[object()]")
        self.fail_text("data_dependent", "return x", inputs="[torch.rand(int(torch.randint(1, 5, (1,)).item()))]")

    def test_memory(self):
        text = module_text(
            "return torch.relu(x)", constants="rows = 4096\ncolumns = 65536", inputs="[torch.rand(rows, columns)]"
        )
        error = self.fail_import("not_enough_memory", self.write(text), "--memory-limit", "1000000")
        self.assertIn("2.15 GB", error.message)
        self.assertIn("--set columns=", error.hint)
        self.assertNotIn("--memory-limit", error.hint)  # an option of the bridge, not of the user's command

    def test_output_is_not_a_bundle(self):
        os.mkdir(self.path("full"))
        self.write("", "full/precious.txt")
        with self.assertRaises(BridgeError) as caught:
            importing.run(cli.parse(["import", self.write(module_text("return x + 1")), "-o", self.path("full")]))
        self.assertEqual(caught.exception.kind, "bad_output")
        self.assertEqual(os.listdir(self.path("full")), ["precious.txt"])

    def test_overwriting_a_bundle_leaves_nothing_behind(self):
        file = self.write(module_text("return x + 1"))
        self.load(file)
        self.load(file)
        self.assertEqual(sorted(os.listdir(os.path.dirname(file))), ["out.swage", "task.py"])


class Processes(BridgeCase):
    def bridge(self, *arguments):
        """Runs the bridge as C++ does. Returns (exit code, document, standard error)."""
        environment = {**os.environ, "PYTHONPATH": os.path.dirname(_HERE)}
        done = subprocess.run(
            [sys.executable, "-m", "swage_bridge", *arguments],
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return done.returncode, json.loads(done.stdout), done.stderr

    def test_one_document_whatever_the_file_prints(self):
        text = "import os\nprint('noise')\nos.system('echo more')\n" + module_text("print('traced'); return x + 1")
        code, document, log = self.bridge("import", self.write(text), "-o", self.path("a.swage"))
        self.assertEqual(code, 0)
        self.assertEqual(document["task"]["nodes"], 1)
        for noise in ("noise", "more", "traced"):
            self.assertIn(noise, log)

    def test_errors_have_documents_and_codes(self):
        code, document, log = self.bridge("import", self.path("none.py"), "-o", self.path("b.swage"))
        self.assertEqual((code, document["error"]["kind"]), (4, "file_missing"))
        self.assertNotIn("Traceback", log)
        code, document, _ = self.bridge("import")
        self.assertEqual((code, document["error"]["kind"]), (2, "usage"))

    def test_baseline_and_check_export(self):
        self.load(os.path.join(TASKS, "batch_norm_train.py"), "--set", "batch_size=4", "--set", "side=8")
        bundle = self.path("out.swage")
        code, document, _ = self.bridge("baseline", bundle, "--device", "cpu", "--modes", "eager", "--time-budget", "1")
        self.assertEqual(code, 0, document)
        eager = document["modes"]["eager"]
        self.assertLess(eager["error_vs_fp64"], 1e-5)
        self.assertLessEqual(eager["low_ns"], eager["median_ns"])
        self.assertLessEqual(eager["min_ns"], eager["low_ns"])
        self.assertEqual((eager["accuracy"], eager["clock"]), ("fp32", "host clock"))
        with open(os.path.join(TASKS, "batch_norm_train.py"), encoding="utf-8") as handle:
            text = handle.read().replace("class Model", "class ModelNew")
        good = self.bridge(
            "check-export", self.write(text, "good.py"), "--bundle", bundle, "--device", "cpu", "--seeds", "2", "--time"
        )
        self.assertEqual((good[0], good[1]["match"], good[1]["fallback"]), (0, True, "matches"), good[1])
        self.assertGreater(good[1]["timing"]["modes"]["exported"]["median_ns"], 0)
        wrong = text.replace("return torch.relu(self.norm(x))", "return torch.relu(self.norm(x)) * 1.01")
        bad = self.bridge(
            "check-export", self.write(wrong, "bad.py"), "--bundle", bundle, "--device", "cpu", "--seeds", "1"
        )
        self.assertEqual((bad[0], bad[1]["match"]), (8, False))
        frozen = text.replace(
            "self.norm(x)", "torch.nn.functional.batch_norm(x, None, None, self.norm.weight, self.norm.bias, True)"
        )
        bad = self.bridge(
            "check-export", self.write(frozen, "frozen.py"), "--bundle", bundle, "--device", "cpu", "--seeds", "1"
        )
        self.assertEqual(bad[0], 8)
        self.assertTrue(any("running_mean" in problem for problem in bad[1]["problems"]))

    def test_device_that_is_not_there(self):
        self.load(os.path.join(TASKS, "column_sum.py"))
        code, document, _ = self.bridge("baseline", self.path("out.swage"), "--device", "cuda:99")
        self.assertEqual((code, document["error"]["kind"]), (5, "no_device"))

    def test_probe(self):
        code, document, _ = self.bridge("probe")
        self.assertEqual(code, 0)
        self.assertEqual(document["torch"]["version"], torch.__version__)
        self.assertTrue(os.path.isdir(document["torch"]["lib_dir"]))


if __name__ == "__main__":
    unittest.main()
