# SPDX-License-Identifier: Apache-2.0
"""Tasks with programs for them: a first one with one fault, and what a model may make of it.

Each change of a program answers one advice of the judge, by the words of its method. `first` is what a model writes before
it has been advised.
"""

import dataclasses
import json


@dataclasses.dataclass(frozen=True)
class Program:
    """Source and launch plan; `{inputs}`, `{output}` and so on are tensors of the question."""

    source: str
    steps: list
    scratch: list = dataclasses.field(default_factory=list)

    def answer(self, tensors):
        """In the form that the prompts ask for. `tensors`: names of the plan and the numbers of the question."""
        steps = [step(tensors) for step in self.steps]
        plan = {"intent": self.source.splitlines()[0].removeprefix("// "), "steps": steps}
        if self.scratch:
            plan["scratch"] = self.scratch
        return f"As follows.\n\n```cpp\n{self.source}```\n\n```json\n{json.dumps(plan)}\n```\n"


@dataclasses.dataclass(frozen=True)
class AdvisedTask:
    """A bundled task, small, with what the judge says of the first program."""

    name: str
    settings: list
    rule: str  # of the judge
    method: str  # its words, which a model goes by
    first: Program
    advised: Program  # what follows the advice
    others: list  # what a model tries that does not read it


def kernel(name, *arguments):
    """A step; arguments are names of tensors, or numbers."""
    return lambda tensors: {"kernel": name, "arguments": [tensors[one] if isinstance(one, str) else {"i64": one}
                                                          for one in arguments]}


def zero(name):
    """A step that clears a tensor."""
    return lambda tensors: {"zero": tensors[name]}


TOKENS, WIDTH = 512, 1024

NORM_PARTS = """// {intent}
#include <cmath>

extern "C" void add(void** arguments) {{
  const float* const x = *static_cast<const float**>(arguments[0]);
  const float* const residual = *static_cast<const float**>(arguments[1]);
  float* const total = *static_cast<float**>(arguments[2]);
  const long long count = *static_cast<long long*>(arguments[3]);
#pragma omp parallel for schedule({schedule})
  for (long long i = 0; i < count; ++i) {{
    total[i] = x[i] + residual[i];
  }}
}}

extern "C" void square(void** arguments) {{
  const float* const total = *static_cast<const float**>(arguments[0]);
  float* const squares = *static_cast<float**>(arguments[1]);
  const long long count = *static_cast<long long*>(arguments[2]);
#pragma omp parallel for schedule({schedule})
  for (long long i = 0; i < count; ++i) {{
    squares[i] = total[i] * total[i];
  }}
}}

extern "C" void normalise(void** arguments) {{
  const float* const total = *static_cast<const float**>(arguments[0]);
  const float* const squares = *static_cast<const float**>(arguments[1]);
  const float* const scale = *static_cast<const float**>(arguments[2]);
  float* const y = *static_cast<float**>(arguments[3]);
  const long long rows = *static_cast<long long*>(arguments[4]);
  const long long width = *static_cast<long long*>(arguments[5]);
#pragma omp parallel for schedule({schedule})
  for (long long row = 0; row < rows; ++row) {{
    float sum[16] = {{}};
    for (long long i = 0; i < width; i += 16) {{
      for (int lane = 0; lane < 16; ++lane) {{
        sum[lane] += squares[row * width + i + lane];
      }}
    }}
    double all = 0.0;
    for (int lane = 0; lane < 16; ++lane) {{
      all += sum[lane];
    }}
    const float factor = 1.0f / std::sqrt(static_cast<float>(all / width) + 1e-6f);
    for (long long i = 0; i < width; ++i) {{
      y[row * width + i] = total[row * width + i] * factor * scale[i];
    }}
  }}
}}
"""

NORM_WHOLE = """// adds, squares and normalises a row while it is in the cache
#include <cmath>

extern "C" void add_and_normalise(void** arguments) {
  const float* const x = *static_cast<const float**>(arguments[0]);
  const float* const residual = *static_cast<const float**>(arguments[1]);
  const float* const scale = *static_cast<const float**>(arguments[2]);
  float* const y = *static_cast<float**>(arguments[3]);
  float* const total = *static_cast<float**>(arguments[4]);
  const long long rows = *static_cast<long long*>(arguments[5]);
  const long long width = *static_cast<long long*>(arguments[6]);
#pragma omp parallel for schedule(static)
  for (long long row = 0; row < rows; ++row) {
    const long long begin = row * width;
    float sum[16] = {};
    for (long long i = 0; i < width; i += 16) {
      for (int lane = 0; lane < 16; ++lane) {
        const float both = x[begin + i + lane] + residual[begin + i + lane];
        total[begin + i + lane] = both;
        sum[lane] += both * both;
      }
    }
    double all = 0.0;
    for (int lane = 0; lane < 16; ++lane) {
      all += sum[lane];
    }
    const float factor = 1.0f / std::sqrt(static_cast<float>(all / width) + 1e-6f);
    for (long long i = 0; i < width; ++i) {
      y[begin + i] = total[begin + i] * factor * scale[i];
    }
  }
}
"""


def norm_in_parts(intent, schedule):
    """Three passes over memory."""
    count = TOKENS * WIDTH
    return Program(NORM_PARTS.format(intent=intent, schedule=schedule),
                   [kernel("add", "x", "residual", "total", count), kernel("square", "total", "scratch", count),
                    kernel("normalise", "total", "scratch", "scale", "y", TOKENS, WIDTH)],
                   [{"dtype": "float32", "shape": [TOKENS, WIDTH]}])


FUSION = AdvisedTask(
    name="rms_norm_residual", settings=[f"tokens={TOKENS}", f"width={WIDTH}"], rule="intermediate_traffic",
    method="Keep intermediate results in registers",
    first=norm_in_parts("a pass for each operator", "static"),
    advised=Program(NORM_WHOLE, [kernel("add_and_normalise", "x", "residual", "scale", "y", "total", TOKENS, WIDTH)]),
    others=[norm_in_parts("threads take work as they come", "dynamic, 4096")])

GELU_ROWS, GELU_WIDTH = 512, 768

GELU = """// {intent}
#include <cmath>

{declarations}extern "C" void norm_gelu(void** arguments) {{
  const float* const x = *static_cast<const float**>(arguments[0]);
  const float* const weight = *static_cast<const float**>(arguments[1]);
  const float* const bias = *static_cast<const float**>(arguments[2]);
  float* const y = *static_cast<float**>(arguments[3]);
  const long long rows = *static_cast<long long*>(arguments[4]);
  const long long width = *static_cast<long long*>(arguments[5]);
#pragma omp parallel for schedule({schedule})
  for (long long row = 0; row < rows; ++row) {{
    const float* const from = x + row * width;
    double sum = 0.0;
    double squares = 0.0;
    for (long long i = 0; i < width; ++i) {{
      sum += from[i];
    }}
    const float mean = static_cast<float>(sum / width);
    for (long long i = 0; i < width; ++i) {{
      const double off = from[i] - mean;
      squares += off * off;
    }}
    const float factor = static_cast<float>(1.0 / std::sqrt(squares / width + 1e-5));
    for (long long i = 0; i < width; ++i) {{
      const float normal = (from[i] - mean) * factor * weight[i] + bias[i];
      y[row * width + i] = 0.5f * normal * (1.0f + {erf}(normal * 0.70710678f));
    }}
  }}
}}
"""


def gelu(intent, schedule="static", declarations="", erf="std::erf"):
    """One pass over the rows."""
    return Program(GELU.format(intent=intent, schedule=schedule, declarations=declarations, erf=erf),
                   [kernel("norm_gelu", "x", "weight", "bias", "y", GELU_ROWS, GELU_WIDTH)])


VECTORS = AdvisedTask(
    name="layer_norm_gelu", settings=[f"tokens={GELU_ROWS}", f"width={GELU_WIDTH}"], rule="scalar_arithmetic",
    method="Let the compiler use vectors", first=gelu("one pass over the rows"),
    advised=gelu("calls the error function for a whole vector",
                 declarations='extern "C" __attribute__((simd("notinbranch"))) float erff(float) noexcept;\n\n',
                 erf="erff"),
    others=[gelu("threads take rows as they come", schedule="dynamic, 8")])

BATCH, ROWS, COLUMNS = 8, 128, 256

SUM_SHARED = """// {intent}
extern "C" void add_rows(void** arguments) {{
  const float* const x = *static_cast<const float**>(arguments[0]);
  double* const sums = *static_cast<double**>(arguments[1]);
  const long long rows = *static_cast<long long*>(arguments[2]);
  const long long columns = *static_cast<long long*>(arguments[3]);
  const long long all = *static_cast<long long*>(arguments[4]);
#pragma omp parallel for schedule({schedule})
  for (long long row = 0; row < all; ++row) {{
    double* const target = sums + row / rows * columns;
    for (long long column = 0; column < columns; ++column) {{
#pragma omp atomic
      target[column] += x[row * columns + column];
    }}
  }}
}}

extern "C" void round_sums(void** arguments) {{
  const double* const sums = *static_cast<const double**>(arguments[0]);
  float* const y = *static_cast<float**>(arguments[1]);
  const long long count = *static_cast<long long*>(arguments[2]);
  for (long long i = 0; i < count; ++i) {{
    y[i] = static_cast<float>(sums[i]);
  }}
}}
"""

SUM_OWN = """// every thread adds up columns of its own
extern "C" void add_columns(void** arguments) {
  const float* const x = *static_cast<const float**>(arguments[0]);
  float* const y = *static_cast<float**>(arguments[1]);
  const long long rows = *static_cast<long long*>(arguments[2]);
  const long long columns = *static_cast<long long*>(arguments[3]);
  const long long all = *static_cast<long long*>(arguments[4]);
#pragma omp parallel for schedule(static)
  for (long long begin = 0; begin < all; begin += 16) {
    const float* from = x + begin / columns * rows * columns + begin % columns;
    double sum[16] = {};
    for (long long row = 0; row < rows; ++row, from += columns) {
      for (int lane = 0; lane < 16; ++lane) {
        sum[lane] += from[lane];
      }
    }
    for (int lane = 0; lane < 16; ++lane) {
      y[begin + lane] = static_cast<float>(sum[lane]);
    }
  }
}
"""


def shared_sums(intent, schedule):
    """All threads add to the same numbers."""
    return Program(SUM_SHARED.format(intent=intent, schedule=schedule),
                   [zero("scratch"), kernel("add_rows", "x", "scratch", ROWS, COLUMNS, BATCH * ROWS),
                    kernel("round_sums", "scratch", "y", BATCH * COLUMNS)],
                   [{"dtype": "float64", "shape": [BATCH, COLUMNS]}])


SHARING = AdvisedTask(
    name="column_sum", settings=[f"batch_size={BATCH}", f"rows={ROWS}", f"columns={COLUMNS}"],
    rule="cache_line_sharing", method="Let each thread write lines of its own",
    first=shared_sums("all threads add rows to the same sums", "static"),
    advised=Program(SUM_OWN, [kernel("add_columns", "x", "y", ROWS, COLUMNS, BATCH * COLUMNS)]),
    others=[shared_sums("threads take rows as they come", "dynamic, 16")])

ONE_THREAD = AdvisedTask(
    name="column_sum", settings=["batch_size=8", "rows=512", "columns=1024"], rule="idle_threads",
    method="Cut the work into more parts",
    first=Program(SUM_OWN.replace("#pragma omp parallel for schedule(static)\n", "").replace("every", "one"),
                  [kernel("add_columns", "x", "y", 512, 1024, 8 * 1024)]),
    advised=Program(SUM_OWN, [kernel("add_columns", "x", "y", 512, 1024, 8 * 1024)]),
    others=[])

TASKS = {task.name: task for task in (FUSION, VECTORS, SHARING)}

# What the plans call the tensors of a task, in the order of its inputs and of its outputs.
INPUTS = {"rms_norm_residual": ["scale", "x", "residual"], "layer_norm_gelu": ["weight", "bias", "x"],
          "column_sum": ["x"]}
OUTPUTS = {"rms_norm_residual": ["y", "total"], "layer_norm_gelu": ["y"], "column_sum": ["y"]}


def tensors_of(name, question):
    """Numbers of the tensors that plans name, as the question says them."""
    graph = [line for line in question.splitlines() if line.startswith(("input %", "parameter %", "output %", "node "))]

    def numbers(kinds):
        return [int(line.split("%")[1].split(":")[0]) for line in graph if line.startswith(kinds)]

    tensors = dict(zip(INPUTS[name], numbers(("input %", "parameter %"))))
    tensors.update(zip(OUTPUTS[name], numbers(("output %",))))
    results = [int(part.split(":")[0]) for line in graph if line.startswith("node ")
               for part in line.split("=")[0].split("%")[1:]]
    tensors["scratch"] = max([*tensors.values(), *results]) + 1
    return tensors


@dataclasses.dataclass(frozen=True)
class TaskByHand:
    """A bundled task, small, that by_hand has replies for."""

    name: str
    settings: list


BY_HAND = {task.name: task for task in (TaskByHand("softmax_rows", ["rows=512", "columns=1000"]),
                                        TaskByHand("swish_gate", ["rows=512", "columns=1024"]),
                                        TaskByHand("cross_entropy", ["batch_size=512", "classes=1000"]))}
