# SPDX-License-Identifier: Apache-2.0
"""What stands on the lines of a user's file: their text, and the names that statements assign."""

from __future__ import annotations

import ast
import importlib.util

MOST_CHARACTERS = 100

# Expressions that are one value: the operator that comes last in one of them has made it.
_ONE_VALUE = (ast.Attribute, ast.BinOp, ast.Call, ast.Compare, ast.Subscript, ast.UnaryOp)


def _assigned_name(statement):
    """The one name that a statement gives one value; "" for any other statement."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    is_plain = isinstance(statement, (ast.Assign, ast.AnnAssign)) and isinstance(statement.value, _ONE_VALUE)
    return targets[0].id if is_plain and len(targets) == 1 and isinstance(targets[0], ast.Name) else ""


class Statements:
    """The lines of a Python file, as bytes. Nothing is known of the lines of a file that cannot be parsed."""

    def __init__(self, data):
        self._lines = []
        self._found = {}
        """Line -> (number of the statement, name that it assigns); -1 where two statements share the line."""
        try:
            tree = ast.parse(data)
            self._lines = importlib.util.decode_source(data).split("\n")
        except (SyntaxError, ValueError):
            return
        for number, node in enumerate(ast.walk(tree)):
            if isinstance(node, ast.stmt) and not hasattr(node, "body"):
                for line in range(node.lineno, node.end_lineno + 1):
                    self._found[line] = (-1, "") if line in self._found else (number, _assigned_name(node))

    def code(self, line):
        """The text of a line, without indentation and cut where it is long; "" where there is no such line."""
        text = " ".join(self._lines[line - 1].split()) if 0 < line <= len(self._lines) else ""
        return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 3].rstrip() + "..."

    def number(self, line):
        """Which statement a line belongs to; -1 where that is not clear."""
        return self._found.get(line, (-1, ""))[0]

    def name(self, line):
        """What the statement on a line calls its value; "" where it is not one name for one value."""
        return self._found.get(line, (-1, ""))[1]
