// SPDX-License-Identifier: GPL-3.0-or-later
// How KernelView takes a text: where it was left, what of it is folded, and what differs from the text before it.
#include <Qsci/qsciscintilla.h>

#include <algorithm>

#include "ui/editor/editor_marks.h"
#include "ui/editor/kernel_start.h"
#include "ui/editor/kernel_view.h"
#include "ui/models/line_diff.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr std::size_t kRememberedTexts = 64;
constexpr qsizetype kMostMarkedText = 1 << 20;  // characters: longer texts are not compared at every key

// The line that a position of a text is on.
int lineAt(const QString& text, qsizetype position) {
  return static_cast<int>(QStringView(text).left(position).count(u'\n'));
}

QString withLineEnd(const QString& text) {
  return text.isEmpty() || text.endsWith(u'\n') ? text : QString(text % u'\n');
}

}  // namespace

void KernelView::setText(const QString& text) {
  if (text == m_editor->text()) {
    return;
  }
  rememberPosition();
  m_settingText = true;
  m_editor->SendScintilla(QsciScintilla::SCI_SETSCROLLWIDTH, 1UL);
  m_editor->setReadOnly(false);
  m_editor->setText(text);
  m_editor->SendScintilla(QsciScintilla::SCI_EMPTYUNDOBUFFER);
  m_editor->setReadOnly(m_editing != Editing::Now);
  m_editor->setCursorPosition(0, 0);
  foldHelpers();
  m_wasKnown = restorePosition();
  m_settingText = false;
  m_caretLine = caretLine();
  updateMargin();
  updateChanges();
}

void KernelView::rememberPosition() {
  Position now;
  now.text = qHash(m_editor->text());
  now.top = firstVisibleLine();
  m_editor->getCursorPosition(&now.caretLine, &now.caretColumn);
  std::erase_if(m_positions, [&now](const Position& one) { return one.text == now.text; });
  m_positions.push_front(now);
  if (m_positions.size() > kRememberedTexts) {
    m_positions.pop_back();
  }
}

bool KernelView::restorePosition() {
  const std::size_t text = qHash(m_editor->text());
  const auto known =
      std::find_if(m_positions.begin(), m_positions.end(), [text](const Position& one) { return one.text == text; });
  if (known == m_positions.end()) {
    return false;
  }
  m_editor->ensureLineVisible(known->caretLine);
  m_editor->setCursorPosition(known->caretLine, known->caretColumn);
  setTopLine(known->top);
  return true;
}

void KernelView::foldHelpers() {
  const bool isCode = m_language == Language::Cuda || m_language == Language::Cpp;
  const int kernel = isCode ? kernelStart(m_editor->text()) : -1;
  if (kernel <= 0) {
    return;
  }
  // What folds is known of lines that were coloured.
  m_editor->SendScintilla(QsciScintilla::SCI_COLOURISE, 0UL, -1L);
  for (int line = 0; line < kernel;) {
    const auto at = static_cast<unsigned long>(line);
    const long level = m_editor->SendScintilla(QsciScintilla::SCI_GETFOLDLEVEL, at);
    const auto last = static_cast<int>(m_editor->SendScintilla(QsciScintilla::SCI_GETLASTCHILD, at, -1L));
    const bool isFolder = (level & QsciScintilla::SC_FOLDLEVELHEADERFLAG) != 0 && last > line && last < kernel;
    if (isFolder) {
      m_editor->SendScintilla(QsciScintilla::SCI_FOLDLINE, at,
                              static_cast<long>(QsciScintilla::SC_FOLDACTION_CONTRACT));
    }
    line = isFolder ? last + 1 : line + 1;
  }
}

void KernelView::reveal(const QString& text) {
  const QString whole = m_editor->text();
  int line = kernelStart(whole);
  if (line < 0) {
    const qsizetype position = whole.indexOf(text);
    line = position > 0 ? lineAt(whole, position) : -1;
  }
  if (line >= 0) {
    m_editor->setCursorPosition(line, 0);
    setTopLine(line);
  }
}

void KernelView::setOriginal(const QString& original) {
  if (original != m_original) {
    m_original = original;
    updateChanges();
  }
}

void KernelView::updateChanges() {
  LineChanges changes;
  const QString text = m_original.isEmpty() ? QString() : m_editor->text();
  if (text != m_original && text.size() <= kMostMarkedText) {
    for (const DiffChunk& chunk :
         diffLines(withLineEnd(m_original).toStdString(), withLineEnd(text).toStdString(), false)) {
      for (int line = chunk.right.first; line < chunk.right.end(); ++line) {
        changes.changed.push_back(line);
      }
      if (chunk.right.count == 0) {
        changes.removed.push_back(chunk.right.first);
      }
    }
  }
  m_marks->setChanges(std::move(changes), !m_original.isEmpty());
}

bool KernelView::isLineShown(int line) const {
  return m_editor->SendScintilla(QsciScintilla::SCI_GETLINEVISIBLE, static_cast<unsigned long>(line)) != 0;
}

// Lines that are folded away are none on the screen.
void KernelView::setTopLine(int line) {
  const long shown =
      m_editor->SendScintilla(QsciScintilla::SCI_VISIBLEFROMDOCLINE, static_cast<unsigned long>(std::max(line, 0)));
  m_editor->setFirstVisibleLine(static_cast<int>(shown));
}

int KernelView::firstVisibleLine() const {
  return static_cast<int>(m_editor->SendScintilla(QsciScintilla::SCI_DOCLINEFROMVISIBLE,
                                                  static_cast<unsigned long>(m_editor->firstVisibleLine())));
}

}  // namespace swage::ui
