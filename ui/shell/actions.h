// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAction>

#include "ui/widgets/theme.h"

class QObject;

namespace swage::ui {

// Everything the window can do, once, for menus, tool bar and shortcuts alike. Owned by `owner`.
struct Actions {
  explicit Actions(QObject* owner);
  void setTheme(const Theme& theme) const;

  QAction* openTask;
  QAction* openBundle;
  QAction* openProject;
  QAction* quickOpen;
  QAction* exportKernel;
  QAction* newWindow;
  QAction* closeWindow;
  QAction* quit;
  QAction* start;
  QAction* pause;
  QAction* stop;
  QAction* stopNow;
  QAction* resumeRecorded;
  QAction* followBest;
  QAction* findInKernel;
  QAction* commandPalette;
  QAction* settings;
  QAction* fullScreen;
  QAction* help;
  QAction* playDemo;
  QAction* about;
};

}  // namespace swage::ui
