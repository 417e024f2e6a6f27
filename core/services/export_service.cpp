// SPDX-License-Identifier: Apache-2.0
#include "core/services/export_service.h"

namespace swage::services {

std::string_view name(ExportFormat format) {
  switch (format) {
    case ExportFormat::ModelNew: return "modelnew";
    case ExportFormat::Project: return "project";
  }
  return "unknown";
}

std::optional<ExportFormat> parseExportFormat(std::string_view text) {
  for (const ExportFormat format : {ExportFormat::ModelNew, ExportFormat::Project}) {
    if (name(format) == text) {
      return format;
    }
  }
  return std::nullopt;
}

std::string_view name(ExportGate::Kind kind) {
  switch (kind) {
    case ExportGate::Kind::Verified: return "verified";
    case ExportGate::Kind::HardInputs: return "hard inputs";
    case ExportGate::Kind::HeldBackSeeds: return "held-back seeds";
    case ExportGate::Kind::Sanitizer: return "compute-sanitizer";
    case ExportGate::Kind::FreshProcess: return "fresh process";
    case ExportGate::Kind::Faster: return "faster";
    case ExportGate::Kind::HeldOutShapes: return "held-out shapes";
  }
  return "unknown";
}

std::string_view title(ExportGate::Kind kind) {
  switch (kind) {
    case ExportGate::Kind::HeldBackSeeds: return "unseen seeds";
    case ExportGate::Kind::HeldOutShapes: return "other shapes";
    default: return name(kind);
  }
}

std::string_view name(ExportGate::State state) {
  switch (state) {
    case ExportGate::State::Passed: return "passed";
    case ExportGate::State::Failed: return "failed";
    case ExportGate::State::NotRun: return "not run";
    case ExportGate::State::NotApplicable: return "not applicable";
    case ExportGate::State::Running: return "running";
  }
  return "unknown";
}

bool blocksExport(const ExportGate& gate) {
  if (gate.kind == ExportGate::Kind::Verified) {
    return gate.state != ExportGate::State::Passed;
  }
  return gate.state == ExportGate::State::Failed &&
         (gate.kind == ExportGate::Kind::HardInputs || gate.kind == ExportGate::Kind::HeldBackSeeds ||
          gate.kind == ExportGate::Kind::Sanitizer);
}

}  // namespace swage::services
