// SPDX-License-Identifier: Apache-2.0
#include "core/trust/sanitizer_report.h"

#include <charconv>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace swage::trust {
namespace {

using domain::Assurance;
using domain::AssuranceKind;
using domain::AssuranceVerdict;

constexpr std::string_view kPrefix = "=========";
constexpr std::size_t kExcerptLines = 5;
constexpr std::size_t kMaxOther = 300;

// The tool's own lines, without their prefix.
std::vector<std::string_view> reportLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (line.starts_with(kPrefix)) {
      line.remove_prefix(kPrefix.size());
      const std::size_t first = line.find_first_not_of(" \t");
      lines.push_back(first == std::string_view::npos ? std::string_view() : line.substr(first));
    }
  }
  return lines;
}

std::optional<long> numberBefore(std::string_view text, std::string_view word) {
  std::size_t end = text.find(word);
  if (end == std::string_view::npos || end < 2) {
    return std::nullopt;
  }
  std::size_t begin = --end;
  while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') {
    --begin;
  }
  long number = 0;
  const auto [rest, code] = std::from_chars(text.data() + begin, text.data() + end, number);
  return code == std::errc() && rest == text.data() + end ? std::optional(number) : std::nullopt;
}

std::optional<long> errorCount(const std::vector<std::string_view>& lines) {
  for (const std::string_view line : lines) {
    if (line.starts_with("ERROR SUMMARY:") || line.starts_with("RACECHECK SUMMARY:")) {
      return numberBefore(line, "error");
    }
  }
  return std::nullopt;
}

bool isPartOfAnError(std::string_view line) {
  for (const std::string_view other : {"COMPUTE-SANITIZER", "ERROR SUMMARY:", "RACECHECK SUMMARY:", "Saved host",
                                       "Host Frame", "Device Frame", "in host", "and is in"}) {
    if (line.starts_with(other)) {
      return false;
    }
  }
  return !line.empty();
}

// The first error: what, where, by which thread, which address.
std::string excerpt(const std::vector<std::string_view>& lines) {
  std::string text;
  std::size_t count = 0;
  for (const std::string_view line : lines) {
    if (isPartOfAnError(line)) {
      text += (count == 0 ? "" : "; ") + std::string(line);
      if (++count == kExcerptLines) {
        break;
      }
    } else if (count > 0) {
      break;
    }
  }
  return text;
}

// What the watched program says: the lines that are not the tool's.
std::string otherLines(std::string_view text) {
  std::string other;
  while (!text.empty() && other.size() < kMaxOther) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (!line.empty() && !line.starts_with(kPrefix)) {
      other.append(other.empty() ? "" : "; ").append(line.substr(0, kMaxOther));
    }
  }
  return other;
}

// Why there is no verdict: what the tool says of itself instead of a summary, or what the watched program says.
std::string reasonIn(const std::vector<std::string_view>& lines, const SanitizerRun& run) {
  for (const std::string_view line : lines) {
    if (line.starts_with("Error:") || line.starts_with("Warning:") || line.starts_with("Internal")) {
      return fmt::format("compute-sanitizer does not work here: {}", line);
    }
  }
  if (const std::string other = otherLines(run.output); !other.empty()) {
    return fmt::format("the kernels could not be run under compute-sanitizer: {}", other);
  }
  return fmt::format("compute-sanitizer does not work here: it ended with code {}", run.exitCode);
}

}  // namespace

std::string_view sanitizerTool(AssuranceKind kind) {
  switch (kind) {
    case AssuranceKind::Racecheck: return "racecheck";
    case AssuranceKind::Initcheck: return "initcheck";
    default: return "memcheck";
  }
}

Assurance readSanitizerRun(AssuranceKind tool, const SanitizerRun& run) {
  Assurance assurance;
  assurance.kind = tool;
  const std::vector<std::string_view> lines = reportLines(run.output);
  const std::optional<long> errors = errorCount(lines);
  if (errors && *errors > 0) {
    assurance.verdict = AssuranceVerdict::Failed;
    assurance.detail = fmt::format("{} error{}; the first: {}", *errors, *errors == 1 ? "" : "s", excerpt(lines));
  } else if (run.overdue) {
    assurance.detail = fmt::format("took longer than {:.0f} s", run.limitSeconds);
  } else if (errors && run.exitCode == 0 && !run.crashed) {
    assurance.verdict = AssuranceVerdict::Passed;
    if (otherLines(run.output) == domain::kNoSharedMemory) {
      assurance.detail = domain::kNoSharedMemory;
    }
  } else {
    assurance.detail = reasonIn(lines, run);
  }
  return assurance;
}

domain::Evaluation evaluationAfter(const Assurance& failed) {
  if (failed.kind == AssuranceKind::Racecheck) {
    return domain::Unstable{"racecheck: " + failed.detail};
  }
  domain::Wrong wrong;
  wrong.rule = sanitizerTool(failed.kind);
  wrong.detail = failed.detail;
  return wrong;
}

}  // namespace swage::trust
