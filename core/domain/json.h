// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/base/result.h"
#include "core/domain/assurance.h"
#include "core/domain/baseline.h"
#include "core/domain/candidate.h"
#include "core/domain/cell.h"
#include "core/domain/device_info.h"
#include "core/domain/evaluation.h"
#include "core/domain/profile.h"
#include "core/domain/task.h"

// The one JSON form of domain values: in task bundles, on the wire, in the database and in --json output.
// toJson never fails. The parsers accept hostile input: they check types, ranges and ids and return an Error that
// names the member; they never throw.
namespace swage::domain {

using Json = nlohmann::json;

[[nodiscard]] Json toJson(const TensorType& value);
[[nodiscard]] Json toJson(const Graph& value);
[[nodiscard]] Json toJson(const Task& value);
[[nodiscard]] Json toJson(const Genome& value);
[[nodiscard]] Json toJson(const LaunchPlan& value);
[[nodiscard]] Json toJson(const Program& value);
[[nodiscard]] Json toJson(const ProgramLines& value);
[[nodiscard]] Json toJson(const KernelFacts& value);
[[nodiscard]] Json toJson(const DeviceInfo& value);
[[nodiscard]] Json toJson(const DeviceConditions& value);
[[nodiscard]] Json toJson(const Timing& value);
[[nodiscard]] Json toJson(const PairedTiming& value);
[[nodiscard]] Json toJson(const Evaluation& value);
[[nodiscard]] Json toJson(const Speedup& value);
[[nodiscard]] Json toJson(const Baseline& value);
[[nodiscard]] Json toJson(const Assurance& value);
[[nodiscard]] Json toJson(const Profile& value);

[[nodiscard]] Result<Graph> graphFromJson(const Json& json);
[[nodiscard]] Result<Task> taskFromJson(const Json& json);
[[nodiscard]] Result<Genome> genomeFromJson(const Json& json);
[[nodiscard]] Result<LaunchPlan> launchPlanFromJson(const Json& json);
[[nodiscard]] Result<Program> programFromJson(const Json& json);
[[nodiscard]] Result<KernelFacts> kernelFactsFromJson(const Json& json);
[[nodiscard]] Result<DeviceInfo> deviceInfoFromJson(const Json& json);
[[nodiscard]] Result<Timing> timingFromJson(const Json& json);
[[nodiscard]] Result<PairedTiming> pairedTimingFromJson(const Json& json);
[[nodiscard]] Result<Evaluation> evaluationFromJson(const Json& json);
[[nodiscard]] Result<Baseline> baselineFromJson(const Json& json);
[[nodiscard]] Result<Profile> profileFromJson(const Json& json);

// Text to JSON with a depth limit; the error names the byte.
[[nodiscard]] Result<Json> parseJson(std::string_view text);
// JSON to one line of text; never fails: bytes that are not UTF-8 (a compiler's log) are replaced.
[[nodiscard]] std::string dumpJson(const Json& json);

// SHA-256 of what is asked: the canonical JSON without warnings and the place of the source file.
[[nodiscard]] std::string taskId(const Task& task);

}  // namespace swage::domain
