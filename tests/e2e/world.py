# SPDX-License-Identifier: Apache-2.0
"""The built programs and a folder of their own, for the cases of end_to_end.py and models_end_to_end.py."""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile

TASK = """
import torch

size = 1024

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
{init}

    def forward(self, x):
{forward}

def get_inputs():
    return [torch.rand(size, size)]

def get_init_inputs():
    return []
"""


class World:
    """The programs and a folder of their own; everything a command may write goes there."""

    def __init__(self, options, folder):
        self.swage = os.path.join(options.bin, "swage")
        self.root = pathlib.Path(options.root)
        self.folder = pathlib.Path(folder)
        self.project = self.folder / "project"
        self.environment = dict(os.environ, XDG_CACHE_HOME=str(self.folder / "cache"), HOME=str(self.folder),
                                XDG_STATE_HOME=str(self.folder / "state"), XDG_DATA_HOME=str(self.folder / "data"),
                                XDG_CONFIG_HOME=str(self.folder / "config"))

    def task(self, name="task.py", init="        self.scale = 2.0", forward="        return torch.relu(x) * self.scale"):
        """A task file in the folder."""
        path = self.folder / name
        path.write_text(TASK.format(init=init, forward=forward), encoding="utf-8")
        return path

    def command(self, *arguments):
        """The command line of swage."""
        return [self.swage, *map(str, arguments)]

    def run(self, *arguments, code=0, timeout=240, environment=None):
        """Runs swage, checks its exit code, and returns the finished process."""
        done = subprocess.run(self.command(*arguments), env=environment or self.environment, cwd=self.folder,
                              capture_output=True, text=True, timeout=timeout, check=False)
        self.expect(done, code)
        return done

    @staticmethod
    def expect(done, code):
        """Checks an exit code; a refusal is one clear message, never a trace back."""
        shown = f"{' '.join(done.args)}\nexit code {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        assert done.returncode == code, f"expected exit code {code}: {shown}"
        assert "Traceback" not in done.stderr + done.stdout, shown
        if code not in (0, 130):
            assert done.stderr.strip() or done.stdout.strip(), f"no message: {shown}"

    def optimize(self, task, *more, **how):
        """`swage optimize` with a document on standard output."""
        return self.run("optimize", task, "--target", "cpu", "--project", self.project, "--json", "--no-self-test",
                        *more, **how)

    def listed(self, *more):
        """Candidates of the project's last run, in their order."""
        return json.loads(self.run("list", "--project", self.project, "--json", *more).stdout)["candidates"]

    def shown(self, candidate):
        """All that the record says of a candidate, with the judge's advice."""
        return json.loads(self.run("show", candidate, "--project", self.project, "--json").stdout)


def run_of(document):
    """The name of the run, such as r1, in a document of `optimize`."""
    run = document["run"]
    run = run["id"] if isinstance(run, dict) else run
    return f"r{run}" if isinstance(run, int) else run


def run_case(cases):
    """Runs the case that the command line names: CASE --bin FOLDER --root PROJECT."""
    parser = argparse.ArgumentParser()
    parser.add_argument("case")
    parser.add_argument("--bin", required=True)
    parser.add_argument("--root", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="swage-e2e-") as folder:
        cases[options.case](World(options, folder))
    print("ok")
