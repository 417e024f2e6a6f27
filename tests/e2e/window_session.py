# SPDX-License-Identifier: Apache-2.0
"""One session of a person with the workbench, from an empty project to an exported kernel, by mouse and keys alone.

    window_session.py --bin FOLDER --root SOURCES --failures FOLDER

Runs on the X server of tests/ui/real_window.sh and on a session bus of its own. The window is the built program with
the built engine. What has happened is read from the window's accessibility tree, and at the end from the record, by
the command line. A failure leaves a picture of the screen, the tree and the program's log in the folder for failures.
Exit code 77: what this needs is not installed.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

try:
    import desktop
    from desktop import Atspi, press, wait_for, write
except (ImportError, ValueError) as missing:
    print(f"skipped: {missing} (apt install at-spi2-core gir1.2-atspi-2.0 python3-gi)")
    sys.exit(77)

Role = Atspi.Role
# Changes the machine code, so that it is no duplicate of what it was made from.
EDIT = "__attribute__((used)) static const int written_by_hand = 7;"
# Far more than is needed: the session stops the search when it has seen enough of it.
BUDGET = "10 min"
CELLS_WANTED = 2
# What the map says of a cell with a kernel in it. In A0B0 is the candidate that is PyTorch's own operators, without a
# source to edit; on a busy machine it may be measured as the fastest.
ELITE = re.compile(r"^(?!A0B0).*: best ≈?([0-9.]+)×")
# torch.compile takes a minute or two where cores are few.
SETTINGS = "[search]\ncompile_baselines = false\n"


class Session:
    """The program, and what the steps leave to one another."""

    def __init__(self, options, folder):
        self.folder = folder
        self.bin = pathlib.Path(options.bin)
        self.task = pathlib.Path(options.root) / "resources" / "tasks" / "softmax_rows.py"
        self.project = folder / "data" / "swage" / "projects" / "softmax_rows"
        self.exported = folder / "kernel.py"
        self.edited = 0
        self.environment = dict(os.environ, HOME=str(folder), XDG_CACHE_HOME=str(folder / "cache"),
                                XDG_STATE_HOME=str(folder / "state"), XDG_DATA_HOME=str(folder / "data"),
                                XDG_CONFIG_HOME=str(folder / "config"), QT_LINUX_ACCESSIBILITY_ALWAYS_ON="1")
        settings = folder / "config" / "swage"
        settings.mkdir(parents=True)
        (settings / "config.toml").write_text(SETTINGS, encoding="utf-8")
        # Whether cheats are found on this device is asked by tests of its own.
        command = [self.bin / "swage-workbench", "--no-self-test", "--set", "rows=256"]
        self.window = desktop.Program(command, self.environment, folder / "log")

    def elites(self):
        """The cells of the map that hold a kernel, as (speedup, cell), the fastest first."""
        cells = self.window.find(Role.TABLE, "Archive").children()
        found = [(match, cell) for cell in cells if (match := ELITE.search(cell.name))]
        return sorted(((float(match[1]), cell) for match, cell in found), key=lambda pair: -pair[0])

    def swage(self, *arguments):
        """What the command line says of the same record."""
        done = subprocess.run([self.bin / "swage", *map(str, arguments), "--project", self.project, "--json"],
                              env=self.environment, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, f"{arguments}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        return json.loads(done.stdout)


def open_a_task(session):
    """Ctrl+O, the name of a file, Return."""
    window = session.window
    window.find(Role.FRAME, "Swage")
    window.focus("Swage")
    press("ctrl+o")
    window.find(Role.DIALOG, "Open a task")
    write(session.task)
    press("Return")
    window.says("Press Start to search")
    assert session.project.name in window.says("runs.sqlite").name


def search_until_cells_are_filled(session):
    """The target and the budget by hand, F5, and Shift+F5 once the map shows enough."""
    window = session.window
    window.find(Role.COMBO_BOX, "auto").click()
    press("c", "p", "Return")
    window.find(Role.COMBO_BOX, "cpu")
    budget = window.find(Role.COMBO_BOX, "60 s")
    budget.click(2)
    press("ctrl+a")
    write(BUDGET)
    press("Tab", "F5")
    wait_for("cells are filled", lambda: len(session.elites()) >= CELLS_WANTED, 100)
    press("shift+F5")
    window.enabled(Role.PUSH_BUTTON, "Start", 60)


def open_the_best_kernel(session):
    """A double click on the best cell leads to its source."""
    window = session.window
    session.elites()[0][1].click(2)
    wait_for("the source has the keyboard", lambda: source(session).has(Atspi.StateType.FOCUSED))
    window.says("Recorded. Typing starts a draft.")


def source(session):
    """The editor."""
    return session.window.find(Role.TEXT, "Source")


def edit_and_evaluate(session):
    """A line of one's own at the top, Ctrl+Return, and a candidate that is right."""
    window = session.window
    press("ctrl+Home")
    write(EDIT)
    press("Return")
    window.says("Draft, not evaluated yet")
    press("ctrl+Return")
    window.says("human", 90)
    window.says("Recorded. Typing starts a draft.")
    window.find(Role.LABEL, "correct")
    session.edited = int(window.find(Role.LABEL, "Candidate ").name.split()[1])


def compare_two_candidates(session):
    """One cell of the map is dropped on another."""
    window = session.window
    (_, first), (_, second) = session.elites()[:2]
    first.drag_to(second)
    window.find(Role.PUSH_BUTTON, "Swap sides")
    window.find(Role.PAGE_TAB, "Metrics").click()
    table = window.find(Role.TABLE, "Comparison")
    wait_for("the metrics are compared", lambda: table.accessible.get_child_count() > 0)


def profile_the_edit(session):
    """On the page of profiles."""
    window = session.window
    window.find(Role.PAGE_TAB, "Profile").click()
    window.enabled(Role.PUSH_BUTTON, "Profile").click()
    window.find(Role.FRAME, "Triage")
    table = window.find(Role.TABLE, "Kernels of the launch plan", 90)
    wait_for("the kernel's time is known", lambda: "swage_kernel_0" in [cell.name for cell in table.children()])


def export_the_kernel(session):
    """Ctrl+E, the name of a file, and Export."""
    window = session.window
    press("ctrl+e")
    window.find(Role.DIALOG, "Export a Kernel")
    window.find(Role.TEXT, "Where it is written").click()
    press("ctrl+a")
    write(session.exported)
    window.enabled(Role.PUSH_BUTTON, "Export", 90)
    press("alt+e")
    wait_for("the file is written", session.exported.exists, 60)
    assert "class ModelNew" in session.exported.read_text(encoding="utf-8")


def leave(session):
    """Ctrl+Q; nothing was complained of meanwhile."""
    session.window.focus("Swage")
    press("ctrl+q")
    assert session.window.process.wait(timeout=60) == 0
    complaints = [line for line in session.window.log.read_text(errors="replace").splitlines()
                  if re.search(r"\b(warning|error|critical|qt\.)", line)]
    assert not complaints, complaints


def read_the_record(session):
    """The command line finds the run and the edit."""
    listed = session.swage("list")
    assert session.edited in [one["candidate"] for one in listed["candidates"]], listed
    edit = session.swage("show", session.edited)
    assert edit["operator"] == "human" and edit["status"] == "correct", edit
    assert edit["program"]["source"].startswith(EDIT), edit["program"]["source"][:200]


STEPS = (open_a_task, search_until_cells_are_filled, open_the_best_kernel, edit_and_evaluate, compare_two_candidates,
         profile_the_edit, export_the_kernel, leave, read_the_record)


def keep_failure(session, step, folder):
    """What a person would want to see of a failure that nobody watched."""
    folder.mkdir(parents=True, exist_ok=True)
    desktop.save_picture(folder / f"{step}.png")
    log = session.window.log.read_text(errors="replace")
    try:
        tree = session.window.tree()
    except (desktop.GLib.Error, AssertionError) as error:
        tree = f"the window does not answer: {error}"
    (folder / f"{step}.txt").write_text(f"{tree}\n\n{log}", encoding="utf-8")
    print(f"{step} failed; see {folder}\n{log}", file=sys.stderr)


def run(session, failures):
    """All steps; says how long each took."""
    for step in STEPS:
        started = time.monotonic()
        try:
            step(session)
        except BaseException:
            keep_failure(session, step.__name__, failures)
            raise
        print(f"{step.__name__.replace('_', ' '):<32}{time.monotonic() - started:6.1f} s", flush=True)


def main():
    """Runs the session."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--root", required=True)
    parser.add_argument("--failures", required=True, type=pathlib.Path)
    options = parser.parse_args()
    if os.environ.get("DBUS_SESSION_BUS_ADDRESS", "disabled:") == "disabled:":
        if shutil.which("dbus-run-session") is None:
            print("skipped: there is no dbus-run-session (apt install dbus-daemon)")
            sys.exit(77)
        os.execvp("dbus-run-session", ["dbus-run-session", "--", sys.executable, *sys.argv])
    with tempfile.TemporaryDirectory(prefix="swage-session-", ignore_cleanup_errors=True) as folder:
        session = Session(options, pathlib.Path(folder))
        try:
            run(session, options.failures)
        finally:
            session.window.end()


main()
