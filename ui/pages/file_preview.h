// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <vector>

#include "core/services/export_service.h"
#include "ui/widgets/theme.h"

class QLabel;
class QPushButton;
class QTabBar;

namespace swage::ui {

class EmptyState;
class KernelView;

// Files that do not exist yet, a tab for each, as they would be written. The same tab stays in front when files of the
// same names come. GUI thread only.
class FilePreview final : public QWidget {
  Q_OBJECT

 public:
  explicit FilePreview(QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  void setFiles(std::vector<services::ExportFile> files);
  // Instead of files.
  void setSentence(const QString& sentence);
  [[nodiscard]] QString shownText() const;

 private:
  void show(int index);
  void copy() const;

  std::vector<services::ExportFile> m_files;
  QTabBar* m_tabs;
  QLabel* m_size;
  QPushButton* m_copy;
  KernelView* m_view;
  EmptyState* m_viewOrEmpty;
  Theme m_theme = Theme::light();
};

}  // namespace swage::ui
