// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <string>
#include <vector>

#include "core/services/export_service.h"
#include "ui/widgets/badge.h"

class QGridLayout;

namespace swage::ui {

// What was checked of a candidate, as the export page has it: a badge for each check with what it found; and why a
// speedup on its task may say little.
class TrustPanel final : public QWidget {
  Q_OBJECT

 public:
  explicit TrustPanel(QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  void setTrust(const std::vector<services::ExportGate>& gates, const std::vector<std::string>& doubts);

 private:
  void addRow(const QString& word, Badge::Tone tone, const QString& detail, const QString& meaning);
  void clear();

  Theme m_theme = Theme::light();
  QGridLayout* m_grid;
  int m_rows = 0;
};

}  // namespace swage::ui
