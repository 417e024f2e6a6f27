// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/kernel_view.h"

#include <Qsci/qsciscintilla.h>

#include <QAction>
#include <QFontDatabase>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/editor/cuda_lexer.h"
#include "ui/editor/find_bar.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr int kLineNumbers = 0;
constexpr int kFolding = 1;

QFont codeFont() {
  QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
  font.setStyleHint(QFont::Monospace);
  return font;
}

}  // namespace

KernelView::KernelView(Language language, QWidget* parent)
    : QWidget(parent), m_editor(new QsciScintilla(this)), m_find(new FindBar(this)) {
  m_editor->setObjectName(u"kernelText"_s);
  m_editor->setReadOnly(true);
  m_editor->setUtf8(true);
  m_editor->setFrameShape(QFrame::NoFrame);
  m_editor->setTabWidth(2);
  m_editor->setCaretLineVisible(true);
  m_editor->setMarginType(kLineNumbers, QsciScintilla::NumberMargin);
  m_editor->setMarginWidth(kFolding, 0);
  m_editor->SendScintilla(QsciScintilla::SCI_SETSCROLLWIDTHTRACKING, 1UL);
  m_editor->SendScintilla(QsciScintilla::SCI_SETSCROLLWIDTH, 1UL);
  m_editor->SendScintilla(QsciScintilla::SCI_SETMARGINLEFT, 0UL, 8L);
  m_editor->SendScintilla(QsciScintilla::SCI_SETEXTRAASCENT, 1UL);
  m_editor->SendScintilla(QsciScintilla::SCI_SETEXTRADESCENT, 1UL);
  if (language == Language::Cuda) {
    m_lexer = new CudaLexer(this);
    m_editor->setLexer(m_lexer);
    m_editor->setBraceMatching(QsciScintilla::SloppyBraceMatch);
  }
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(m_editor, 1);
  column->addWidget(m_find);
  setFocusProxy(m_editor);
  addShortcuts();
  connect(m_find, &FindBar::textEdited, this, [this](const QString& text) {
    m_editor->setCursorPosition(0, 0);
    search(text, Direction::Forward);
  });
  connect(m_find, &FindBar::nextRequested, this, &KernelView::findNext);
  connect(m_find, &FindBar::previousRequested, this, &KernelView::findPrevious);
  connect(m_find, &FindBar::closed, this, [this] { m_editor->setFocus(); });
  setTheme(Theme::light());
}

void KernelView::addShortcuts() {
  const auto add = [this](QKeySequence::StandardKey key, void (KernelView::*slot)()) {
    auto* action = new QAction(this);
    action->setShortcuts(key);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(action, &QAction::triggered, this, slot);
    addAction(action);
  };
  add(QKeySequence::Find, &KernelView::openFind);
  add(QKeySequence::FindNext, &KernelView::findNext);
  add(QKeySequence::FindPrevious, &KernelView::findPrevious);
}

void KernelView::setTheme(const Theme& theme) {
  const QFont font = codeFont();
  m_editor->setFont(font);
  m_editor->setPaper(theme.base);
  m_editor->setColor(theme.text);
  if (m_lexer != nullptr) {
    m_lexer->setTheme(theme, font);
  }
  m_editor->setCaretForegroundColor(theme.text);
  m_editor->setCaretLineBackgroundColor(theme.caretLine);
  m_editor->setSelectionBackgroundColor(theme.accent);
  m_editor->setSelectionForegroundColor(theme.accentText);
  m_editor->setMarginsFont(font);
  m_editor->setMarginsBackgroundColor(theme.alternateBase);
  m_editor->setMarginsForegroundColor(theme.mutedText);
  m_editor->setMatchedBraceBackgroundColor(theme.caretLine);
  m_editor->setMatchedBraceForegroundColor(theme.accent);
  m_editor->setUnmatchedBraceBackgroundColor(theme.base);
  m_editor->setUnmatchedBraceForegroundColor(theme.bad);
  m_find->setTheme(theme);
  updateMargin();
}

void KernelView::setText(const QString& text) {
  if (text == m_editor->text()) {
    return;
  }
  m_editor->SendScintilla(QsciScintilla::SCI_SETSCROLLWIDTH, 1UL);
  m_editor->setText(text);
  m_editor->setCursorPosition(0, 0);
  updateMargin();
}

void KernelView::reveal(const QString& text) {
  const QString whole = m_editor->text();
  const qsizetype position = whole.indexOf(text);
  if (position <= 0) {
    return;
  }
  const auto line = static_cast<int>(whole.left(position).count(u'\n'));
  m_editor->setCursorPosition(line, 0);
  m_editor->setFirstVisibleLine(line);
}

int KernelView::firstVisibleLine() const {
  return m_editor->firstVisibleLine();
}

QString KernelView::text() const {
  return m_editor->text();
}

QString KernelView::selectedText() const {
  return m_editor->selectedText();
}

void KernelView::updateMargin() {
  const auto digits = QString::number(std::max(100, m_editor->lines())).size();
  m_editor->setMarginWidth(kLineNumbers, QString(digits + 1, u'9'));
}

void KernelView::openFind() {
  m_find->open(m_editor->selectedText());
}

void KernelView::findNext() {
  search(m_find->text(), Direction::Forward);
}

void KernelView::findPrevious() {
  search(m_find->text(), Direction::Backward);
}

void KernelView::search(const QString& text, Direction direction) {
  if (text.isEmpty()) {
    m_find->setFound(true);
    return;
  }
  int line = -1;
  int column = -1;
  if (direction == Direction::Backward && m_editor->hasSelectedText()) {
    // findFirst starts at the end of the selection; backward it would find the selection itself again.
    int lineTo = 0;
    int columnTo = 0;
    m_editor->getSelection(&line, &column, &lineTo, &columnTo);
  }
  constexpr bool kRegExp = false;
  constexpr bool kCaseSensitive = false;
  constexpr bool kWholeWord = false;
  constexpr bool kWrap = true;
  m_find->setFound(m_editor->findFirst(text, kRegExp, kCaseSensitive, kWholeWord, kWrap,
                                       direction == Direction::Forward, line, column));
}

}  // namespace swage::ui
