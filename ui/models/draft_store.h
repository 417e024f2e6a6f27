// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDateTime>
#include <QString>

#include <filesystem>
#include <optional>

#include "core/base/result.h"
#include "core/domain/candidate.h"

namespace swage::ui {

struct Draft {
  QString text;
  QDateTime savedAt;
};

// Sources that were edited and not evaluated yet, one file for each candidate of a project, so that a crash costs ten
// seconds of typing at most. Without a folder nothing is kept.
class DraftStore {
 public:
  explicit DraftStore(std::filesystem::path folder) : m_folder(std::move(folder)) {}

  // Absent where there is none; a file that cannot be read is none.
  [[nodiscard]] std::optional<Draft> load(const std::filesystem::path& project, domain::CandidateId candidate) const;
  [[nodiscard]] Result<> save(const std::filesystem::path& project, domain::CandidateId candidate,
                              const QString& text) const;
  void remove(const std::filesystem::path& project, domain::CandidateId candidate) const;

 private:
  [[nodiscard]] QString fileOf(const std::filesystem::path& project, domain::CandidateId candidate) const;

  std::filesystem::path m_folder;
};

}  // namespace swage::ui
