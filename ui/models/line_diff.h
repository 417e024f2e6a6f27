// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "ui/models/text_diff.h"

namespace swage::ui {

// The chunks in which two texts differ, by libgit2's patience diff with git's own rules for where a chunk begins.
// Both texts end with a line end. Safe on any thread.
[[nodiscard]] std::vector<DiffChunk> diffLines(const std::string& left, const std::string& right,
                                               bool ignoreWhiteSpace);

// The words of one text that another does not have, by O(NP) (dtl). Nothing where the texts are too long for that.
struct WordMarks {
  std::vector<InlineMark> left;
  std::vector<InlineMark> right;
};
[[nodiscard]] WordMarks diffWords(const QStringList& left, const QStringList& right);

}  // namespace swage::ui
