// SPDX-License-Identifier: Apache-2.0
#include "core/export/provenance.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace swage::exporting {
namespace {

struct Unit {
  double ns;
  const char* name;
};
constexpr std::array kUnits = {Unit{1e9, "s"}, Unit{1e6, "ms"}, Unit{1e3, "us"}, Unit{1.0, "ns"}};

const Unit& unitOf(double nanoseconds) {
  const auto* const found =
      std::find_if(kUnits.begin(), kUnits.end(), [nanoseconds](const Unit& unit) { return nanoseconds >= unit.ns; });
  return found == kUnits.end() ? kUnits.back() : *found;
}

std::string idsText(const std::vector<domain::CandidateId>& ids) {
  std::vector<std::int64_t> numbers;
  numbers.reserve(ids.size());
  for (const domain::CandidateId id : ids) {
    numbers.push_back(id.value());
  }
  return fmt::format("{}", fmt::join(numbers, ", "));
}

std::string lineageText(const Provenance& from) {
  std::string text = fmt::format("made by {}", domain::name(from.madeBy));
  if (!from.parents.empty()) {
    text += fmt::format(" from {}", idsText(from.parents));
  }
  if (!from.ancestors.empty()) {
    text += fmt::format("; before them {}", idsText(from.ancestors));
  }
  return text;
}

std::string measuredText(const domain::PairedTiming& timing, const std::string& device) {
  if (timing.candidate.medianNs <= 0.0) {
    return {};
  }
  std::string text = timingText(timing.candidate) + " on " + device;
  if (timing.eager.medianNs > 0.0) {
    text += fmt::format("; eager (interleaved) {}", timingText(timing.eager));
  }
  return text;
}

std::string timesText(const domain::Speedup& speedup) {
  const std::string value = fmt::format("{}{:.2f}x", speedup.isUncertain() ? "~" : "", speedup.value);
  return speedup.hasInterval() ? fmt::format("{} ({:.2f} to {:.2f})", value, speedup.low, speedup.high) : value;
}

domain::Json speedupJson(const domain::Speedup& speedup) {
  return speedup.isKnown() ? domain::toJson(speedup) : domain::Json();
}

std::string accuracyText(const domain::Correct& correct) {
  const std::string error = errorText(correct.errors);
  return error.empty() ? std::string() : fmt::format("{}, class {}", error, domain::name(correct.accuracy));
}

std::string baselineText(const domain::Baseline& baseline) {
  if (!baseline.failure.empty()) {
    return domain::isRejected(baseline)
               ? fmt::format("{} {}, rejected by KernelBench", baseline.mode, timingText(baseline.timing))
               : fmt::format("{} failed", baseline.mode);
  }
  return fmt::format("{} {}, class {}{}", baseline.mode, timingText(baseline.timing), domain::name(baseline.accuracy),
                     baseline.torchVersion.empty() ? "" : ", PyTorch " + baseline.torchVersion);
}

std::string deviceText(const domain::DeviceInfo& device) {
  return fmt::format("{} ({}{}{})", device.name, device.architecture, device.driverVersion.empty() ? "" : ", driver ",
                     device.driverVersion);
}

domain::Json idsJson(const std::vector<domain::CandidateId>& ids) {
  domain::Json json = domain::Json::array();
  for (const domain::CandidateId id : ids) {
    json.push_back(id.value());
  }
  return json;
}

domain::Json taskJson(const domain::Task& task) {
  domain::Json overrides = domain::Json::object();
  for (const auto& [name, value] : task.source.overrides) {
    overrides[name] = domain::Json::parse(value, nullptr, false);
  }
  return {{"id", task.id},
          {"name", task.name},
          {"file", task.source.file},
          {"class", task.source.className},
          {"source_sha256", task.source.sha256},
          {"set", std::move(overrides)},
          {"mode", task.mode == domain::ModuleMode::Train ? "train" : "eval"}};
}

// Without what names the machine: the file leaves it.
domain::Json deviceJson(const domain::DeviceInfo& device) {
  domain::Json json = domain::toJson(device);
  json.erase("host");
  json.erase("uuid");
  return json;
}

template <class Value>
domain::Json listJson(const std::vector<Value>& values) {
  domain::Json json = domain::Json::array();
  for (const Value& value : values) {
    json.push_back(domain::toJson(value));
  }
  return json;
}

}  // namespace

std::string timeText(double nanoseconds) {
  const Unit& unit = unitOf(nanoseconds);
  return fmt::format("{:.4g} {}", nanoseconds / unit.ns, unit.name);
}

std::string timingText(const domain::Timing& timing) {
  if (timing.lowNs <= 0.0 || timing.highNs <= 0.0) {
    return timeText(timing.medianNs);
  }
  const double unit = unitOf(timing.medianNs).ns;
  return fmt::format("{} ({:.4g} to {:.4g})", timeText(timing.medianNs), timing.lowNs / unit, timing.highNs / unit);
}

domain::Speedup speedupOverEager(const Provenance& from) {
  const bool isSaid = from.speedup.isKnown() && from.baselineMode == "eager";
  return isSaid ? domain::Speedup() : domain::againstEager(from.evaluation.timing);
}

std::string speedupLine(const Provenance& from) {
  if (from.madeBy == domain::OperatorKind::Baseline) {
    return {};
  }
  std::string text;
  if (from.speedup.isKnown()) {
    text = fmt::format("{} against the fastest baseline ({})", timesText(from.speedup), from.baselineMode);
  }
  if (const domain::Speedup overEager = speedupOverEager(from); overEager.isKnown()) {
    text += fmt::format("{}{} against eager", text.empty() ? "" : ", ", timesText(overEager));
  }
  return text;
}

std::string describe(const domain::Assurance& assurance) {
  return fmt::format("{} {}{}{}", domain::title(assurance.kind), domain::name(assurance.verdict),
                     assurance.detail.empty() ? "" : ": ", assurance.detail);
}

std::string errorText(const std::vector<domain::OutputError>& errors) {
  const auto worst = std::max_element(errors.begin(), errors.end(),
                                      [](const auto& a, const auto& b) { return a.relativeL2 < b.relativeL2; });
  return worst == errors.end()
             ? std::string()
             : fmt::format("relative L2 {:.2g} (eager {:.2g})", worst->relativeL2, worst->eagerRelativeL2);
}

std::string describeDoubt(const std::string& doubt) {
  return "correctness checks are weak: " + doubt;
}

std::vector<ProvenanceLine> provenanceLines(const Provenance& from, const domain::Task& task,
                                            const domain::DeviceInfo& device) {
  std::vector<ProvenanceLine> lines = {
      {"task", fmt::format("{} (class {} of {})", task.name, task.source.className, task.source.file)},
      {"task id", task.id},
      {"run", std::to_string(from.run.value())},
      {"candidate", std::to_string(from.candidate.value())},
      {"lineage", lineageText(from)},
      {"seed", std::to_string(from.seed)},
      {"cell", from.cell},
      {"speedup", speedupLine(from)},
      {"measured", measuredText(from.evaluation.timing, device.name)},
      {"error", accuracyText(from.evaluation)},
      {"device", deviceText(device)},
      {"verified with", fmt::format("PyTorch {}", task.torchVersion)},
      {"compiled by", from.compiler},
      {"sandbox", from.sandbox.empty() ? "" : "none: kernels of this run were compiled without a sandbox"},
      {"written by", fmt::format("Swage {}", from.swageVersion)},
  };
  for (const auto& [name, value] : task.source.overrides) {
    lines.emplace_back("with", fmt::format("{} = {}", name, value));
  }
  for (const domain::Baseline& baseline : from.baselines) {
    lines.emplace_back("baseline", baselineText(baseline));
  }
  for (const domain::Assurance& assurance : from.assurances) {
    lines.emplace_back("checked", describe(assurance));
  }
  for (const std::string& doubt : from.doubts) {
    lines.emplace_back("warning", describeDoubt(doubt));
  }
  std::erase_if(lines, [](const ProvenanceLine& line) { return line.second.empty(); });
  return lines;
}

domain::Json provenanceJson(const Provenance& from, const domain::Task& task, const domain::DeviceInfo& device) {
  return {{"schema", 1},
          {"task", taskJson(task)},
          {"run", from.run.value()},
          {"sandbox", from.sandbox.empty() ? domain::Json() : domain::Json(from.sandbox)},
          {"candidate", from.candidate.value()},
          {"operator", domain::name(from.madeBy)},
          {"parents", idsJson(from.parents)},
          {"ancestors", idsJson(from.ancestors)},
          {"genome", from.genome ? domain::toJson(*from.genome) : domain::Json()},
          {"cell", from.cell},
          {"seed", from.seed},
          {"device", deviceJson(device)},
          {"versions", {{"swage", from.swageVersion}, {"pytorch", task.torchVersion}, {"compiler", from.compiler}}},
          {"speedup", speedupJson(from.speedup)},
          {"baseline", from.baselineMode.empty() ? domain::Json() : domain::Json(from.baselineMode)},
          {"evaluation", domain::toJson(domain::Evaluation(from.evaluation))},
          {"baselines", listJson(from.baselines)},
          {"assurances", listJson(from.assurances)},
          {"doubts", from.doubts}};
}

}  // namespace swage::exporting
