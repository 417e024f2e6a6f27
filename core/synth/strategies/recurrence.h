// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "core/synth/emit/kernel_writer.h"

// What strategies for recurrent layers have in common.
namespace swage::synth {

// "6 layers of an LSTM of 256 units, 512 steps of 10 sequences"
[[nodiscard]] std::string describeRecurrence(const Recurrence& recurrence);

// The gates of one unit as lines of text: from `sum(gate)`, what inputs and states bring to a gate with all biases,
// they make `next`, the new state. A GRU wants the two apart, for its last gate: `fromInput(gate)`, `fromState(gate)`.
// `state` is the variable that stays from step to step: the cell of an LSTM, the state of a GRU; others need none.
struct GateExpressions {
  std::function<std::string(std::int64_t)> fromInput;
  std::function<std::string(std::int64_t)> fromState;
  std::string state;
};
void writeGates(Code& code, CellKind cell, const GateExpressions& text);
[[nodiscard]] inline bool keepsState(CellKind cell) {
  return cell == CellKind::Lstm || cell == CellKind::Gru;
}

// A member of the layers as an expression of their number: "h0 + layer * 256", or a choice between several. Some layer
// must have it; for those that do not, it is anything.
[[nodiscard]] std::string pointerOf(const KernelWriter& writer, const Region& region,
                                    const std::function<Placed(const RecurrentLayer&)>& member);
// Where element (first, second, third) lies, all layers of one kind alike: "step * 2560 + sequence * 256 + unit".
[[nodiscard]] std::string placeOf(const Recurrence& recurrence,
                                  const std::function<Placed(const RecurrentLayer&)>& member,
                                  const std::array<std::string, 3>& coordinates);
[[nodiscard]] bool isAnywhere(const Recurrence& recurrence, const std::function<bool(const RecurrentLayer&)>& is);

}  // namespace swage::synth
