// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <cstdint>
#include <optional>
#include <string>

#include "core/services/types.h"

// How a run is spoken of everywhere in the window.
namespace swage::ui {

// "not started", "importing", …, "stopped".
[[nodiscard]] QString stateWord(services::RunState state);
// Of a run in the record, in the same words: what the record calls "interrupted" was stopped.
[[nodiscard]] QString statusWord(domain::RunStatus status);
// "PyTorch (torch.compile)", of a mode as baselines have it.
[[nodiscard]] QString pytorchText(const std::string& mode);
// Of an ended run: that nothing in it beats PyTorch. Empty where something does, or nobody knows.
[[nodiscard]] QString pytorchWinsText(const services::RunSummary& run);

// What a search may use up: seconds, or candidates where `evaluations` is more than 0.
struct Budget {
  double seconds = 60.0;
  std::int64_t evaluations = 0;
  friend bool operator==(const Budget&, const Budget&) = default;
};
// "90 s", "5 min", "500 candidates".
[[nodiscard]] std::optional<Budget> parseBudget(const QString& text);
[[nodiscard]] QString editableBudget(const Budget& budget);

// Of the budget, from 0 to 1.
[[nodiscard]] double shareDone(const services::Progress& progress);
// Until the budget is used up, going on at the pace so far; nothing while that is not known.
[[nodiscard]] std::optional<double> secondsLeft(const services::Progress& progress);
// "running · 0:54 / 1:00 · 0:06 left"
[[nodiscard]] QString progressText(services::RunState state, const services::Progress& progress);

}  // namespace swage::ui
