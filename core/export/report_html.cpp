// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "core/export/provenance.h"
#include "core/export/report.h"
#include "core/export/report_charts.h"
#include "core/export/template_text.h"
#include "core/export/templates.h"

namespace swage::exporting {
namespace {

std::string intervalHtml(double ns, double lowNs, double highNs) {
  return highNs > lowNs ? fmt::format("{} <span class=\"note\">({} to {})</span>", reportTime(ns), reportTime(lowNs),
                                      reportTime(highNs))
                        : reportTime(ns);
}

std::string factRows(const RunReport& report) {
  std::string rows;
  for (const auto& [name, value] : reportFacts(report)) {
    rows += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", htmlEscaped(name), htmlEscaped(value));
  }
  return rows;
}

std::string baselineTable(const RunReport& report) {
  if (report.baselines.empty()) {
    return "<p>None was measured.</p>\n";
  }
  std::string text =
      "<table><thead><tr><th scope=\"col\">mode</th><th scope=\"col\" class=\"n\">time</th>"
      "<th scope=\"col\">accuracy</th><th scope=\"col\"></th></tr></thead><tbody>\n";
  for (const domain::Baseline& baseline : report.baselines) {
    const domain::Timing& timing = baseline.timing;
    const bool hasFailed = !baseline.failure.empty() && !domain::isRejected(baseline);
    text += fmt::format(
        "<tr><td>{}</td><td class=\"n\">{}</td><td>{}</td><td>{}</td></tr>\n", htmlEscaped(baseline.mode),
        hasFailed ? "<span class=\"failed\">failed</span>" : intervalHtml(timing.medianNs, timing.lowNs, timing.highNs),
        hasFailed ? "" : domain::name(baseline.accuracy),
        !baseline.failure.empty()              ? htmlEscaped(baseline.failure)
        : baseline.mode == report.baselineMode ? "baseline of all speedups"
                                               : "");
  }
  return text + "</tbody></table>\n";
}

std::string topTable(const RunReport& report) {
  if (report.top.empty()) {
    return "<p>No candidate is correct.</p>\n";
  }
  double least = 1.0;
  double most = 1.0;
  for (const ReportCandidate& one : report.top) {
    const bool isWide = one.speedup.isUncertain();
    least = std::min(least, isWide ? one.speedup.value : one.speedup.low);
    most = std::max(most, isWide ? one.speedup.value : one.speedup.high);
  }
  std::string text =
      "<table><thead><tr><th scope=\"col\" class=\"n\">candidate</th><th scope=\"col\" class=\"n\">time</th>"
      "<th scope=\"col\" class=\"n\">speedup</th><th scope=\"col\"></th>"
      "<th scope=\"col\" class=\"n\">relative error</th><th scope=\"col\">cell</th><th scope=\"col\">made by</th></tr>"
      "</thead><tbody>\n";
  for (const ReportCandidate& one : report.top) {
    text += fmt::format(
        "<tr><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td><td "
        "class=\"n\">{:.1e}</td>"
        "<td>{}</td><td>{}</td></tr>\n",
        one.id.value(), intervalHtml(one.timeNs, one.lowNs, one.highNs), speedupText(one.speedup),
        intervalBar(one.speedup, least, most), one.relativeError, one.cell,
        one.isPyTorch ? "PyTorch's operators" : htmlEscaped(one.madeBy));
  }
  return text +
         "</tbody></table>\n<p class=\"note\">Intervals are of 95 %; ~ marks one wider than ±20 %. The dashed "
         "line is the baseline.</p>\n";
}

std::string checkList(const RunReport& report) {
  std::string items;
  if (!report.accuracy.empty()) {
    items += fmt::format("<li>verified against PyTorch in float64: accuracy class {}; {}</li>\n",
                         htmlEscaped(report.accuracy), htmlEscaped(errorText(report.errors)));
  }
  for (const std::string& rewrite : report.rewrites) {
    items += fmt::format("<li>rewritten: {}</li>\n", htmlEscaped(rewrite));
  }
  for (const domain::Assurance& assurance : report.assurances) {
    items += fmt::format("<li><span class=\"{}\">{}</span></li>\n",
                         assurance.verdict == domain::AssuranceVerdict::Passed   ? "passed"
                         : assurance.verdict == domain::AssuranceVerdict::Failed ? "failed"
                                                                                 : "note",
                         htmlEscaped(describe(assurance)));
  }
  const domain::Timing& timing = report.timing;
  if (timing.samples > 0) {
    items += fmt::format("<li>interleaved with eager PyTorch: {} samples{}{}</li>\n", timing.samples,
                         timing.clock.empty() ? "" : ", " + htmlEscaped(timing.clock),
                         timing.hostMedianNs > 0.0 ? "; host clock " + reportTime(timing.hostMedianNs) : "");
  }
  for (const std::string& doubt : report.doubts) {
    items += fmt::format("<li><span class=\"warning\">Warning:</span> {}</li>\n", htmlEscaped(describeDoubt(doubt)));
  }
  return items.empty() ? "<p>None.</p>\n" : "<ul class=\"list\">\n" + items + "</ul>\n";
}

std::string sourceSection(const RunReport& report) {
  if (report.source.empty()) {
    return {};
  }
  return fmt::format(
      "<h2>Source of the best candidate</h2>\n<details><summary>{} lines</summary>\n<pre>{}</pre></details>\n",
      std::count(report.source.begin(), report.source.end(), '\n'), htmlEscaped(report.source));
}

std::string detailOf(const RunReport& report) {
  if (!report.best) {
    return {};
  }
  const ReportCandidate& best = *report.best;
  std::string text = fmt::format("Candidate {}: {} ({} to {})", best.id.value(), reportTime(best.timeNs),
                                 reportTime(best.lowNs), reportTime(best.highNs));
  text += report.baselineNs > 0.0
              ? fmt::format("; PyTorch ({}): {}", report.baselineMode, reportTime(report.baselineNs))
              : std::string();
  text += report.bestWins ? std::string() : "; speedup " + speedupText(best.speedup);
  text += best.roofShare > 0.0 ? fmt::format("; {:.0f} % of the roofline", 100.0 * best.roofShare) : std::string();
  return "<p>" + htmlEscaped(text) + "</p>";
}

}  // namespace

std::string reportHtml(const RunReport& report) {
  std::string commands;
  for (const std::string& command : report.commands) {
    commands += htmlEscaped(command) + '\n';
  }
  const std::string chart = progressChart(report);
  return filled(reportTemplate(),
                {{"GENERATOR", "Swage " + htmlEscaped(report.swageVersion)},
                 {"TITLE", htmlEscaped(fmt::format("{} on {}: run r{}", report.taskName, report.device.name,
                                                   report.run.value()))},
                 {"TASK", htmlEscaped(report.taskName)},
                 {"WHERE", htmlEscaped(fmt::format("Run r{} on {}", report.run.value(), report.device.name))},
                 {"KIND", report.bestWins ? "win" : "none"},
                 {"HEADLINE", htmlEscaped(reportHeadline(report))},
                 {"DETAIL", detailOf(report)},
                 {"FACTS", factRows(report)},
                 {"BASELINES", baselineTable(report)},
                 {"MAP", cellMap(report)},
                 {"PROGRESS", chart.empty() ? "<p>No candidate was timed.</p>" : chart},
                 {"TOP", topTable(report)},
                 {"FAILURES", failureBars(report)},
                 {"CHECKS", checkList(report)},
                 {"COMMANDS", commands},
                 {"SOURCE", sourceSection(report)},
                 {"FOOTER", htmlEscaped("Written by Swage " + report.swageVersion + ".")}});
}

}  // namespace swage::exporting
