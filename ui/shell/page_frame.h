// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QScrollArea>

namespace swage::ui {

// Holds the page of a dock: as large as the dock, or, where the dock is smaller than the page can be, scrolled. So no
// page keeps the window from becoming small.
class PageFrame final : public QScrollArea {
  Q_OBJECT

 public:
  // Owns the page.
  explicit PageFrame(QWidget* page, QWidget* parent = nullptr);
  [[nodiscard]] QSize minimumSizeHint() const override;
  [[nodiscard]] QSize sizeHint() const override;
};

}  // namespace swage::ui
