// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStyledItemDelegate>

#include "ui/widgets/theme.h"

namespace swage::ui {

// Paints an item that has a share as its number with a bar behind it, from the left. Other items as usual, in the
// colour of what is bad where `lostRole` says so. GUI thread only.
class ShareDelegate final : public QStyledItemDelegate {
  Q_OBJECT

 public:
  ShareDelegate(int shareRole, int lostRole, QObject* parent = nullptr)
      : QStyledItemDelegate(parent), m_shareRole(shareRole), m_lostRole(lostRole) {}
  void setTheme(const Theme& theme) { m_theme = theme; }
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

 private:
  int m_shareRole;
  int m_lostRole;  // -1: none
  Theme m_theme = Theme::light();
};

// Paints what a proposer has done on one island: how much it proposed, how much of that was correct (number and bar),
// what it holds, and what it proposed last. GUI thread only.
class TallyDelegate final : public QStyledItemDelegate {
  Q_OBJECT

 public:
  struct Roles {
    int share;
    int headline;
    int detail;
    int last;
  };
  explicit TallyDelegate(const Roles& roles, QObject* parent = nullptr) : QStyledItemDelegate(parent), m_roles(roles) {}
  void setTheme(const Theme& theme) { m_theme = theme; }
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  // Of a column in which the numbers can be read, if nothing else.
  [[nodiscard]] static int leastWidth(const QFontMetrics& metrics);

 private:
  Roles m_roles;
  Theme m_theme = Theme::light();
};

}  // namespace swage::ui
