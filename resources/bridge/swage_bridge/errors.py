# SPDX-License-Identifier: Apache-2.0
"""The one error type of the bridge, and how exceptions of the user's code become messages."""

from __future__ import annotations

import contextlib
import os
import traceback

EXIT_OK = 0
EXIT_INTERNAL = 1
EXIT_USAGE = 2
EXIT_INVALID = 4
EXIT_ENVIRONMENT = 5
EXIT_MISMATCH = 8

_MESSAGE_LIMIT = 400


class BridgeError(Exception):
    """A failure worth one clear sentence: what was attempted, on what, why it failed.

    `kind` is a stable word that C++ may switch on, `hint` says what to do, `file` and `line` name
    the place in the user's file when it is known, `code` is the exit code of the process.
    """

    def __init__(self, kind, message, hint="", file="", line=0, code=EXIT_INVALID):
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.hint = hint
        self.file = file
        self.line = line
        self.code = code

    def document(self):
        """The JSON object printed for this error; absent places are null."""
        return {
            "error": {
                "kind": self.kind,
                "message": self.message,
                "hint": self.hint,
                "file": self.file or None,
                "line": self.line or None,
            }
        }


def one_line(exc):
    """The first sentence of an exception, as `Type: text`, at most 400 characters."""
    text = next((part.strip() for part in str(exc).splitlines() if part.strip()), "")
    text = f"{type(exc).__name__}: {text}" if text else type(exc).__name__
    return text if len(text) <= _MESSAGE_LIMIT else text[: _MESSAGE_LIMIT - 1] + "…"


def user_line(exc, path):
    """Line of the innermost frame of `exc` that lies in the file `path`; 0 if there is none."""
    wanted = os.path.realpath(path)
    line = 0
    for frame in traceback.extract_tb(exc.__traceback__):
        if os.path.realpath(frame.filename) == wanted:
            line = frame.lineno or line
    return line


def at_line(line):
    """` at line N`, or nothing when the line is not known."""
    return f" at line {line}" if line else ""


@contextlib.contextmanager
def user_code(kind, doing, path, hint=""):
    """Turns any exception of the user's code in the block into a BridgeError of `kind`.

    `doing` is a phrase such as "building Model(8, 16)". SystemExit is caught too: a script that
    calls sys.exit() must not end the bridge without a document.
    """
    try:
        yield
    except BridgeError:
        raise
    except (Exception, SystemExit) as exc:
        line = user_line(exc, path)
        where = os.path.basename(path)
        raise BridgeError(
            kind, f"While {doing} of {where}, the code failed{at_line(line)}: {one_line(exc)}", hint, path, line
        ) from exc
