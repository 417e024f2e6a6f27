// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/kernel_view.h"

#include <Qsci/qscicommandset.h>
#include <Qsci/qscilexer.h>
#include <Qsci/qsciscintilla.h>

#include <QAction>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/editor/completion.h"
#include "ui/editor/editor_marks.h"
#include "ui/editor/find_bar.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr int kLineNumbers = 0;
constexpr int kFolding = 1;

bool isCode(CodeLanguage language) {
  return language == CodeLanguage::Cuda || language == CodeLanguage::Cpp || language == CodeLanguage::Python;
}

}  // namespace

KernelView::KernelView(Language language, QWidget* parent)
    : QWidget(parent), m_editor(new QsciScintilla(this)), m_language(Language::Plain), m_find(new FindBar(this)) {
  configure();
  m_marks = std::make_unique<EditorMarks>(*m_editor);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(m_editor, 1);
  column->addWidget(m_find);
  setFocusProxy(m_editor);
  addShortcuts();
  connectEditor();
  setLanguage(language);
  setTheme(Theme::light());
}

KernelView::~KernelView() {
  m_editor->disconnect(this);  // it outlives the marks
}

void KernelView::configure() {
  m_editor->setObjectName(u"kernelText"_s);
  m_editor->setReadOnly(true);
  m_editor->setUtf8(true);
  m_editor->setFrameShape(QFrame::NoFrame);
  m_editor->setIndentationsUseTabs(false);
  m_editor->setAutoIndent(true);
  m_editor->setMarginType(kLineNumbers, QsciScintilla::NumberMargin);
  m_editor->setMarginWidth(kFolding, 0);
  m_editor->SendScintilla(QsciScintilla::SCI_SETSCROLLWIDTHTRACKING, 1UL);
  m_editor->SendScintilla(QsciScintilla::SCI_SETSCROLLWIDTH, 1UL);
  m_editor->SendScintilla(QsciScintilla::SCI_SETMARGINLEFT, 0UL, 8L);
  m_editor->SendScintilla(QsciScintilla::SCI_SETEXTRAASCENT, 1UL);
  m_editor->SendScintilla(QsciScintilla::SCI_SETEXTRADESCENT, 1UL);
  // Several carets: Ctrl+click, Ctrl+D, Alt+Shift+arrows; what is typed and pasted goes to each.
  m_editor->SendScintilla(QsciScintilla::SCI_SETMULTIPLESELECTION, 1UL);
  m_editor->SendScintilla(QsciScintilla::SCI_SETADDITIONALSELECTIONTYPING, 1UL);
  m_editor->SendScintilla(QsciScintilla::SCI_SETMULTIPASTE,
                          static_cast<unsigned long>(QsciScintilla::SC_MULTIPASTE_EACH));
  m_editor->SendScintilla(QsciScintilla::SCI_SETVIRTUALSPACEOPTIONS,
                          static_cast<unsigned long>(QsciScintilla::SCVS_RECTANGULARSELECTION));
  for (const int key : {static_cast<int>(Qt::CTRL) | Qt::Key_D, static_cast<int>(Qt::CTRL) | Qt::Key_L}) {
    if (QsciCommand* command = m_editor->standardCommands()->boundTo(key)) {
      command->setKey(0);
    }
  }
  m_editor->viewport()->setMouseTracking(true);
  m_editor->viewport()->installEventFilter(this);
}

void KernelView::connectEditor() {
  connect(m_find, &FindBar::searchEdited, this, &KernelView::searchFromStart);
  connect(m_find, &FindBar::nextRequested, this, &KernelView::findNext);
  connect(m_find, &FindBar::previousRequested, this, &KernelView::findPrevious);
  connect(m_find, &FindBar::replaceRequested, this, &KernelView::replace);
  connect(m_find, &FindBar::replaceAllRequested, this, &KernelView::replaceAll);
  connect(m_find, &FindBar::lineRequested, this, [this](int line) { goToLine(line - 1); });
  connect(m_find, &FindBar::closed, this, [this] { m_editor->setFocus(); });
  connect(m_editor, &QsciScintilla::SCN_MODIFYATTEMPTRO, this, &KernelView::fork);
  connect(m_editor, &QsciScintilla::textChanged, this, [this] {
    if (!m_settingText) {
      updateMargin();
      updateChanges();
      Q_EMIT edited();
    }
  });
  connect(m_editor, &QsciScintilla::cursorPositionChanged, this, [this](int line, int) {
    if (!m_settingText && line != m_caretLine) {
      m_caretLine = line;
      Q_EMIT caretLineChanged(line);
    }
  });
}

QAction* KernelView::addShortcut(const QList<QKeySequence>& keys, void (KernelView::*slot)()) {
  auto* action = new QAction(this);
  action->setShortcuts(keys);
  action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  connect(action, &QAction::triggered, this, slot);
  addAction(action);
  return action;
}

void KernelView::addShortcuts() {
  addShortcut({QKeySequence::Find}, &KernelView::openFind);
  addShortcut({Qt::Key_F3}, &KernelView::findNext);
  addShortcut({Qt::SHIFT | Qt::Key_F3}, &KernelView::findPrevious);
  addShortcut({Qt::CTRL | Qt::Key_D}, &KernelView::selectNextOccurrence);
  m_releasable = {addShortcut({Qt::CTRL | Qt::Key_H}, &KernelView::openReplace),
                  addShortcut({Qt::CTRL | Qt::Key_G, Qt::CTRL | Qt::Key_L}, &KernelView::openGoToLine)};
}

void KernelView::releaseShortcuts() {
  for (QAction* action : m_releasable) {
    action->setShortcuts(QList<QKeySequence>());
  }
}

void KernelView::setTitle(const QString& title) {
  setAccessibleName(title);
  m_editor->setAccessibleName(title);
}

void KernelView::setLanguage(Language language) {
  if (language == m_language) {
    return;
  }
  m_language = language;
  m_words.reset();
  QsciLexer* old = m_lexer.lexer;
  m_lexer = makeLexer(language, this);
  m_editor->setLexer(m_lexer.lexer);
  delete old;
  if (isCode(language)) {
    m_words = completeWords(*m_editor, *m_lexer.lexer);
  } else {
    m_editor->setAutoCompletionSource(QsciScintilla::AcsNone);
  }
  m_editor->setBraceMatching(m_lexer.lexer != nullptr ? QsciScintilla::SloppyBraceMatch : QsciScintilla::NoBraceMatch);
  m_editor->setFolding(isCode(language) ? QsciScintilla::BoxedFoldStyle : QsciScintilla::NoFoldStyle, kFolding);
  setTheme(m_theme);
}

void KernelView::setStyle(const EditorStyle& style) {
  if (style != m_style) {
    m_style = style;
    setTheme(m_theme);
  }
}

void KernelView::setTheme(const Theme& theme) {
  m_theme = theme;
  const QFont font = codeFont(m_style);
  m_editor->setTabWidth(m_style.tabWidth);
  m_editor->setCaretLineVisible(m_style.caretLine);
  m_editor->setWrapMode(m_style.wrapLines ? QsciScintilla::WrapWord : QsciScintilla::WrapNone);
  m_editor->setFont(font);
  m_editor->setPaper(theme.base);
  m_editor->setColor(theme.text);
  if (m_lexer.setTheme) {
    m_lexer.setTheme(theme, font);
  }
  m_editor->setCaretForegroundColor(theme.text);
  m_editor->setCaretLineBackgroundColor(theme.caretLine);
  m_editor->setSelectionBackgroundColor(theme.accent);
  m_editor->setSelectionForegroundColor(theme.accentText);
  m_editor->setMarginsFont(font);
  m_editor->setMarginsBackgroundColor(theme.alternateBase);
  m_editor->setMarginsForegroundColor(theme.mutedText);
  m_editor->setFoldMarginColors(theme.alternateBase, theme.alternateBase);
  // The sign in a box is drawn in the colour of its frame.
  for (const int marker : {QsciScintilla::SC_MARKNUM_FOLDER, QsciScintilla::SC_MARKNUM_FOLDEROPEN,
                           QsciScintilla::SC_MARKNUM_FOLDEREND, QsciScintilla::SC_MARKNUM_FOLDEROPENMID}) {
    m_editor->SendScintilla(QsciScintilla::SCI_MARKERSETFORE, static_cast<unsigned long>(marker), theme.alternateBase);
    m_editor->SendScintilla(QsciScintilla::SCI_MARKERSETBACK, static_cast<unsigned long>(marker), theme.text);
  }
  m_editor->setMatchedBraceBackgroundColor(theme.caretLine);
  m_editor->setMatchedBraceForegroundColor(theme.accent);
  m_editor->setUnmatchedBraceBackgroundColor(theme.base);
  m_editor->setUnmatchedBraceForegroundColor(theme.bad);
  m_marks->setTheme(theme, font);
  m_find->setTheme(theme);
  updateMargin();
}

void KernelView::setEditing(Editing editing) {
  m_editing = editing;
  m_editor->setReadOnly(editing != Editing::Now);
}

// Scintilla asks before it refuses: a text that may be changed by then takes the key.
void KernelView::fork() {
  if (m_editing == Editing::OnFirstKey) {
    setEditing(Editing::Now);
  }
}

void KernelView::goToLine(int line, int column) {
  const int wanted = std::clamp(line, 0, std::max(m_editor->lines() - 1, 0));
  m_editor->ensureLineVisible(wanted);
  m_editor->setCursorPosition(wanted, column);
  m_editor->SendScintilla(QsciScintilla::SCI_VERTICALCENTRECARET);
}

void KernelView::setDiagnostics(std::vector<domain::Diagnostic> diagnostics) {
  m_marks->setDiagnostics(std::move(diagnostics));
}

void KernelView::setHeat(std::vector<LineHeat> heat) {
  m_marks->setHeat(std::move(heat));
}

void KernelView::setLinkedLines(const std::vector<int>& lines, Reveal reveal) {
  m_marks->setLinkedLines(lines);
  if (lines.empty() || reveal == Reveal::No) {
    return;
  }
  const int first = firstVisibleLine();
  const auto count = static_cast<int>(m_editor->SendScintilla(QsciScintilla::SCI_LINESONSCREEN));
  const bool isShown = std::any_of(lines.begin(), lines.end(),
                                   [&](int line) { return line >= first && line < first + std::max(count, 1); });
  if (!isShown) {
    setTopLine(lines.front() - count / 3);
  }
}

// Asked now: QScintilla tells of a caret that moved when it paints.
int KernelView::caretLine() const {
  int line = 0;
  int column = 0;
  m_editor->getCursorPosition(&line, &column);
  return line;
}

int KernelView::lineCount() const {
  return m_editor->lines();
}

QString KernelView::text() const {
  return m_editor->text();
}

QString KernelView::selectedText() const {
  return m_editor->selectedText();
}

bool KernelView::canUndo() const {
  return m_editor->isUndoAvailable();
}

bool KernelView::canRedo() const {
  return m_editor->isRedoAvailable();
}

void KernelView::undo() {
  m_editor->undo();
}

void KernelView::redo() {
  m_editor->redo();
}

void KernelView::updateMargin() {
  const auto digits = QString::number(std::max(100, m_editor->lines())).size();
  m_editor->setMarginWidth(kLineNumbers, m_style.lineNumbers ? QString(digits + 1, u'9') : QString());
}

void KernelView::openFind() {
  m_find->open(FindBar::Mode::Find, m_editor->selectedText());
}

void KernelView::openReplace() {
  const bool mayChange = m_editing != Editing::Never;
  m_find->open(mayChange ? FindBar::Mode::Replace : FindBar::Mode::Find, m_editor->selectedText());
}

void KernelView::openGoToLine() {
  m_find->open(FindBar::Mode::GoToLine, QString::number(caretLine() + 1));
}

void KernelView::searchFromStart() {
  m_editor->setCursorPosition(0, 0);
  search(m_find->text(), Direction::Forward);
}

void KernelView::findNext() {
  search(m_find->text(), Direction::Forward);
}

void KernelView::findPrevious() {
  search(m_find->text(), Direction::Backward);
}

bool KernelView::search(const QString& text, Direction direction) {
  m_find->setResult({});
  if (text.isEmpty()) {
    return false;
  }
  int line = -1;
  int column = -1;
  if (direction == Direction::Backward && m_editor->hasSelectedText()) {
    // findFirst starts at the end of the selection; backward it would find the selection itself again.
    int lineTo = 0;
    int columnTo = 0;
    m_editor->getSelection(&line, &column, &lineTo, &columnTo);
  }
  const FindOptions options = m_find->options();
  constexpr bool kWrap = true;
  constexpr bool kShow = true;
  constexpr bool kPosix = false;
  constexpr bool kCxx11 = true;  // the dialect of std::regex, which has \d and \b
  const bool found = m_editor->findFirst(text, options.regularExpression, options.caseSensitive, options.wholeWord,
                                         kWrap, direction == Direction::Forward, line, column, kShow, kPosix, kCxx11);
  m_find->setResult(found ? QString() : tr("not found"));
  return found;
}

void KernelView::replace() {
  if (!m_editor->hasSelectedText() && !search(m_find->text(), Direction::Forward)) {
    return;
  }
  fork();
  m_editor->replace(m_find->replacement());
  m_editor->findNext();
}

void KernelView::replaceAll() {
  m_editor->setCursorPosition(0, 0);
  const FindOptions options = m_find->options();
  const bool wraps = false;
  int count = 0;
  m_editor->beginUndoAction();
  bool found =
      !m_find->text().isEmpty() && m_editor->findFirst(m_find->text(), options.regularExpression, options.caseSensitive,
                                                       options.wholeWord, wraps, true, 0, 0, true, false, true);
  while (found && m_editor->hasSelectedText()) {
    fork();
    m_editor->replace(m_find->replacement());
    ++count;
    found = m_editor->findNext();
  }
  m_editor->endUndoAction();
  m_find->setResult(tr("%n replaced", nullptr, count));
}

void KernelView::nextHotSpot() {
  if (const int line = m_marks->hotSpotFrom(caretLine(), 1); line >= 0) {
    goToLine(line);
  }
}

void KernelView::previousHotSpot() {
  if (const int line = m_marks->hotSpotFrom(caretLine(), -1); line >= 0) {
    goToLine(line);
  }
}

void KernelView::selectNextOccurrence() {
  m_editor->SendScintilla(QsciScintilla::SCI_TARGETWHOLEDOCUMENT);
  m_editor->SendScintilla(QsciScintilla::SCI_SETSEARCHFLAGS,
                          static_cast<unsigned long>(QsciScintilla::SCFIND_MATCHCASE));
  m_editor->SendScintilla(QsciScintilla::SCI_MULTIPLESELECTADDNEXT);
}

bool KernelView::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::MouseMove) {
    hover(static_cast<QMouseEvent*>(event)->position().toPoint());
  } else if (event->type() == QEvent::Leave && m_hovered >= 0) {
    m_hovered = -1;
    Q_EMIT lineHovered(-1);
  } else if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    showTooltip(help->globalPos(), m_hovered);
    return true;
  }
  return QWidget::eventFilter(watched, event);
}

void KernelView::hover(const QPoint& position) {
  const long at = m_editor->SendScintilla(QsciScintilla::SCI_POSITIONFROMPOINT,
                                          static_cast<unsigned long>(position.x()), static_cast<long>(position.y()));
  const auto line = static_cast<int>(m_editor->SendScintilla(QsciScintilla::SCI_LINEFROMPOSITION, at));
  if (line != m_hovered) {
    m_hovered = line;
    Q_EMIT lineHovered(line);
  }
}

void KernelView::showTooltip(const QPoint& global, int line) {
  const QString text = line >= 0 ? m_marks->tooltip(line) : QString();
  if (text.isEmpty()) {
    QToolTip::hideText();
  } else {
    QToolTip::showText(global, text, m_editor->viewport());
  }
}

}  // namespace swage::ui
