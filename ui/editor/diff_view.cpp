// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/diff_view.h"

#include <QAction>
#include <QFuture>
#include <QHBoxLayout>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <QtConcurrent/QtConcurrentRun>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/editor/diff_overview.h"
#include "ui/editor/find_bar.h"
#include "ui/editor/link_map.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/empty_state.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr qsizetype kAtOnce = 65536;  // characters of all texts, a few milliseconds
constexpr int kContext = 5;

std::vector<TextDiff> diffAll(const std::vector<QString>& texts, const DiffOptions& options) {
  std::vector<TextDiff> diffs;
  for (std::size_t i = 0; i + 1 < texts.size(); ++i) {
    diffs.push_back(diffTexts(texts[i], texts[i + 1], options));
  }
  return diffs;
}

qsizetype sizeOf(const std::vector<QString>& texts) {
  qsizetype size = 0;
  for (const QString& text : texts) {
    size += text.size();
  }
  return size;
}

}  // namespace

DiffView::DiffView(QWidget* parent)
    : QWidget(parent),
      m_unified(new DiffPane),
      m_overview(new DiffOverview),
      m_stack(new QStackedWidget),
      m_find(new FindBar) {
  setObjectName(u"diffView"_s);
  makePanes();
  auto* row = new QHBoxLayout;
  row->setSpacing(0);
  row->addWidget(m_stack, 1);
  row->addWidget(m_overview);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(row, 1);
  column->addWidget(m_find);
  makeShortcuts();
  connect(m_overview, &DiffOverview::lineRequested, this,
          [this](int line) { active().setTopLine(line - active().visibleLines() / 2); });
  connect(m_find, &FindBar::searchEdited, this, [this] { search(true); });
  connect(m_find, &FindBar::nextRequested, this, &DiffView::findNext);
  connect(m_find, &FindBar::previousRequested, this, &DiffView::findPrevious);
  connect(m_find, &FindBar::closed, this, [this] { active().setFocus(); });
  setTheme(Theme::light());
}

void DiffView::makePanes() {
  const int gap = fontMetrics().height() / 4;
  auto* sides = new QWidget;
  auto* row = new QHBoxLayout(sides);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  for (std::size_t i = 0; i < m_panes.size(); ++i) {
    m_columns[i] = makePane(static_cast<int>(i));
    if (i > 0) {
      m_maps[i - 1] = new LinkMap(*m_panes[i - 1], *m_panes[i]);
      auto* map = new QVBoxLayout;
      map->setSpacing(gap);
      map->addSpacing(gap);
      map->addSpacing(m_titles[i]->sizeHint().height());  // beside the panes, not the titles
      map->addWidget(m_maps[i - 1], 1);
      row->addLayout(map);
    }
    row->addWidget(m_columns[i], 1);
  }
  m_unified->setObjectName(u"unifiedPane"_s);
  connect(m_unified, &DiffPane::scrolled, this, &DiffView::updateOverview);
  m_stack->addWidget(sides);
  m_stack->addWidget(m_unified);
}

QWidget* DiffView::makePane(int index) {
  const int gap = fontMetrics().height() / 4;
  auto* pane = new DiffPane;
  pane->setObjectName(u"diffPane%1"_s.arg(index));
  auto* title = new ElidedLabel;
  title->setObjectName(u"diffTitle%1"_s.arg(index));
  title->setIndent(2 * gap);
  m_panes[static_cast<std::size_t>(index)] = pane;
  m_titles[static_cast<std::size_t>(index)] = title;
  auto* widget = new QWidget;
  auto* column = new QVBoxLayout(widget);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(gap);
  column->addSpacing(gap);
  column->addWidget(title);
  auto* empty = new EmptyState(pane, {});
  empty->setObjectName(u"diffEmpty%1"_s.arg(index));
  m_empties[static_cast<std::size_t>(index)] = empty;
  column->addWidget(empty, 1);
  connect(pane, &DiffPane::scrolled, this, [this, index] { followScroll(index); });
  connect(pane, &DiffPane::caretMoved, this, &DiffView::updateCurrent);
  connect(pane, &DiffPane::focused, this, [this, index] {
    m_active = index;
    updateCurrent();
    updateOverview();
  });
  return widget;
}

// Those of Meld, to the letter.
void DiffView::makeShortcuts() {
  const auto add = [this](const QList<QKeySequence>& keys, const QString& text, void (DiffView::*slot)()) {
    auto* action = new QAction(text, this);
    action->setShortcuts(keys);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(action, &QAction::triggered, this, slot);
    addAction(action);
  };
  add({Qt::ALT | Qt::Key_Down, Qt::CTRL | Qt::Key_D}, tr("Next Change"), &DiffView::nextChange);
  add({Qt::ALT | Qt::Key_Up, Qt::CTRL | Qt::Key_E}, tr("Previous Change"), &DiffView::previousChange);
  add({Qt::ALT | Qt::Key_Left}, tr("Push to Left"), &DiffView::pushLeft);
  add({Qt::ALT | Qt::Key_Right}, tr("Push to Right"), &DiffView::pushRight);
  add({Qt::ALT | Qt::SHIFT | Qt::Key_Right}, tr("Pull from Left"), &DiffView::pullLeft);
  add({Qt::ALT | Qt::SHIFT | Qt::Key_Left}, tr("Pull from Right"), &DiffView::pullRight);
  add({Qt::ALT | Qt::Key_Delete}, tr("Delete Change"), &DiffView::deleteChange);
  add({Qt::ALT | Qt::Key_PageUp}, tr("Previous Pane"), &DiffView::previousPane);
  add({Qt::ALT | Qt::Key_PageDown}, tr("Next Pane"), &DiffView::nextPane);
  add({Qt::ALT | Qt::Key_Backslash}, tr("Swap Sides"), &DiffView::swapRequested);
  add({Qt::CTRL | Qt::Key_Z}, tr("Undo"), &DiffView::undo);
  add({Qt::CTRL | Qt::Key_F}, tr("Find"), &DiffView::openFind);
  add({Qt::Key_F3, Qt::CTRL | Qt::Key_G}, tr("Find Next"), &DiffView::findNext);
  add({Qt::SHIFT | Qt::Key_F3, Qt::CTRL | Qt::SHIFT | Qt::Key_G}, tr("Find Previous"), &DiffView::findPrevious);
  add({Qt::Key_F9}, tr("Overview"), &DiffView::toggleOverview);
}

void DiffView::setTheme(const Theme& theme) {
  for (DiffPane* pane : m_panes) {
    pane->setTheme(theme);
  }
  for (LinkMap* map : m_maps) {
    map->setTheme(theme);
  }
  m_unified->setTheme(theme);
  m_overview->setTheme(theme);
  m_find->setTheme(theme);
}

void DiffView::setLanguage(DiffPane::Language language) {
  for (DiffPane* pane : m_panes) {
    pane->setLanguage(language);
  }
  m_unified->setLanguage(language);
}

void DiffView::setTexts(std::vector<DiffText> texts) {
  const bool isOtherCount = static_cast<int>(texts.size()) != paneCount() && paneCount() > 0;
  const Sight sight = isOtherCount ? sightOf(m_active) : Sight();
  if (!m_document.setTexts(std::move(texts))) {
    return;
  }
  m_active = std::clamp(m_active, 0, std::max(0, paneCount() - 1));
  for (int i = 0; i < static_cast<int>(m_panes.size()); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const bool isUsed = i < paneCount();
    m_columns[at]->setVisible(isUsed);
    if (i > 0) {
      m_maps[at - 1]->setVisible(isUsed);
    }
    m_panes[at]->setTitle(isUsed ? m_document.title(i) : QString());
    const QString sentence = isUsed ? m_document.whenEmpty(i) : QString();
    m_empties[at]->setSentence(sentence.isEmpty() ? tr("There is no text on this side.") : sentence);
    m_empties[at]->setEmpty(isUsed && m_document.text(i).isEmpty());
  }
  m_opened = true;
  m_sight = sight;
  compare();
}

void DiffView::setOptions(const DiffOptions& options) {
  if (options != m_options) {
    m_options = options;
    compare();
  }
}

void DiffView::setLayoutMode(Layout layout) {
  m_layout = layout;
  m_stack->setCurrentIndex(layout == Layout::SideBySide ? 0 : 1);
  compare();
}

// An answer that comes when the next question was asked is dropped.
void DiffView::compare() {
  const int generation = ++m_generation;
  // Two in one are the first and the last: the ancestor stays out.
  const std::vector<QString>& all = m_document.texts();
  const bool onlyEnds = m_layout == Layout::Unified && all.size() == 3;
  const std::vector<QString> texts = onlyEnds ? std::vector<QString>{all.front(), all.back()} : all;
  if (sizeOf(texts) <= kAtOnce) {
    showDiffs(generation, diffAll(texts, m_options));
    return;
  }
  QtConcurrent::run(diffAll, texts, m_options).then(this, [this, generation](std::vector<TextDiff> diffs) {
    showDiffs(generation, std::move(diffs));
  });
}

void DiffView::showDiffs(int generation, std::vector<TextDiff> diffs) {
  if (generation != m_generation) {
    return;
  }
  m_diffs = std::move(diffs);
  m_conflicts = m_diffs.size() == 2 ? static_cast<int>(conflicts(m_diffs[0], m_diffs[1]).size()) : 0;
  for (LinkMap* map : m_maps) {
    map->setDiff(nullptr);
  }
  if (m_layout == Layout::Unified) {
    showUnified();
  }
  for (std::size_t i = 0; m_layout == Layout::SideBySide && i < m_document.texts().size(); ++i) {
    m_panes[i]->setText(m_document.texts()[i]);
    // With an ancestor between them both sides are new; else the left one is old.
    const bool isAncestor = m_document.texts().size() == 3 && i == 1;
    const bool isOld = m_document.texts().size() == 3 ? isAncestor : i == 0;
    std::vector<DiffPane::Marked> marked;
    if (i > 0) {
      m_maps[i - 1]->setDiff(&m_diffs[i - 1]);
      marked.push_back({DiffSide::Right, &m_diffs[i - 1], isOld});
    }
    if (i < m_diffs.size()) {
      marked.push_back({DiffSide::Left, &m_diffs[i], isOld});
    }
    m_panes[i]->mark(marked);
  }
  updateTitles();
  updateCurrent();
  updateOverview();
  if (std::exchange(m_opened, false) && !restoreSight()) {
    showFirstChange();
  }
  Q_EMIT compared();
}

// Generated sources begin with hundreds of lines that they all have. The caret stays at the top: the first step to the
// next change is one to this change.
void DiffView::showFirstChange() {
  if (m_layout == Layout::Unified) {
    if (const int line = nextBlock(m_unifiedLines, -1); line >= 0) {
      m_unified->reveal(line);
    }
    return;
  }
  // A side may be what the ancestor is.
  for (int diff = 0; diff < static_cast<int>(m_diffs.size()); ++diff) {
    const TextDiff& shown = m_diffs[static_cast<std::size_t>(diff)];
    const int pane = std::clamp(m_active, diff, diff + 1);
    const DiffSide side = pane == diff ? DiffSide::Left : DiffSide::Right;
    if (const int chunk = nextChunk(shown, side, -1); chunk >= 0) {
      m_panes[static_cast<std::size_t>(pane)]->reveal(shown.chunks[static_cast<std::size_t>(chunk)].range(side).first);
      followScroll(pane);
      return;
    }
  }
}

DiffView::Sight DiffView::sightOf(int pane) const {
  const DiffPane& shown = *m_panes[static_cast<std::size_t>(pane)];
  return {m_document.text(pane), shown.caretLine(), shown.topLine()};
}

// Where the same texts are shown with the ancestor or without it, the reader stays where he was.
bool DiffView::restoreSight() {
  const auto& texts = m_document.texts();
  const auto same = std::find(texts.begin(), texts.end(), m_sight.text);
  if (m_layout == Layout::Unified || m_sight.text.isEmpty() || same == texts.end()) {
    return false;
  }
  m_active = static_cast<int>(same - texts.begin());
  active().setCaretLine(m_sight.caret);
  active().setTopLine(m_sight.top);
  followScroll(m_active);
  return true;
}

void DiffView::showUnified() {
  const TextDiff diff = m_diffs.empty() ? TextDiff() : m_diffs.front();
  m_unifiedLines.clear();
  if (!m_document.texts().empty()) {
    m_unifiedLines =
        unifiedLines(linesOf(m_document.texts().front()), linesOf(m_document.texts().back()), diff, kContext);
  }
  m_unified->setUnified(m_unifiedLines, diff);
}

void DiffView::updateTitles() {
  for (int i = 0; i < paneCount(); ++i) {
    const QString& title = m_document.title(i);
    m_titles[static_cast<std::size_t>(i)]->setFullText(isEdited(i) ? tr("%1 (edited)").arg(title) : title);
  }
}

int DiffView::activeDiff() const {
  return m_diffs.empty() ? -1 : std::clamp(m_active - 1, 0, static_cast<int>(m_diffs.size()) - 1);
}

DiffSide DiffView::activeSide() const {
  return m_active == activeDiff() ? DiffSide::Left : DiffSide::Right;
}

DiffPane& DiffView::active() const {
  return m_layout == Layout::Unified ? *m_unified : *m_panes[static_cast<std::size_t>(m_active)];
}

int DiffView::changeCount() const {
  int count = 0;
  for (const TextDiff& diff : m_diffs) {
    count += diff.changeCount();
  }
  return count;
}

void DiffView::updateCurrent() {
  const int diff = activeDiff();
  if (diff < 0 || m_layout == Layout::Unified) {
    return;
  }
  const TextDiff& shown = m_diffs[static_cast<std::size_t>(diff)];
  const int chunk = chunkAt(shown, activeSide(), active().caretLine());
  for (std::size_t i = 0; i < m_diffs.size(); ++i) {
    m_maps[i]->setCurrent(static_cast<int>(i) == diff ? chunk : -1);
  }
  for (int i = 0; i < paneCount(); ++i) {
    const bool isInvolved = chunk >= 0 && (i == diff || i == diff + 1);
    const DiffSide side = i == diff ? DiffSide::Left : DiffSide::Right;
    m_panes[static_cast<std::size_t>(i)]->markCurrent(
        isInvolved ? shown.chunks[static_cast<std::size_t>(chunk)].range(side) : LineRange{});
  }
}

void DiffView::updateOverview() {
  std::vector<DiffOverview::Band> bands;
  if (m_layout == Layout::Unified) {
    for (std::size_t i = 0; i < m_unifiedLines.size(); ++i) {
      if (isChange(m_unifiedLines[i])) {
        bands.push_back({{static_cast<int>(i), 1}, m_unifiedLines[i].kind == UnifiedLine::Kind::LeftOnly});
      }
    }
  } else if (const int diff = activeDiff(); diff >= 0) {
    for (const DiffChunk& chunk : m_diffs[static_cast<std::size_t>(diff)].chunks) {
      if (!chunk.isIgnored) {
        bands.push_back({chunk.range(activeSide()), chunk.right.count == 0});
      }
    }
  }
  m_overview->setBands(std::move(bands), active().lineCount());
  m_overview->setSight({active().topLine(), active().visibleLines()});
}

// What is in the middle of one side is in the middle of the others.
void DiffView::followScroll(int pane) {
  if (m_following || m_diffs.size() + 1 != m_document.texts().size() || m_layout == Layout::Unified ||
      pane >= paneCount()) {
    return;
  }
  if (m_panes[static_cast<std::size_t>(pane)]->topLine() == m_followedTop[static_cast<std::size_t>(pane)]) {
    return;
  }
  m_followedTop.fill(-1);
  m_following = true;
  const DiffPane& leader = *m_panes[static_cast<std::size_t>(pane)];
  const double half = leader.visibleLines() / 2.0;
  const auto follow = [&](int from, int to, double line) {
    const int diff = std::min(from, to);
    const double mapped =
        mapLine(m_diffs[static_cast<std::size_t>(diff)], from < to ? DiffSide::Left : DiffSide::Right, line);
    m_panes[static_cast<std::size_t>(to)]->setTopLine(static_cast<int>(std::lround(mapped - half)));
    m_panes[static_cast<std::size_t>(to)]->setHorizontalPosition(leader.horizontalPosition());
    m_followedTop[static_cast<std::size_t>(to)] = m_panes[static_cast<std::size_t>(to)]->topLine();
    return mapped;
  };
  double line = leader.topLine() + half;
  for (int i = pane; i + 1 < paneCount(); ++i) {
    line = follow(i, i + 1, line);
  }
  line = leader.topLine() + half;
  for (int i = pane; i > 0; --i) {
    line = follow(i, i - 1, line);
  }
  m_following = false;
  updateOverview();
}

void DiffView::nextChange() {
  if (m_layout == Layout::Unified) {
    goToBlock(nextBlock(m_unifiedLines, m_unified->caretLine()));
    return;
  }
  if (activeDiff() < 0) {
    return;
  }
  const int diff = activeDiff();
  goToChunk(diff, nextChunk(m_diffs[static_cast<std::size_t>(diff)], activeSide(), active().caretLine()), activeSide());
}

void DiffView::previousChange() {
  if (m_layout == Layout::Unified) {
    goToBlock(previousBlock(m_unifiedLines, m_unified->caretLine()));
    return;
  }
  if (activeDiff() < 0) {
    return;
  }
  const int diff = activeDiff();
  goToChunk(diff, previousChunk(m_diffs[static_cast<std::size_t>(diff)], activeSide(), active().caretLine()),
            activeSide());
}

void DiffView::goToBlock(int line) {
  if (line >= 0) {
    m_unified->setCaretLine(line);
  }
}

void DiffView::goToChunk(int diff, int chunk, DiffSide side) {
  if (chunk >= 0) {
    active().setCaretLine(
        m_diffs[static_cast<std::size_t>(diff)].chunks[static_cast<std::size_t>(chunk)].range(side).first);
  }
}

void DiffView::nextPane() {
  if (m_layout == Layout::SideBySide && m_active + 1 < paneCount()) {
    m_panes[static_cast<std::size_t>(m_active) + 1]->setFocus(Qt::ShortcutFocusReason);
  }
}

void DiffView::previousPane() {
  if (m_layout == Layout::SideBySide && m_active > 0) {
    m_panes[static_cast<std::size_t>(m_active - 1)]->setFocus(Qt::ShortcutFocusReason);
  }
}

void DiffView::goToLine(int line) {
  active().setCaretLine(line);
  active().setFocus(Qt::ShortcutFocusReason);
}

void DiffView::toggleOverview() {
  m_overview->setVisible(!m_overview->isVisible());
}

void DiffView::openFind() {
  m_find->open(FindBar::Mode::Find, active().selectedText());
}

void DiffView::findNext() {
  search(true);
}

void DiffView::findPrevious() {
  search(false);
}

void DiffView::search(bool forward) {
  const QString text = m_find->text();
  const bool isFound = text.isEmpty() || active().find(text, m_find->options(), forward);
  m_find->setResult(isFound ? QString() : tr("not found"));
}

}  // namespace swage::ui
