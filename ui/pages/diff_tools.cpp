// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/diff_tools.h"

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSpinBox>
#include <QToolButton>

#include <limits>

#include "ui/editor/diff_view.h"
#include "ui/widgets/editing_finished.h"
#include "ui/widgets/icons.h"

using namespace Qt::StringLiterals;

namespace swage::ui {

DiffTools::DiffTools(DiffView& view, CommentSyntax comments, QWidget* parent)
    : QWidget(parent),
      m_view(view),
      m_syntax(comments),
      m_layout(new QComboBox),
      m_whiteSpace(new QCheckBox(tr("Ignore white space"))),
      m_comments(new QCheckBox(tr("Ignore comments"))),
      m_addresses(new QCheckBox(tr("Ignore addresses"))),
      m_previous(new QToolButton),
      m_next(new QToolButton),
      m_count(new QLabel),
      m_line(new QSpinBox) {
  makeButtons();
  connect(m_layout, &QComboBox::currentIndexChanged, this, [this](int index) {
    m_view.setLayoutMode(index == 0 ? DiffView::Layout::SideBySide : DiffView::Layout::Unified);
  });
  connect(m_whiteSpace, &QCheckBox::toggled, this, &DiffTools::applyOptions);
  connect(m_comments, &QCheckBox::toggled, this, &DiffTools::applyOptions);
  connect(m_addresses, &QCheckBox::toggled, this, &DiffTools::applyOptions);
  connect(m_previous, &QToolButton::clicked, &view, &DiffView::previousChange);
  connect(m_next, &QToolButton::clicked, &view, &DiffView::nextChange);
  whenEditingFinished(m_line, this, [](DiffTools* self) {
    if (self->m_line->hasFocus()) {
      self->m_view.goToLine(self->m_line->value() - 1);
    }
  });
  connect(&view, &DiffView::compared, this, &DiffTools::updateState);
  auto* goTo = new QAction(tr("Go to Line"), &view);
  goTo->setShortcut(Qt::CTRL | Qt::Key_I);
  goTo->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  view.addAction(goTo);
  connect(goTo, &QAction::triggered, this, [this] {
    m_line->setFocus(Qt::ShortcutFocusReason);
    m_line->selectAll();
  });
  m_addresses->setChecked(comments == CommentSyntax::Assembly);
  m_addresses->setVisible(comments == CommentSyntax::Assembly);
  updateState();
}

void DiffTools::makeButtons() {
  m_layout->addItems({tr("Side by side"), tr("Unified")});
  m_layout->setObjectName(u"diffLayout"_s);
  m_layout->setAccessibleName(tr("Layout"));
  m_whiteSpace->setObjectName(u"ignoreWhiteSpace"_s);
  m_comments->setObjectName(u"ignoreComments"_s);
  m_addresses->setObjectName(u"ignoreAddresses"_s);
  m_addresses->setToolTip(tr("Do not compare addresses, branch targets, label and line numbers, and padding"));
  m_previous->setObjectName(u"previousChange"_s);
  m_previous->setToolTip(tr("Previous change (Alt+Up or Ctrl+E)"));
  m_next->setObjectName(u"nextChange"_s);
  m_next->setToolTip(tr("Next change (Alt+Down or Ctrl+D)"));
  m_count->setObjectName(u"changeCount"_s);
  m_line->setObjectName(u"goToLine"_s);
  m_line->setRange(1, std::numeric_limits<int>::max());
  m_line->setButtonSymbols(QSpinBox::NoButtons);
  m_line->setPrefix(tr("line "));
  m_line->setKeyboardTracking(false);
  m_line->setAccessibleName(tr("Go to line"));
  m_line->setToolTip(tr("Go to line (Ctrl+I)"));
  m_line->setFixedWidth(fontMetrics().averageCharWidth() * 15);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->addWidget(m_layout);
  row->addWidget(m_whiteSpace);
  row->addWidget(m_comments);
  row->addWidget(m_addresses);
  row->addStretch(1);
  row->addWidget(m_count);
  for (QToolButton* button : {m_previous, m_next}) {
    button->setAutoRaise(true);
    button->setAccessibleName(button->toolTip());
    row->addWidget(button);
  }
  row->addWidget(m_line);
  setTheme(Theme::light());
}

void DiffTools::setTheme(const Theme& theme) {
  m_previous->setIcon(themedIcon(u"up"_s, theme));
  m_next->setIcon(themedIcon(u"down"_s, theme));
}

void DiffTools::applyOptions() {
  m_view.setOptions({.ignoreWhiteSpace = m_whiteSpace->isChecked(),
                     .ignoreComments = m_comments->isChecked(),
                     .comments = m_syntax,
                     .ignoreAddresses = m_addresses->isChecked()});
}

void DiffTools::updateState() {
  const int changes = m_view.changeCount();
  QString text = changes == 0 ? tr("no differences") : changes == 1 ? tr("1 change") : tr("%1 changes").arg(changes);
  if (m_view.conflictCount() > 0) {
    text += tr(", %1 of them by both").arg(m_view.conflictCount());
  }
  m_count->setText(text);
  m_previous->setEnabled(changes > 0);
  m_next->setEnabled(changes > 0);
}

}  // namespace swage::ui
