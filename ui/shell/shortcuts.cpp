// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/shortcuts.h"

#include <QAction>
#include <QMenu>
#include <QWidget>

#include <algorithm>
#include <array>

#include "ui/models/settings_store.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr std::array kColumns = {
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Command"), QT_TRANSLATE_NOOP("columns", "What is done")},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Shortcut"), QT_TRANSLATE_NOOP("columns", "The keys that do it")},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Standard"), QT_TRANSLATE_NOOP("columns", "The keys it has at first")}};

QString titleOf(const QAction& action) {
  if (const QVariant title = action.property(kCommandTitle); title.isValid()) {
    return title.toString();
  }
  QString text = action.text();
  text.remove(u'&');
  return text.endsWith(u'…') ? text.chopped(1) : text;
}

}  // namespace

Shortcuts::Shortcuts(QWidget& window, SettingsStore& settings, QObject* parent)
    : TableModel<ShortcutColumn>(parent), m_settings(settings) {
  for (QAction* action : window.findChildren<QAction*>()) {
    // Actions that Qt makes itself, those of a field of text for instance, have other owners.
    if (action->objectName().isEmpty() || action->menu() != nullptr || action->objectName().startsWith("qt_"_L1) ||
        action->objectName().startsWith(u'_')) {
      continue;
    }
    m_entries.push_back({action, action->shortcut()});
    if (const auto keys = settings.shortcut(action->objectName())) {
      action->setShortcut(QKeySequence(*keys, QKeySequence::PortableText));
    }
  }
  std::stable_sort(m_entries.begin(), m_entries.end(), [](const Entry& a, const Entry& b) {
    return titleOf(*a.action).localeAwareCompare(titleOf(*b.action)) < 0;
  });
}

void Shortcuts::assign(int row, const QKeySequence& keys) {
  const Entry& entry = m_entries[static_cast<std::size_t>(row)];
  entry.action->setShortcut(keys);
  const bool isStandard = keys == entry.standard;
  m_settings.setShortcut(entry.action->objectName(),
                         isStandard ? std::nullopt : std::optional(keys.toString(QKeySequence::PortableText)));
  Q_EMIT dataChanged(index(0, 0), index(rows() - 1, columnCount() - 1));
}

void Shortcuts::reset(int row) {
  assign(row, m_entries[static_cast<std::size_t>(row)].standard);
}

void Shortcuts::resetAll() {
  for (int row = 0; row < rows(); ++row) {
    if (isChanged(row)) {
      reset(row);
    }
  }
}

QKeySequence Shortcuts::keys(int row) const {
  return m_entries[static_cast<std::size_t>(row)].action->shortcut();
}

bool Shortcuts::isChanged(int row) const {
  const Entry& entry = m_entries[static_cast<std::size_t>(row)];
  return entry.action->shortcut() != entry.standard;
}

QStringList Shortcuts::conflicts(int row) const {
  QStringList others;
  for (int other = 0; other < rows(); ++other) {
    if (other != row && !keys(row).isEmpty() && keys(other) == keys(row)) {
      others << titleOf(*m_entries[static_cast<std::size_t>(other)].action);
    }
  }
  return others;
}

std::span<const ColumnInfo> Shortcuts::columns() const {
  return kColumns;
}

QVariant Shortcuts::cell(int row, ShortcutColumn column, int role) const {
  const Entry& entry = m_entries[static_cast<std::size_t>(row)];
  if (role == ConflictRole) {
    return conflicts(row);
  }
  if (role == Qt::FontRole && column == ShortcutColumn::Keys) {
    QFont font;
    font.setBold(isChanged(row));
    font.setItalic(!conflicts(row).isEmpty());
    return font;
  }
  if (role == Qt::ToolTipRole) {
    const QStringList others = conflicts(row);
    return others.isEmpty() ? entry.action->statusTip() : tr("The same keys as %1").arg(others.join(u", "_s));
  }
  if (role != Qt::DisplayRole) {
    return {};
  }
  switch (column) {
    case ShortcutColumn::Command: return titleOf(*entry.action);
    case ShortcutColumn::Keys:
      return QString(entry.action->shortcut().toString(QKeySequence::NativeText) %
                     (conflicts(row).isEmpty() ? QString() : u"  ⚠"_s));
    case ShortcutColumn::Standard: return entry.standard.toString(QKeySequence::NativeText);
  }
  return {};
}

}  // namespace swage::ui
