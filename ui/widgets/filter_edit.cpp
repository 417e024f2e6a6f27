// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/filter_edit.h"

#include <QAbstractItemView>
#include <QAction>
#include <QCompleter>
#include <QCoreApplication>
#include <QInputMethodEvent>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QStandardItemModel>
#include <QTextCharFormat>
#include <QVBoxLayout>

#include <algorithm>
#include <chrono>

#include "ui/models/format.h"
#include "ui/widgets/editing_finished.h"
#include "ui/widgets/field_style.h"
#include "ui/widgets/icons.h"

using namespace Qt::StringLiterals;
using std::chrono_literals::operator""ms;

namespace swage::ui {
namespace {

constexpr std::chrono::milliseconds kRest = 250ms;
constexpr int kMaxHistory = 20;

// Where bytes of the UTF-8 text are in the text of the line.
int toUtf16(const QString& text, std::size_t bytes) {
  return static_cast<int>(QString::fromUtf8(text.toUtf8().left(static_cast<qsizetype>(bytes))).size());
}

// What is typed after a key: "status:" and "speedup>".
QString typedKey(const domain::FilterKey& key) {
  switch (key.kind) {
    case domain::FilterKind::Flag: return toQString(key.name);
    case domain::FilterKind::Number:
    case domain::FilterKind::Time:
    case domain::FilterKind::Duration: return toQString(key.name) % u'>';
    default: return toQString(key.name) % u':';
  }
}

QString typedChoice(std::string_view choice) {
  return toQString(choice).replace(u' ', u'-');
}

}  // namespace

FilterEdit::FilterEdit(domain::FilterVocabulary vocabulary, QWidget* parent)
    : QWidget(parent),
      m_vocabulary(vocabulary),
      m_edit(new QLineEdit(this)),
      m_error(new QLabel(this)),
      m_completer(new QCompleter(this)),
      m_words(new QStandardItemModel(m_completer)),
      m_historyMenu(new QMenu(this)),
      m_historyAction(m_edit->addAction(QIcon(), QLineEdit::TrailingPosition)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(2);
  column->addWidget(m_edit);
  column->addWidget(m_error);
  setFocusProxy(m_edit);
  m_edit->setObjectName(u"filterText"_s);
  m_edit->setAccessibleName(tr("Filter"));
  m_edit->setClearButtonEnabled(true);
  m_edit->installEventFilter(this);
  m_error->setObjectName(u"filterError"_s);
  m_error->setWordWrap(true);
  m_error->setTextFormat(Qt::PlainText);
  m_error->hide();
  m_historyAction->setText(tr("Earlier filters"));
  m_historyAction->setToolTip(tr("Earlier filters (Up)"));
  m_completer->setModel(m_words);
  m_completer->setWidget(m_edit);
  m_completer->setCompletionRole(Qt::EditRole);
  m_completer->setCaseSensitivity(Qt::CaseInsensitive);
  m_rest.setSingleShot(true);
  m_rest.setInterval(kRest);
  connect(m_edit, &QLineEdit::textEdited, this, [this] {
    m_recalled = -1;
    offerCompletions();
  });
  connect(m_edit, &QLineEdit::textChanged, this, [this] {
    if (!m_marking) {
      m_rest.start();
    }
  });
  connect(m_edit, &QLineEdit::returnPressed, this, &FilterEdit::accept);
  whenEditingFinished(m_edit, this, &FilterEdit::remember);
  connect(m_completer, qOverload<const QModelIndex&>(&QCompleter::activated), this,
          [this](const QModelIndex& index) { complete(index.data(Qt::EditRole).toString()); });
  connect(&m_rest, &QTimer::timeout, this, &FilterEdit::apply);
  connect(m_historyAction, &QAction::triggered, this, [this] {
    fillHistoryMenu();
    m_historyMenu->popup(m_edit->mapToGlobal(QPoint(0, m_edit->height())));
  });
  setTheme(m_theme);
}

void FilterEdit::setTheme(const Theme& theme) {
  m_theme = theme;
  m_edit->setStyleSheet(fieldStyle(theme));
  QPalette palette = m_error->palette();
  palette.setColor(QPalette::WindowText, theme.bad);
  m_error->setPalette(palette);
  m_historyAction->setIcon(themedIcon(u"down"_s, theme));
  apply();
}

void FilterEdit::setText(const QString& text) {
  m_edit->setText(text);
  apply();
}

QString FilterEdit::error() const {
  return m_error->isHidden() ? QString() : m_error->text();
}

void FilterEdit::setHistory(const QStringList& history) {
  m_history = history.mid(0, kMaxHistory);
}

void FilterEdit::apply() {
  m_rest.stop();
  const auto parsed = domain::parseFilter(m_edit->text().toStdString(), m_vocabulary);
  if (!parsed) {
    showError(parsed.error());
    return;
  }
  showError(std::nullopt);
  if (*parsed != m_filter) {
    m_filter = *parsed;
    Q_EMIT filterChanged(m_filter);
  }
}

void FilterEdit::accept() {
  apply();
  remember();
}

void FilterEdit::remember() {
  const QString text = m_edit->text().trimmed();
  if (text.isEmpty() || !m_error->isHidden()) {
    return;
  }
  m_history.removeAll(text);
  m_history.prepend(text);
  m_history = m_history.mid(0, kMaxHistory);
}

void FilterEdit::recall(int step) {
  if (m_recalled < 0) {
    m_typed = m_edit->text();
  }
  m_recalled = std::clamp(m_recalled + step, -1, static_cast<int>(m_history.size()) - 1);
  m_edit->setText(m_recalled < 0 ? m_typed : m_history[m_recalled]);
}

void FilterEdit::showError(const std::optional<domain::FilterError>& error) {
  m_error->setVisible(error.has_value());
  m_error->setText(error ? toQString(error->message) : QString());
  m_edit->setAccessibleDescription(m_error->text());
  if (!error) {
    markError(0, 0);
    return;
  }
  const int begin = toUtf16(m_edit->text(), error->position);
  markError(begin, std::max(1, toUtf16(m_edit->text(), error->position + error->length) - begin));
}

// A line edit has no formats of its own, but shows those of an input method's text, here of one that types nothing.
void FilterEdit::markError(int begin, int length) {
  QList<QInputMethodEvent::Attribute> attributes;
  if (length > 0) {
    QTextCharFormat format;
    format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
    format.setUnderlineColor(m_theme.bad);
    format.setForeground(m_theme.bad);
    attributes.push_back({QInputMethodEvent::TextFormat, begin - m_edit->cursorPosition(), length, format});
  }
  QInputMethodEvent event(QString(), attributes);
  m_marking = true;
  QCoreApplication::sendEvent(m_edit, &event);
  m_marking = false;
}

// Keys, or after the key of a choice its words, also behind a comma.
void FilterEdit::offerCompletions() {
  const QString before = m_edit->text().left(m_edit->cursorPosition());
  const QString term = before.mid(before.lastIndexOf(u' ') + 1);
  const auto sign = term.indexOf(u':');
  const QString key = sign < 0 ? QString() : term.left(sign).remove(u'-');
  const auto lastMark =
      std::max({term.lastIndexOf(u':'), term.lastIndexOf(u','), term.startsWith(u'-') ? qsizetype{0} : qsizetype{-1}});
  const QString prefix = term.mid(lastMark + 1);
  fillCompletions(key);
  m_completer->setCompletionPrefix(prefix);
  const bool isComplete = m_completer->completionCount() == 1 && m_completer->currentCompletion() == prefix;
  if (m_words->rowCount() == 0 || m_completer->completionCount() == 0 || isComplete ||
      (prefix.isEmpty() && key.isEmpty())) {
    m_completer->popup()->hide();
    return;
  }
  QRect place = m_edit->rect();
  place.setLeft(m_edit->fontMetrics().horizontalAdvance(before.left(before.size() - prefix.size())));
  place.setWidth(
      std::max(m_completer->popup()->sizeHintForColumn(0) + 24, m_edit->fontMetrics().averageCharWidth() * 24));
  m_completer->complete(place);
}

void FilterEdit::fillCompletions(const QString& key) {
  m_words->clear();
  const auto add = [this](const QString& typed, const QString& meaning = {}) {
    auto* item = new QStandardItem(typed);
    item->setToolTip(meaning);
    m_words->appendRow(item);
  };
  for (const domain::FilterKey& one : m_vocabulary) {
    if (key.isEmpty()) {
      add(typedKey(one), toQString(one.meaning));
    } else if (toQString(one.name).compare(key, Qt::CaseInsensitive) == 0) {
      for (const std::string_view choice : one.choices) {
        add(typedChoice(choice));
      }
    }
  }
}

void FilterEdit::complete(const QString& word) {
  const QString prefix = m_completer->completionPrefix();
  const int begin = m_edit->cursorPosition() - static_cast<int>(prefix.size());
  QString text = m_edit->text();
  text.replace(begin, prefix.size(), word);
  m_edit->setText(text);
  m_edit->setCursorPosition(begin + static_cast<int>(word.size()));
}

void FilterEdit::fillHistoryMenu() {
  m_historyMenu->clear();
  for (const QString& text : m_history) {
    QAction* action = m_historyMenu->addAction(QString(text).replace(u'&', u"&&"_s));
    connect(action, &QAction::triggered, this, [this, text] { setText(text); });
  }
  if (m_history.isEmpty()) {
    m_historyMenu->addAction(tr("None yet"))->setEnabled(false);
  }
}

bool FilterEdit::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_edit && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);  // NOLINT(cppcoreguidelines-pro-type-static-cast-downcast)
    if (key->key() == Qt::Key_Up || key->key() == Qt::Key_Down) {
      recall(key->key() == Qt::Key_Up ? 1 : -1);
      return true;
    }
    if (key->key() == Qt::Key_Escape && !m_edit->text().isEmpty()) {
      setText({});
      return true;
    }
  }
  return QWidget::eventFilter(watched, event);
}

}  // namespace swage::ui
