// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/domain/advice.h"
#include "core/domain/candidate.h"
#include "core/domain/device_info.h"
#include "core/domain/diagnosis.h"
#include "core/domain/evaluation.h"
#include "core/domain/task.h"
#include "core/models/chat.h"

// Prompts, made of values by the templates of resources/prompts. Pure.
namespace swage::models {

// What the compiler and a profile say of one kernel. 0: not known.
struct KernelNumbers {
  std::string entry;
  int registers = 0;                     // of a thread
  double occupancy = 0.0;                // of the warps that a multiprocessor can hold
  std::vector<domain::HotLine> lines{};  // shares of the program's time; most first
};

// A program that a new one is to be better than.
struct ParentFacts {
  domain::Program program;
  double timeNs = 0.0;
  double speedup = 0.0;  // over eager
  double floorNs = 0.0;  // what no program can be faster than; 0: not known
  double roofNs = 0.0;   // what a perfect program of the usual kind needs; 0: not known
  std::vector<KernelNumbers> kernels{};
};

// Something that was found about writing such kernels.
struct PatternHint {
  std::string title;
  std::string origin;   // "catalogue", "record"
  std::string summary;  // may be empty
  std::string body;     // source, or its beginning; may be empty
};
// What finds them, for a question in words and an architecture, such as "sm_90". Must not wait.
using PatternsFor =
    std::function<std::vector<PatternHint>(const std::string& question, const std::string& architecture)>;

// A correct program for the same task, made for another device.
struct RelativeFacts {
  domain::Language language = domain::Language::Cpp;
  std::string device;    // its name
  double speedup = 0.0;  // over PyTorch, there
  std::string source;
};
// What finds one, by the id of the task, for the device that the new one is for. Must not wait.
using RelativeFor =
    std::function<std::optional<RelativeFacts>(const std::string& task, const domain::DeviceInfo& device)>;

struct PromptFacts {
  const domain::Task& task;
  const domain::DeviceInfo& device;
  domain::Language language = domain::Language::Cpp;
  std::string source{};  // of the task, in Python; empty: not known
  std::optional<ParentFacts> parent{};
  std::optional<domain::Advice> advice{};
  std::vector<std::string> failures{};  // one line each, newest last
  std::vector<PatternHint> patterns{};  // best first
  std::optional<RelativeFacts> relative{};
};

// What to look for: the operators of the task, how long its rows are, where it is to run, and what the advice is about.
[[nodiscard]] std::string patternQuestion(const PromptFacts& facts);

// The beginning of a conversation.
[[nodiscard]] ChatRequest firstRequest(const PromptFacts& facts);
// Of the model's own program, that did not pass.
[[nodiscard]] std::string repairMessage(const domain::Evaluation& evaluation,
                                        const std::optional<domain::Advice>& advice);
// Of an answer that cannot be read.
[[nodiscard]] std::string againMessage(domain::Language language, std::string_view error);

// "%2: float32[4096] = aten.sum.dim_IntList(%1, [-1])", a line for each input, node and output.
[[nodiscard]] std::string graphText(const domain::Graph& graph);
// In the form that an answer has (answer.h). No value: it has tensor maps, or tensors that are not the task's.
[[nodiscard]] std::optional<std::string> shortPlan(const domain::LaunchPlan& plan, const domain::Graph& graph);
// A block that what is inside of it cannot end.
[[nodiscard]] std::string fenced(std::string_view tag, std::string_view text);
// "cpp", "cuda": of a block with source.
[[nodiscard]] std::string_view fenceTag(domain::Language language);

}  // namespace swage::models
