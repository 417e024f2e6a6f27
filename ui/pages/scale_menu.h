// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QJsonObject>
#include <QMenu>

#include <array>

#include "ui/models/cell_scale.h"

class QActionGroup;
class QLabel;
class QLineEdit;

namespace swage::ui {

// How values become colours: linear or logarithmic, over the range of the values or a fixed one. Remembers that for
// each metric. GUI thread only.
class ScaleMenu final : public QMenu {
  Q_OBJECT

 public:
  explicit ScaleMenu(QWidget* parent = nullptr);
  void setMetric(CellMetric metric);
  // What the map uses now: the range that can be kept.
  void setScale(const CellScale& scale);
  [[nodiscard]] const ScaleOptions& options() const { return m_options[static_cast<std::size_t>(m_metric)]; }
  // "Auto", "Fixed", "Linear, fixed": for the button that opens it.
  [[nodiscard]] QString summary() const;

  [[nodiscard]] QJsonObject saveState() const;
  void restoreState(const QJsonObject& state);

 Q_SIGNALS:
  void changed(const swage::ui::ScaleOptions& options);

 private:
  void addShapes();
  void addRange();
  void setShape(std::optional<bool> logarithmic);
  void setRange(std::optional<std::pair<double, double>> range);
  void readRange();
  void showOptions();

  CellMetric m_metric = CellMetric::Speedup;
  std::array<ScaleOptions, kCellMetrics> m_options;
  CellScale m_scale;
  QActionGroup* m_shapes;
  QAction* m_fitted = nullptr;
  QAction* m_fixed = nullptr;
  QLineEdit* m_low;
  QLineEdit* m_high;
  QLabel* m_unit;
};

}  // namespace swage::ui
