# SPDX-License-Identifier: Apache-2.0
"""Tests of what a task says of the user's lines: their text, and what their statements call a value."""

import os
import unittest

from test_bridge import TASKS, BridgeCase, module_text

from swage_bridge.statements import MOST_CHARACTERS, Statements


class Lines(unittest.TestCase):
    def test_have_their_text_without_indentation_and_cut_where_long(self):
        statements = Statements(b"if True:\n    a =  1\nb = '" + b"x" * 200 + b"'\n")
        self.assertEqual(statements.code(2), "a = 1")
        self.assertEqual(len(statements.code(3)), MOST_CHARACTERS)
        self.assertTrue(statements.code(3).endswith("xxx..."))
        self.assertEqual([statements.code(line) for line in (0, 5, -1)], ["", "", ""])

    def test_are_read_in_the_encoding_of_the_file(self):
        self.assertEqual(Statements("# coding: latin-1\nx = 'é'\n".encode("latin-1")).code(2), "x = 'é'")
        self.assertEqual(Statements(b"x = 1\r\ny = f(x)\r\n").code(2), "y = f(x)")

    def test_of_what_is_no_python_are_unknown(self):
        statements = Statements(b"def")
        self.assertEqual((statements.code(1), statements.name(1), statements.number(1)), ("", "", -1))

    def test_name_what_a_plain_assignment_makes(self):
        text = "a = f(x)\nb: int = x + 1\nc = (\n    x *\n    y)\nreturn_ = 3\nd, e = f(x)\ng = h = f(x)\n"
        text += "i.j = f(x)\nk += x\nl = (x + 1, y)\nm = f(x); n = f(m)\n"
        text += "def o():\n    p = -x\n    return x @ p\nq: int\n"
        statements = Statements(text.encode())
        names = {line: statements.name(line) for line in range(1, text.count("\n") + 1) if statements.name(line)}
        self.assertEqual(names, {1: "a", 2: "b", 3: "c", 4: "c", 5: "c", 14: "p"})

    def test_belong_to_a_statement(self):
        statements = Statements(b"c = (\n    x *\n    y)\nd = f(c)\nm = f(x); n = f(m)\n")
        self.assertEqual(statements.number(1), statements.number(3))
        self.assertNotEqual(statements.number(3), statements.number(4))
        self.assertEqual(statements.number(5), -1)


class Tasks(BridgeCase):
    def named(self, forward, **kwargs):
        """(operator, name) of each node."""
        self.bundle = self.load(self.write(module_text(forward, **kwargs)))
        return [(node["op"].split(".")[1], node.get("name", "")) for node in self.bundle.task["graph"]["nodes"]]

    def test_hold_the_lines_and_names_of_a_bundled_one(self):
        bundle = self.load(os.path.join(TASKS, "rms_norm_residual.py"))
        nodes = bundle.task["graph"]["nodes"]
        self.assertEqual(nodes[0]["code"], "total = x + residual")
        wanted = "return total * torch.rsqrt(mean_square + self.epsilon) * self.scale, total"
        self.assertEqual(nodes[-1]["code"], wanted)
        self.assertEqual([node["name"] for node in nodes if "name" in node], ["total", "mean_square"])
        self.check_equal(bundle)

    def test_give_the_name_to_the_last_node_of_a_statement(self):
        self.assertEqual(
            self.named("y = torch.relu(x * 2) + 1\nreturn y / 3"),
            [("mul", ""), ("relu", ""), ("add", "y"), ("div", "")],
        )
        self.assertEqual(
            self.named("for _ in range(2):\n    y = (x * 2).exp()\n    x = y + 1\nreturn x"),
            [("mul", ""), ("exp", "y"), ("add", "x"), ("mul", ""), ("exp", "y"), ("add", "x")],
        )

    def test_keep_the_name_from_what_is_called_in_between(self):
        names = self.named(
            "y = x * 2 + self.inner(x).exp()\nreturn y / 3",
            init="self.inner = Half()",
            constants="class Half(nn.Module):\n    def forward(self, x):\n        z = x / 2\n        return z - 1",
        )
        self.assertEqual(names, [("mul", ""), ("div", "z"), ("sub", ""), ("exp", ""), ("add", "y"), ("div", "")])

    def test_name_no_tuple(self):
        self.assertNotIn("y", [name for _, name in self.named("y = torch.max(x, 1)\nreturn y[0] + y[1]")])
        self.assertIn(("max", "z"), self.named("z = torch.max(x, 1).values\nreturn z + 1"))

    def test_hold_the_lines_as_they_were_run(self):
        file = self.write(module_text("y = x * gain\nreturn y + 1", constants="gain = 2.0"))
        bundle = self.load(file, "--set", "gain=0.5")
        self.assertEqual(bundle.task["graph"]["nodes"][0]["code"], "y = x * gain")


if __name__ == "__main__":
    unittest.main()
