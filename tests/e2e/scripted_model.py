# SPDX-License-Identifier: Apache-2.0
"""A server on this machine that answers like a language model, by a script."""

import http.server
import json
import threading

SOURCE = """#include <cmath>

extern "C" void swish_gate(void** arguments) {{
  const float* const x = *static_cast<const float**>(arguments[0]);
  const float* const gate = *static_cast<const float**>(arguments[1]);
  float* const y = *static_cast<float**>(arguments[2]);
  const long long count = *static_cast<long long*>(arguments[3]);
#pragma omp parallel for schedule(static)
  for (long long i = 0; i < count; ++i) {{
    y[i] = {expression};
  }}
}}
"""
WRONG = "x[i] / (1.0f + std::exp(-x[i]))"
RIGHT = "x[i] / (1.0f + std::exp(-x[i])) * gate[i]"


def mends(messages):
    """A script: first wrong, then, when it is told so, right."""
    question = messages[-1]["content"]
    inputs = [line.split("%")[1].split(":")[0] for line in messages[1]["content"].splitlines()
              if line.startswith("input %")]
    output = next(line.split("%")[1].split(":")[0] for line in messages[1]["content"].splitlines()
                  if line.startswith("output %"))
    source = SOURCE.format(expression=RIGHT if "did not pass" in question else WRONG)
    plan = {"intent": "one pass over both inputs",
            "steps": [{"kernel": "swish_gate", "arguments": [*map(int, inputs), int(output), {"i64": 256 * 1024}]}]}
    return f"One pass.\n\n```cpp\n{source}```\n\n```json\n{json.dumps(plan)}\n```\n"


class Handler(http.server.BaseHTTPRequestHandler):
    """OpenAI's chat/completions, streamed word by word."""

    def do_GET(self):  # pylint: disable=invalid-name
        """The list of models."""
        self.reply("application/json", [json.dumps({"data": [{"id": "scripted-1"}]})])

    def do_POST(self):  # pylint: disable=invalid-name
        """One answer."""
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.headers["authorization"] != f"Bearer {self.server.key}":
            self.send_error(401)
            return
        question = request["messages"][-1]["content"]
        text = "ready" if "Say: ready" in question else self.server.script(request["messages"])
        chunks = [{"id": "1", "model": "scripted-1", "choices": [{"delta": {"content": text[at:at + 40]}}]}
                  for at in range(0, len(text), 40)]
        chunks.append({"choices": [{"delta": {}, "finish_reason": "stop"}]})
        chunks.append({"choices": [], "usage": {"prompt_tokens": 2000, "completion_tokens": 400}})
        self.reply("text/event-stream", [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks] + ["data: [DONE]\n\n"])

    def reply(self, kind, parts):
        """A status and a body until the connection closes."""
        self.send_response(200)
        self.send_header("content-type", kind)
        self.end_headers()
        for part in parts:
            self.wfile.write(part.encode())
            self.wfile.flush()

    def log_message(self, *_):  # pylint: disable=arguments-differ
        """Says nothing."""


class ScriptedModel:
    """The server, for the time of a `with`. `script` gets the messages and returns the answer."""

    def __init__(self, key, script):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.key = key
        self.server.script = script
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
