// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/layout_menu.h"

#include "ui/shell/dialogs.h"
#include "ui/shell/dock_layout.h"
#include "ui/shell/shortcuts.h"

using namespace Qt::StringLiterals;

namespace swage::ui {

LayoutMenu::LayoutMenu(DockLayout& docks, Dialogs& dialogs, QWidget* window)
    : QMenu(tr("&Layout"), window), m_docks(docks), m_dialogs(dialogs), m_window(window) {
  setObjectName(u"layoutMenu"_s);
  makeBuiltIn();
  m_beforeSaved = addSeparator();
  QAction* save = addAction(tr("&Save Layout As…"));
  save->setObjectName(u"saveLayout"_s);
  connect(save, &QAction::triggered, this, [this] {
    m_dialogs.askText(m_window, tr("Save Layout"), tr("Name of the layout:"),
                      [this](const QString& name) { saveAs(name); });
  });
  m_remove = addMenu(tr("Re&move Layout"));
  QAction* reset = addAction(tr("&Reset Layout"));
  reset->setObjectName(u"resetLayout"_s);
  reset->setToolTip(tr("Restore the standard arrangement of this layout"));
  connect(reset, &QAction::triggered, this, [this] { m_docks.reset(); });
  fillSaved();
}

void LayoutMenu::makeBuiltIn() {
  struct Entry {
    Layout layout;
    QString name;
    QString title;
    QString hint;
  };
  const Entry entries[] = {
      {Layout::Search, u"search"_s, tr("&Search"), tr("Watch a search: the archive, the best kernel, all candidates")},
      {Layout::Inspect, u"inspect"_s, tr("&Inspect"), tr("One kernel: source, assembly and measurements")},
      {Layout::Compare, u"compare"_s, tr("&Compare"), tr("Compare two kernels")}};
  int key = Qt::Key_1;
  for (const Entry& entry : entries) {
    QAction* action = addAction(entry.title);
    action->setObjectName(u"layout_"_s % entry.name);
    action->setProperty(kCommandTitle, tr("Layout: %1").arg(QString(entry.title).remove(u'&')));
    action->setToolTip(entry.hint);
    action->setStatusTip(entry.hint);
    action->setShortcut(QKeySequence(Qt::CTRL | static_cast<Qt::Key>(key++)));
    connect(action, &QAction::triggered, this, [this, layout = entry.layout] { m_docks.apply(layout); });
  }
}

void LayoutMenu::setSaved(const QMap<QString, QByteArray>& layouts) {
  m_saved = layouts;
  fillSaved();
}

void LayoutMenu::saveAs(const QString& name) {
  if (!name.trimmed().isEmpty()) {
    m_saved.insert(name.trimmed(), m_docks.save());
    fillSaved();
  }
}

void LayoutMenu::fillSaved() {
  qDeleteAll(m_savedActions);
  m_savedActions.clear();
  m_remove->clear();
  for (auto layout = m_saved.cbegin(); layout != m_saved.cend(); ++layout) {
    const QString text = QString(layout.key()).replace(u"&"_s, u"&&"_s);
    auto* action = new QAction(text, this);
    action->setObjectName(u"layout_saved_"_s % layout.key());
    connect(action, &QAction::triggered, this, [this, state = layout.value()] { m_docks.restore(state); });
    insertAction(m_beforeSaved, action);
    m_savedActions.push_back(action);
    // Queued: the entry that was chosen goes away with the others.
    connect(
        m_remove->addAction(text), &QAction::triggered, this,
        [this, name = layout.key()] {
          m_saved.remove(name);
          fillSaved();
        },
        Qt::QueuedConnection);
  }
  m_remove->setEnabled(!m_saved.empty());
}

}  // namespace swage::ui
