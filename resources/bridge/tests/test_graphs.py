# SPDX-License-Identifier: Apache-2.0
"""Tests of the graphs that importing a task makes: which operators stay whole, what is removed, what becomes data."""

import re

from test_bridge import BridgeCase, module_text


class Graphs(BridgeCase):
    def import_text(self, *args, options=(), **kwargs):
        return self.load(self.write(module_text(*args, **kwargs)), *options)

    def test_composites_stay_whole(self):
        bundle = self.import_text(
            "y = self.r(self.l(self.i(self.g(x))))\nreturn F.softmax(F.scaled_dot_product_attention(y, y, y), -1)",
            init="self.i = nn.InstanceNorm1d(4); self.g = nn.GroupNorm(2, 4)\n"
            "self.l = nn.LayerNorm(8); self.r = nn.RMSNorm(8)",
            inputs="[torch.randn(2, 4, 8)]",
        )
        self.assertEqual(
            self.operators(bundle),
            [
                "aten.group_norm.default",
                "aten.instance_norm.default",
                "aten.layer_norm.default",
                "aten.rms_norm.default",
                "aten.scaled_dot_product_attention.default",
                "aten.softmax.int",
            ],
        )
        self.check_equal(bundle)

    def test_composites_without_a_kernel_are_decomposed(self):
        for forward in (
            "return F.cosine_similarity(x, x[:1] + 1, dim=1)",
            "return F.cosine_similarity(x, x * 0, dim=-1, eps=0.1)",
            "return F.pairwise_distance(x, x.flip(0), p=2, keepdim=True)",
            "return F.margin_ranking_loss(x, x.flip(0), x.sign(), margin=0.2)",
            "return F.poisson_nll_loss(x, x.abs())",
            "return torch.outer(x[0], x[1])",
            "return torch.kron(x, x[:2])",
        ):
            with self.subTest(forward):
                bundle = self.import_text(forward)
                name = re.search(r"(?:F|torch)[.](\w+)", forward).group(1)
                self.assertFalse([op for op in self.operators(bundle) if name in op])
                self.check_equal(bundle)

    def test_recurrent_layers_are_one_call(self):
        for module, op in (
            ("LSTM(8, 6, num_layers=2, batch_first=True)", "aten.lstm.input"),
            ("GRU(8, 6, bidirectional=True, bias=False)", "aten.gru.input"),
            ("RNN(8, 6, nonlinearity='relu')", "aten.rnn_relu.input"),
            ("LSTM(8, 6, proj_size=3)", "aten.lstm.input"),
        ):
            with self.subTest(module):
                # A length that nobody would want to trace step by step.
                bundle = self.import_text(
                    "made, last = self.layers(x)\nreturn made, (last[1] if isinstance(last, tuple) else last)",
                    f"self.layers = nn.{module}",
                    inputs="[torch.randn(40, 5, 8)]",
                )
                self.assertEqual([name for name in self.operators(bundle) if name.startswith(op[:8])], [op])
                self.check_equal(bundle)

    def test_packed_and_unbatched_sequences_are_traced_as_they_are(self):
        bundle = self.import_text("return self.layers(x)[0]", "self.layers = nn.GRU(8, 6)", inputs="[torch.randn(4, 8)]")
        self.check_equal(bundle)

    def test_sums_of_many_products_are_pairs(self):
        init = (
            "self.a = nn.Parameter(torch.randn(3, 5, 4)); self.b = nn.Parameter(torch.randn(3, 4))\n"
            "self.c = nn.Parameter(torch.randn(3, 6, 4))"
        )
        for equation, operators in (
            ("bln,bn,bln->bl", ["aten.einsum.default", "aten.mul.Tensor"]),  # the same tensor twice
            ("bln,bn,bcn->blc", ["aten.einsum.default", "aten.mul.Tensor"]),
            ("bln,bcn,bn->blcn", ["aten.mul.Tensor"]),
            ("bln,bcn,bn->", ["aten.einsum.default"]),
        ):
            with self.subTest(equation):
                others = "self.b, self.c" if "c" in equation else "self.b, self.a"
                others = "self.c, self.b" if equation.startswith("bln,bcn") else others
                bundle = self.import_text(
                    f"return torch.einsum('{equation}', self.a * x, {others})", init, inputs="[torch.randn(3, 5, 4)]"
                )
                counted = set(self.operators(bundle)) - {"aten.permute.default", "aten.unsqueeze.default"}
                self.assertEqual(counted, {"aten.mul.Tensor", *operators})
                sums = [node for node in bundle.task["graph"]["nodes"] if node["op"] == "aten.einsum.default"]
                self.assertTrue(all(len(node["args"][1]) == 2 for node in sums))
                self.check_equal(bundle)

    def test_other_sums_of_products_stay_whole(self):
        for equation in ("...n,...n,...n->...", "ii,ij,ij->j"):
            with self.subTest(equation):
                bundle = self.import_text(
                    f"return torch.einsum('{equation}', x, x, x)", inputs="[torch.randn(4, 4)]"
                )
                self.assertEqual(self.operators(bundle).count("aten.einsum.default"), 1)
                self.check_equal(bundle)

    def test_in_place_becomes_functional(self):
        bundle = self.import_text("y = x * 2; y.add_(1); y = F.relu(y, inplace=True); y[:, 0] = 3.0; return y")
        self.assertFalse([op for op in self.operators(bundle) if op.split(".")[1].endswith("_")])
        self.check_equal(bundle)

    def test_noise_is_removed(self):
        bundle = self.import_text(
            "y = x.detach().to(torch.float32).contiguous().view(4, 8); z = y + 1; "
            "return F.dropout(y, 0.0).clone() * 2"
        )
        self.assertEqual(self.operators(bundle), ["aten.mul.Tensor"])
        self.check_equal(bundle)

    def test_constants_and_plain_attributes(self):
        bundle = self.import_text(
            "return x * self.mask + torch.tensor([2.0, 3.0]).repeat(4).to(x.device)",
            init="self.mask = torch.tril(torch.ones(4, 8))",
        )
        kinds = [item["kind"] for item in bundle.task["graph"]["inputs"]]
        self.assertEqual(kinds.count("constant"), 2)
        self.check_equal(bundle)

    def test_non_persistent_buffers_and_tied_weights(self):
        bundle = self.import_text(
            "return self.b(self.a(x)) + self.scale",
            init="""
            self.a = nn.Linear(8, 8); self.b = nn.Linear(8, 8); self.b.weight = self.a.weight
            self.register_buffer('scale', torch.full((8,), 2.0), persistent=False)""",
        )
        self.check_equal(bundle)

    def test_eval_mode_turns_dropout_off(self):
        text = module_text("return F.dropout(self.bn(x), 0.5, self.training)", init="self.bn = nn.BatchNorm1d(8)")
        error = self.fail_import("random_operator", self.write(text))
        self.assertIn("native_dropout", error.message)
        self.assertIn("--eval", error.hint)
        self.assertGreater(error.line, 0)
        bundle = self.load(self.path("task.py"), "--eval")
        self.assertEqual(bundle.task["mode"], "eval")
        self.assertEqual(self.operators(bundle), ["aten._native_batch_norm_legit_no_training.default"])
        self.check_equal(bundle)

    def test_random_inside_composites(self):
        for forward in (
            "return F.scaled_dot_product_attention(x, x, x, dropout_p=0.1)",
            "return x + torch.randn(8)",
            "return F.rrelu(x, training=True)",
            "return torch.bernoulli(x.sigmoid())",
        ):
            with self.subTest(forward):
                self.fail_import("random_operator", self.write(module_text(forward)))

    def test_scalars_lists_and_structures(self):
        text = module_text("", inputs="[[torch.rand(4), torch.rand(4)], 3]").replace(
            "def forward(self, x):",
            "def forward(self, pair, k):\n        return {'a': pair[0] * k, 'b': [pair[1] + 1, None, 7]}",
        )
        bundle = self.load(self.write(text))
        self.assertEqual(
            bundle.task["call"]["args"], {"tuple": [{"list": [{"tensor": 0}, {"tensor": 1}]}, {"constant": 3}]}
        )
        self.assertEqual(
            bundle.task["call"]["result"]["dict"]["b"], {"list": [{"tensor": 1}, {"constant": None}, {"constant": 7}]}
        )
        self.check_equal(bundle)

    def test_results_of_a_class_of_their_own(self):
        classes = """import collections

Pair = collections.namedtuple("Pair", ["first", "second"])


class Output(dict):
    \"\"\"Made from its parts by name, as the outputs of Hugging Face's models are.\"\"\"


torch.utils._pytree.register_pytree_node(
    Output, lambda x: (list(x.values()), list(x)), lambda values, names: Output(**dict(zip(names, values)))
)


class Model("""
        text = module_text("return Output(y=x + 1, pair=Pair(x * 2, collections.OrderedDict(z=x * 3)), plain=(x,))")
        bundle = self.load(self.write(text.replace("class Model(", classes, 1)))
        self.assertEqual(
            bundle.task["call"]["result"],
            {
                "dict": {
                    "y": {"tensor": 0},
                    "pair": {
                        "tuple": [
                            {"tensor": 1},
                            {"dict": {"z": {"tensor": 2}}, "type": ["collections", "OrderedDict"]},
                        ],
                        "type": ["", "Pair"],
                    },
                    "plain": {"tuple": [{"tensor": 3}]},
                },
                "type": ["", "Output"],
            },
        )
        self.check_equal(bundle)

    def test_positions_and_masks_are_constants(self):
        bundle = self.import_text(
            "at = torch.arange(x.shape[1])\n"
            "mask = torch.arange(x.shape[0])[:, None] >= at\n"
            "return x.masked_fill(~mask, 0.0) + at.cos()"
        )
        ops = [node["op"] for node in bundle.task["graph"]["nodes"]]
        self.assertNotIn("aten.arange.default", ops)
        self.assertNotIn("aten.ge.Tensor", ops)
        self.assertIn("aten.cos.default", ops)  # a device has its own
        values = bundle.task["graph"]["values"]
        constants = [values[one["value"]] for one in bundle.task["graph"]["inputs"] if one["kind"] == "constant"]
        self.assertEqual(sorted(one["dtype"] for one in constants), ["bool", "int64"])
        self.check_equal(bundle)

    def test_integers_that_are_returned_are_made_at_each_call(self):
        bundle = self.import_text("return x + 1, torch.arange(4)[None], x[:, 0] > torch.arange(4)")
        self.assertEqual(self.operators(bundle).count("aten.arange.default"), 1)
        self.assertEqual(self.operators(bundle).count("aten.unsqueeze.default"), 1)
        self.check_equal(bundle)

    def test_large_constants_are_made_at_each_call(self):
        bundle = self.import_text("return x.sum() + torch.arange(1 << 16).sum()")
        self.assertIn("aten.sum.default", [node["op"] for node in bundle.task["graph"]["nodes"]])
        self.assertEqual([one["kind"] for one in bundle.task["graph"]["inputs"]], ["user", "constant"])
        bundle = self.import_text("return x.sum() + torch.arange(1 << 16)")
        self.assertIn("aten.arange.default", [node["op"] for node in bundle.task["graph"]["nodes"]])
        self.check_equal(bundle)

    def test_names_of_arguments(self):
        self.assertEqual(self.import_text("return x + 1").task["call"]["names"], ["x"])
        text = module_text("return x[0] + 1").replace("def forward(self, x):", "def forward(self, *x):")
        self.assertEqual(self.load(self.write(text)).task["call"]["names"], [])

    def test_constructor_that_reads_values(self):
        self.check_equal(
            self.import_text(
                "return x * self.rate", init="self.rate = torch.linspace(0, 1, 4)[2].item(); self.l = nn.Linear(8, 8)"
            )
        )

    def test_state_in_a_plain_attribute(self):
        bundle = self.import_text(
            "self.state.mul_(2)\nself.state = torch.tanh(self.state + x)\nreturn self.state * 3",
            init="self.state = torch.ones(4, 8)",
        )
        self.assertIn("state", self.result["warnings"][0])
        self.check_equal(bundle)

    def test_generator_constants_and_in_place(self):
        bundle = self.import_text(
            "return x * 2", inputs="[torch.empty(4, 2).uniform_(-1, 1) + torch.tensor([1.0, 2.0])]"
        )
        self.assertEqual([item["kind"] for item in bundle.task["input_generator"]["inputs"]], ["constant"])
        self.check_equal(bundle)
