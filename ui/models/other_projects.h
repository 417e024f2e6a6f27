// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "core/services/record_service.h"
#include "ui/models/comparison.h"

namespace swage::ui {

// A run of any record: of the open project where `record` is null.
struct RunRef {
  std::shared_ptr<const services::RecordService> record;
  QString project;
  services::RunSummary run;
};
// "r7", "other / r7"
[[nodiscard]] QString shortName(const RunRef& run);
// "r7 · softmax_rows · 2.31× · finished"
[[nodiscard]] QString describe(const services::RunSummary& run);
// What a run has found: its winner, or what ranks first yet. Invalid: nothing is correct.
[[nodiscard]] domain::CandidateId bestOf(const services::RunSummary& run);

// The projects that were opened beside the shown one, to compare with. They are read, and stay open while the window
// is. GUI thread only.
class OtherProjects {
 public:
  struct Project {
    std::filesystem::path folder;
    QString name;
    std::shared_ptr<services::RecordService> record;
  };

  explicit OtherProjects(OpenRecord open = {}) : m_open(std::move(open)) {}
  [[nodiscard]] bool canOpen() const { return static_cast<bool>(m_open); }
  // Opens a project, or finds it among those that are. NotFound where there is no record.
  [[nodiscard]] Result<Project> open(const std::filesystem::path& folder);
  [[nodiscard]] const std::vector<Project>& projects() const { return m_projects; }

 private:
  OpenRecord m_open;
  std::vector<Project> m_projects;
};

}  // namespace swage::ui
