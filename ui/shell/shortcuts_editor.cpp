// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/shortcuts_editor.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QVBoxLayout>

#include "ui/shell/shortcuts.h"
#include "ui/widgets/editing_finished.h"
#include "ui/widgets/table_style.h"

using namespace Qt::StringLiterals;

namespace swage::ui {

ShortcutsEditor::ShortcutsEditor(Shortcuts& shortcuts, QWidget* parent)
    : QWidget(parent),
      m_shortcuts(shortcuts),
      m_filter(new QSortFilterProxyModel(this)),
      m_table(new QTableView),
      m_keys(new QKeySequenceEdit),
      m_clear(new QPushButton(tr("Re&move"))),
      m_reset(new QPushButton(tr("&Standard"))),
      m_conflict(new QLabel) {
  m_filter->setSourceModel(&shortcuts);
  m_filter->setFilterKeyColumn(-1);
  m_filter->setFilterCaseSensitivity(Qt::CaseInsensitive);
  m_table->setObjectName(u"shortcutTable"_s);
  m_table->setAccessibleName(tr("Commands and their shortcuts"));
  m_table->setModel(m_filter);
  styleTable(*m_table);
  m_table->setSelectionMode(QAbstractItemView::SingleSelection);
  m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  m_table->verticalHeader()->setDefaultSectionSize(m_table->fontMetrics().height() * 3 / 2);
  m_table->horizontalHeader()->setStretchLastSection(true);
  m_table->resizeColumnsToContents();
  m_keys->setObjectName(u"shortcutKeys"_s);
  m_keys->setAccessibleName(tr("Shortcut of the chosen command"));
  m_clear->setObjectName(u"clearShortcut"_s);
  m_reset->setObjectName(u"resetShortcut"_s);
  m_conflict->setObjectName(u"shortcutConflict"_s);
  m_conflict->setWordWrap(true);
  auto* all = new QPushButton(tr("&Reset All"));
  all->setObjectName(u"resetShortcuts"_s);
  auto* row = new QHBoxLayout;
  row->addWidget(m_keys, 1);
  row->addWidget(m_clear);
  row->addWidget(m_reset);
  row->addWidget(all);
  auto* column = new QVBoxLayout(this);
  column->addWidget(m_table, 1);
  column->addWidget(m_conflict);
  column->addLayout(row);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &ShortcutsEditor::showCurrent);
  connect(&shortcuts, &QAbstractItemModel::dataChanged, this, &ShortcutsEditor::showCurrent);
  whenEditingFinished(m_keys, this, &ShortcutsEditor::assign);
  connect(m_clear, &QPushButton::clicked, this, [this] { m_shortcuts.assign(currentRow(), {}); });
  connect(m_reset, &QPushButton::clicked, this, [this] { m_shortcuts.reset(currentRow()); });
  connect(all, &QPushButton::clicked, this, [this] { m_shortcuts.resetAll(); });
  showCurrent();
}

int ShortcutsEditor::filter(const QString& text) {
  m_filter->setFilterFixedString(text);
  return m_filter->rowCount();
}

int ShortcutsEditor::currentRow() const {
  return m_filter->mapToSource(m_table->currentIndex()).row();
}

void ShortcutsEditor::showCurrent() {
  const int row = currentRow();
  for (QWidget* one : std::initializer_list<QWidget*>{m_keys, m_clear, m_reset}) {
    one->setEnabled(row >= 0);
  }
  if (row < 0) {
    m_conflict->setText(tr("Choose a command, then press its new keys in the field below."));
    return;
  }
  const QSignalBlocker blocker(m_keys);
  m_keys->setKeySequence(m_shortcuts.keys(row));
  m_reset->setEnabled(m_shortcuts.isChanged(row));
  const QStringList others = m_shortcuts.conflicts(row);
  m_conflict->setText(
      others.isEmpty()
          ? QString()
          : tr("⚠ %1 has the same keys, so neither works. Give one of them others.").arg(others.join(u", "_s)));
}

void ShortcutsEditor::assign() {
  if (currentRow() >= 0) {
    m_shortcuts.assign(currentRow(), m_keys->keySequence());
  }
}

}  // namespace swage::ui
