# SPDX-License-Identifier: Apache-2.0
"""Runs the built programs as a user does: end_to_end.py CASE --bin FOLDER --root PROJECT

A case fails with an AssertionError that shows the command, its exit code and what it printed.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import time

from kernelbench import write_checkout
from scripted_model import ScriptedModel, mends
from world import World, run_case, run_of

def a_task_ends_with_a_checked_export(world):
    """import, optimize, export, and the export against PyTorch."""
    bundle = world.folder / "softmax.swage"
    world.run("import", world.root / "resources" / "tasks" / "softmax_rows.py", "--set", "rows=1024", "-o", bundle)
    assert (bundle / "task.json").exists() and (bundle / "source.py").exists()
    document = json.loads(world.optimize(bundle, "--time-budget", "8s", "--seed", "1").stdout)
    exported = world.folder / "kernel.py"
    world.run("export", run_of(document), "--format", "modelnew", "-o", exported, "--project", world.project)
    assert "class ModelNew" in exported.read_text(encoding="utf-8")
    bridge = dict(world.environment, PYTHONPATH=str(world.root / "resources" / "bridge"))
    check = subprocess.run(
        [sys.executable, "-m", "swage_bridge", "check-export", str(exported), "--bundle", str(bundle), "--device", "cpu"],
        env=bridge, capture_output=True, text=True, timeout=240, check=False)
    World.expect(check, 0)
    assert json.loads(check.stdout)["match"] is True, check.stdout
    assert "cannot compile" not in check.stderr and "No C++ compiler" not in check.stderr, check.stderr
    # The run's own export may be PyTorch's way, which has nothing to test; that of a candidate has its kernels.
    listed = json.loads(world.run("list", "--project", world.project, "--json", "--status", "correct").stdout)
    made = next(one["candidate"] for one in listed["candidates"] if one["operator"] != "baseline")
    folder = world.folder / "kernel"
    world.run("export", made, "--format", "project", "--no-checks", "-o", folder, "--project", world.project)
    check = subprocess.run([sys.executable, str(folder / "test_modelnew.py")], env=world.environment,
                           capture_output=True, text=True, timeout=240, check=False)
    World.expect(check, 0)
    timed = subprocess.run([sys.executable, str(folder / "benchmark.py")], env=world.environment, capture_output=True,
                           text=True, timeout=240, check=False)
    World.expect(timed, 0)
    assert [line.split()[0] for line in timed.stdout.splitlines()[:3]] == ["ModelNew", "eager", "torch.compile"]
    world.run("export", made, "--format", "project", "--no-checks", "-o", folder, "--project", world.project, code=4)


def a_file_with_a_syntax_error_is_refused(world):
    """Exit code 4 and the line."""
    task = world.folder / "broken.py"
    task.write_text("import torch\nclass Model(:\n", encoding="utf-8")
    assert "line 2" in _words(world.run("import", task, "-o", world.folder / "b", code=4))
    world.optimize(task, code=4)


def a_file_without_a_model_is_refused(world):
    """Exit code 4 and the name that is missing."""
    task = world.folder / "empty.py"
    task.write_text("import torch\ndef get_inputs():\n    return []\n", encoding="utf-8")
    assert "Model" in _words(world.run("import", task, "-o", world.folder / "b", code=4))


def an_operator_that_cannot_be_traced_is_refused(world):
    """Exit code 4 and the place."""
    task = world.task(forward="        return x * float(x.sum().item())")
    assert "task.py" in _words(world.run("import", task, "-o", world.folder / "b", code=4))


def a_task_larger_than_memory_is_refused(world):
    """Exit code 4, quickly and without taking the memory."""
    task = world.task()
    started = time.monotonic()
    world.run("import", task, "--set", "size=4000000", "-o", world.folder / "b", code=4)
    assert time.monotonic() - started < 60


def a_project_that_cannot_be_written_is_a_storage_error(world):
    """A file stands where the project's folder should be: true for root too."""
    world.project.write_text("not a folder", encoding="utf-8")
    world.optimize(world.task(), "--time-budget", "2s", code=10)


def a_damaged_database_is_a_storage_error(world):
    """Exit code 10; the damaged file is left as it is."""
    world.project.mkdir()
    database = world.project / "runs.sqlite"
    database.write_bytes(b"this is no database" * 400)
    world.optimize(world.task(), "--time-budget", "2s", code=10)
    assert database.read_bytes() == b"this is no database" * 400


def _path_without(world, is_missing):
    """A PATH on which every program is but those that are said to be missing."""
    programs = world.folder / "programs"
    programs.mkdir()
    for folder in dict.fromkeys(map(os.path.realpath, os.environ["PATH"].split(os.pathsep))):
        for program in os.scandir(folder) if os.path.isdir(folder) else ():
            if not is_missing(program.name) and not (programs / program.name).is_symlink():
                (programs / program.name).symlink_to(program.path)
    return str(programs)


def _kernel_has_landlock():
    """landlock_create_ruleset with the flag that asks for its version (linux/landlock.h)."""
    return ctypes.CDLL(None, use_errno=True).syscall(444, None, 0, 1) > 0


def without_bubblewrap_landlock_encloses_compilers(world):
    """Where the kernel has Landlock the search goes on; else exit code 12, the package to install, and no bundle."""
    environment = dict(world.environment, PATH=_path_without(world, lambda name: name == "bwrap"))
    if _kernel_has_landlock():
        done = world.optimize(world.task(), "--max-evaluations", "4", "--no-compile-baseline", environment=environment)
        found = json.loads(world.run("list", run_of(json.loads(done.stdout)), "--project", world.project, "--json").stdout)
        statuses = [row["status"] for row in found["candidates"]]
        assert "correct" in statuses[1:] or statuses.count("correct") > 1, statuses
        return
    done = world.optimize(world.task(), "--time-budget", "5s", code=12, environment=environment)
    assert "bubblewrap" in done.stderr + done.stdout, done.stderr
    assert not list(world.project.glob("tasks/*")), "the task was imported"


def a_missing_compiler_is_an_environment_error(world):
    """Exit code 5 and the package to install, when every program is there but compilers."""

    def is_compiler(name):
        return name == "cc" or any(word in name for word in ("g++", "c++", "gcc", "clang", "cpp"))

    environment = dict(world.environment, PATH=_path_without(world, is_compiler))
    environment.pop("CXX", None)
    done = world.optimize(world.task(), "--time-budget", "5s", code=5, environment=environment)
    assert "g++" in done.stderr + done.stdout, done.stderr


def _start(world):
    """A search that would take long, once its record has been created."""
    process = subprocess.Popen(
        world.command("optimize", world.task(), "--target", "cpu", "--project", world.project, "--no-self-test",
                      "--time-budget", "600s",
                      "--json"),
        env=world.environment, cwd=world.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        listed = subprocess.run(world.command("list", "--project", world.project, "--json"), env=world.environment,
                                capture_output=True, text=True, timeout=60, check=False)
        if listed.returncode == 0 and '"correct"' in listed.stdout and _evaluations(json.loads(listed.stdout)) > 0:
            return process
        time.sleep(0.5)
    process.kill()
    output = process.communicate()
    raise AssertionError(f"no candidate was recorded in time: {output}")


def _evaluations(document):
    """The largest number called `evaluations` anywhere in a document."""
    if isinstance(document, dict):
        own = [value for key, value in document.items() if key == "evaluations" and isinstance(value, int)]
        return max([*own, *(_evaluations(value) for value in document.values())], default=0)
    if isinstance(document, list):
        return max((_evaluations(value) for value in document), default=0)
    return 0


def _resumes(world):
    """`swage resume` goes on with the run and ends well."""
    before = _evaluations(json.loads(world.run("list", "--project", world.project, "--json").stdout))
    assert before > 0
    world.run("resume", "--project", world.project, "--time-budget", "5s", "--json", "--no-self-test")
    after = _evaluations(json.loads(world.run("list", "--project", world.project, "--json").stdout))
    assert after >= before, (before, after)


def ctrl_c_leaves_a_run_that_resumes(world):
    """Exit code 130 after the evaluation in progress; the record is whole."""
    process = _start(world)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    World.expect(subprocess.CompletedProcess(process.args, process.returncode, output, errors), 130)
    _resumes(world)


def a_record_is_copied_while_a_search_writes_it(world):
    """`db check` and `db backup` go on during a search, `db vacuum` is refused with exit code 13; the copy is whole."""
    project = ("--project", world.project)
    copy = world.folder / "copy.sqlite"
    world.run("init", world.project)
    process = _start(world)
    try:
        backup = json.loads(world.run("db", "backup", copy, *project, "--json").stdout)
        assert backup["bytes_after"] == copy.stat().st_size > 0 and backup["artifacts_left_out"] == 0, backup
        assert json.loads(world.run("db", "check", *project, "--json").stdout)["intact"]
        assert f"process {process.pid} is writing it" in world.run("db", "vacuum", *project, code=13).stderr
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    World.expect(subprocess.CompletedProcess(process.args, process.returncode, output, errors), 130)
    sizes = json.loads(world.run("db", "vacuum", *project, "--json").stdout)
    assert 0 < sizes["bytes_after"] <= sizes["bytes_before"], sizes
    world.project = world.folder / "other"
    world.project.mkdir()
    copy.rename(world.project / "runs.sqlite")
    assert json.loads(world.run("db", "check", "--project", world.project, "--json").stdout)["intact"]
    assert world.listed(), "the copy has candidates"


def a_killed_search_leaves_a_run_that_resumes(world):
    """SIGKILL at some moment loses nothing that was committed."""
    process = _start(world)
    process.kill()
    process.communicate(timeout=60)
    _resumes(world)


def a_models_program_is_mended_and_exported(world):
    """A model's program is wrong, then right, enters the archive, and is exported; the recording does it again."""
    key = "topsecret-0123456789"
    with ScriptedModel(key, mends) as model:
        environment = dict(world.environment, SCRIPTED_KEY=key)
        world.run("models", "add", "scripted", "--base-url", model.url, "--model-id", "scripted-1", "--key-env",
                  "SCRIPTED_KEY", "--price-input", "1", "--price-output", "10", "--concurrency", "1")
        tested = json.loads(world.run("models", "test", "scripted", "--json", environment=environment).stdout)
        assert tested["works"] and tested["has_model"], tested
        done = world.optimize(world.root / "resources" / "tasks" / "swish_gate.py", "--set", "rows=256", "--time-budget",
                              "40s", "--model", "scripted", "--budget-usd", "1", "-vv", environment=environment)
    assert "units read" in done.stderr and key not in done.stderr, done.stderr  # all that there is to log
    document = json.loads(done.stdout)
    listed = json.loads(world.run("list", "--project", world.project, "--json").stdout)["candidates"]
    made = [one for one in listed if one["operator"] == "scripted"]
    statuses = [one["status"] for one in made]
    assert statuses[:2] == ["wrong", "correct"], made
    right = made[1]
    assert right["parents"] == [made[0]["candidate"]] and right["cell"], right
    exported = world.folder / "kernel.py"
    world.run("export", right["candidate"], "-o", exported, "--no-checks", "--project", world.project)
    assert "swish_gate" in exported.read_text(encoding="utf-8")
    said = world.folder / "said.jsonl"
    world.run("models", "conversations", run_of(document), "-o", said, "--project", world.project)
    assert "did not pass" in said.read_text(encoding="utf-8")
    for file in [said, *world.folder.rglob("*")]:
        assert not file.is_file() or key.encode() not in file.read_bytes(), file
    world.project = world.folder / "again"
    world.optimize(world.root / "resources" / "tasks" / "swish_gate.py", "--set", "rows=256", "--time-budget", "20s",
                   "--model", f"replay:{said}")
    again = json.loads(world.run("list", "--project", world.project, "--json").stdout)["candidates"]
    assert [one["status"] for one in again if one["operator"] == "replay"][:2] == ["wrong", "correct"], again


def an_edit_becomes_a_candidate_of_its_own(world):
    """A right edit is recorded with its parent; a wrong one is recorded, too, and enters no cell."""
    world.optimize(world.task(), "--max-evaluations", "6", "--seed", "1", "--no-compile-baseline")
    listed = json.loads(world.run("list", "--project", world.project, "--json", "--status", "correct").stdout)
    made = [one["candidate"] for one in listed["candidates"] if one["operator"] != "baseline"]
    parent = json.loads(world.run("show", made[0], "--project", world.project, "--json").stdout)
    source = parent["program"]["source"]
    assert "* 2.0f" in source, source

    def evaluate(text, code, *more):
        edit = world.folder / "edit.cpp"
        edit.write_text(text, encoding="utf-8")
        done = world.run("evaluate", made[0], "--source", edit, "--project", world.project, "--json",
                         "--no-self-test", *more, code=code)
        assert ("without a sandbox" in done.stderr) == bool(more), done.stderr
        return json.loads(done.stdout)

    def previewed():
        return world.run("export", made[0], "--preview", "--no-checks", "--project", world.project).stdout

    # Other machine code, so that it is no duplicate, and the same numbers.
    other = "__attribute__((used)) static const int written_by_hand = 7;\n"
    right = evaluate("// by hand\n" + other + source, 0)
    assert right["operator"] == "human" and right["parents"] == [made[0]], right
    assert right["status"] == "correct" and right["cell"] and right["time_ns"] > 0, right
    stored = json.loads(world.run("show", right["candidate"], "--project", world.project, "--json").stdout)
    assert stored["program"]["source"].startswith("// by hand") and stored["status"] == "correct", stored
    wrong = evaluate(source.replace("* 2.0f", "* 4.0f"), 8)
    assert wrong["status"] == "wrong" and wrong["operator"] == "human" and not wrong["is_elite"], wrong
    assert "sandbox" not in previewed()
    broken = evaluate(source + "\nint broken = ;\n", 8, "--sandbox", "none")
    assert "without a sandbox" in previewed(), "exports of a run that was compiled without one say it"
    assert broken["status"] == "compile error" and "broken" in json.dumps(broken["evaluation"]), broken


def kernelbench_problems_end_in_a_file_that_goes_on(world):
    """Searched at small sizes, exported, checked by the checkout's checker; a problem that fails is a row."""
    checkout = write_checkout(world.folder / "checkout")
    file = world.folder / "out.json"

    def bench(problems, **how):
        return world.run("bench", "kernelbench", "--checkout", checkout, "--levels", "1", "--problems", problems,
                         "--largest-tensor", "0.3", "--target", "cpu", "--max-evaluations", "6", "--baselines", "eager",
                         "--no-self-test", "--json", file, **how)

    bench("3")
    first = json.loads(file.read_text(encoding="utf-8"))["tasks"]
    text = bench("odd").stdout
    document = json.loads(file.read_text(encoding="utf-8"))
    relu, total, untraceable = document["tasks"]
    assert [total] == first, "what was finished is not done again"
    for task in (relu, total):
        assert task["kernelbench"]["verdict"] == "accepted", task
        assert task["kernelbench"]["trials"] == "(5 / 5)" and "on the CPU" in task["kernelbench"]["note"], task
        assert task["kernel"]["speedup"]["value"] > 0 and task["kernel"]["aten"] == [], task
        assert task["aten_in_every_candidate"] == [] and task["failure"] is None, task
        assert os.path.exists(task["export_file"]), task
    constants = relu["constants"]
    assert 4 * constants["rows"] * constants["columns"] <= 300_000, constants
    assert untraceable["failure"]["stage"] == "import" and untraceable["kernel"] is None, untraceable
    assert document["summary"][0]["tasks"] == 3 and document["summary"][0]["accepted"] == 2, document["summary"]
    assert "1_Relu" in text and "5_Untraceable" in text, text
    world.run("bench", "report", file, "--format", "svg", "-o", world.folder / "chart.svg")
    assert "1_Relu" in (world.folder / "chart.svg").read_text(encoding="utf-8")
    assert "| 1/3 |" in world.run("bench", "report", file, "--format", "markdown").stdout
    runs = json.loads(world.run("list", "--project", world.folder / "out.project", "--json").stdout)
    assert "1_Relu" in json.dumps(runs), runs
    world.run("bench", "kernelbench", "--checkout", checkout, "--levels", "1", "--problems", "3", "--target", "cpu",
              "--time-budget", "5s", "--json", file, code=4)


def _words(done):
    """What a command printed, on one line."""
    return " ".join((done.stdout + done.stderr).split())


run_case(globals())
