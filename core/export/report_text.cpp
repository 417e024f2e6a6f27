// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "core/export/provenance.h"
#include "core/export/report.h"

namespace swage::exporting {
namespace {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '*' || c == '_' || c == '`') {
      result += '\\';
    }
    result += c == '\n' ? ' ' : c;
  }
  return result;
}

std::string bytesText(std::int64_t bytes) {
  return fmt::format("{:.1f} GB", static_cast<double>(bytes) * 1e-9);
}

std::string secondsText(double seconds) {
  return seconds < 120.0 ? fmt::format("{:.0f} s", seconds) : fmt::format("{:.1f} min", seconds / 60.0);
}

std::string intervalText(double ns, double lowNs, double highNs) {
  return highNs > lowNs ? fmt::format("{} ({} to {})", reportTime(ns), reportTime(lowNs), reportTime(highNs))
                        : reportTime(ns);
}

void addTable(std::string& text, const std::vector<std::vector<std::string>>& rows, std::string_view alignments) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += '|';
    for (const std::string& cell : rows[i]) {
      text += ' ' + escaped(cell) + " |";
    }
    text += '\n';
    if (i == 0) {
      text += '|';
      for (const char alignment : alignments) {
        text += alignment == 'r' ? " ---: |" : " --- |";
      }
      text += '\n';
    }
  }
}

}  // namespace

std::string speedupText(const domain::Speedup& speedup) {
  if (!speedup.isKnown()) {
    return "–";
  }
  const std::string value = fmt::format("{}{:.2f}×", speedup.isUncertain() ? "~" : "", speedup.value);
  return speedup.hasInterval() ? fmt::format("{} ({:.2f} to {:.2f})", value, speedup.low, speedup.high) : value;
}

std::string reportTime(double nanoseconds) {
  std::string text = timeText(nanoseconds);
  if (text.ends_with(" us")) {  // of files that may be read in any encoding
    text.replace(text.size() - 2, 2, "µs");
  }
  return text;
}

std::string reportHeadline(const RunReport& report) {
  if (!report.best) {
    return "No correct kernel was found.";
  }
  if (!report.bestWins) {
    return fmt::format("PyTorch itself ({}) is fastest: no kernel is significantly faster.",
                       report.baselineMode.empty() ? "eager" : report.baselineMode);
  }
  return fmt::format("{} as fast as PyTorch ({}).", speedupText(report.best->speedup), report.baselineMode);
}

std::vector<std::pair<std::string, std::string>> reportFacts(const RunReport& report) {
  std::vector<std::pair<std::string, std::string>> facts = {
      {"Task", fmt::format("{} ({})", report.taskName, report.taskSource)},
      {"Inputs", report.inputs},
      {"Outputs", report.outputs}};
  for (const auto& [name, value] : report.overrides) {
    facts.emplace_back("With", name + " = " + value);
  }
  const domain::DeviceInfo& device = report.device;
  std::string about = fmt::format("{} ({}", device.name, device.architecture);
  about += device.kind == domain::DeviceKind::Cpu ? fmt::format(", {} threads", device.threads)
                                                  : fmt::format(", {} SMs", device.multiprocessors);
  about += device.memoryBytes > 0 ? ", " + bytesText(device.memoryBytes) : std::string();
  facts.emplace_back("Device", about + ")");
  facts.emplace_back("Driver", device.driverVersion);
  facts.emplace_back("PyTorch", report.torchVersion);
  facts.emplace_back("Swage", report.swageVersion);
  std::string search =
      fmt::format("{}; {} after {}", report.startedAt, report.status, secondsText(report.elapsedSeconds));
  if (report.budgetSeconds > 0.0) {
    search += " of " + secondsText(report.budgetSeconds);
  }
  facts.emplace_back("Search", search + fmt::format(", seed {}", report.seed));
  facts.emplace_back("Candidates", fmt::format("{}, {} correct", report.evaluations, report.correct));
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
  return facts;
}

std::string reportMarkdown(const RunReport& report) {
  std::string text =
      fmt::format("# {} on {}\n\n**{}**\n\n", report.taskName, report.device.name, escaped(reportHeadline(report)));
  std::vector<std::vector<std::string>> rows{{"", ""}};
  for (const auto& [name, value] : reportFacts(report)) {
    rows.push_back({name, value});
  }
  addTable(text, rows, "ll");
  text += "\n## PyTorch baselines\n\n";
  rows = {{"mode", "time", "accuracy", ""}};
  for (const domain::Baseline& baseline : report.baselines) {
    const domain::Timing& timing = baseline.timing;
    rows.push_back({baseline.mode,
                    baseline.failure.empty() || domain::isRejected(baseline)
                        ? intervalText(timing.medianNs, timing.lowNs, timing.highNs)
                        : "failed",
                    std::string(domain::name(baseline.accuracy)),
                    !baseline.failure.empty()              ? baseline.failure
                    : baseline.mode == report.baselineMode ? "baseline of all speedups"
                                                           : ""});
  }
  addTable(text, rows, "lrll");
  text += "\n## Best candidates\n\n";
  rows = {{"candidate", "time", "speedup", "relative error", "cell", "operator"}};
  for (const ReportCandidate& one : report.top) {
    rows.push_back({std::to_string(one.id.value()), intervalText(one.timeNs, one.lowNs, one.highNs),
                    speedupText(one.speedup), fmt::format("{:.1e}", one.relativeError), one.cell, one.madeBy});
  }
  addTable(text, rows, "rrrrll");
  if (!report.failures.empty()) {
    text += "\n## Other candidates by outcome\n\n";
    rows = {{"outcome", "candidates"}};
    for (const auto& [reason, count] : report.failures) {
      rows.push_back({reason, std::to_string(count)});
    }
    addTable(text, rows, "lr");
  }
  text += "\n## Checks of the best candidate\n\n";
  text += report.accuracy.empty() ? ""
                                  : fmt::format("- accuracy class {}; {}\n", report.accuracy, errorText(report.errors));
  for (const std::string& rewrite : report.rewrites) {
    text += "- rewritten: " + escaped(rewrite) + '\n';
  }
  for (const domain::Assurance& assurance : report.assurances) {
    text += "- " + escaped(describe(assurance)) + '\n';
  }
  for (const std::string& doubt : report.doubts) {
    text += "- **Warning:** " + escaped(describeDoubt(doubt)) + '\n';
  }
  if (report.accuracy.empty() && report.assurances.empty() && report.doubts.empty()) {
    text += "None.\n";
  }
  text += "\n## How to reproduce\n\n```\n";
  for (const std::string& command : report.commands) {
    text += command + '\n';
  }
  text += "```\n";
  if (!report.source.empty()) {
    text += fmt::format("\n## Source of the best candidate\n\n````cpp\n{}{}````\n", report.source,
                        report.source.ends_with('\n') ? "" : "\n");
  }
  return text;
}

}  // namespace swage::exporting
