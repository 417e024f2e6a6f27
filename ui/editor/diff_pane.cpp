// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/diff_pane.h"

#include <Qsci/qscicommandset.h>
#include <Qsci/qsciscintilla.h>
#include <Qsci/qscistyle.h>

#include <QEvent>
#include <QScrollBar>
#include <QVBoxLayout>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

enum Margin { Numbers, Signs };
enum Marker { OldLine, NewLine, OldSign, NewSign, CurrentChunk, GapLine };
enum Indicator { OldWord = 8, NewWord };

QString numberOf(int line) {
  return line < 0 ? QString() : QString::number(line + 1) % u' ';
}

}  // namespace

DiffPane::DiffPane(QWidget* parent)
    : QWidget(parent),
      m_editor(new QsciScintilla(this)),
      m_source(makeLexer(CodeLanguage::Cuda, this)),
      m_assembly(makeLexer(CodeLanguage::Ptx, this)) {
  m_editor->setReadOnly(true);
  m_editor->setUtf8(true);
  m_editor->setFrameShape(QFrame::NoFrame);
  m_editor->setMarginType(Numbers, QsciScintilla::NumberMargin);
  m_editor->setMarginType(Signs, QsciScintilla::SymbolMargin);
  m_editor->setMarginMarkerMask(Signs, (1 << OldSign) | (1 << NewSign) | (1 << CurrentChunk));
  m_editor->setMarginMarkerMask(Numbers, 0);
  m_editor->SendScintilla(QsciScintilla::SCI_SETSCROLLWIDTHTRACKING, 1UL);
  m_editor->SendScintilla(QsciScintilla::SCI_SETSCROLLWIDTH, 1UL);
  m_editor->SendScintilla(QsciScintilla::SCI_SETENDATLASTLINE, 0UL);  // so that a shorter side can keep up
  m_editor->setLexer(m_source.lexer);
  releaseKeys();
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(m_editor);
  setFocusProxy(m_editor);
  m_editor->installEventFilter(this);
  connect(m_editor->verticalScrollBar(), &QScrollBar::valueChanged, this, &DiffPane::scrolled);
  connect(m_editor->horizontalScrollBar(), &QScrollBar::valueChanged, this, &DiffPane::scrolled);
  connect(m_editor, &QsciScintilla::SCN_UPDATEUI, this, [this](int what) {
    if ((what & (QsciScintilla::SC_UPDATE_V_SCROLL | QsciScintilla::SC_UPDATE_H_SCROLL)) != 0) {
      Q_EMIT scrolled();
    }
  });
  connect(m_editor, &QsciScintilla::cursorPositionChanged, this, [this](int line, int) { Q_EMIT caretMoved(line); });
  setTheme(m_theme);
}

// Scintilla takes the keys that it has commands for before any shortcut; those of a comparison are not its own.
void DiffPane::releaseKeys() {
  constexpr QKeyCombination kKeys[] = {Qt::ALT | Qt::Key_Down,
                                       Qt::ALT | Qt::Key_Up,
                                       Qt::ALT | Qt::Key_Left,
                                       Qt::ALT | Qt::Key_Right,
                                       Qt::ALT | Qt::SHIFT | Qt::Key_Left,
                                       Qt::ALT | Qt::SHIFT | Qt::Key_Right,
                                       Qt::ALT | Qt::Key_Delete,
                                       Qt::ALT | Qt::Key_PageUp,
                                       Qt::ALT | Qt::Key_PageDown,
                                       Qt::CTRL | Qt::Key_D,
                                       Qt::CTRL | Qt::Key_E,
                                       Qt::CTRL | Qt::Key_I,
                                       Qt::CTRL | Qt::Key_Z};
  for (const QKeyCombination key : kKeys) {
    if (QsciCommand* command = m_editor->standardCommands()->boundTo(key.toCombined())) {
      command->setKey(0);
    }
  }
}

void DiffPane::setTitle(const QString& title) {
  setAccessibleName(title);
  m_editor->setAccessibleName(title);
}

void DiffPane::setStyle(const EditorStyle& style) {
  if (style != m_style) {
    m_style = style;
    setTheme(m_theme);
  }
}

void DiffPane::setTheme(const Theme& theme) {
  m_theme = theme;
  const QFont font = codeFont(m_style);
  m_editor->setTabWidth(m_style.tabWidth);
  m_editor->setFont(font);
  m_editor->setPaper(theme.base);
  m_editor->setColor(theme.text);
  m_source.setTheme(theme, font);
  m_assembly.setTheme(theme, font);
  m_editor->setCaretForegroundColor(theme.text);
  m_editor->setSelectionBackgroundColor(theme.accent);
  m_editor->setSelectionForegroundColor(theme.accentText);
  m_editor->setMarginsFont(font);
  m_editor->setMarginsBackgroundColor(theme.alternateBase);
  m_editor->setMarginsForegroundColor(theme.mutedText);
  defineMarks();
  updateNumberMargin();
}

void DiffPane::defineMarks() {
  m_editor->markerDefine(QsciScintilla::Background, OldLine);
  m_editor->markerDefine(QsciScintilla::Background, NewLine);
  m_editor->markerDefine(QsciScintilla::Background, GapLine);
  m_editor->markerDefine('-', OldSign);
  m_editor->markerDefine('+', NewSign);
  m_editor->markerDefine(QsciScintilla::LeftRectangle, CurrentChunk);
  m_editor->setMarkerBackgroundColor(m_theme.diffOld, OldLine);
  m_editor->setMarkerBackgroundColor(m_theme.diffNew, NewLine);
  m_editor->setMarkerBackgroundColor(m_theme.diffFiller, GapLine);
  m_editor->setMarkerBackgroundColor(m_theme.accent, CurrentChunk);
  for (const int sign : {OldSign, NewSign}) {
    m_editor->setMarkerForegroundColor(m_theme.text, sign);
    m_editor->setMarkerBackgroundColor(m_theme.alternateBase, sign);
  }
  const std::pair<int, QColor> words[] = {{OldWord, m_theme.diffOldToken}, {NewWord, m_theme.diffNewToken}};
  for (const auto& [indicator, color] : words) {
    m_editor->indicatorDefine(QsciScintilla::FullBoxIndicator, indicator);
    m_editor->setIndicatorForegroundColor(color, indicator);
    m_editor->setIndicatorDrawUnder(true, indicator);
    m_editor->SendScintilla(QsciScintilla::SCI_INDICSETALPHA, static_cast<unsigned long>(indicator), 255L);
    m_editor->SendScintilla(QsciScintilla::SCI_INDICSETOUTLINEALPHA, static_cast<unsigned long>(indicator), 255L);
  }
}

void DiffPane::setLanguage(Language language) {
  m_editor->setLexer(language == Language::Cuda ? m_source.lexer : m_assembly.lexer);
  setTheme(m_theme);
}

void DiffPane::setText(const QString& text) {
  m_editor->setMarginType(Numbers, QsciScintilla::NumberMargin);
  m_editor->clearMarginText();
  if (text != m_editor->text()) {
    m_editor->SendScintilla(QsciScintilla::SCI_SETSCROLLWIDTH, 1UL);
    m_editor->setText(text);
  }
  clearMarks();
  updateNumberMargin();
}

QString DiffPane::text() const {
  return m_editor->text();
}

void DiffPane::clearMarks() {
  m_editor->markerDeleteAll();
  const int last = std::max(0, m_editor->lines() - 1);
  for (const int indicator : {OldWord, NewWord}) {
    m_editor->clearIndicatorRange(0, 0, last, m_editor->lineLength(last), indicator);
  }
}

void DiffPane::markRange(const LineRange& range, int background, int sign) {
  for (int line = range.first; line < range.end(); ++line) {
    m_editor->markerAdd(line, background);
    m_editor->markerAdd(line, sign);
  }
}

void DiffPane::mark(const std::vector<Marked>& differences) {
  clearMarks();
  for (const auto& [side, diff, isOld] : differences) {
    for (const DiffChunk& chunk : diff->chunks) {
      if (!chunk.isIgnored) {
        markRange(chunk.range(side), isOld ? OldLine : NewLine, isOld ? OldSign : NewSign);
      }
    }
    for (const InlineMark& word : diff->marks(side)) {
      m_editor->fillIndicatorRange(word.line, word.column, word.line, word.column + word.length,
                                   isOld ? OldWord : NewWord);
    }
  }
}

void DiffPane::setUnified(const std::vector<UnifiedLine>& lines, const TextDiff& diff) {
  QStringList texts;
  for (const UnifiedLine& line : lines) {
    texts.push_back(line.kind == UnifiedLine::Kind::Gap ? u"⋯"_s : line.text);
  }
  setText(texts.join(u'\n'));
  constexpr qsizetype kWidth = 6;  // of one of the two numbers
  m_editor->setMarginType(Numbers, QsciScintilla::TextMargin);
  m_editor->setMarginWidth(Numbers, QString(2 * kWidth, u'9'));
  const QsciStyle style(-1, u"numbers"_s, m_theme.mutedText, m_theme.alternateBase, codeFont(m_style));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto at = static_cast<int>(i);
    const QString numbers =
        numberOf(lines[i].left).rightJustified(kWidth) % numberOf(lines[i].right).rightJustified(kWidth);
    m_editor->setMarginText(at, numbers, style);
    markUnified(at, lines[i], diff);
  }
}

void DiffPane::markUnified(int at, const UnifiedLine& line, const TextDiff& diff) {
  if (line.kind == UnifiedLine::Kind::Gap) {
    m_editor->markerAdd(at, GapLine);
  }
  if (line.kind != UnifiedLine::Kind::LeftOnly && line.kind != UnifiedLine::Kind::RightOnly) {
    return;
  }
  const bool isOld = line.kind == UnifiedLine::Kind::LeftOnly;
  markRange({at, 1}, isOld ? OldLine : NewLine, isOld ? OldSign : NewSign);
  const std::vector<InlineMark>& marks = isOld ? diff.leftMarks : diff.rightMarks;
  const int number = isOld ? line.left : line.right;
  const auto before = [](const InlineMark& mark, int wanted) { return mark.line < wanted; };
  for (auto mark = std::lower_bound(marks.begin(), marks.end(), number, before);
       mark != marks.end() && mark->line == number; ++mark) {
    m_editor->fillIndicatorRange(at, mark->column, at, mark->column + mark->length, isOld ? OldWord : NewWord);
  }
}

void DiffPane::markCurrent(const LineRange& lines) {
  m_editor->markerDeleteAll(CurrentChunk);
  for (int line = lines.first; line < lines.end(); ++line) {
    m_editor->markerAdd(line, CurrentChunk);
  }
}

int DiffPane::caretLine() const {
  int line = 0;
  int column = 0;
  m_editor->getCursorPosition(&line, &column);
  return line;
}

void DiffPane::setCaretLine(int line) {
  m_editor->setCursorPosition(std::clamp(line, 0, std::max(0, lineCount() - 1)), 0);
  reveal(line);
}

void DiffPane::reveal(int line) {
  constexpr int kMargin = 2;  // lines around it
  const bool isInSight = line >= topLine() + kMargin && line + kMargin < topLine() + visibleLines();
  const bool isAtTheTop = topLine() == 0 && line < visibleLines() - kMargin;
  if (!isInSight && !isAtTheTop) {
    setTopLine(line - visibleLines() / 3);
  }
}

int DiffPane::lineCount() const {
  return m_editor->lines();
}

int DiffPane::topLine() const {
  return m_editor->firstVisibleLine();
}

void DiffPane::setTopLine(int line) {
  m_editor->setFirstVisibleLine(std::max(0, line));
  Q_EMIT scrolled();  // Scintilla keeps its scroll bars quiet when it moves them itself
}

int DiffPane::visibleLines() const {
  return static_cast<int>(m_editor->SendScintilla(QsciScintilla::SCI_LINESONSCREEN));
}

int DiffPane::horizontalPosition() const {
  return m_editor->horizontalScrollBar()->value();
}

void DiffPane::setHorizontalPosition(int position) {
  m_editor->horizontalScrollBar()->setValue(position);
}

double DiffPane::lineTop(int line) const {
  return m_editor->y() + static_cast<double>(line - topLine()) * m_editor->textHeight(0);
}

QString DiffPane::selectedText() const {
  return m_editor->selectedText();
}

bool DiffPane::find(const QString& text, const FindOptions& options, bool forward) {
  int line = -1;
  int column = -1;
  if (!forward && m_editor->hasSelectedText()) {
    int lineTo = 0;
    int columnTo = 0;
    m_editor->getSelection(&line, &column, &lineTo, &columnTo);
  }
  constexpr bool kWrap = true;
  return m_editor->findFirst(text, options.regularExpression, options.caseSensitive, options.wholeWord, kWrap, forward,
                             line, column);
}

void DiffPane::updateNumberMargin() {
  const auto digits = QString::number(std::max(100, m_editor->lines())).size();
  m_editor->setMarginWidth(Numbers, QString(digits + 1, u'9'));
  m_editor->setMarginWidth(Signs, u"+++"_s);
}

bool DiffPane::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::FocusIn) {
    Q_EMIT focused();
  }
  return QWidget::eventFilter(watched, event);
}

}  // namespace swage::ui
