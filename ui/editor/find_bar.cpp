// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/find_bar.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QToolButton>

#include "ui/widgets/icons.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

QHBoxLayout* makeRow(QWidget* widget) {
  auto* row = new QHBoxLayout(widget);
  row->setContentsMargins(6, 3, 6, 3);
  row->setSpacing(4);
  return row;
}

}  // namespace

FindBar::FindBar(QWidget* parent)
    : QWidget(parent),
      m_edit(new QLineEdit(this)),
      m_replacement(new QLineEdit(this)),
      m_result(new QLabel(this)),
      m_previous(new QToolButton(this)),
      m_next(new QToolButton(this)),
      m_close(new QToolButton(this)),
      m_case(makeToggle(tr("Aa"), tr("Match upper and lower case"), u"findCase"_s)),
      m_word(makeToggle(tr("W"), tr("Whole words"), u"findWord"_s)),
      m_regexp(makeToggle(tr(".*"), tr("Regular expression"), u"findRegexp"_s)),
      m_findRow(makeFindRow()),
      m_replaceRow(makeReplaceRow()) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(m_findRow);
  column->addWidget(m_replaceRow);
  setTheme(Theme::light());
  connect(m_edit, &QLineEdit::textEdited, this, [this] {
    if (m_mode != Mode::GoToLine) {
      Q_EMIT searchEdited();
    }
  });
  connect(m_edit, &QLineEdit::returnPressed, this, [this] {
    if (m_mode == Mode::GoToLine) {
      Q_EMIT lineRequested(m_edit->text().toInt());
      close();
    } else {
      Q_EMIT nextRequested();
    }
  });
  connect(m_replacement, &QLineEdit::returnPressed, this, &FindBar::replaceRequested);
  connect(m_next, &QToolButton::clicked, this, &FindBar::nextRequested);
  connect(m_previous, &QToolButton::clicked, this, &FindBar::previousRequested);
  connect(m_close, &QToolButton::clicked, this, &FindBar::close);
  hide();
}

QToolButton* FindBar::makeToggle(const QString& text, const QString& tooltip, const QString& name) {
  auto* button = new QToolButton(this);
  button->setObjectName(name);
  button->setText(text);
  button->setToolTip(tooltip);
  button->setAccessibleName(tooltip);
  button->setCheckable(true);
  button->setAutoRaise(true);
  connect(button, &QToolButton::toggled, this, &FindBar::searchEdited);
  return button;
}

QWidget* FindBar::makeFindRow() {
  auto* widget = new QWidget(this);
  auto* row = makeRow(widget);
  m_edit->setObjectName(u"findText"_s);
  m_edit->setClearButtonEnabled(true);
  m_result->setObjectName(u"findResult"_s);
  m_result->setForegroundRole(QPalette::PlaceholderText);
  m_previous->setToolTip(tr("Previous (Shift+F3)"));
  m_next->setToolTip(tr("Next (F3)"));
  m_close->setToolTip(tr("Close (Esc)"));
  row->addWidget(m_edit, 1);
  row->addWidget(m_result);
  for (QToolButton* toggle : {m_case, m_word, m_regexp}) {
    row->addWidget(toggle);
  }
  for (QToolButton* button : {m_previous, m_next, m_close}) {
    button->setAutoRaise(true);
    button->setAccessibleName(button->toolTip());
    row->addWidget(button);
  }
  return widget;
}

QWidget* FindBar::makeReplaceRow() {
  auto* widget = new QWidget(this);
  auto* row = makeRow(widget);
  m_replacement->setObjectName(u"replaceText"_s);
  m_replacement->setPlaceholderText(tr("Replace with"));
  m_replacement->setAccessibleName(tr("Replace with"));
  auto* one = new QPushButton(tr("&Replace"), widget);
  one->setObjectName(u"replaceOne"_s);
  auto* all = new QPushButton(tr("Replace &All"), widget);
  all->setObjectName(u"replaceAll"_s);
  connect(one, &QPushButton::clicked, this, &FindBar::replaceRequested);
  connect(all, &QPushButton::clicked, this, &FindBar::replaceAllRequested);
  row->addWidget(m_replacement, 1);
  row->addWidget(one);
  row->addWidget(all);
  return widget;
}

void FindBar::setTheme(const Theme& theme) {
  m_previous->setIcon(themedIcon(u"up"_s, theme));
  m_next->setIcon(themedIcon(u"down"_s, theme));
  m_close->setIcon(themedIcon(u"close"_s, theme));
}

void FindBar::open(Mode mode, const QString& suggestion) {
  const bool keepsText = suggestion.isEmpty() && mode != Mode::GoToLine && m_mode != Mode::GoToLine;
  m_mode = mode;
  m_replaceRow->setVisible(mode == Mode::Replace);
  for (QToolButton* button : {m_case, m_word, m_regexp, m_previous, m_next}) {
    button->setVisible(mode != Mode::GoToLine);
  }
  m_edit->setPlaceholderText(mode == Mode::GoToLine ? tr("Line") : tr("Find"));
  m_edit->setAccessibleName(mode == Mode::GoToLine ? tr("Line to go to") : tr("Find in the text"));
  m_result->clear();
  show();
  if (!keepsText) {
    m_edit->setText(suggestion);
  }
  m_edit->setFocus(Qt::ShortcutFocusReason);
  m_edit->selectAll();
}

void FindBar::close() {
  hide();
  Q_EMIT closed();
}

QString FindBar::text() const {
  return m_mode == Mode::GoToLine ? QString() : m_edit->text();
}

QString FindBar::replacement() const {
  return m_replacement->text();
}

FindOptions FindBar::options() const {
  return {m_regexp->isChecked(), m_case->isChecked(), m_word->isChecked()};
}

void FindBar::setResult(const QString& result) {
  m_result->setText(result);
}

void FindBar::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) {
    close();
    return;
  }
  QWidget::keyPressEvent(event);
}

}  // namespace swage::ui
