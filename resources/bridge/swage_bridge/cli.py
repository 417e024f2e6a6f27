# SPDX-License-Identifier: Apache-2.0
"""Command line of the bridge: parsing, dispatch, and the one JSON document on standard output."""

from __future__ import annotations

import argparse
import json
import os
import sys
import traceback

from .bytecode import bytecode
from .errors import EXIT_ENVIRONMENT, EXIT_INTERNAL, EXIT_MISMATCH, EXIT_OK, EXIT_USAGE, BridgeError, one_line


class _Parser(argparse.ArgumentParser):
    """Reports wrong usage as a BridgeError, so that it becomes a document too."""

    def error(self, message):
        raise BridgeError("usage", f"{self.prog}: {message}", self.format_usage().strip(), code=EXIT_USAGE)


def _positive(text):
    """An integer of at least 1."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return value


def _add_import(commands, common):
    parser = commands.add_parser("import", parents=[common], help="turn a Python file into a task bundle")
    parser.add_argument("task", metavar="TASK.py[:CLASS]")
    parser.add_argument("-o", "--output", required=True, metavar="BUNDLE_DIR")
    parser.add_argument("--class", dest="class_name", metavar="NAME")
    parser.add_argument("--inputs", metavar="SPEC", help='for example "float32[16,64]; int64[16] randint(0,10)"')
    parser.add_argument("--init", metavar="JSON", help="constructor arguments: a list, or an object of keywords")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="override a module-level constant"
    )
    parser.add_argument(
        "--largest-tensor", type=_positive, metavar="BYTES", help="make constants smaller until no tensor is larger"
    )
    parser.add_argument("--eval", action="store_true", help="import in evaluation mode")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument(
        "--memory-limit", type=int, metavar="BYTES", help="0 for none; default 80%% of available memory"
    )


def _add_measuring(commands, common):
    baseline = commands.add_parser("baseline", parents=[common], help="time eager and compiled PyTorch")
    baseline.add_argument("bundle", metavar="BUNDLE_DIR")
    baseline.add_argument("--modes", default="eager,compile,max-autotune")
    check = commands.add_parser("check-export", parents=[common], help="compare an exported ModelNew with its source")
    check.add_argument("file", metavar="FILE.py")
    check.add_argument("--bundle", required=True, metavar="BUNDLE_DIR")
    check.add_argument("--seeds", type=_positive, default=5)
    check.add_argument("--time", action="store_true", help="also time eager, compile and the export")
    for parser in (baseline, check):
        parser.add_argument("--device", required=True, metavar="cpu|cuda[:N]")
        parser.add_argument("--threads", type=_positive, metavar="N", help="threads of PyTorch on the CPU")
        parser.add_argument("--time-budget", type=float, default=30.0, metavar="SECONDS")


def parse(arguments):
    """Parses the command line. Raises BridgeError usage (exit code 2)."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--debug", action="store_true", help="tracebacks on standard error")
    parser = _Parser(prog="swage_bridge", description="Swage's bridge to PyTorch")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    _add_import(commands, common)
    _add_measuring(commands, common)
    variants = commands.add_parser("variants", parents=[common], help="the same task at other sizes, as task bundles")
    variants.add_argument("bundle", metavar="BUNDLE_DIR")
    variants.add_argument("-o", "--output", required=True, metavar="FOLDER")
    variants.add_argument("--memory-limit", type=int, metavar="BYTES")
    bench = commands.add_parser("bench-export", parents=[common], help="what a call of an export costs itself")
    bench.add_argument("file", metavar="FILE.py")
    bench.add_argument("--device", required=True, metavar="cpu|cuda[:N]")
    bench.add_argument("--calls", type=_positive, default=20000)
    judge = commands.add_parser("kernelbench-check", parents=[common], help="an export before KernelBench's checker")
    judge.add_argument("file", metavar="FILE.py")
    judge.add_argument("--bundle", required=True, metavar="BUNDLE_DIR")
    judge.add_argument("--checkout", required=True, metavar="DIR")
    judge.add_argument("--device", required=True, metavar="cpu|cuda[:N]")
    judge.add_argument("--trials", type=_positive, default=5)
    commands.add_parser("probe", parents=[common], help="describe this Python environment")
    return parser.parse_args(arguments)


def _dispatch(options):
    """Runs the command; returns (document, exit code)."""
    if options.command == "probe":
        from . import probe

        return probe.run(), EXIT_OK
    try:
        import torch  # noqa: F401  (its absence is an unusable environment, not an internal error)
        import safetensors.torch  # noqa: F401
    except Exception as exc:
        raise BridgeError(
            "no_torch",
            f"PyTorch cannot be imported by {sys.executable}: {one_line(exc)}",
            "Choose a Python environment with torch 2.11 and safetensors.",
            code=EXIT_ENVIRONMENT,
        ) from exc
    if options.command == "import":
        from . import importing

        return importing.run(options), EXIT_OK
    if options.command == "variants":
        from . import variants

        return variants.run(options), EXIT_OK
    if options.command == "baseline":
        from . import baseline

        return baseline.run(options), EXIT_OK
    if options.command == "bench-export":
        from . import bench_export

        return bench_export.run(options), EXIT_OK
    if options.command == "kernelbench-check":
        from . import kernelbench_check

        return kernelbench_check.run(options), EXIT_OK
    from . import check_export

    document = check_export.run(options)
    return document, EXIT_OK if document["match"] else EXIT_MISMATCH


def _internal(exc):
    return BridgeError(
        "internal",
        f"The bridge itself failed: {one_line(exc)}",
        "Run again with --debug and report it.",
        code=EXIT_INTERNAL,
    )


def main(arguments=None):
    """Runs one command and returns the exit code: 0, 1, 2, 4, 5 or 8.

    File descriptor 1 points at standard error while anything else runs, so that prints of the
    user's code, of compilers and of child processes cannot mix with the document.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    sys.stdout.flush()
    document_fd = os.dup(1)
    os.dup2(2, 1)
    try:
        # Some installers leave PyTorch without bytecode: compiling its modules takes 10 s, in every call if none is kept.
        with bytecode(kept=True):
            document, code = _dispatch(parse(arguments))
    except BridgeError as exc:
        document, code, failure = exc.document(), exc.code, exc
    except (Exception, KeyboardInterrupt) as exc:
        error = _internal(exc)
        document, code, failure = error.document(), error.code, exc
    else:
        failure = None
    if failure is not None and "--debug" in arguments:
        traceback.print_exception(type(failure), failure, failure.__traceback__, file=sys.stderr)
    sys.stdout.flush()
    with os.fdopen(document_fd, "w", encoding="utf-8", closefd=True) as stream:
        json.dump(document, stream, ensure_ascii=False)
        stream.write("\n")
    return code
