// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QTemporaryDir>

#include <filesystem>
#include <memory>

#include "app/workbench/replay_edits.h"
#include "app/workbench/replay_profiles.h"
#include "app/workbench/replay_services.h"
#include "core/engine/export_service_impl.h"
#include "core/engine/profile_service_impl.h"
#include "core/engine/record_service_impl.h"

namespace swage::workbench {

// Writes the files of a recording (resources/demo/README.md has the format) into a folder.
[[nodiscard]] Result<> unpackRecording(const QByteArray& packed, const std::filesystem::path& folder);

// The recorded search that is a part of this program, with services that play it. Its files lie in a folder that goes
// away with it.
class Demo {
 public:
  enum class Pace : std::uint8_t { ToWatch, ToItsEnd };
  [[nodiscard]] static Result<std::unique_ptr<Demo>> open(const process::Locations& locations, Pace pace);

  [[nodiscard]] std::filesystem::path project() const;
  [[nodiscard]] ReplayRun& run() { return *m_run; }
  [[nodiscard]] ReplayRecord& record() { return m_record; }
  [[nodiscard]] const services::ExportService& exporter() const { return m_exporter; }
  [[nodiscard]] const services::CompareService& compare() const { return m_source; }
  [[nodiscard]] services::ProfileService& profiles() { return m_profiles; }
  [[nodiscard]] services::EditService& edits() { return m_edits; }

 private:
  explicit Demo(const process::Locations& locations);

  QTemporaryDir m_folder;
  engine::RecordServiceImpl m_source;
  ReplayRecord m_record{m_source};
  engine::ExportServiceImpl m_exporter;
  engine::ProfileServiceImpl m_recorded;
  ReplayProfiles m_profiles{m_recorded};
  ReplayEdits m_edits;
  std::unique_ptr<ReplayRun> m_run;
};

}  // namespace swage::workbench
