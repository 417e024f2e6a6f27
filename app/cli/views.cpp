// SPDX-License-Identifier: Apache-2.0
#include "app/cli/views.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "app/cli/terminal.h"
#include "app/cli/text.h"
#include "core/domain/numeric_mode.h"
#include "core/domain/source_parameters.h"
#include "core/export/provenance.h"

namespace swage::cli {
namespace {

using domain::Json;

Json idOrNull(domain::CandidateId id) {
  return id.isValid() ? Json(id.value()) : Json();
}

std::string_view severityName(services::Notice::Severity severity) {
  switch (severity) {
    case services::Notice::Severity::Info: return "info";
    case services::Notice::Severity::Warning: return "warning";
    case services::Notice::Severity::Error: return "error";
  }
  return "unknown";
}

std::string_view statusWord(services::DoctorCheck::Status status) {
  switch (status) {
    case services::DoctorCheck::Status::Ok: return "ok";
    case services::DoctorCheck::Status::Warning: return "warning";
    case services::DoctorCheck::Status::Failed: return "failed";
  }
  return "unknown";
}

std::string shapeText(const domain::TensorType& type) {
  return fmt::format("{}[{}]", domain::name(type.dtype), fmt::join(type.shape, ", "));
}

std::string userInputs(const domain::Graph& graph) {
  std::vector<std::string> parts;
  for (const domain::GraphInput& input : graph.inputs) {
    if (input.kind == domain::InputKind::User) {
      parts.push_back(shapeText(graph.type(input.value)));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string userOutputs(const domain::Graph& graph) {
  std::vector<std::string> parts;
  for (const domain::GraphOutput& output : graph.outputs) {
    if (output.kind == domain::OutputKind::User) {
      parts.push_back(shapeText(graph.type(output.value)));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string parentsText(const std::vector<domain::CandidateId>& parents) {
  std::vector<std::int64_t> ids;
  ids.reserve(parents.size());
  for (const domain::CandidateId id : parents) {
    ids.push_back(id.value());
  }
  return ids.empty() ? "-" : fmt::format("{}", fmt::join(ids, ", "));
}

std::string regionText(const domain::RegionGene& region) {
  std::vector<std::string> parameters;
  for (const auto& [name, value] : region.parameters) {
    parameters.push_back(fmt::format("{}={}", name, value));
  }
  return fmt::format("nodes {} by {}({})", fmt::join(region.nodes, " "), region.pattern, fmt::join(parameters, ", "));
}

void addErrorLine(std::string& text, std::string_view inputs, int checks, const domain::OutputError& error) {
  text += fmt::format("  {:<14} {:>6} {:>6}  {:<8.2e}  {:<8.2e}  {:<8.2e}  {:<8.2e}\n", inputs, checks, error.output,
                      error.relativeL2, error.eagerRelativeL2, error.maxAbsolute, error.eagerMaxAbsolute);
}

// The worst errors by kind of inputs, eager's beside them. Records from before these kinds were told apart have one.
void addErrors(std::string& text, const domain::Correct& correct) {
  text += fmt::format("  {:<14} {:>6} {:>6}  {:<8}  {:<8}  {:<8}  {:<8}\n", "inputs", "checks", "output", "relative",
                      "(eager)", "largest", "(eager)");
  if (correct.byInputs.empty()) {
    for (const domain::OutputError& error : correct.errors) {
      addErrorLine(text, "task", 0, error);
    }
  }
  for (const domain::InputErrors& kind : correct.byInputs) {
    for (const domain::OutputError& error : kind.errors) {
      addErrorLine(text, domain::inputsTitle(kind.inputs), kind.checks, error);
    }
    if (kind.errors.empty()) {
      text += fmt::format("  {:<14} {:>6}  only NaN could be judged: PyTorch itself fails there\n",
                          domain::inputsTitle(kind.inputs), kind.checks);
    }
  }
}

void addClocks(std::string& text, const domain::Timing& timing) {
  if (!timing.clock.empty()) {
    text += fmt::format("clocks      {}", timing.clock);
    if (timing.hostMedianNs > 0.0) {
      text += fmt::format("; host clock {}", formatTime(timing.hostMedianNs));
    }
    if (timing.activityMedianNs > 0.0) {
      text += fmt::format("; activity of all streams {}", formatTime(timing.activityMedianNs));
    }
    text += '\n';
  }
  const domain::DeviceConditions& now = timing.conditions;
  if (now.smClockMhz > 0) {
    text += fmt::format("device      {} MHz (lowest {}), memory {} MHz, {} C, {:.0f} W", now.smClockMhz,
                        now.lowestSmClockMhz, now.memoryClockMhz, now.temperatureCelsius, now.powerWatts);
    if (!now.throttleReasons.empty()) {
      text += fmt::format("; throttled: {}", fmt::join(now.throttleReasons, ", "));
    }
    text += timing.repeated > 0 ? fmt::format("; {} samples measured again\n", timing.repeated) : std::string("\n");
  }
}

std::string samplesText(const domain::Timing& timing) {
  const std::string_view why = domain::stopTitle(timing.stopReason);
  return counted(timing.samples, "sample") + (why.empty() ? std::string() : fmt::format(" ({})", why));
}

// `modes`: as what products are computed, where that says something.
void addTiming(std::string& text, const domain::Correct& correct, const std::string& modes) {
  const domain::PairedTiming& timing = correct.timing;
  text += fmt::format("time        {}, {}\n",
                      formatInterval(timing.candidate.medianNs, timing.candidate.lowNs, timing.candidate.highNs),
                      samplesText(timing.candidate));
  text += fmt::format("eager       {} (interleaved): {} ({:.2f} to {:.2f}){}\n", formatTime(timing.eager.medianNs),
                      formatSpeedup(timing.speedup), timing.speedupLow, timing.speedupHigh,
                      timing.screenedOut ? ", screened out" : "");
  addClocks(text, timing.candidate);
  if (timing.launchNs > 0.0) {
    text += fmt::format("launches    {} each, of kernels that do nothing, in the same process\n",
                        formatTime(timing.launchNs));
  }
  text +=
      fmt::format("accuracy    {}{}{}\n", domain::name(correct.accuracy), modes.empty() ? "" : ", products as " + modes,
                  correct.bitwiseRepeatable ? ", repeats bit by bit" : "");
  addErrors(text, correct);
}

std::string_view verdictWord(services::SelfTestCase::Verdict verdict) {
  switch (verdict) {
    case services::SelfTestCase::Verdict::AsExpected: return "ok";
    case services::SelfTestCase::Verdict::Wrong: return "WRONG";
    case services::SelfTestCase::Verdict::Unchecked: return "unchecked";
  }
  return "unknown";
}

}  // namespace

std::optional<domain::Genome> saidGenome(const services::CandidateDetail& detail) {
  return domain::withSourceParameters(detail.genome, detail.program.source);
}

std::string describeCell(const domain::Cell& cell) {
  return fmt::format("{} ({}, {}, {})", cell.name(), domain::describe(cell.movement), domain::describe(cell.arithmetic),
                     domain::describe(cell.decomposition));
}

Json toJson(const services::RunSummary& run) {
  return {{"run", run.id.value()},
          {"task", run.taskName},
          {"device", run.deviceName},
          {"target", run.target},
          {"status", domain::name(run.status)},
          {"started_at_ms", run.startedAtMs},
          {"elapsed_s", run.elapsedSeconds},
          {"evaluations", run.evaluations},
          {"correct", run.correct},
          {"best", idOrNull(run.best)},
          {"winner_candidate", idOrNull(run.winner)},
          {"best_ns", run.bestTimeNs},
          {"speedup", run.bestSpeedup.value},
          {"speedup_low", run.bestSpeedup.low},
          {"speedup_high", run.bestSpeedup.high},
          {"baseline", run.baselineMode},
          {"baseline_ns", run.baselineNs},
          {"roof_share", run.roofShare}};
}

Json toJson(const services::CandidateRow& row) {
  Json parents = Json::array();
  for (const domain::CandidateId parent : row.parents) {
    parents.push_back(parent.value());
  }
  return {{"candidate", row.id.value()},
          {"run", row.run.value()},
          {"island", row.island},
          {"operator", domain::name(row.madeBy)},
          {"cell", row.cell ? Json(row.cell->name()) : Json()},
          {"status", domain::name(row.status)},
          {"summary", row.summary},
          {"time_ns", row.timeNs},
          {"low_ns", row.lowNs},
          {"high_ns", row.highNs},
          {"speedup", row.speedup.value},
          {"speedup_low", row.speedup.low},
          {"speedup_high", row.speedup.high},
          {"relative_error", row.relativeError},
          {"registers", row.registers},
          {"elapsed_s", row.elapsedSeconds},
          {"roof_share", row.roofShare},
          {"algebraic", row.isAlgebraic},
          {"parents", std::move(parents)}};
}

Json toJson(const services::CandidateDetail& detail) {
  Json json = toJson(detail.row);
  const std::optional<domain::Genome> genome = saidGenome(detail);
  json["genome"] = genome ? domain::toJson(*genome) : Json();
  json["program"] = domain::toJson(detail.program);
  json["assembly"] = detail.assembly;
  json["compile_log"] = detail.compileLog;
  json["kernels"] = Json::array();
  for (const domain::KernelFacts& kernel : detail.kernels) {
    json["kernels"].push_back(domain::toJson(kernel));
  }
  json["evaluation"] = detail.evaluation ? domain::toJson(*detail.evaluation) : Json();
  return json;
}

Json toJson(const services::Progress& progress) {
  return {{"state", services::name(progress.state)},
          {"stage", progress.stage},
          {"elapsed_s", progress.elapsedSeconds},
          {"budget_s", progress.budgetSeconds},
          {"evaluations", progress.evaluations},
          {"max_evaluations", progress.maxEvaluations},
          {"correct", progress.correct},
          {"per_second", progress.perSecond},
          {"speedup", progress.bestSpeedup.value},
          {"speedup_low", progress.bestSpeedup.low},
          {"speedup_high", progress.bestSpeedup.high},
          {"best", idOrNull(progress.best)},
          {"filled_cells", progress.filledCells}};
}

Json toJson(const services::Notice& notice) {
  return {{"severity", severityName(notice.severity)}, {"text", notice.text}, {"hint", notice.hint}};
}

Json toJson(const services::DoctorCheck& check) {
  return {{"name", check.name},
          {"status", statusWord(check.status)},
          {"detail", check.detail},
          {"fix", check.fix},
          {"required", check.required}};
}

Json taskSummary(const domain::Task& task, const std::string& bundle) {
  return {{"bundle", bundle},
          {"id", task.id},
          {"name", task.name},
          {"class", task.source.className},
          {"mode", task.mode == domain::ModuleMode::Train ? "train" : "eval"},
          {"inputs", userInputs(task.graph)},
          {"outputs", userOutputs(task.graph)},
          {"operators", task.graph.nodes.size()},
          {"bytes",
           {{"inputs", task.bytes.inputs}, {"parameters", task.bytes.parameters}, {"outputs", task.bytes.outputs}}},
          {"warnings", task.warnings}};
}

std::string runTable(const std::vector<services::RunSummary>& runs) {
  std::vector<std::vector<std::string>> rows = {{"run", "task", "target", "status", "started (UTC)", "searched",
                                                 "tried", "correct", "baseline", "best", "speedup", "% of roofline"}};
  for (const services::RunSummary& run : runs) {
    rows.push_back({fmt::format("r{}", run.id.value()), run.taskName, run.target,
                    std::string(domain::title(run.status)), formatDate(run.startedAtMs),
                    formatSeconds(run.elapsedSeconds), std::to_string(run.evaluations), std::to_string(run.correct),
                    run.baselineNs > 0.0 ? run.baselineMode + " " + formatTime(run.baselineNs) : "-",
                    run.best.isValid() ? fmt::format("{} {}", run.best.value(), formatTime(run.bestTimeNs)) : "-",
                    formatSpeedupInterval(run.bestSpeedup), formatPercent(run.roofShare)});
  }
  return formatTable(rows);
}

std::string candidateTable(const std::vector<services::CandidateRow>& candidates) {
  std::vector<std::vector<std::string>> rows = {
      {"candidate", "island", "operator", "cell", "time", "speedup", "% of roofline", "status"}};
  for (const services::CandidateRow& row : candidates) {
    rows.push_back({std::to_string(row.id.value()), std::to_string(row.island), std::string(domain::name(row.madeBy)),
                    row.cell ? row.cell->name() : "-", formatInterval(row.timeNs, row.lowNs, row.highNs),
                    formatSpeedupInterval(row.speedup), formatPercent(row.roofShare),
                    fmt::format("{}{}", domain::name(row.status), row.isAlgebraic ? ", algebraic" : "")});
  }
  return formatTable(rows);
}

std::string candidateText(const services::CandidateDetail& detail) {
  const services::CandidateRow& row = detail.row;
  std::string text = fmt::format("candidate   {} of run r{}, island {}\n", row.id.value(), row.run.value(), row.island);
  text += fmt::format("made by     {} from {}\n", domain::name(row.madeBy), parentsText(row.parents));
  text += fmt::format("cell        {}\n", row.cell ? describeCell(*row.cell) : "none: nothing of it was compiled");
  text += fmt::format("status      {}\n", domain::name(row.status));
  if (!row.summary.empty()) {
    text += fmt::format("            {}\n", row.summary);
  }
  if (const auto* wrong = detail.evaluation ? std::get_if<domain::Wrong>(&*detail.evaluation) : nullptr) {
    for (const std::string& line : domain::firstWrongLines(*wrong)) {
      text += "wrong       " + line + '\n';
    }
  }
  if (const domain::Correct* correct = detail.evaluation ? domain::asCorrect(*detail.evaluation) : nullptr) {
    text += fmt::format("speedup     {} against the run's fastest baseline\n", formatSpeedupInterval(row.speedup));
    if (row.roofShare > 0.0) {
      text +=
          fmt::format("roofline    {} of what memory bandwidth and arithmetic allow\n", formatPercent(row.roofShare));
    }
    addTiming(text, *correct, domain::numericModes(detail.genome.value_or(domain::Genome())));
  }
  text += fmt::format("language    {}\n", domain::factsOf(detail.program.language).displayName);
  const domain::Genome genome = saidGenome(detail).value_or(domain::Genome());
  for (const domain::Rewrite& rewrite : genome.rewrites) {
    text += "rewrite     " + domain::describe(rewrite) + '\n';
  }
  for (const domain::RegionGene& region : genome.regions) {
    text += "region      " + regionText(region) + '\n';
  }
  for (const domain::KernelFacts& kernel : detail.kernels) {
    std::vector<std::string> evidence;
    for (const auto& [what, count] : kernel.evidence) {
      evidence.push_back(fmt::format("{} {}", count, what));
    }
    // Of a GPU; compilers for CPUs do not say.
    const std::string registers =
        kernel.registers > 0 ? fmt::format("{} registers, {} bytes spilled; ", kernel.registers, kernel.spillBytes)
                             : std::string();
    text += fmt::format("kernel      {}: {}{}\n", kernel.entry, registers, fmt::join(evidence, ", "));
  }
  if (!detail.compileLog.empty()) {
    text += "compiler    " + detail.compileLog + '\n';
  }
  return text;
}

std::string trustText(const std::vector<domain::Assurance>& assurances, const std::vector<std::string>& doubts) {
  std::string text;
  for (const domain::Assurance& assurance : assurances) {
    text += "checked     " + exporting::describe(assurance) + '\n';
  }
  for (const std::string& doubt : doubts) {
    text += "warning     " + exporting::describeDoubt(doubt) + '\n';
  }
  return text;
}

std::string taskText(const domain::Task& task, const std::string& bundle) {
  std::set<std::string> operators;
  for (const domain::Node& node : task.graph.nodes) {
    operators.insert(node.op);
  }
  std::string text = fmt::format("task        {} ({}, {} mode)\n", task.name, task.source.className,
                                 task.mode == domain::ModuleMode::Train ? "training" : "evaluation");
  text += fmt::format("inputs      {}\n", userInputs(task.graph));
  text += fmt::format("outputs     {}\n", userOutputs(task.graph));
  text += fmt::format("operators   {}: {}\n", task.graph.nodes.size(), fmt::join(operators, ", "));
  text += fmt::format("memory      inputs {}, parameters {}, outputs {}\n", formatBytes(task.bytes.inputs),
                      formatBytes(task.bytes.parameters), formatBytes(task.bytes.outputs));
  for (const std::string& warning : task.warnings) {
    text += fmt::format("warning     {}\n", warning);
  }
  return text + fmt::format("bundle      {}\n", bundle);
}

std::string doctorText(const std::vector<services::DoctorCheck>& checks) {
  const auto toneOf = [](services::DoctorCheck::Status status) {
    return status == services::DoctorCheck::Status::Ok        ? Tone::Good
           : status == services::DoctorCheck::Status::Warning ? Tone::Warning
                                                              : Tone::Bad;
  };
  std::vector<std::vector<std::string>> rows{{"state", "check", "found"}};
  for (const services::DoctorCheck& check : checks) {
    rows.push_back({painted(toneOf(check.status), statusWord(check.status)), check.name, check.detail});
    if (!check.fix.empty()) {
      rows.push_back({"", "", "fix: " + check.fix});
    }
  }
  return formatTable(rows);
}

domain::Json toJson(const services::SelfTestCase& one) {
  return {{"case", one.name},     {"family", one.family},           {"expected", one.expected}, {"got", one.got},
          {"detail", one.detail}, {"ok", verdictWord(one.verdict)}, {"seconds", one.seconds}};
}

domain::Json toJson(const services::SelfTestReport& report) {
  domain::Json json = {{"device", domain::toJson(report.device)},
                       {"torch", report.torchVersion},
                       {"seconds", report.seconds},
                       {"passed", report.hasPassed()},
                       {"cases", domain::Json::array()}};
  for (const services::SelfTestCase& one : report.cases) {
    json["cases"].push_back(toJson(one));
  }
  return json;
}

std::string selfTestHeading() {
  return fmt::format("{:<9}  {:<34}  {:<30}  {}\n", "", "case", "got", "expected");
}

std::string selfTestLine(const services::SelfTestCase& one) {
  std::string line =
      fmt::format("{:<9}  {:<34}  {:<30}  {}\n", verdictWord(one.verdict), one.name, one.got, one.expected);
  if (one.verdict == services::SelfTestCase::Verdict::Wrong) {
    line += fmt::format("{:<9}  {}\n", "", one.detail);
  }
  return line;
}

std::string selfTestSummary(const services::SelfTestReport& report) {
  using Verdict = services::SelfTestCase::Verdict;
  const auto count = [&](Verdict verdict, bool controls) {
    return std::count_if(report.cases.begin(), report.cases.end(), [&](const services::SelfTestCase& one) {
      return one.verdict == verdict && (one.family == "control") == controls;
    });
  };
  return fmt::format(
      "\n{} on {} (driver {}, PyTorch {}): {} cheats found, {} controls accepted, {} wrong, {} not checked here; "
      "{:.1f} s\n",
      report.hasPassed() ? "passed" : "FAILED", report.device.name,
      report.device.driverVersion.empty() ? "none" : report.device.driverVersion, report.torchVersion,
      count(Verdict::AsExpected, false), count(Verdict::AsExpected, true),
      count(Verdict::Wrong, false) + count(Verdict::Wrong, true), count(Verdict::Unchecked, false), report.seconds);
}

}  // namespace swage::cli
