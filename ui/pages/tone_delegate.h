// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStyledItemDelegate>

#include <functional>
#include <optional>

#include "ui/widgets/theme.h"

namespace swage::ui {

// Paints a table whose text has the colour of what it says. GUI thread only.
class ToneDelegate final : public QStyledItemDelegate {
  Q_OBJECT

 public:
  // Of one item; nothing: as everywhere.
  using Color = std::function<std::optional<QColor>(const QModelIndex& index, const Theme& theme)>;

  explicit ToneDelegate(Color color, QObject* parent = nullptr)
      : QStyledItemDelegate(parent), m_color(std::move(color)) {}
  void setTheme(const Theme& theme) { m_theme = theme; }

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

 private:
  Color m_color;
  Theme m_theme = Theme::light();
};

}  // namespace swage::ui
