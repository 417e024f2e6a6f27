// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/lineage_accessible.h"

#include <QAccessible>
#include <QAccessibleWidget>

#include <map>

#include "ui/widgets/lineage_view.h"

namespace swage::ui {
namespace {

// One candidate, owned by Qt's cache of interfaces; the list removes it from there when the view goes.
class NodeAccessible final : public QAccessibleInterface {
 public:
  NodeAccessible(LineageView& view, int node) : m_view(view), m_node(node) {}

  [[nodiscard]] bool isValid() const override { return m_node < static_cast<int>(m_view.layout().nodes.size()); }
  [[nodiscard]] QObject* object() const override { return nullptr; }
  [[nodiscard]] QAccessibleInterface* childAt(int, int) const override { return nullptr; }
  [[nodiscard]] QAccessibleInterface* parent() const override { return QAccessible::queryAccessibleInterface(&m_view); }
  [[nodiscard]] QAccessibleInterface* child(int) const override { return nullptr; }
  [[nodiscard]] int childCount() const override { return 0; }
  [[nodiscard]] int indexOfChild(const QAccessibleInterface*) const override { return -1; }
  [[nodiscard]] QString text(QAccessible::Text text) const override {
    return text == QAccessible::Name && isValid() ? m_view.spoken(m_node) : QString();
  }
  void setText(QAccessible::Text, const QString&) override {}
  [[nodiscard]] QRect rect() const override {
    if (!isValid()) {
      return {};
    }
    const QRect local = m_view.nodeRect(m_node).toAlignedRect();
    return {m_view.viewport()->mapToGlobal(local.topLeft()), local.size()};
  }
  [[nodiscard]] QAccessible::Role role() const override { return QAccessible::ListItem; }
  [[nodiscard]] QAccessible::State state() const override {
    QAccessible::State state;
    state.selectable = true;
    state.focusable = true;
    state.selected = m_view.currentNode() == m_node;
    state.focused = state.selected && m_view.hasFocus();
    state.readOnly = true;
    state.invalid = !isValid();
    return state;
  }

 private:
  LineageView& m_view;
  int m_node;
};

class ListAccessible final : public QAccessibleWidget {
 public:
  explicit ListAccessible(LineageView& view) : QAccessibleWidget(&view, QAccessible::List), m_view(view) {}
  ~ListAccessible() override {
    for (const auto& [node, id] : m_nodes) {
      QAccessible::deleteAccessibleInterface(id);
    }
  }

  [[nodiscard]] int childCount() const override { return static_cast<int>(m_view.layout().nodes.size()); }
  [[nodiscard]] QAccessibleInterface* child(int node) const override {
    if (node < 0 || node >= childCount()) {
      return nullptr;
    }
    const auto known = m_nodes.find(node);
    const QAccessible::Id id =
        known != m_nodes.end()
            ? known->second
            : m_nodes.emplace(node, QAccessible::registerAccessibleInterface(new NodeAccessible(m_view, node)))
                  .first->second;
    return QAccessible::accessibleInterface(id);
  }
  [[nodiscard]] int indexOfChild(const QAccessibleInterface* child) const override {
    for (const auto& [node, id] : m_nodes) {
      if (QAccessible::accessibleInterface(id) == child) {
        return node;
      }
    }
    return -1;
  }
  [[nodiscard]] QAccessibleInterface* childAt(int x, int y) const override {
    return child(m_view.nodeAt(m_view.viewport()->mapFromGlobal(QPoint(x, y))));
  }
  [[nodiscard]] QAccessibleInterface* focusChild() const override { return child(m_view.currentNode()); }

 private:
  LineageView& m_view;
  mutable std::map<int, QAccessible::Id> m_nodes;
};

QAccessibleInterface* makeLineageInterface(const QString&, QObject* object) {
  auto* view = qobject_cast<LineageView*>(object);
  return view != nullptr ? new ListAccessible(*view) : nullptr;
}

}  // namespace

void installLineageAccessibility() {
  static const bool installed = [] {
    QAccessible::installFactory(makeLineageInterface);
    return true;
  }();
  static_cast<void>(installed);
}

}  // namespace swage::ui
