// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>
#include <QWidget>

#include <vector>

#include "ui/widgets/theme.h"

class QAction;
class QCommandLinkButton;
class QLabel;
class QListWidget;
class QListWidgetItem;

namespace swage::ui {

class EmptyState;

// One thing to begin with.
struct WelcomeEntry {
  QAction* action = nullptr;  // outlives the page; says whether it can be done now
  QString title;
  QString hint;
  QString icon;  // of resources/icons
};

// What can be done first: entries as large buttons, and the tasks of late with their paths.
class WelcomePage final : public QWidget {
  Q_OBJECT

 public:
  explicit WelcomePage(const std::vector<WelcomeEntry>& entries, QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  void setRecent(const QStringList& tasks);

 Q_SIGNALS:
  void taskChosen(const QString& path);

 private:
  struct Button {
    QCommandLinkButton* button;
    QString icon;
  };
  [[nodiscard]] QWidget* makeEntries(const std::vector<WelcomeEntry>& entries);
  [[nodiscard]] QWidget* makeRecent();
  void choose(const QListWidgetItem* item);

  std::vector<Button> m_buttons;
  QListWidget* m_recent;
  EmptyState* m_recentOrEmpty = nullptr;
};

}  // namespace swage::ui
