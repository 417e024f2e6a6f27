// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractItemModel>

#include "ui/models/task_tree.h"

namespace swage::ui {

// Groups and folders of tasks as a tree of one column. GUI thread only.
class TaskTreeModel final : public QAbstractItemModel {
  Q_OBJECT

 public:
  enum Role : int { PathRole = Qt::UserRole + 1, KindRole, IsTaskRole };

  using QAbstractItemModel::QAbstractItemModel;
  void setRoots(std::vector<TaskNode> roots);
  [[nodiscard]] const TaskNode& root() const { return m_root; }
  // Null for an invalid index.
  [[nodiscard]] static const TaskNode* node(const QModelIndex& index);

  [[nodiscard]] QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  [[nodiscard]] QModelIndex parent(const QModelIndex& index) const override;
  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;

 private:
  TaskNode m_root;
};

}  // namespace swage::ui
