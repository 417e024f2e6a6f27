// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/domain/candidate.h"
#include "core/domain/evaluation.h"
#include "core/domain/task.h"

// The planted cheats and honest controls of `resources/selftest` (format: its README.md).
namespace swage::trust {

// "rejected: code check" or "correct": a status and, where it matters, the rule that gave it.
struct ExpectedVerdict {
  std::string status;
  std::string rule;  // empty: any
};

struct PlantedCase {
  std::string name;
  std::string task;    // key of SelfTestCorpus::tasks
  std::string family;  // "control" for what must pass
  std::string why;
  std::vector<ExpectedVerdict> expected;  // any of them
  std::string says;                       // must occur in the evaluation's summary; empty: anything
  double limitSeconds = 0.0;              // of its evaluation; 0: the usual one
  std::string needs;                      // the tool without which it is not noticed; then going through is no failure
  domain::Program program;
  std::string binary;  // of the program, where it is compiled already

  [[nodiscard]] bool isControl() const { return family == "control"; }
};

struct SelfTestCorpus {
  std::map<std::string, domain::Task> tasks;
  std::vector<PlantedCase> cases;  // for one kind of device, ordered by task and name
  std::string hash;                // SHA-256 of every file that was read

  // One of the tasks, from tasks/NAME.json.
  [[nodiscard]] static Result<domain::Task> loadTask(const std::filesystem::path& folder, const std::string& name);
  // Fails on the first file that is missing or malformed, naming it.
  [[nodiscard]] static Result<SelfTestCorpus> load(const std::filesystem::path& folder, domain::DeviceKind device);
};

// "status: rule", or the status alone where there is no rule.
[[nodiscard]] std::string verdictText(const domain::Evaluation& evaluation);
[[nodiscard]] std::string verdictText(const std::vector<ExpectedVerdict>& expected);
// Whether an evaluation is one of those that were expected of the case.
[[nodiscard]] bool isExpected(const PlantedCase& planted, const domain::Evaluation& evaluation);

}  // namespace swage::trust
