// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/find_bar.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>

#include "ui/widgets/icons.h"

using namespace Qt::StringLiterals;

namespace swage::ui {

FindBar::FindBar(QWidget* parent)
    : QWidget(parent),
      m_edit(new QLineEdit(this)),
      m_result(new QLabel(this)),
      m_previous(new QToolButton(this)),
      m_next(new QToolButton(this)),
      m_close(new QToolButton(this)) {
  m_edit->setObjectName(u"findText"_s);
  m_edit->setPlaceholderText(tr("Find"));
  m_edit->setAccessibleName(tr("Find in the text"));
  m_edit->setClearButtonEnabled(true);
  m_result->setForegroundRole(QPalette::PlaceholderText);
  m_previous->setToolTip(tr("Previous (Shift+F3)"));
  m_next->setToolTip(tr("Next (F3)"));
  m_close->setToolTip(tr("Close (Esc)"));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(6, 3, 6, 3);
  row->setSpacing(4);
  row->addWidget(m_edit, 1);
  row->addWidget(m_result);
  for (QToolButton* button : {m_previous, m_next, m_close}) {
    button->setAutoRaise(true);
    button->setAccessibleName(button->toolTip());
    row->addWidget(button);
  }
  setTheme(Theme::light());
  connect(m_edit, &QLineEdit::textEdited, this, &FindBar::textEdited);
  connect(m_edit, &QLineEdit::returnPressed, this, &FindBar::nextRequested);
  connect(m_next, &QToolButton::clicked, this, &FindBar::nextRequested);
  connect(m_previous, &QToolButton::clicked, this, &FindBar::previousRequested);
  connect(m_close, &QToolButton::clicked, this, &FindBar::close);
  hide();
}

void FindBar::setTheme(const Theme& theme) {
  m_previous->setIcon(themedIcon(u"up"_s, theme));
  m_next->setIcon(themedIcon(u"down"_s, theme));
  m_close->setIcon(themedIcon(u"close"_s, theme));
}

void FindBar::open(const QString& suggestion) {
  show();
  if (!suggestion.isEmpty()) {
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
  return m_edit->text();
}

void FindBar::setFound(bool found) {
  m_result->setText(found || m_edit->text().isEmpty() ? QString() : tr("not found"));
}

void FindBar::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) {
    close();
    return;
  }
  QWidget::keyPressEvent(event);
}

}  // namespace swage::ui
