// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "core/export/kernelbench.h"
#include "core/export/report.h"

namespace swage::exporting {
namespace {

// The first row is the heading.
using Table = std::vector<std::vector<std::string>>;

constexpr std::string_view kNothing = "–";

// How far apart the ends of a text and its columns are, in characters.
std::size_t columnsOf(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string shortTime(double nanoseconds) {
  return nanoseconds > 0.0 ? reportTime(nanoseconds) : std::string(kNothing);
}

std::string percent(double share) {
  return share > 0.0 ? fmt::format("{:.0f} %", 100.0 * share) : std::string(kNothing);
}

std::string times(double value) {
  return value > 0.0 ? fmt::format("{:.2f}×", value) : std::string(kNothing);
}

std::string joined(const std::vector<std::string>& words, std::string_view separator = ", ") {
  return words.empty() ? std::string(kNothing) : fmt::format("{}", fmt::join(words, separator));
}

std::string timeOf(const KernelBenchRow& row, std::string_view mode) {
  const auto way = std::find_if(row.baselines.begin(), row.baselines.end(),
                                [mode](const KernelBenchWay& one) { return one.mode == mode; });
  if (way == row.baselines.end()) {
    return std::string(kNothing);
  }
  if (way->failure.empty()) {
    return shortTime(way->timeNs);
  }
  return way->timeNs > 0.0 ? shortTime(way->timeNs) + " (rejected)" : "failed";
}

std::string marks(const KernelBenchRow& row) {
  std::vector<std::string> words;
  if (row.isDegenerate) {
    words.emplace_back("degenerate");
  }
  if (row.kernel && row.kernel->isAlgebraic) {
    words.emplace_back("algebraic");
  }
  if (row.kernel && row.kernel->isCaptured) {
    words.emplace_back(row.kernel->hasKernels() ? "CUDA graph" : "PyTorch's operators as a CUDA graph");
  }
  return words.empty() ? std::string() : joined(words);
}

std::vector<std::string> taskCells(const KernelBenchRow& row) {
  std::vector<std::string> cells = {fmt::format("{}/{}", row.level, row.problem), row.name};
  if (row.kernel) {
    const KernelBenchKernel& kernel = *row.kernel;
    cells.insert(cells.end(), {shortTime(kernel.timeNs), speedupText(kernel.speedup),
                               row.baselineMode.empty() ? std::string(kNothing) : row.baselineMode});
  } else {
    cells.insert(cells.end(), {std::string(kNothing), std::string(kNothing),
                               row.baselineMode.empty() ? std::string(kNothing) : row.baselineMode});
  }
  for (const char* mode : {"eager", "compile", "max-autotune"}) {
    cells.push_back(timeOf(row, mode));
  }
  if (row.kernel) {
    const KernelBenchKernel& kernel = *row.kernel;
    cells.insert(cells.end(), {std::string(domain::name(kernel.accuracy)),
                               fmt::format("{:.1e} ({:.1e})", kernel.relativeError, kernel.eagerRelativeError),
                               percent(kernel.roofShare), kernel.cell.empty() ? std::string(kNothing) : kernel.cell,
                               joined(kernel.aten)});
  } else {
    cells.insert(cells.end(), 5, std::string(kNothing));
  }
  cells.insert(cells.end(), {fmt::format("{} ({})", row.candidates, row.correct), fmt::format("{:.0f} s", row.seconds),
                             row.exported.empty() ? std::string(kNothing) : row.exported,
                             row.check.verdict.empty() ? std::string(kNothing) : row.check.verdict, marks(row)});
  return cells;
}

Table taskTable(const KernelBenchDocument& document) {
  Table table = {{"task", "name", "kernel", "speedup", "over", "eager", "compile", "max-autotune", "accuracy",
                  "error (eager's)", "% of roofline", "cell", "left to PyTorch", "candidates (correct)", "took",
                  "exported", "KernelBench", ""}};
  for (const KernelBenchRow& row : document.rows) {
    table.push_back(taskCells(row));
  }
  return table;
}

Table summaryTable(const KernelBenchDocument& document) {
  Table table = {{"", "tasks", "kernels", "geometric mean", "counting rejected ways", "median", "fast_1", "fast_1.5",
                  "fast_2", "mean of exports", "accepted"}};
  for (const KernelBenchSummary& one : kernelBenchSummaries(document)) {
    table.push_back({one.title, std::to_string(one.tasks), std::to_string(one.kernels), times(one.geometricMean),
                     times(one.strictGeometricMean), times(one.median), fmt::format("{:.2f}", one.fast1),
                     fmt::format("{:.2f}", one.fast15), fmt::format("{:.2f}", one.fast2),
                     times(one.exportsGeometricMean), std::to_string(one.accepted)});
  }
  return table;
}

Table lossTable(const KernelBenchDocument& document) {
  Table table = {{"task", "name", "speedup", "why"}};
  for (const KernelBenchLoss& loss : summarise({}, document.rows).losses) {
    table.push_back({fmt::format("{}/{}", loss.level, loss.problem), loss.name, speedupText(loss.speedup), loss.why});
  }
  return table;
}

Table operatorTable(const KernelBenchDocument& document) {
  Table table = {{"operator", "in the best kernel of", "in every correct candidate of"}};
  for (const KernelBenchOperator& one : atenOperators(document)) {
    table.push_back({one.name, joined(one.inBest), joined(one.inEvery)});
  }
  return table;
}

// What KernelBench did not accept, and why tasks are called degenerate.
Table remarkTable(const KernelBenchDocument& document) {
  Table table = {{"task", "name", "remark"}};
  for (const KernelBenchRow& row : document.rows) {
    const std::string place = fmt::format("{}/{}", row.level, row.problem);
    if (!row.check.rejectedWay.empty()) {
      table.push_back({place, row.name, row.check.rejectedWay});
    }
    if (row.check.verdict != "accepted" && !row.check.problem.empty()) {
      table.push_back({place, row.name, fmt::format("KernelBench: {}: {}", row.check.verdict, row.check.problem)});
    }
    for (const std::string& doubt : row.isDegenerate ? row.doubts : std::vector<std::string>()) {
      table.push_back({place, row.name, doubt});
    }
  }
  return table;
}

// What all checks have in common is said once.
std::string checkNote(const KernelBenchDocument& document) {
  for (const KernelBenchRow& row : document.rows) {
    if (!row.check.note.empty()) {
      return row.check.note.substr(0, row.check.note.find(';'));
    }
  }
  return {};
}

std::string plainTable(const Table& table) {
  std::vector<std::size_t> widths(table.front().size(), 0);
  for (const auto& row : table) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], columnsOf(row[i]));
    }
  }
  std::string text;
  for (const auto& row : table) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i] + std::string(widths[i] - columnsOf(row[i]) + 2, ' ');
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

std::string markdownTable(const Table& table) {
  std::string text;
  for (std::size_t i = 0; i < table.size(); ++i) {
    text += '|';
    for (const std::string& cell : table[i]) {
      text += ' ';
      for (const char c : cell) {
        text += c == '|' || c == '<' || c == '*' || c == '_' || c == '`' ? std::string("\\") + c
                : c == '\n'                                              ? std::string(" ")
                                                                         : std::string(1, c);
      }
      text += " |";
    }
    text += '\n';
    if (i == 0) {
      text += '|';
      for (std::size_t column = 0; column < table[i].size(); ++column) {
        text += " --- |";
      }
      text += '\n';
    }
  }
  return text;
}

// Heading and table of each part that has anything to say.
template <class Heading, class Draw>
std::string parts(const KernelBenchDocument& document, Heading heading, Draw draw) {
  std::string text;
  const auto add = [&](std::string_view title, const Table& table) {
    if (table.size() > 1) {
      text += heading(title) + draw(table);
    }
  };
  add("Summary", summaryTable(document));
  add("Tasks", taskTable(document));
  add("Losses", lossTable(document));
  add("Operators that still run as ATen", operatorTable(document));
  add("Remarks", remarkTable(document));
  return text;
}

constexpr std::string_view kExplanation =
    "Speedups are those of the best kernels that are at least as exact as the fastest of PyTorch's ways that its "
    "settings permit, over that way, with 95 % intervals; ~ marks intervals wider than ±20 %. A way whose result "
    "KernelBench would reject counts only in the mean that counts rejected ways. fast_p is the share of "
    "all tasks with a speedup above p. The mean of exports counts 1 where PyTorch's own way is what is exported.";

}  // namespace

std::string kernelBenchHeadline(const KernelBenchDocument& document) {
  const KernelBenchSettings& settings = document.settings;
  std::string text =
      fmt::format("{} tasks on {}", document.rows.size(), document.device.empty() ? settings.target : document.device);
  if (settings.timeBudgetSeconds > 0.0) {
    text += fmt::format(", {:g} s of search each", settings.timeBudgetSeconds);
  }
  if (settings.maxEvaluations > 0) {
    text += fmt::format(", at most {} candidates each", settings.maxEvaluations);
  }
  if (settings.largestTensorBytes > 0) {
    text += fmt::format(", made smaller until no tensor is larger than {:g} MiB",
                        static_cast<double>(settings.largestTensorBytes) / (1024.0 * 1024.0));
  }
  return text + fmt::format("; PyTorch {}, Swage {}", document.torchVersion, document.swageVersion);
}

std::string kernelBenchText(const KernelBenchDocument& document) {
  std::string text = kernelBenchHeadline(document) + '\n';
  text += parts(
      document, [](std::string_view title) { return fmt::format("\n{}\n", title); }, plainTable);
  text += '\n' + std::string(kExplanation) + '\n';
  const std::string note = checkNote(document);
  return note.empty() ? text : text + note + ".\n";
}

std::string kernelBenchMarkdown(const KernelBenchDocument& document) {
  std::string text = "# KernelBench\n\n" + kernelBenchHeadline(document) + ".\n";
  text += parts(
      document, [](std::string_view title) { return fmt::format("\n## {}\n\n", title); }, markdownTable);
  text += '\n' + std::string(kExplanation) + '\n';
  const std::string note = checkNote(document);
  return note.empty() ? text : text + '\n' + note + ".\n";
}

std::string rowHeadline(const KernelBenchRow& row) {
  std::string text;
  if (row.kernel) {
    text = fmt::format("{} over {}", speedupText(row.kernel->speedup), row.baselineMode);
    text += row.kernel->aten.empty() ? "" : "; left to PyTorch: " + joined(row.kernel->aten);
  }
  if (!row.failedStage.empty()) {
    text += fmt::format("{}{} failed: {}", text.empty() ? "" : "; ", row.failedStage,
                        row.failure.substr(0, row.failure.find('\n')));
  }
  if (!row.exported.empty()) {
    text += fmt::format("; exported {}, KernelBench: {}", isOwnExport(row.exported) ? "it" : row.exported,
                        row.check.verdict);
  }
  return text;
}

}  // namespace swage::exporting
