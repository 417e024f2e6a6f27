// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <vector>

#include "core/services/edit_service.h"

class QComboBox;
class QLabel;
class QPushButton;
class QVBoxLayout;

namespace swage::ui {

// The regions of a candidate's genome with their patterns, and every parameter as a choice of what the pattern allows.
class ParameterPanel final : public QWidget {
  Q_OBJECT

 public:
  explicit ParameterPanel(QWidget* parent = nullptr);
  void setRegions(const domain::Genome& genome, const std::vector<services::RegionParameters>& regions);
  // Why the parameters cannot be evaluated now; empty: they can, once one was changed.
  void setObstacle(const QString& obstacle);
  [[nodiscard]] const domain::Genome& genome() const { return m_edited; }  // with the choices

 Q_SIGNALS:
  void evaluationRequested(const swage::domain::Genome& genome);

 private:
  [[nodiscard]] QWidget* makeRegion(std::size_t index, const services::RegionParameters& region);
  [[nodiscard]] QComboBox* makeChoice(std::size_t index, const services::ParameterRange& range);
  void reset();
  void updateButtons();

  domain::Genome m_recorded;
  domain::Genome m_edited;
  QString m_obstacle;
  QVBoxLayout* m_list;
  QWidget* m_content = nullptr;
  std::vector<std::pair<QComboBox*, int>> m_choices;  // and the index of the recorded value
  QLabel* m_hint;
  QPushButton* m_reset;
  QPushButton* m_evaluate;
};

}  // namespace swage::ui
