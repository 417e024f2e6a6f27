// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/services/record_service.h"
#include "ui/models/locator_model.h"

class QMenuBar;

namespace swage::ui {

class DockLayout;
class RunControl;
class ProjectSession;
struct Pages;

// What quick open looks into.
struct PlaceParts {
  ProjectSession& session;
  const services::RecordService& record;
  RunControl& control;
  DockLayout& docks;
  const Pages& pages;
  std::function<void(const QString& section)> showSettings;
};

// Every action of the menus with its path and shortcut, as the menus are at this moment.
[[nodiscard]] LocatorSource commandSource(const QMenuBar& bar);

// What quick open finds: a candidate by its number, cells by their name, recorded runs, tasks, patterns, pages.
[[nodiscard]] LocatorSource placeSource(const PlaceParts& parts);

}  // namespace swage::ui
