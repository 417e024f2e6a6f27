// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <string>
#include <vector>

#include "core/domain/assurance.h"
#include "ui/widgets/badge.h"

class QGridLayout;

namespace swage::ui {

// What was checked of a candidate beyond its evaluation, a badge for each with what it found, and why a speedup on its
// task may say little.
class TrustPanel final : public QWidget {
  Q_OBJECT

 public:
  explicit TrustPanel(QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  void setTrust(const std::vector<domain::Assurance>& assurances, const std::vector<std::string>& doubts);

 private:
  void addRow(const QString& word, Badge::Tone tone, const QString& detail);
  void clear();

  Theme m_theme = Theme::light();
  QGridLayout* m_grid;
  int m_rows = 0;
};

}  // namespace swage::ui
