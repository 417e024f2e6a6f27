// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QToolButton>

#include <functional>

#include "ui/models/other_projects.h"
#include "ui/models/project_session.h"

class QMenu;

namespace swage::ui {

// Asks the user for the folder of a project and calls back with it, unless they cancel.
using ChooseFolder = std::function<void(QWidget* parent, const std::function<void(const QString& folder)>& chosen)>;

// Chooses a run: of the open project, or of another one that is opened for it.
class RunPicker final : public QToolButton {
  Q_OBJECT

 public:
  RunPicker(ProjectSession& session, const services::RecordService& record, const QString& name,
            QWidget* parent = nullptr);
  // Without them there are only the runs of the open project.
  void setProjects(OtherProjects* projects, const ChooseFolder& chooseFolder);
  // What it shows: "r7". Empty: no run yet.
  void setShown(const QString& name);
  [[nodiscard]] QSize sizeHint() const override;

 Q_SIGNALS:
  void chosen(const swage::ui::RunRef& run);

 private:
  void fill();
  void addRuns(QMenu& menu, const std::shared_ptr<const services::RecordService>& record, const QString& project);
  void openProject(const QString& folder);

  ProjectSession& m_session;
  const services::RecordService& m_record;
  OtherProjects* m_projects = nullptr;
  ChooseFolder m_chooseFolder;
  QMenu* m_menu;
};

}  // namespace swage::ui
