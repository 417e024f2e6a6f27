// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/other_projects.h"

#include <algorithm>
#include <system_error>

#include "ui/models/format.h"

using namespace Qt::StringLiterals;

namespace swage::ui {

QString shortName(const RunRef& run) {
  const QString name = u"r"_s % QString::number(run.run.id.value());
  return run.project.isEmpty() ? name : run.project % u" / "_s % name;
}

QString describe(const services::RunSummary& run) {
  QStringList parts = {u"r"_s % QString::number(run.id.value()), toQString(run.taskName)};
  if (run.bestSpeedup.isKnown()) {
    parts.push_back(formatSpeedup(run.bestSpeedup));
  }
  parts.push_back(toQString(run.deviceName));
  return parts.join(u" · "_s);
}

domain::CandidateId bestOf(const services::RunSummary& run) {
  return run.best.isValid() ? run.best : run.winner;
}

Result<OtherProjects::Project> OtherProjects::open(const std::filesystem::path& folder) {
  std::error_code ignored;
  const std::filesystem::path place = std::filesystem::weakly_canonical(folder, ignored);
  const auto known = std::find_if(m_projects.begin(), m_projects.end(),
                                  [&place](const Project& project) { return project.folder == place; });
  if (known != m_projects.end()) {
    return *known;
  }
  if (!m_open || !std::filesystem::exists(place / "runs.sqlite", ignored)) {
    return Error(ErrorKind::NotFound, "'" + place.string() + "' has no record of runs",
                 "choose the folder of a project: it contains runs.sqlite");
  }
  SWAGE_TRY_ASSIGN(std::shared_ptr<services::RecordService> record, m_open(place));
  m_projects.push_back({place, toQString(place.filename().string()), std::move(record)});
  return m_projects.back();
}

}  // namespace swage::ui
