// SPDX-License-Identifier: Apache-2.0
#include "core/synth/strategies/recurrence.h"

#include <algorithm>

#include "core/synth/sizes.h"

namespace swage::synth {

using Member = std::function<Placed(const RecurrentLayer&)>;

std::string describeRecurrence(const Recurrence& recurrence) {
  const auto count = static_cast<std::int64_t>(recurrence.layers.size());
  const std::string_view cell = recurrence.cell == CellKind::Lstm  ? "an LSTM"
                                : recurrence.cell == CellKind::Gru ? "a GRU"
                                                                   : "an RNN";
  const std::string layers = count == 1             ? fmt::format("A layer of {}", cell)
                             : recurrence.isStack() ? fmt::format("{} layers of {}", count, cell)
                                                    : fmt::format("A layer of {} in both directions", cell);
  return fmt::format("{} of {} units: {} steps of {} sequences.", layers, recurrence.units, recurrence.steps,
                     recurrence.batch);
}

void writeGates(Code& code, CellKind cell, const GateExpressions& text) {
  const auto sum = [&](std::int64_t gate) {
    return fmt::format("{} + {}", text.fromInput(gate), text.fromState(gate));
  };
  switch (cell) {
    case CellKind::Lstm:
      code.line("const float input = logistic({});", sum(0));
      code.line("const float forget = logistic({});", sum(1));
      code.line("const float candidate = tanhf({});", sum(2));
      code.line("const float output = logistic({});", sum(3));
      code.line("{0} = forget * {0} + input * candidate;", text.state);
      code.line("const float next = output * tanhf({});", text.state);
      return;
    case CellKind::Gru:
      code.line("const float reset = logistic({});", sum(0));
      code.line("const float update = logistic({});", sum(1));
      code.line("const float candidate = tanhf({} + reset * ({}));", text.fromInput(2), text.fromState(2));
      code.line("const float next = candidate + update * ({} - candidate);", text.state);
      code.line("{} = next;", text.state);
      return;
    case CellKind::Tanh: code.line("const float next = tanhf({});", sum(0)); return;
    case CellKind::Relu:
      code.line("const float total = {};", sum(0));
      code.line("const float next = total < 0 ? 0 : total;");
      return;
  }
}

std::string pointerOf(const KernelWriter& writer, const Region& region, const Member& member) {
  struct Known {
    std::int64_t layer = 0;
    Placed placed;
  };
  std::vector<Known> known;
  for (const RecurrentLayer& layer : region.recurrence->layers) {
    if (const Placed placed = member(layer); placed.isThere()) {
      known.push_back({&layer - region.recurrence->layers.data(), placed});
    }
  }
  const auto text = [&](const Placed& each) {
    const std::string& name = writer.parameterOf(region.operands[asIndex(each.operand)]);
    return each.offset == 0 ? name : fmt::format("{} + {}", name, each.offset);
  };
  const Known& first = known.front();
  const std::int64_t step = known.size() > 1 ? known[1].placed.offset - first.placed.offset : 0;
  const bool isEven = first.layer == 0 && std::all_of(known.begin(), known.end(), [&](const Known& each) {
                        return each.placed.operand == first.placed.operand &&
                               each.placed.offset == first.placed.offset + each.layer * step;
                      });
  if (isEven || known.size() == 1) {
    return text(first.placed) + (step == 0 ? "" : fmt::format(" + layer * {}", step));
  }
  std::string choice;
  for (std::size_t i = 0; i + 1 < known.size(); ++i) {
    choice += fmt::format("layer == {} ? {} : ", known[i].layer, text(known[i].placed));
  }
  return choice + text(known.back().placed);
}

std::string placeOf(const Recurrence& recurrence, const Member& member, const std::array<std::string, 3>& coordinates) {
  const auto found = std::find_if(recurrence.layers.begin(), recurrence.layers.end(),
                                  [&](const RecurrentLayer& layer) { return member(layer).isThere(); });
  std::string sum;
  for (std::size_t i = 0; found != recurrence.layers.end() && i < coordinates.size(); ++i) {
    const std::int64_t step = member(*found).steps[i];
    if (step != 0) {
      sum += fmt::format("{}{}{}", sum.empty() ? "" : " + ", coordinates[i],
                         step == 1 ? std::string() : fmt::format(" * {}", step));
    }
  }
  return sum.empty() ? "0" : sum;
}

bool isAnywhere(const Recurrence& recurrence, const std::function<bool(const RecurrentLayer&)>& is) {
  return std::any_of(recurrence.layers.begin(), recurrence.layers.end(), is);
}

}  // namespace swage::synth
