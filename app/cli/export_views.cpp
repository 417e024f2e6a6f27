// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "app/cli/text.h"
#include "app/cli/views.h"

namespace swage::cli {
namespace {

std::string figureOf(const services::ExportGate& gate) {
  std::vector<std::string> parts;
  if (gate.speedup.isKnown()) {
    parts.push_back(fmt::format("{} against the fastest baseline", formatSpeedupInterval(gate.speedup)));
  }
  if (gate.overEager.isKnown()) {
    parts.push_back(fmt::format("{} against eager", formatSpeedupInterval(gate.overEager)));
  }
  if (!gate.timing && gate.checks > 0) {
    parts.push_back(fmt::format("{} {}", gate.checks, gate.checks == 1 ? "check" : "checks"));
  }
  if (gate.worst) {
    parts.push_back(
        fmt::format("relative L2 {:.2g} (eager {:.2g})", gate.worst->relativeL2, gate.worst->eagerRelativeL2));
  }
  if (!gate.detail.empty()) {
    parts.push_back(gate.detail);
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace

domain::Json toJson(const services::ExportGate& gate) {
  domain::Json json = {{"gate", name(gate.kind)}, {"state", name(gate.state)},
                       {"checks", gate.checks},   {"blocks", services::blocksExport(gate)},
                       {"relative_l2", nullptr},  {"detail", gate.detail}};
  if (gate.worst) {
    json["relative_l2"] = gate.worst->relativeL2;
  }
  if (gate.speedup.isKnown()) {
    json["speedup"] = domain::toJson(gate.speedup);
    json["baseline"] = gate.baselineMode;
  }
  if (gate.timing) {
    json["timing"] = domain::toJson(*gate.timing);
  }
  return json;
}

std::string gateTable(const std::vector<services::ExportGate>& gates) {
  std::vector<std::vector<std::string>> rows = {{"check", "state", "found"}};
  for (const services::ExportGate& gate : gates) {
    rows.push_back({std::string(title(gate.kind)), std::string(name(gate.state)), figureOf(gate)});
  }
  return formatTable(rows);
}

std::string provenanceText(const std::vector<services::ExportFact>& provenance) {
  std::string text;
  for (const services::ExportFact& fact : provenance) {
    text += fmt::format("{:<14}{}\n", fact.label, fact.value);
  }
  return text;
}

std::string fileTable(const std::vector<services::ExportFile>& files) {
  std::vector<std::vector<std::string>> rows = {{"file", "lines", "bytes"}};
  for (const services::ExportFile& file : files) {
    rows.push_back({file.name, std::to_string(std::count(file.content.begin(), file.content.end(), '\n')),
                    std::to_string(file.content.size())});
  }
  return formatTable(rows);
}

}  // namespace swage::cli
