// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

#include "core/domain/diagnosis.h"
#include "ui/widgets/theme.h"

class QGridLayout;
class QLabel;

namespace swage::ui {

// What bounds a candidate in one line, and up to three findings: what, how much it can cost, where in the source.
class TriageCard final : public QFrame {
  Q_OBJECT

 public:
  explicit TriageCard(QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  void setDiagnosis(const domain::Diagnosis& diagnosis);
  [[nodiscard]] int findingCount() const { return m_findingCount; }

 Q_SIGNALS:
  void lineRequested(int line);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void addFinding(int row, const domain::Finding& finding);
  void clearFindings();

  Theme m_theme = Theme::light();
  QLabel* m_headline;
  QLabel* m_reason;
  QGridLayout* m_findings;
  int m_findingCount = 0;
};

}  // namespace swage::ui
