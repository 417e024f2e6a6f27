# SPDX-License-Identifier: Apache-2.0
"""Language models in searches of the built programs: models_end_to_end.py CASE --bin FOLDER --root PROJECT

Nothing here depends on times: what is better is decided by what the judge finds in compiled code and launch plans.
"""

import functools
import json
import os
import pathlib
import re
import shutil
import sys
import threading

import advised_tasks
from scripted_model import ScriptedModel, mends
from world import run_case, run_of

KEY = "topsecret-0123456789"
HERE = pathlib.Path(__file__).parent
CALLS = 2


def advice_in(question):
    """The words of each advice in a question, in their order: what costs time, and what to do."""
    parts = question.split("\nAdvice of the profiler's rules: ")[1:]
    return [(part.split("\nDo this: ")[0], part.split("\nDo this: ")[1].splitlines()[0]) for part in parts]


def writes_for(task, follows, questions):
    """A script that begins with the task's first program. One that follows advice looks for what the task's other
    program does in the methods that it reads; one that does not tries something else each time."""
    others = iter(task.others)

    def script(messages):
        question = messages[-1]["content"]
        questions.append(question)
        tensors = advised_tasks.tensors_of(task.name, messages[1]["content"])
        if len(questions) == 1:
            return task.first.answer(tensors)
        if follows and any(method.startswith(task.method) for _, method in advice_in(question)):
            return task.advised.answer(tensors)
        return next(others).answer(tensors)

    return script


def without_times(rule):
    """The text of a rule that holds whatever was measured: a busy machine may put any candidate beside the roofline."""
    conditions = re.search(r"^when = \[(.*)\]$", rule, re.MULTILINE)
    kept = [one for one in re.findall(r'"[^"]*"', conditions[1]) if "over_roof" not in one]
    assert kept, rule
    rule = rule.replace(conditions[0], f"when = [{', '.join(kept)}]")
    return re.sub(r"^gain = .*\n", "", rule, flags=re.MULTILINE)


def let_only(world, rule):
    """Leaves the judge with this rule: a prompt has one advice, and times would decide which rule promises most."""
    folder = world.project / "rules"
    folder.mkdir(parents=True, exist_ok=True)
    rules = {}
    for file in (world.root / "resources" / "rules").glob("*.toml"):
        for text in re.split(r"^(?=\[\[rule\]\]$)", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            rules[re.search(r'^id = "(\w+)"', text, re.MULTILINE)[1]] = text
    only = without_times(rules.pop(rule))
    assert rules, rule
    off = [f'[[rule]]\nid = "{one}"\nenabled = false\n' for one in rules]
    (folder / "only.toml").write_text("\n".join([only, *off]), encoding="utf-8")


def search_with(world, task, model, calls=CALLS, **how):
    """A run in which only this model writes programs, each of them from one call."""
    settings = [part for setting in task.settings for part in ("--set", setting)]
    return world.optimize(world.root / "resources" / "tasks" / f"{task.name}.py", *settings, "--model", model,
                          "--only-models", "--max-evaluations", calls + 1, "--no-compile-baseline", **how)


def search_by_script(world, task, follows):
    """Candidates that a scripted model makes in CALLS calls over HTTP, the questions, and what was said."""
    world.project = world.folder / ("follows" if follows else "ignores")
    let_only(world, task.rule)
    questions = []
    with ScriptedModel(KEY, writes_for(task, follows, questions)) as model:
        world.run("models", "add", "scripted", "--base-url", model.url, "--model-id", "scripted-1", "--key-env",
                  "SCRIPTED_KEY", "--concurrency", "1")
        done = search_with(world, task, "scripted", environment=dict(world.environment, SCRIPTED_KEY=KEY))
        world.run("models", "remove", "scripted")
    assert len(questions) == CALLS, questions
    said = world.project / "said.jsonl"
    world.run("models", "conversations", run_of(json.loads(done.stdout)), "-o", said, "--project", world.project)
    return made_by(world, "scripted"), questions, said


def made_by(world, name):
    """What the record says of the candidates that this model made."""
    return [world.shown(one["candidate"]) for one in world.listed() if one["operator"] == name]


def rules_for(candidate):
    """Rules of the judge that speak of a candidate."""
    return [advice["rule"] for advice in candidate["advice"]]


def source_and_steps(candidate):
    """What a model said, as the record has it."""
    return candidate["program"]["source"], candidate["program"]["plan"]["steps"]


def advice_pays(task, world):
    """A model that follows advice removes the bottleneck; one that has the same programs, and does not, keeps it."""
    followed, questions, said = search_by_script(world, task, follows=True)
    ignored, _, _ = search_by_script(world, task, follows=False)
    assert "Advice" not in questions[0] and advice_in(questions[1]), questions
    for made in (followed, ignored):
        assert [one["status"] for one in made] == ["correct"] * CALLS, [one["evaluation"] for one in made]
        assert made[1]["parents"] == [made[0]["candidate"]], made[1]["parents"]
        assert task.rule in rules_for(made[0]), made[0]["advice"]
    assert task.rule not in rules_for(followed[1]), followed[1]["advice"]
    assert task.rule in rules_for(ignored[1]), ignored[1]["advice"]
    spoken = next(advice for advice in followed[0]["advice"] if advice["rule"] == task.rule)
    assert (spoken["bottleneck"], spoken["method"]) in advice_in(questions[1]), questions[1]

    world.project = world.folder / "again"
    let_only(world, task.rule)
    search_with(world, task, f"replay:{said}")
    again = made_by(world, "replay")
    assert [source_and_steps(one) for one in again] == [source_and_steps(one) for one in followed], again
    assert [rules_for(one).count(task.rule) for one in again] == [1, 0], [one["advice"] for one in again]


def a_profile_is_advice_to_a_model(world):
    """What a profile says of a candidate is in the next prompt, and a model goes by it. 77: nothing can be sampled here."""
    task = advised_tasks.ONE_THREAD
    let_only(world, task.rule)
    questions = []
    with ScriptedModel(KEY, writes_for(task, True, questions)) as model:
        environment = dict(world.environment, SCRIPTED_KEY=KEY, OMP_NUM_THREADS="2")
        world.run("models", "add", "scripted", "--base-url", model.url, "--model-id", "scripted-1", "--key-env",
                  "SCRIPTED_KEY", "--concurrency", "1")
        run = run_of(json.loads(search_with(world, task, "scripted", 1, environment=environment).stdout))
        first, = made_by(world, "scripted")
        assert first["status"] == "correct" and task.rule not in rules_for(first), first["advice"]
        world.run("profile", first["candidate"], "--project", world.project, environment=environment)
        if task.rule not in rules_for(world.shown(first["candidate"])):
            print(f"skipped: no samples of threads here: {world.shown(first['candidate'])['profile']}")
            sys.exit(77)
        world.run("resume", run, "--project", world.project, "--model", "scripted", "--only-models", "--max-evaluations",
                  3, "--no-self-test", environment=environment)
    assert any(method.startswith(task.method) for _, method in advice_in(questions[1])), questions[1]
    assert re.search(r"\n- line \d+ of the source takes about \d+ % of the time", questions[1]), questions[1]
    _, second = made_by(world, "scripted")
    assert second["status"] == "correct" and second["parents"] == [first["candidate"]], second
    parallel = ["GOMP_parallel" in one["kernels"][0]["evidence"] for one in (first, second)]
    assert parallel == [False, True], (first["kernels"], second["kernels"])


def models_alone_that_cannot_be_asked_end_a_search(world):
    """Exit codes 9 and 11, one message that says what to do, and a record that a run goes on from."""
    task = world.root / "resources" / "tasks" / "swish_gate.py"

    def search(key, code, *more):
        done = world.optimize(task, "--set", "rows=256", "--model", "scripted", "--only-models", "--max-evaluations", 5,
                              "--no-compile-baseline", *more, code=code,
                              environment=dict(world.environment, SCRIPTED_KEY=key))
        error = json.loads(done.stdout)["error"]
        assert done.stderr.count(error["message"]) == 1 and "no longer used" not in done.stderr, done.stderr
        assert key not in done.stdout + done.stderr, done.stderr
        return error

    with ScriptedModel(KEY, mends) as model:
        world.run("models", "add", "scripted", "--base-url", model.url, "--model-id", "scripted-1", "--key-env",
                  "SCRIPTED_KEY", "--concurrency", "1")
        refused = search("another-key-0123456789", 9)
        assert "denied" in refused["message"] and "swage models test" in refused["hint"], refused
        spent = search(KEY, 11, "--budget-tokens", "100")
        assert "budget" in spent["message"] and "--budget-tokens" in spent["hint"], spent
        world.run("resume", "r1", "--project", world.project, "--model", "scripted", "--only-models",
                  "--max-evaluations", 3, "--no-self-test", environment=dict(world.environment, SCRIPTED_KEY=KEY))
    listed = json.loads(world.run("list", "r1", "--project", world.project, "--json").stdout)["candidates"]
    assert [one["status"] for one in listed if one["operator"] == "scripted"] == ["wrong", "correct"], listed


def _answer_by_hand(folder, replies, stopped):
    """Puts each reply beside its prompt, when that is there."""
    for number, reply in enumerate(replies, 1):
        while not (folder / f"{number:03}-prompt.md").exists():
            if stopped.wait(0.05):
                return
        shutil.copy(reply, folder / f"{number:03}-reply.md")


def _search_by_hand(world, task, replies):
    """A run with the exchange provider, and what was said."""
    world.project = world.folder / "by-hand"
    folder = world.folder / "exchange"
    stopped = threading.Event()
    hand = threading.Thread(target=_answer_by_hand, args=(folder, replies, stopped))
    hand.start()
    try:
        done = search_with(world, task, f"exchange:{folder}", len(replies))
    finally:
        stopped.set()
        hand.join()
    said = world.project / "said.jsonl"
    world.run("models", "conversations", run_of(json.loads(done.stdout)), "-o", said, "--project", world.project)
    return made_by(world, "exchange"), said


def _check_by_hand(made, replies):
    """The first is wrong, the second mends it, the third becomes an elite; all as they were written."""
    assert [one["status"] for one in made] == ["wrong", "correct", "correct"], [one["evaluation"] for one in made]
    assert made[1]["parents"] == [made[0]["candidate"]] and made[2]["parents"] == [made[1]["candidate"]], made
    assert made[2]["cell"] and made[2]["cell"] != made[1]["cell"], made[2]  # its elite, because nobody else is in it
    for one, reply in zip(made, replies):
        written = reply.read_text(encoding="utf-8").split("```cpp\n")[1].split("```")[0]
        assert one["program"]["source"] == written, one["program"]["source"]


def _without_patterns(said):
    """Conversations without what was found on the machine that they were recorded on: sources of others."""
    return re.sub(r"# Patterns and kernels that may help.*?# Tried before", "# Tried before", said)


def replies_by_hand(task, world):
    """Replies that a person wrote, through a folder; and the recording of such a run, which needs nobody."""
    replies = sorted((HERE / "by_hand" / task.name).glob("*-reply.md"))
    assert len(replies) == 3, replies
    made, said = _search_by_hand(world, task, replies)
    _check_by_hand(made, replies)
    assert "did not pass" in said.read_text(encoding="utf-8"), said
    kept = HERE / "by_hand" / f"{task.name}.jsonl"
    if os.environ.get("SWAGE_KEEP_RECORDINGS"):
        kept.write_text(_without_patterns(said.read_text(encoding="utf-8")), encoding="utf-8")
    world.project = world.folder / "kept"
    search_with(world, task, f"replay:{kept}", len(replies))
    _check_by_hand(made_by(world, "replay"), replies)


CASES = {"a_profile_is_advice_to_a_model": a_profile_is_advice_to_a_model,
         "models_alone_that_cannot_be_asked_end_a_search": models_alone_that_cannot_be_asked_end_a_search}
CASES |= {f"advice_pays_on_{name}": functools.partial(advice_pays, task) for name, task in advised_tasks.TASKS.items()}
CASES |= {f"replies_by_hand_to_{name}": functools.partial(replies_by_hand, task)
          for name, task in advised_tasks.BY_HAND.items()}

run_case(CASES)
