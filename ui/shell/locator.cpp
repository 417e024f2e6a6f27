// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/locator.h"

#include <QApplication>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/widgets/locator_delegate.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr int kRows = 14;
constexpr int kColumns = 84;  // average characters

}  // namespace

Locator::Locator(QWidget* window)
    : QFrame(window),
      m_window(window),
      m_field(new QLineEdit(this)),
      m_list(new QListView(this)),
      m_nothing(new QLabel(tr("No match."), this)),
      m_model(new LocatorModel(this)),
      m_delegate(new LocatorDelegate(this)) {
  setObjectName(u"locator"_s);
  setFrameShape(QFrame::StyledPanel);
  setAutoFillBackground(true);
  m_field->setObjectName(u"locatorField"_s);
  m_list->setObjectName(u"locatorList"_s);
  m_list->setAccessibleName(tr("What was found"));
  m_list->setModel(m_model);
  m_list->setItemDelegate(m_delegate);
  m_list->setFocusPolicy(Qt::NoFocus);
  m_list->setFrameShape(QFrame::NoFrame);
  m_list->setUniformItemSizes(true);
  m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_nothing->setForegroundRole(QPalette::PlaceholderText);
  m_nothing->setAlignment(Qt::AlignCenter);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(6, 6, 6, 6);
  column->addWidget(m_field);
  column->addWidget(m_list, 1);
  column->addWidget(m_nothing, 1);
  hide();
  m_field->installEventFilter(this);
  window->installEventFilter(this);
  connect(m_field, &QLineEdit::textChanged, this, &Locator::filter);
  connect(m_list, &QListView::clicked, this, &Locator::runCurrent);
}

void Locator::setTheme(const Theme& theme) {
  m_delegate->setTheme(theme);
  setStyleSheet(u"#locator{background:%1;border:1px solid %2;}"_s.arg(theme.base.name(), theme.accent.name()));
}

void Locator::open(const QString& prompt, LocatorSource source) {
  if (!isVisible()) {
    m_focusBefore = QApplication::focusWidget();
  }
  m_field->setPlaceholderText(prompt);
  m_field->setAccessibleName(prompt);
  m_model->setSource(std::move(source));
  m_field->clear();
  filter({});
  show();
  raise();
  m_field->setFocus(Qt::PopupFocusReason);
}

void Locator::close() {
  // Before it is hidden, which would hand the keyboard to whatever comes next.
  if (m_focusBefore && m_field->hasFocus()) {
    m_focusBefore->setFocus(Qt::PopupFocusReason);
  }
  hide();
  m_model->setSource({});  // what it holds may be gone by the next time
}

void Locator::filter(const QString& query) {
  m_model->setQuery(query.trimmed());
  const bool found = m_model->rowCount() > 0;
  m_list->setVisible(found);
  m_nothing->setVisible(!found);
  m_list->setCurrentIndex(m_model->enabledCount() > 0 ? m_model->index(0, 0) : QModelIndex());
  place();
}

void Locator::place() {
  const QFontMetrics metrics = fontMetrics();
  const int width = std::min(metrics.averageCharWidth() * kColumns, m_window->width() * 9 / 10);
  const int rows = std::clamp(m_model->rowCount(), 2, kRows);
  const QMargins margins = layout()->contentsMargins();
  const int height = rows * LocatorDelegate::rowHeight(metrics) + m_field->sizeHint().height() + layout()->spacing() +
                     margins.top() + margins.bottom() + 2 * frameWidth();
  setGeometry((m_window->width() - width) / 2, m_window->height() / 14, width, height);
}

void Locator::runCurrent() {
  const QModelIndex index = m_list->currentIndex();
  if (!index.isValid() || !m_model->entry(index.row()).enabled) {
    return;
  }
  const std::function<void()> run = m_model->entry(index.row()).run;
  close();
  run();
}

bool Locator::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_window && event->type() == QEvent::Resize && isVisible()) {
    place();
  }
  if (watched != m_field) {
    return QFrame::eventFilter(watched, event);
  }
  if (event->type() == QEvent::KeyPress) {
    return handleKey(static_cast<QKeyEvent*>(event)->key());
  }
  // A window that loses the keyboard to another one, to a menu for instance, keeps what is open in it.
  if (event->type() == QEvent::FocusOut && static_cast<QFocusEvent*>(event)->reason() != Qt::ActiveWindowFocusReason &&
      static_cast<QFocusEvent*>(event)->reason() != Qt::PopupFocusReason) {
    close();
  }
  return false;
}

bool Locator::handleKey(int key) {
  const int rows = m_model->enabledCount();
  const int row = m_list->currentIndex().row();
  int wanted = 0;
  switch (key) {
    case Qt::Key_Escape: close(); return true;
    case Qt::Key_Return:
    case Qt::Key_Enter: runCurrent(); return true;
    case Qt::Key_Up: wanted = row > 0 ? row - 1 : rows - 1; break;
    case Qt::Key_Down: wanted = row + 1 < rows ? row + 1 : 0; break;
    case Qt::Key_PageUp: wanted = std::max(row - kRows, 0); break;
    case Qt::Key_PageDown: wanted = std::min(row + kRows, rows - 1); break;
    default: return false;
  }
  if (rows > 0) {
    m_list->setCurrentIndex(m_model->index(wanted, 0));
  }
  return true;
}

}  // namespace swage::ui
