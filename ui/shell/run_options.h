// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "core/services/types.h"

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QLineEdit;
class QSpinBox;

namespace swage::ui {

// The settings of a run that are rarely changed: overrides of the task's constants, seed, limits, baselines.
class RunOptions final : public QWidget {
  Q_OBJECT

 public:
  explicit RunOptions(QWidget* parent = nullptr);
  void setFrom(const services::RunSpec& spec);
  void writeTo(services::RunSpec& spec) const;
  [[nodiscard]] bool isValid() const;

 Q_SIGNALS:
  void changed();

 private:
  void setUpTarget();
  void setUpBaselines();
  void checkOverrides();

  QLineEdit* m_overrides;
  QLineEdit* m_inputs;
  QSpinBox* m_seed;
  QSpinBox* m_maxEvaluations;
  QDoubleSpinBox* m_targetSpeedup;
  QCheckBox* m_eval;
  QComboBox* m_baselines;
};

}  // namespace swage::ui
