// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/task_tree_model.h"

#include "ui/models/format.h"
#include "ui/models/task_catalogue.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

void link(TaskNode& node) {
  int row = 0;
  for (TaskNode& child : node.children) {
    child.parent = &node;
    child.row = row++;
    link(child);
  }
}

QString label(const TaskNode& node) {
  if (node.isTask()) {
    return node.place.isEmpty() ? node.name : QString(node.name % u" – "_s % node.place);
  }
  return QString(node.name % u" ("_s % formatCount(taskCount(node)) % u")"_s);
}

// The description is read when it is asked for: a folder may hold thousands of tasks.
QString tooltip(const TaskNode& node) {
  if (node.kind != TaskNode::Kind::PythonFile) {
    return node.path;
  }
  const QString description = taskEntry(node.path).description;
  return description.isEmpty() ? node.path : QString(description % u"\n"_s % node.path);
}

}  // namespace

void TaskTreeModel::setRoots(std::vector<TaskNode> roots) {
  beginResetModel();
  m_root.children = std::move(roots);
  link(m_root);
  endResetModel();
}

const TaskNode* TaskTreeModel::node(const QModelIndex& index) {
  return static_cast<const TaskNode*>(index.constInternalPointer());
}

QModelIndex TaskTreeModel::index(int row, int column, const QModelIndex& parent) const {
  const TaskNode& above = parent.isValid() ? *node(parent) : m_root;
  if (column != 0 || row < 0 || row >= static_cast<int>(above.children.size())) {
    return {};
  }
  return createIndex(row, column, &above.children[static_cast<std::size_t>(row)]);
}

QModelIndex TaskTreeModel::parent(const QModelIndex& index) const {
  const TaskNode* one = node(index);
  if (one == nullptr || one->parent == &m_root) {
    return {};
  }
  return createIndex(one->parent->row, 0, one->parent);
}

int TaskTreeModel::rowCount(const QModelIndex& parent) const {
  const TaskNode& above = parent.isValid() ? *node(parent) : m_root;
  return parent.column() > 0 ? 0 : static_cast<int>(above.children.size());
}

int TaskTreeModel::columnCount(const QModelIndex&) const {
  return 1;
}

QVariant TaskTreeModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
    return {};
  }
  const TaskNode& one = *node(index);
  switch (role) {
    case Qt::DisplayRole: return label(one);
    case Qt::ToolTipRole: return tooltip(one);
    case PathRole: return one.path;
    case KindRole: return static_cast<int>(one.kind);
    case IsTaskRole: return one.isTask();
    default: return {};
  }
}

}  // namespace swage::ui
