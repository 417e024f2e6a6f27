# SPDX-License-Identifier: Apache-2.0
"""Works the archive as a coding agent does, by the official client of the Model Context Protocol:
mcp_session.py --bin FOLDER --root PROJECT

An agent opens a task, submits a wrong kernel, reads why it is wrong, submits a right and faster one, and exports it.
Fails with an AssertionError that shows what was answered. Leaves with 77 where the client is not installed.
"""

import argparse
import asyncio
import json
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    from mcp import Client, StdioServerParameters
except ImportError as error:
    print(f"skipped: the client of the Model Context Protocol is not installed ({error}); packaging/test installs it")
    sys.exit(77)

# Forty passes over 4 MB in eager PyTorch, one in the kernel, whose only thread waits for no other: a margin that other
# programs on the machine do not take away.
TASK = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        for _ in range(8):
            x = torch.abs(torch.relu(x) * 0.5 + 0.25 - 0.75)
        return x

def get_inputs():
    return [torch.randn(1024, 1024)]

def get_init_inputs():
    return []
"""

KERNEL = """
extern "C" void chain(void** arguments) {
  const float* const x = *static_cast<const float**>(arguments[0]);
  float* const y = *static_cast<float**>(arguments[1]);
  const long long count = *static_cast<long long*>(arguments[2]);
  for (long long i = 0; i < count; ++i) {
    float value = x[i];
    for (int round = 0; round < 8; ++round) {
      const float positive = value < 0.0f ? 0.0f : value;
      const float shifted = positive * FACTOR + 0.25f - 0.75f;
      value = shifted < 0.0f ? -shifted : shifted;
    }
    y[i] = value;
  }
}
"""


def text_of(result):
    """What a tool answered; an error is one line."""
    assert len(result.content) == 1, result
    return result.content[0].text


async def ask(client, tool, arguments=None, **more):
    """The JSON that a tool answers."""
    result = await client.call_tool(tool, arguments or {}, **more)
    assert not result.is_error, text_of(result)
    return json.loads(text_of(result))


async def refusal(client, tool, arguments=None):
    """Why a tool does not do it."""
    result = await client.call_tool(tool, arguments or {})
    assert result.is_error, text_of(result)
    return text_of(result)


def plan_for(task):
    """The launch plan of KERNEL, with the number of the output as the task says it."""
    output = int(task.split("output %")[1].split(":")[0])
    return {"intent": "one pass", "steps": [{"kernel": "chain", "arguments": [0, output, {"i64": 1024 * 1024}]}]}


async def read_profile(client, right):
    """The resource with all of a profile; where nothing could be counted, why there is none."""
    address = f"swage://candidate/{right['candidate']}/profile"
    if right["counters"]:
        profile = json.loads((await client.read_resource(address)).contents[0].text)
        assert profile["source"] == right["counters"]["source"], (profile, right)
        assert [kernel["entry"] for kernel in profile["kernels"]] == ["chain"], profile
        return
    try:
        await client.read_resource(address)
        raise AssertionError("a profile that is not there was read")
    except Exception as error:  # pylint: disable=broad-exception-caught
        assert "profile" in str(error), error


async def work(client, folder):
    """The session of an agent that may submit."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert tools["read_archive"].annotations.read_only_hint is True, tools
    assert tools["submit_kernel"].annotations.read_only_hint is False, tools
    assert "no task is open" in await refusal(client, "submit_kernel", {"source": "x", "plan": {"steps": []}})
    stages = []

    async def hear(progress, _total, message):
        stages.append((progress, message))

    opened = await ask(client, "open_task", progress_callback=hear)
    assert stages and [number for number, _ in stages] == sorted(number for number, _ in stages), stages
    assert opened["language"] == "cpp" and "extern" in opened["how_to_write_a_kernel"], opened
    plan = plan_for(opened["task"])

    assert "plan" in await refusal(client, "submit_kernel", {"source": KERNEL})
    assert "kernel" in await refusal(client, "submit_kernel", {"source": KERNEL, "plan": {"steps": [{"zero": 0}]}})
    stages.clear()
    wrong = await ask(client, "submit_kernel", {"source": KERNEL.replace("FACTOR", "0.75f"), "plan": plan},
                      progress_callback=hear)
    assert any("compiling" in message for _, message in stages), stages
    assert wrong["status"] == "wrong" and not wrong["is_elite"], wrong
    read = await ask(client, "read_candidate", {"candidate": wrong["candidate"]})
    assert "wrong" in read["verdict"]["why"] and "0.75f" in read["source"] and read["plan"] == {"steps": plan["steps"]}, read
    advice = await ask(client, "judge_advice", {"candidate": wrong["candidate"]})
    assert all(one["pass"] == "functional" for one in advice["advice"]), advice

    found = await ask(client, "search_patterns", {"query": "elementwise chain in one pass", "architecture": "cpu"})
    assert "catalogue/cpu/map" in [one["key"] for one in found["found"]], found

    right = await ask(client, "submit_kernel", {"source": KERNEL.replace("FACTOR", "0.5f"), "plan": plan,
                                                "parent": wrong["candidate"]})
    assert right["status"] == "correct" and right["is_elite"] and right["parents"] == [wrong["candidate"]], right
    assert right["speedup"] > 1.0, right  # its lower end, too, where the machine is not overloaded
    assert right["operator"].startswith("mcp/"), right
    assert right["counters"] or right["no_counters"], right

    archive = await ask(client, "read_archive", {"filter": f"status:correct operator:{right['operator']}", "limit": 1})
    assert archive["candidates"][0]["candidate"] == right["candidate"], archive
    assert right["candidate"] in [cell["best"] for cell in archive["cells"]], archive
    compared = await ask(client, "compare_candidates", {"first": wrong["candidate"], "second": right["candidate"]})
    assert "0.5f" in compared["source_diff"], compared

    source = await client.read_resource(f"swage://candidate/{right['candidate']}/source")
    assert "positive * 0.5f" in source.contents[0].text, source
    assembly = await client.read_resource(f"swage://candidate/{right['candidate']}/assembly")
    assert "chain" in assembly.contents[0].text, assembly
    await read_profile(client, right)
    listed = [str(resource.uri) for resource in (await client.list_resources()).resources]
    assert f"swage://candidate/{right['candidate']}/source" in listed, listed
    assert len((await client.list_resource_templates()).resource_templates) == 4

    assert "cannot be exported" in await refusal(client, "export_candidate", {"candidate": wrong["candidate"]})
    exported = await ask(client, "export_candidate", {"candidate": right["candidate"]})
    file = pathlib.Path(exported["written_to"])
    assert file.is_relative_to(folder / "project") and "class ModelNew" in file.read_text(encoding="utf-8"), exported
    assert "class ModelNew" in exported["files"][0]["content"], exported
    return right["candidate"]


async def look(client, candidate):
    """The session of an agent that may only read."""
    assert "submit_kernel" not in [tool.name for tool in (await client.list_tools()).tools]
    assert "--allow-submissions" in await refusal(client, "submit_kernel", {"source": "x", "plan": {"steps": []}})
    assert "--allow-submissions" in await refusal(client, "open_task", {"new_run": True})
    read = await ask(client, "read_candidate", {"candidate": candidate})
    assert read["status"] in ("correct", "unstable") and read["verdict"]["summary"], read
    assert "written_to" not in await ask(client, "export_candidate", {"candidate": candidate})
    assert "99999" in await refusal(client, "read_candidate", {"candidate": 99999})
    assert "candidate" in await refusal(client, "read_candidate", {"candidate": "first"})
    assert "colour" in await refusal(client, "read_archive", {"colour": 1})
    assert "no tool" in await refusal(client, "no_such_tool")
    try:
        await client.read_resource("swage://candidate/99999/source")
        raise AssertionError("a resource that is not there was read")
    except Exception as error:  # pylint: disable=broad-exception-caught
        assert "99999" in str(error), error


def speaks(command, environment, version):
    """Which version the server answers with, without any client; nothing else comes on its standard output."""
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize",
               "params": {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}}
    done = subprocess.run(command, input=json.dumps(request) + "\n", env=environment, capture_output=True, text=True,
                          timeout=60, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 1, done.stdout
    return json.loads(lines[0])["result"]["protocolVersion"]


async def main():
    """Runs both sessions."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--root", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="swage-mcp-") as name:
        folder = pathlib.Path(name)
        (folder / "task.py").write_text(TASK, encoding="utf-8")
        environment = dict(os.environ, HOME=name, XDG_CACHE_HOME=str(folder / "cache"), XDG_DATA_HOME=str(folder / "data"),
                           XDG_STATE_HOME=str(folder / "state"), XDG_CONFIG_HOME=str(folder / "config"))

        def server(*arguments):
            return StdioServerParameters(command=os.path.join(options.bin, "swage"),
                                         args=["mcp", *map(str, arguments)], env=environment, cwd=name)

        project = folder / "project"
        writing = server(folder / "task.py", "--project", project, "--allow-submissions", "--target", "cpu",
                         "--no-compile-baseline", "--no-self-test")
        async with Client(writing, read_timeout_seconds=240) as client:
            candidate = await work(client, folder)
        reading = server(project)
        async with Client(reading, read_timeout_seconds=60) as client:
            await look(client, candidate)
        command = [reading.command, *reading.args]
        for version in ("2024-11-05", "2025-03-26", "2025-06-18"):
            assert speaks(command, environment, version) == version
        assert speaks(command, environment, "1999-01-01") == "2025-06-18"
    print("ok")


asyncio.run(main())
