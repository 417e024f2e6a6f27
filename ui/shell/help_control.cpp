// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/help_control.h"

#include <QAction>
#include <QApplication>
#include <QMenu>

#include "ui/pages/help_page.h"
#include "ui/shell/actions.h"
#include "ui/shell/dock_layout.h"
#include "ui/shell/shortcuts.h"
#include "ui/widgets/filter_edit.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

bool isInFilter(const QWidget* widget) {
  for (; widget != nullptr; widget = widget->parentWidget()) {
    if (qobject_cast<const FilterEdit*>(widget) != nullptr) {
      return true;
    }
  }
  return false;
}

// Commands that have keys, by their names.
QString shortcutTable(const Shortcuts& shortcuts) {
  QString table = HelpControl::tr("| Command | Keys |\n|---|---|\n");
  for (int row = 0; row < shortcuts.rowCount(); ++row) {
    const QString keys = shortcuts.keys(row).toString(QKeySequence::NativeText);
    if (!keys.isEmpty()) {
      const QString command = shortcuts.index(row, static_cast<int>(ShortcutColumn::Command)).data().toString();
      table += u"| "_s % command % u" | `"_s % keys % u"` |\n"_s;
    }
  }
  return table;
}

}  // namespace

QString helpTopicOf(const QString& page) {
  if (page == "archive"_L1) {
    return u"cells"_s;
  }
  if (page == "candidates"_L1 || page == "runs"_L1) {
    return u"filter"_s;
  }
  return page == "kernel"_L1 || page == "compare"_L1 ? u"keyboard"_s : u"start"_s;
}

HelpControl::HelpControl(HelpPage& page, DockLayout& docks, const Actions& actions, QObject* parent)
    : QObject(parent), m_page(page), m_docks(docks) {
  connect(actions.help, &QAction::triggered, this, &HelpControl::showHere);
}

void HelpControl::fillMenu(QMenu& menu) {
  for (const HelpTopic& topic : helpTopics()) {
    QAction* action = menu.addAction(topic.title);
    action->setObjectName(u"help_"_s % topic.id);
    action->setProperty(kCommandTitle, tr("Help: %1").arg(topic.title));
    connect(action, &QAction::triggered, this, [this, id = topic.id] { showTopic(id); });
  }
}

void HelpControl::setShortcuts(const Shortcuts& shortcuts) {
  m_page.setShortcuts([&shortcuts] { return shortcutTable(shortcuts); });
}

void HelpControl::showTopic(const QString& id) {
  m_page.showTopic(id);
  m_docks.show(u"help"_s);
}

void HelpControl::showHere() {
  const QWidget* focused = QApplication::focusWidget();
  const QString page = m_docks.pageOf(focused);
  if (page == "help"_L1) {
    m_docks.show(page);
  } else {
    showTopic(isInFilter(focused) ? u"filter"_s : helpTopicOf(page));
  }
}

}  // namespace swage::ui
