// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <array>
#include <vector>

#include "ui/editor/diff_pane.h"
#include "ui/models/diff_document.h"

class QStackedWidget;

namespace swage::ui {

class DiffOverview;
class ElidedLabel;
class EmptyState;
class FindBar;
class LinkMap;

// Two texts side by side, or three with their common ancestor in the middle, or two in one ("unified"). Changed lines
// and words are marked, a side without a text says so, the sides scroll together, a bar shows all changes. Keys are
// those of Meld. Texts can be edited by pushing and deleting changes; that changes what is shown, never what it was
// made from, and can be undone. Short texts are compared at once, long ones on another thread. GUI thread only.
class DiffView final : public QWidget {
  Q_OBJECT

 public:
  enum class Layout : std::uint8_t { SideBySide, Unified };

  explicit DiffView(QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  void setLanguage(DiffPane::Language language);
  // Two, or three with the ancestor as the second. A text that is shown already stays as it was edited, on whatever
  // side it is now.
  void setTexts(std::vector<DiffText> texts);
  void setOptions(const DiffOptions& options);
  void setLayoutMode(Layout layout);

  void nextChange();
  void previousChange();
  void nextPane();
  void previousPane();
  void pushLeft() { edit(Edit::PushLeft); }
  void pushRight() { edit(Edit::PushRight); }
  void pullLeft() { edit(Edit::PullLeft); }
  void pullRight() { edit(Edit::PullRight); }
  void deleteChange() { edit(Edit::Delete); }
  void undo();
  void openFind();
  void findNext();
  void findPrevious();
  void goToLine(int line);  // of the pane that has the focus, counted from 0
  void toggleOverview();

  [[nodiscard]] int paneCount() const { return m_document.count(); }
  [[nodiscard]] QString text(int pane) const { return m_document.text(pane); }
  [[nodiscard]] bool isEdited(int pane) const { return m_document.isEdited(pane); }
  [[nodiscard]] int activePane() const { return m_active; }
  [[nodiscard]] int changeCount() const;
  [[nodiscard]] int conflictCount() const { return m_conflicts; }
  [[nodiscard]] const DiffPane& pane(int index) const { return *m_panes[static_cast<std::size_t>(index)]; }

 Q_SIGNALS:
  // A comparison is ready and shown.
  void compared();
  // The user changed a pane's text, or took that back.
  void edited(int pane);
  // By its key: the texts belong to the one who set them.
  void swapRequested();

 private:
  enum class Edit : std::uint8_t { PushLeft, PushRight, PullLeft, PullRight, Delete };
  // What the reader looks at.
  struct Sight {
    QString text;
    int caret = 0;
    int top = 0;
  };
  [[nodiscard]] Sight sightOf(int pane) const;
  [[nodiscard]] bool restoreSight();
  void makePanes();
  [[nodiscard]] QWidget* makePane(int index);
  void makeShortcuts();
  void compare();
  void showDiffs(int generation, std::vector<TextDiff> diffs);
  void showFirstChange();
  void showUnified();
  void updateTitles();
  void updateCurrent();
  void updateOverview();
  void followScroll(int pane);
  void goToChunk(int diff, int chunk, DiffSide side);
  void goToBlock(int line);
  void edit(Edit edit);
  void replaceText(int pane, const QString& text);
  // The difference that is worked on from the active pane, and the pane's side of it.
  [[nodiscard]] int activeDiff() const;
  [[nodiscard]] DiffSide activeSide() const;
  [[nodiscard]] DiffPane& active() const;
  void search(bool forward);

  DiffDocument m_document;
  std::vector<TextDiff> m_diffs;
  std::vector<UnifiedLine> m_unifiedLines;
  DiffOptions m_options;
  Layout m_layout = Layout::SideBySide;
  int m_active = 0;
  int m_generation = 0;
  bool m_opened = false;  // other texts are being compared
  Sight m_sight;          // to come back to then; without a text: none
  int m_conflicts = 0;
  // Where following has put each pane: news of that are no scrolling by the user.
  std::array<int, 3> m_followedTop = {-1, -1, -1};
  bool m_following = false;
  std::array<DiffPane*, 3> m_panes = {};
  std::array<ElidedLabel*, 3> m_titles = {};
  std::array<EmptyState*, 3> m_empties = {};
  std::array<QWidget*, 3> m_columns = {};
  std::array<LinkMap*, 2> m_maps = {};
  DiffPane* m_unified;
  DiffOverview* m_overview;
  QStackedWidget* m_stack;
  FindBar* m_find;
};

}  // namespace swage::ui
