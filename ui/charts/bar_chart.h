// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include "ui/widgets/chart_widget.h"

namespace swage::ui {

struct Bar {
  QString label;
  double share = 0.0;               // 0 to 1 of the full width
  QString text;                     // "41 %"
  std::optional<double> reference;  // where the pinned baseline has it
  QString delta;                    // against that: "+12 %"
  QString tooltip;
};

// Horizontal bars, one a line, each with its number and a mark where the pinned baseline stands.
class BarChart final : public ChartWidget {
  Q_OBJECT

 public:
  explicit BarChart(const QString& title, QWidget* parent = nullptr);
  void setBars(std::vector<Bar> bars);
  [[nodiscard]] const std::vector<Bar>& bars() const { return m_bars; }
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;
  void drawChart(QPainter& painter, const QRectF& target) const override;
  [[nodiscard]] ChartTable chartTable() const override;

 protected:
  bool event(QEvent* event) override;

 private:
  [[nodiscard]] double lineHeight() const;
  [[nodiscard]] double widest(QString Bar::*text) const;
  void drawBar(QPainter& painter, const QRectF& track, const Bar& bar) const;

  std::vector<Bar> m_bars;
};

}  // namespace swage::ui
