// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <vector>

#include "core/domain/annotation.h"

// What a person says about candidates, as edits that a record takes and texts that an undo menu shows. Pure.
namespace swage::ui {

struct NamedEdit {
  domain::AnnotationEdit edit;
  QString text;  // "Pin candidate 5"
};

// "Candidate 5", "3 candidates".
[[nodiscard]] QString countText(const std::vector<domain::CandidateId>& ids);

[[nodiscard]] NamedEdit pinEdit(const std::vector<domain::CandidateId>& ids, bool pinned);
[[nodiscard]] NamedEdit trashEdit(const std::vector<domain::CandidateId>& ids, bool trashed);
// Adds the words, which stand between commas, as tags; takes those away that have a minus in front.
[[nodiscard]] NamedEdit tagEdit(const std::vector<domain::CandidateId>& ids, const QString& words);
[[nodiscard]] NamedEdit noteEdit(const std::vector<domain::CandidateId>& ids, const QString& note);

}  // namespace swage::ui
