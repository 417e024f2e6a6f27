// SPDX-License-Identifier: Apache-2.0
#include "app/cli/profile_view.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/text.h"
#include "core/stats/triage.h"

namespace swage::cli {
namespace {

constexpr std::size_t kHotInstructions = 5;

std::string_view describe(domain::ProfileSource source) {
  switch (source) {
    case domain::ProfileSource::Counters: return "hardware counters";
    case domain::ProfileSource::Activity: return "kernel times, without hardware counters";
    case domain::ProfileSource::Compiler: return "compiler output";
  }
  return "nothing";
}

std::string percent(double share) {
  return fmt::format("{:.0f} %", 100.0 * share);
}

std::string share(double value, double roof) {
  return roof > 0.0 ? fmt::format(" ({} of {:.3g})", percent(value / roof), roof) : std::string();
}

std::string rooflineText(const stats::RooflinePosition& at) {
  return fmt::format("  roofline   {:.3g} bytes/s{}, {:.3g} flop/s{}, {:.3g} flop/byte\n", at.bytesPerSecond,
                     share(at.bytesPerSecond, at.memoryRoof), at.flopsPerSecond,
                     share(at.flopsPerSecond, at.computeRoof), at.flopsPerByte);
}

std::string occupancyText(const domain::KernelProfile& kernel, const stats::Triage& triage) {
  if (kernel.occupancyLimiter.empty()) {
    return {};
  }
  std::string text = "  occupancy  ";
  if (triage.achievedOccupancy) {
    text += fmt::format("{} of ", percent(*triage.achievedOccupancy));
  }
  return text +
         fmt::format("{} possible, limited by {}\n", percent(kernel.theoreticalOccupancy), kernel.occupancyLimiter);
}

std::string stallsText(const std::vector<domain::ProfileMetric>& stalls) {
  std::vector<std::string> parts;
  parts.reserve(stalls.size());
  for (const domain::ProfileMetric& stall : stalls) {
    parts.push_back(fmt::format("{} {}", stall.name, percent(stall.value)));
  }
  return parts.empty() ? std::string() : fmt::format("  waits for  {}\n", fmt::join(parts, ", "));
}

// What Linux counted of a kernel on a CPU; nothing of a GPU.
std::string processorText(const domain::KernelProfile& kernel) {
  const auto ratio = [&kernel](std::string_view part, std::string_view whole) -> std::optional<double> {
    const auto above = stats::metricOf(kernel, part);
    const auto below = stats::metricOf(kernel, whole);
    return above && below && *below > 0.0 ? std::optional(*above / *below) : std::nullopt;
  };
  std::vector<std::string> parts;
  if (const auto perCycle = ratio("instructions", "cycles")) {
    parts.push_back(fmt::format("{:.2f} instructions/cycle", *perCycle));
  }
  if (const auto clock = ratio("cycles", "task-clock")) {
    parts.push_back(fmt::format("{:.2f} GHz", *clock));
  }
  if (const auto stalled = ratio("stalled-cycles-backend", "cycles")) {
    parts.push_back(fmt::format("{} of cycles stalled", percent(*stalled)));
  }
  if (const auto misses = ratio("L1-dcache-load-misses", "L1-dcache-loads")) {
    parts.push_back(fmt::format("{} L1 misses", percent(*misses)));
  }
  if (const auto misses = stats::metricOf(kernel, "cache-misses")) {
    parts.push_back(fmt::format("{:.3g} bytes beyond the caches", *misses * 64.0));
  }
  if (const auto misses = ratio("branch-misses", "branches")) {
    parts.push_back(fmt::format("{} branch misses", percent(*misses)));
  }
  if (const auto busy = stats::metricOf(kernel, "samples-parallelism")) {
    parts.push_back(fmt::format("{:.1f} threads at work", *busy));
  }
  return parts.empty() ? std::string() : fmt::format("  processor  {}\n", fmt::join(parts, ", "));
}

std::string topStall(const domain::InstructionSamples& at) {
  const auto most = std::max_element(at.stalls.begin(), at.stalls.end(),
                                     [](const auto& a, const auto& b) { return a.value < b.value; });
  return most == at.stalls.end() ? std::string() : most->name;
}

std::string samplesText(const domain::KernelProfile& kernel) {
  std::vector<domain::InstructionSamples> hot = kernel.instructions;
  std::stable_sort(hot.begin(), hot.end(), [](const auto& a, const auto& b) { return a.samples > b.samples; });
  double all = 0.0;
  for (const domain::InstructionSamples& at : hot) {
    all += static_cast<double>(at.samples);
  }
  hot.resize(std::min(hot.size(), kHotInstructions));
  std::string text;
  for (const domain::InstructionSamples& at : hot) {
    const std::string line = at.line > 0 ? fmt::format("line {}", at.line) : std::string("library");
    const std::string stall = at.stalls.empty() ? std::string() : fmt::format(" ({})", topStall(at));
    text += fmt::format("  {:>5}      {:9} {:#06x} {}{}\n", percent(static_cast<double>(at.samples) / all), line,
                        at.offset, at.text, stall);
  }
  return text;
}

std::string kernelText(const domain::KernelProfile& kernel) {
  const stats::Triage triage = stats::triageOf(kernel);
  std::string text = fmt::format("kernel      {}: ", kernel.entry);
  text += kernel.durationNs > 0.0 ? formatTime(kernel.durationNs) : std::string("not timed");
  text += kernel.launches > 1 ? fmt::format(", {} launches", kernel.launches) : std::string();
  if (kernel.registers > 0) {
    text += fmt::format(", {} registers, {} bytes spilled, {} bytes shared", kernel.registers, kernel.spillBytes,
                        kernel.sharedBytes);
  }
  text += '\n';
  text += triage.roofline ? rooflineText(*triage.roofline) : std::string();
  if (triage.tensorShare && *triage.tensorShare > 0.0) {
    text += fmt::format("  tensor     {} of what its cores can do\n", percent(*triage.tensorShare));
  }
  return text + processorText(kernel) + occupancyText(kernel, triage) + stallsText(triage.topStalls) +
         samplesText(kernel);
}

}  // namespace

std::string profileText(const domain::Profile& profile) {
  const std::string_view source = profile.kernels.empty() ? "nothing: no kernel was seen" : describe(profile.source);
  std::string text = fmt::format("profile     by {}\n", source);
  if (!profile.limitation.empty()) {
    text += fmt::format("            {}\n", profile.limitation);
  }
  for (const domain::KernelProfile& kernel : profile.kernels) {
    text += kernelText(kernel);
  }
  return text;
}

}  // namespace swage::cli
