// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/models/text_diff.h"
#include "ui/widgets/theme.h"

namespace swage::ui {

class DiffPane;

// Between two panes: bands that lead from a chunk on the left to where it is on the right. The current one is drawn
// with a frame. Follows both panes as they scroll.
class LinkMap final : public QWidget {
  Q_OBJECT

 public:
  LinkMap(const DiffPane& left, const DiffPane& right, QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  // The difference outlives the map or is replaced.
  void setDiff(const TextDiff* diff);
  void setCurrent(int chunk);
  [[nodiscard]] QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  const DiffPane& m_left;
  const DiffPane& m_right;
  const TextDiff* m_diff = nullptr;
  int m_current = -1;
  Theme m_theme = Theme::light();
};

}  // namespace swage::ui
