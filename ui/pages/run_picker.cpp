// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/run_picker.h"

#include <QMenu>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr std::size_t kMostRuns = 40;

}  // namespace

RunPicker::RunPicker(ProjectSession& session, const services::RecordService& record, const QString& name,
                     QWidget* parent)
    : QToolButton(parent), m_session(session), m_record(record), m_menu(new QMenu(this)) {
  setAccessibleName(name);
  setToolTip(tr("Choose a run of this or of another project"));
  setPopupMode(QToolButton::InstantPopup);
  setMenu(m_menu);
  setShown({});
  connect(m_menu, &QMenu::aboutToShow, this, &RunPicker::fill);
}

void RunPicker::setProjects(OtherProjects* projects, const ChooseFolder& chooseFolder) {
  m_projects = projects;
  m_chooseFolder = chooseFolder;
}

void RunPicker::setShown(const QString& name) {
  const QString text = name.isEmpty() ? tr("Run") : name;
  setText(fontMetrics().elidedText(text, Qt::ElideMiddle, fontMetrics().averageCharWidth() * 22));
}

QSize RunPicker::sizeHint() const {
  return QToolButton::sizeHint() + QSize(fontMetrics().height() / 2, 0);  // for the arrow of the menu
}

void RunPicker::fill() {
  m_menu->clear();
  if (m_session.hasRecord()) {
    addRuns(*m_menu, nullptr, {});
  }
  if (m_projects == nullptr || !m_projects->canOpen()) {
    return;
  }
  for (const OtherProjects::Project& project : m_projects->projects()) {
    QMenu* menu = m_menu->addMenu(QString(project.name).replace(u"&"_s, u"&&"_s));
    menu->setToolTip(QString::fromStdString(project.folder.string()));
    addRuns(*menu, project.record, project.name);
  }
  m_menu->addSeparator();
  QAction* other = m_menu->addAction(tr("Other &Project…"));
  other->setObjectName(u"otherProject"_s);
  connect(other, &QAction::triggered, this,
          [this] { m_chooseFolder(window(), [this](const QString& folder) { openProject(folder); }); });
}

void RunPicker::addRuns(QMenu& menu, const std::shared_ptr<const services::RecordService>& record,
                        const QString& project) {
  auto runs = (record ? *record : m_record).runs();
  if (!runs) {
    m_session.report(runs.error());
    return;
  }
  std::sort(runs->begin(), runs->end(), [](const auto& a, const auto& b) { return b.id < a.id; });
  runs->resize(std::min(runs->size(), kMostRuns));
  for (const services::RunSummary& run : *runs) {
    QAction* action = menu.addAction(describe(run).replace(u"&"_s, u"&&"_s));
    action->setEnabled(bestOf(run).isValid());
    connect(action, &QAction::triggered, this, [this, record, project, run] { Q_EMIT chosen({record, project, run}); });
  }
}

// Its newest run that has found something.
void RunPicker::openProject(const QString& folder) {
  const auto project = m_projects->open(folder.toStdString());
  const auto runs = project ? project->record->runs() : Result<std::vector<services::RunSummary>>(project.error());
  if (!runs) {
    m_session.report(runs.error());
    return;
  }
  const services::RunSummary* newest = nullptr;
  for (const services::RunSummary& run : *runs) {
    newest = bestOf(run).isValid() && (newest == nullptr || newest->id < run.id) ? &run : newest;
  }
  if (newest != nullptr) {
    Q_EMIT chosen({project->record, project->name, *newest});
  } else {
    m_session.report(Error(ErrorKind::NotFound, "no run of '" + folder.toStdString() + "' has a correct candidate"));
  }
}

}  // namespace swage::ui
