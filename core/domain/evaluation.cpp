// SPDX-License-Identifier: Apache-2.0
#include "core/domain/evaluation.h"

#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace swage::domain {
namespace {

// In the order of the alternatives of Evaluation.
constexpr std::array<std::string_view, std::variant_size_v<Evaluation>> kStatusNames{
    "duplicate", "rejected",  "compile error", "launch error", "wrong",
    "crashed",   "timed out", "cheating",      "unstable",     "correct"};

constexpr std::size_t kMaxSummary = 240;

// The first line that says something, short enough for a table.
std::string firstLine(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) {
    return {};
  }
  text = text.substr(begin, text.find_first_of("\r\n", begin) - begin);
  if (text.size() > kMaxSummary) {
    std::size_t end = kMaxSummary;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
      --end;  // not in the middle of a UTF-8 sequence
    }
    text = text.substr(0, end);
  }
  return std::string(text);
}

std::string firstLineWithError(std::string_view log) {
  const std::size_t position = log.find("error");
  if (position == std::string_view::npos) {
    return firstLine(log);
  }
  const std::size_t lineBreak = log.rfind('\n', position);
  return firstLine(log.substr(lineBreak == std::string_view::npos ? 0 : lineBreak + 1));
}

std::string join(std::string_view first, std::string_view second) {
  return second.empty() ? std::string(first) : fmt::format("{}: {}", first, firstLine(second));
}

std::string formatTime(double ns) {
  if (ns >= 1e9) {
    return fmt::format("{:.3f} s", ns * 1e-9);
  }
  if (ns >= 1e6) {
    return fmt::format("{:.3f} ms", ns * 1e-6);
  }
  if (ns >= 1e3) {
    return fmt::format("{:.2f} us", ns * 1e-3);
  }
  return fmt::format("{:.0f} ns", ns);
}

std::string detailOf(const Duplicate& value) {
  return fmt::format("same {} as candidate {}", value.what, value.of.value());
}
std::string detailOf(const Rejected& value) {
  return join(value.rule, value.detail);
}
std::string detailOf(const LaunchFailed& value) {
  return join(value.step, value.detail);
}
std::string detailOf(const Cheating& value) {
  return join(value.rule, value.detail);
}
std::string detailOf(const Unstable& value) {
  return firstLine(value.detail);
}
std::string detailOf(const Crashed& value) {
  return join(fmt::format("signal {}", value.signal), value.detail);
}
std::string detailOf(const TimedOut& value) {
  return fmt::format("{} took more than {:g} s", value.stage.empty() ? "it" : value.stage, value.limitSeconds);
}

std::string detailOf(const CompileFailed& value) {
  switch (value.reason) {
    case CompileFailureReason::Error: return firstLineWithError(value.log);
    case CompileFailureReason::Timeout: return "the compiler ran out of time";
    case CompileFailureReason::MemoryLimit: return "the compiler ran out of memory";
    case CompileFailureReason::OutputLimit: return "the compiler wrote too much";
    case CompileFailureReason::Crash: return join("the compiler crashed", value.log);
    case CompileFailureReason::Refused:
    case CompileFailureReason::Environment: return value.log;
  }
  return {};
}

std::string detailOf(const Wrong& value) {
  std::string text = fmt::format("output {}", value.output);
  if (value.element >= 0) {
    text += fmt::format(", element {}: expected {:g}, got {:g}", value.element, value.expected, value.actual);
  } else if (!value.detail.empty()) {
    text += ": " + firstLine(value.detail);
  }
  return value.rule.empty() ? text : fmt::format("{} ({})", text, value.rule);
}

std::string detailOf(const Correct& value) {
  const Timing& timing = value.timing.candidate;
  if (timing.samples == 0) {
    return fmt::format("not timed, {}", name(value.accuracy));
  }
  if (value.timing.screenedOut) {
    return fmt::format("{}, too slow for a full measurement, {}", formatTime(timing.medianNs), name(value.accuracy));
  }
  return fmt::format("{} ({} to {}), {}", formatTime(timing.medianNs), formatTime(timing.lowNs),
                     formatTime(timing.highNs), name(value.accuracy));
}

}  // namespace

std::string_view name(AccuracyClass value) {
  switch (value) {
    case AccuracyClass::Fp32: return "fp32";
    case AccuracyClass::Tf32: return "tf32";
    case AccuracyClass::Half: return "half";
  }
  return "unknown";
}

std::optional<AccuracyClass> parseAccuracyClass(std::string_view text) {
  for (const AccuracyClass value : {AccuracyClass::Fp32, AccuracyClass::Tf32, AccuracyClass::Half}) {
    if (name(value) == text) {
      return value;
    }
  }
  return std::nullopt;
}

std::string_view statusName(const Evaluation& evaluation) {
  return kStatusNames[evaluation.index()];
}

std::span<const std::string_view> statusNames() {
  return kStatusNames;
}

std::string summary(const Evaluation& evaluation) {
  const std::string detail = std::visit([](const auto& value) { return detailOf(value); }, evaluation);
  return detail.empty() ? std::string(statusName(evaluation)) : fmt::format("{}: {}", statusName(evaluation), detail);
}

const Correct* asCorrect(const Evaluation& evaluation) {
  return std::get_if<Correct>(&evaluation);
}

std::vector<std::int64_t> placeOf(std::int64_t element, const Shape& shape) {
  std::vector<std::int64_t> place(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    place[i] = shape[i] > 0 ? element % shape[i] : 0;
    element = shape[i] > 0 ? element / shape[i] : 0;
  }
  return place;
}

std::string placeText(std::span<const std::int64_t> place) {
  return fmt::format("[{}]", fmt::join(place.begin(), place.end(), ", "));
}

std::vector<std::string> firstWrongLines(const Wrong& wrong) {
  std::vector<std::string> lines;
  for (const WrongElement& one : wrong.first) {
    lines.push_back(fmt::format("{}: expected {:.9g}, got {:.9g}", placeText(one.place), one.expected, one.actual));
  }
  return lines;
}

std::string_view inputsTitle(std::string_view inputs) {
  return inputs == kHeldBackInputs ? "unseen seeds" : inputs;
}

std::string_view stopTitle(std::string_view stopReason) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kTitles{
      {{"precise", "stopped when precise"},
       {"time budget", "stopped by time limit"},
       {"sample limit", "stopped by sample limit"},
       {"screened out", "stopped early: too slow for its cell"},
       {"noisy", "still noisy"},
       {"throttled", "the device was throttled"}}};
  for (const auto& [reason, title] : kTitles) {
    if (reason == stopReason) {
      return title;
    }
  }
  return {};
}

}  // namespace swage::domain
