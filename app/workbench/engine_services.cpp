// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/engine_services.h"

#include "core/engine/export_service_impl.h"

namespace swage::workbench {

Result<> OpenProjectExport::exportCandidate(domain::CandidateId candidate, services::ExportFormat format,
                                            const std::filesystem::path& file) const {
  if (!m_project || m_project().empty()) {
    return Error(ErrorKind::NotFound, "cannot export: no project is open", "open a project, or start a search");
  }
  return engine::ExportServiceImpl(m_project()).exportCandidate(candidate, format, file);
}

namespace {

engine::SessionParts partsFor(const engine::Locations& locations, bool selfTest) {
  engine::SessionParts parts = engine::SessionParts::standard(locations);
  if (parts.selfTest) {
    parts.selfTest->skip = !selfTest;
  }
  return parts;
}

}  // namespace

EngineServices::EngineServices(const engine::Locations& locations, bool withSelfTest)
    : run(partsFor(locations, withSelfTest)),
      profiles(partsFor(locations, withSelfTest), record),
      edits(partsFor(locations, withSelfTest), locations.patterns),
      patterns(locations.patterns),
      doctor(locations, engine::dataFolder()),
      selfTest(engine::SessionParts::standard(locations), locations.selfTest),
      settings(engine::configFile()) {}

}  // namespace swage::workbench
