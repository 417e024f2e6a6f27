// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <vector>

#include "ui/models/text_diff.h"
#include "ui/widgets/theme.h"

namespace swage::ui {

// A whole text as a narrow bar: where its chunks are and what is in sight. A click goes there.
class DiffOverview final : public QWidget {
  Q_OBJECT

 public:
  struct Band {
    LineRange lines;
    bool isOld = false;
  };

  explicit DiffOverview(QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  void setBands(std::vector<Band> bands, int lineCount);
  void setSight(const LineRange& lines);  // the lines that the panes show
  [[nodiscard]] const std::vector<Band>& bands() const { return m_bands; }
  [[nodiscard]] QSize sizeHint() const override;

 Q_SIGNALS:
  void lineRequested(int line);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;

 private:
  void request(double y);
  [[nodiscard]] double yOf(int line) const;

  Theme m_theme = Theme::light();
  std::vector<Band> m_bands;
  int m_lineCount = 1;
  LineRange m_sight;
};

}  // namespace swage::ui
