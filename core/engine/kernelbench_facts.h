// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "core/base/result.h"
#include "core/domain/task.h"
#include "core/export/kernelbench.h"

namespace swage::engine {

// What a bundle says of a problem: the constants that were changed, and the graph's operators.
void addTaskFacts(exporting::KernelBenchRow& row, const domain::Task& task);

// What the record has of the row's run: baselines, the best kernel, what no kernel computes, doubts. Where no candidate
// with a kernel is correct, that is the row's failure. Reads candidates until it knows what all of them leave to
// PyTorch, which may take seconds.
[[nodiscard]] Result<> addRunFacts(exporting::KernelBenchRow& row, const std::filesystem::path& project);

// Whether a doubt about a task means that its output is constant, or the same for other inputs. A weight without effect
// (a bias in front of a normalisation) does not make a task degenerate.
[[nodiscard]] bool meansDegenerate(std::string_view doubt);

}  // namespace swage::engine
