// SPDX-License-Identifier: GPL-3.0-or-later
// How DiffView changes a text: by pushing, pulling and deleting what differs.
#include <algorithm>

#include "ui/editor/diff_view.h"

namespace swage::ui {

// "Push" is from the active pane, "pull" into it.
void DiffView::edit(Edit edit) {
  const bool toLeft = edit == Edit::PushLeft || edit == Edit::PullRight;
  const bool pulls = edit == Edit::PullLeft || edit == Edit::PullRight;
  const int other = m_active + (edit == Edit::PushLeft || edit == Edit::PullLeft ? -1 : 1);
  if (m_layout == Layout::Unified || activeDiff() < 0) {
    return;
  }
  if (edit != Edit::Delete && (other < 0 || other >= paneCount())) {
    return;
  }
  const int at = edit == Edit::Delete ? activeDiff() : std::min(m_active, other);
  const TextDiff& diff = m_diffs[static_cast<std::size_t>(at)];
  const DiffSide side = m_active == at ? DiffSide::Left : DiffSide::Right;
  const int index = chunkAt(diff, side, active().caretLine());
  if (index < 0) {
    return;
  }
  const DiffChunk chunk = diff.chunks[static_cast<std::size_t>(index)];
  if (edit == Edit::Delete) {
    replaceText(m_active, deleteChunk(text(m_active), chunk, side));
    return;
  }
  const int source = pulls ? other : m_active;
  const int target = pulls ? m_active : other;
  replaceText(target, pushChunk(text(source), text(target), chunk, toLeft ? DiffSide::Right : DiffSide::Left));
}

void DiffView::replaceText(int pane, const QString& text) {
  const int line = active().caretLine();
  const int top = active().topLine();
  m_document.replace(pane, text);
  compare();
  active().setCaretLine(line);
  active().setTopLine(top);
  Q_EMIT edited(pane);
}

void DiffView::undo() {
  if (const auto pane = m_document.undo()) {
    compare();
    Q_EMIT edited(*pane);
  }
}

}  // namespace swage::ui
