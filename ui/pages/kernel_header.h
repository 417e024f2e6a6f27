// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <array>
#include <optional>

#include "core/services/export_service.h"
#include "core/services/types.h"
#include "ui/widgets/theme.h"

class QLabel;

namespace swage::ui {

class Badge;
class ElidedLabel;

// What is known of a candidate beyond its evaluation.
struct KernelTrust {
  bool skippedSelfTest = false;  // its run searched without one
  std::optional<services::ExportGate> sanitizer{};
};

// What a candidate is, in two lines: its number and cell, badges for what is known of it, and its measurements.
class KernelHeader final : public QWidget {
  Q_OBJECT

 public:
  explicit KernelHeader(QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  void setCandidate(const services::CandidateDetail& detail, const KernelTrust& trust);

 private:
  [[nodiscard]] std::array<Badge*, 6> badges() const {
    return {m_origin, m_repeatable, m_accuracy, m_status, m_sanitizer, m_selfTest};
  }
  void showOrigin(const domain::ProposerName& madeBy);
  void showTrust(const KernelTrust& trust);

  QLabel* m_title;
  ElidedLabel* m_numbers;
  Badge* m_origin;
  Badge* m_repeatable;
  Badge* m_accuracy;
  Badge* m_status;
  Badge* m_sanitizer;
  Badge* m_selfTest;
};

}  // namespace swage::ui
