// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFutureWatcher>
#include <QJsonObject>
#include <QStringList>
#include <QWidget>

#include <vector>

#include "ui/models/task_tree.h"
#include "ui/widgets/theme.h"

class QLabel;
class QLineEdit;
class QSortFilterProxyModel;
class QToolButton;
class QTreeView;

namespace swage::ui {

class EmptyState;
class KernelView;
class TaskTreeModel;

// What can be optimised: the bundled tasks, those used lately, and the folders the user has added, a KernelBench
// checkout for instance, with the source and the inputs of the current one. Folders are read in the background.
class TasksPage final : public QWidget {
  Q_OBJECT

 public:
  explicit TasksPage(const QString& bundledFolder, QWidget* parent = nullptr);
  ~TasksPage() override;
  void setTheme(const Theme& theme);
  void setRecent(const QStringList& recent);
  void addFolder(const QString& folder);
  [[nodiscard]] const QStringList& folders() const { return m_folders; }
  // Every task of the tree.
  [[nodiscard]] std::vector<TaskNode> tasks() const;
  [[nodiscard]] QJsonObject saveState() const;
  void restoreState(const QJsonObject& state);

 Q_SIGNALS:
  void taskChosen(const QString& path);
  void folderRequested();  // the user wants to choose one to add

 private:
  [[nodiscard]] QWidget* makeBar();
  void makeTree();
  void scan();
  void showTree();
  void applySearch();
  void choose(const QModelIndex& index);
  void removeCurrentFolder();
  void updateButtons();
  [[nodiscard]] QWidget* makePreview();
  void showPreview();
  [[nodiscard]] QString currentFolder() const;

  QString m_bundledFolder;
  QStringList m_recent;
  QStringList m_folders;
  std::vector<TaskNode> m_scanned;
  QFutureWatcher<std::vector<TaskNode>> m_scan;
  TaskTreeModel* m_model;
  QSortFilterProxyModel* m_filter;
  QLineEdit* m_search;
  QToolButton* m_add;
  QToolButton* m_remove;
  QTreeView* m_tree;
  EmptyState* m_empty = nullptr;
  QWidget* m_preview = nullptr;  // of the current task, under the tree
  QLabel* m_inputs;
  KernelView* m_source;
};

}  // namespace swage::ui
