// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/welcome_page.h"

#include <QAction>
#include <QCommandLinkButton>
#include <QGridLayout>
#include <QLabel>
#include <QListWidget>
#include <QMetaObject>
#include <QVBoxLayout>

#include "ui/models/task_catalogue.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/icons.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr int kColumns = 2;

QLabel* makeHeading(const QString& text, double scale) {
  auto* heading = new QLabel(text);
  QFont font = heading->font();
  font.setPointSizeF(font.pointSizeF() * scale);
  font.setWeight(QFont::DemiBold);
  heading->setFont(font);
  heading->setWordWrap(true);
  return heading;
}

}  // namespace

WelcomePage::WelcomePage(const std::vector<WelcomeEntry>& entries, QWidget* parent)
    : QWidget(parent), m_recent(new QListWidget) {
  setObjectName(u"welcomePage"_s);
  auto* about =
      new QLabel(tr("Finds a faster kernel for a PyTorch module, checks it against PyTorch, and writes it as a "
                    "file that replaces the module."));
  about->setWordWrap(true);
  about->setForegroundRole(QPalette::PlaceholderText);
  const int room = fontMetrics().height();
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(2 * room, room, 2 * room, room);
  column->addWidget(makeHeading(tr("Welcome to Swage"), 1.6));
  column->addWidget(about);
  column->addSpacing(room / 2);
  column->addWidget(makeEntries(entries));
  column->addSpacing(room / 2);
  column->addWidget(makeHeading(tr("Recent tasks"), 1.15));
  column->addWidget(makeRecent(), 1);
  setTheme(Theme::light());
}

QWidget* WelcomePage::makeEntries(const std::vector<WelcomeEntry>& entries) {
  auto* box = new QWidget;
  auto* grid = new QGridLayout(box);
  grid->setContentsMargins(0, 0, 0, 0);
  int place = 0;
  for (const WelcomeEntry& entry : entries) {
    auto* button = new QCommandLinkButton(entry.title, entry.hint);
    button->setObjectName(u"welcome_"_s % entry.action->objectName());
    button->setEnabled(entry.action->isEnabled());
    connect(button, &QCommandLinkButton::clicked, entry.action, &QAction::trigger);
    connect(entry.action, &QAction::changed, button,
            [button, action = entry.action] { button->setEnabled(action->isEnabled()); });
    grid->addWidget(button, place / kColumns, place % kColumns);
    m_buttons.push_back({button, entry.icon});
    ++place;
  }
  return box;
}

QWidget* WelcomePage::makeRecent() {
  m_recent->setObjectName(u"welcomeRecent"_s);
  m_recent->setAccessibleName(tr("Recent tasks"));
  m_recent->setFrameShape(QFrame::NoFrame);
  m_recent->setTextElideMode(Qt::ElideMiddle);
  m_recent->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_recent->setSpacing(2);
  connect(m_recent, &QListWidget::itemActivated, this, &WelcomePage::choose);
  // One click, as on the buttons above; some desktops activate by it, too.
  connect(m_recent, &QListWidget::itemClicked, this, &WelcomePage::choose);
  m_recentOrEmpty = new EmptyState(m_recent, tr("Tasks that you open are listed here."));
  m_recentOrEmpty->setMinimumHeight(fontMetrics().height() * 5);
  return m_recentOrEmpty;
}

void WelcomePage::setTheme(const Theme& theme) {
  for (const Button& one : m_buttons) {
    one.button->setIcon(themedIcon(one.icon, theme));
  }
}

void WelcomePage::setRecent(const QStringList& tasks) {
  m_recent->clear();
  for (const QString& task : tasks) {
    const TaskEntry entry = taskEntry(task);
    auto* item = new QListWidgetItem(QString(entry.name % u"\n"_s % task), m_recent);
    item->setData(Qt::UserRole, task);
    item->setToolTip(entry.description.isEmpty() ? task : QString(entry.description % u"\n"_s % task));
  }
  m_recentOrEmpty->setEmpty(tasks.isEmpty());
}

void WelcomePage::choose(const QListWidgetItem* item) {
  if (item == nullptr) {
    return;
  }
  // Later: what is chosen becomes the first of a new list, and this one is still answering a click.
  const QString task = item->data(Qt::UserRole).toString();
  QMetaObject::invokeMethod(
      this, [this, task] { Q_EMIT taskChosen(task); }, Qt::QueuedConnection);
}

}  // namespace swage::ui
