// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <array>

#include "core/services/types.h"
#include "ui/widgets/theme.h"

class QLabel;

namespace swage::ui {

class Badge;
class ElidedLabel;

// What a candidate is, in two lines: its number and cell, badges for what is known of it, and its measurements.
class KernelHeader final : public QWidget {
  Q_OBJECT

 public:
  explicit KernelHeader(QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  void setCandidate(const services::CandidateDetail& detail);

 private:
  [[nodiscard]] std::array<Badge*, 4> badges() const { return {m_origin, m_repeatable, m_accuracy, m_status}; }

  QLabel* m_title;
  ElidedLabel* m_numbers;
  Badge* m_origin;
  Badge* m_repeatable;
  Badge* m_accuracy;
  Badge* m_status;
};

}  // namespace swage::ui
