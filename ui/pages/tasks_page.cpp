// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/tasks_page.h"

#include <QAction>
#include <QHBoxLayout>
#include <QJsonArray>
#include <QLabel>
#include <QLineEdit>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QToolButton>
#include <QTreeView>
#include <QVBoxLayout>
#include <QtConcurrentRun>

#include "ui/editor/kernel_view.h"
#include "ui/models/task_catalogue.h"
#include "ui/models/task_preview.h"
#include "ui/models/task_tree_model.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/icons.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

std::vector<TaskNode> scanAll(const QStringList& folders) {
  std::vector<TaskNode> nodes;
  for (const QString& folder : folders) {
    nodes.push_back(scanTasks(folder));
  }
  return nodes;
}

void collectTasks(const TaskNode& node, std::vector<TaskNode>& tasks) {
  if (node.isTask()) {
    tasks.push_back(node);
  }
  for (const TaskNode& child : node.children) {
    collectTasks(child, tasks);
  }
}

}  // namespace

TasksPage::TasksPage(const QString& bundledFolder, QWidget* parent)
    : QWidget(parent),
      m_bundledFolder(bundledFolder),
      m_model(new TaskTreeModel(this)),
      m_filter(new QSortFilterProxyModel(this)),
      m_search(new QLineEdit),
      m_add(new QToolButton),
      m_remove(new QToolButton),
      m_tree(new QTreeView),
      m_inputs(new QLabel),
      m_source(new KernelView(KernelView::Language::Python)) {
  setObjectName(u"tasksPage"_s);
  m_filter->setSourceModel(m_model);
  m_filter->setFilterCaseSensitivity(Qt::CaseInsensitive);
  m_filter->setRecursiveFilteringEnabled(true);
  m_filter->setAutoAcceptChildRows(true);
  makeTree();
  m_empty = new EmptyState(m_tree, tr("Add a folder of tasks, or drop a Python file on the window."));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(makeBar());
  auto* halves = new QSplitter(Qt::Vertical);
  halves->setChildrenCollapsible(false);
  halves->addWidget(m_empty);
  halves->addWidget(makePreview());
  halves->setStretchFactor(0, 3);
  halves->setStretchFactor(1, 2);
  column->addWidget(halves, 1);
  connect(&m_scan, &QFutureWatcherBase::finished, this, [this] {
    m_scanned = m_scan.result();
    showTree();
  });
  setTheme(Theme::light());
  showTree();
}

TasksPage::~TasksPage() {
  m_scan.waitForFinished();  // the page goes with the window, and the scan has a limit
}

QWidget* TasksPage::makeBar() {
  m_search->setObjectName(u"taskSearch"_s);
  m_search->setPlaceholderText(tr("Search the tasks"));
  m_search->setAccessibleName(tr("Search the tasks"));
  m_search->setClearButtonEnabled(true);
  m_add->setObjectName(u"addTaskFolder"_s);
  m_add->setToolTip(tr("Add a folder of tasks: a KernelBench checkout, or any folder with PyTorch modules"));
  m_add->setAccessibleName(tr("Add a folder of tasks"));
  m_remove->setObjectName(u"removeTaskFolder"_s);
  m_remove->setToolTip(tr("Take the chosen folder out of the list; nothing on the disk changes"));
  m_remove->setAccessibleName(tr("Remove the chosen folder from the list"));
  for (QToolButton* button : {m_add, m_remove}) {
    button->setAutoRaise(true);
  }
  connect(m_search, &QLineEdit::textChanged, this, &TasksPage::applySearch);
  connect(m_add, &QToolButton::clicked, this, &TasksPage::folderRequested);
  connect(m_remove, &QToolButton::clicked, this, &TasksPage::removeCurrentFolder);
  auto* bar = new QWidget;
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(8, 6, 6, 6);
  row->setSpacing(2);
  row->addWidget(m_search, 1);
  row->addWidget(m_add);
  row->addWidget(m_remove);
  return bar;
}

void TasksPage::makeTree() {
  m_tree->setObjectName(u"taskTree"_s);
  m_tree->setAccessibleName(tr("Tasks"));
  m_tree->setModel(m_filter);
  m_tree->setHeaderHidden(true);
  m_tree->setUniformRowHeights(true);
  m_tree->setEditTriggers(QAbstractItemView::NoEditTriggers);
  m_tree->setTextElideMode(Qt::ElideMiddle);
  m_tree->setFrameShape(QFrame::NoFrame);
  m_tree->setExpandsOnDoubleClick(true);
  // Enter, or a double click, by what the desktop has chosen for it.
  connect(m_tree, &QTreeView::activated, this, &TasksPage::choose);
  connect(m_tree->selectionModel(), &QItemSelectionModel::currentChanged, this, &TasksPage::updateButtons);
}

QWidget* TasksPage::makePreview() {
  m_preview = new QWidget;
  m_preview->setObjectName(u"taskPreview"_s);
  m_inputs->setObjectName(u"taskInputs"_s);
  m_inputs->setWordWrap(true);
  m_inputs->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_inputs->setContentsMargins(8, 6, 8, 4);
  m_source->setObjectName(u"taskSource"_s);
  m_source->setTitle(tr("Source of the task"));
  m_source->setEditing(KernelView::Editing::Never);
  m_source->setMinimumHeight(fontMetrics().height() * 4);
  auto* column = new QVBoxLayout(m_preview);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(m_inputs);
  column->addWidget(m_source, 1);
  m_preview->hide();
  return m_preview;
}

void TasksPage::showPreview() {
  const QModelIndex index = m_tree->currentIndex();
  const bool isTask = index.data(TaskTreeModel::IsTaskRole).toBool();
  m_preview->setVisible(isTask);
  if (!isTask) {
    return;
  }
  const TaskPreview task = readTaskPreview(index.data(TaskTreeModel::PathRole).toString());
  QStringList lines;
  if (!task.description.isEmpty()) {
    lines.push_back(task.description);
  }
  lines.push_back(!task.obstacle.isEmpty()  ? task.obstacle
                  : task.inputs.isEmpty()   ? tr("Inputs: not stated in the file")
                  : task.inputs.size() == 1 ? tr("Input: %1").arg(task.inputs.front())
                                            : tr("Inputs: %1").arg(task.inputs.join(u", "_s)));
  m_inputs->setText(lines.join(u'\n'));
  m_source->setText(task.source);
}

void TasksPage::setTheme(const Theme& theme) {
  m_source->setTheme(theme);
  m_add->setIcon(themedIcon(u"open"_s, theme));
  m_remove->setIcon(themedIcon(u"close"_s, theme));
}

void TasksPage::setRecent(const QStringList& recent) {
  if (recent != m_recent) {
    m_recent = recent;
    showTree();
  }
}

void TasksPage::addFolder(const QString& folder) {
  if (!m_folders.contains(folder)) {
    m_folders.push_back(folder);
  }
  scan();
}

void TasksPage::scan() {
  // A later answer replaces an earlier one, whose watcher is told nothing any more.
  m_scan.setFuture(QtConcurrent::run(scanAll, m_folders));
}

void TasksPage::showTree() {
  QStringList bundled;
  for (const TaskEntry& entry : tasksIn(m_bundledFolder)) {
    bundled.push_back(entry.path);
  }
  std::vector<TaskNode> roots;
  for (TaskNode& group :
       std::vector<TaskNode>{taskGroup(tr("Bundled"), bundled), taskGroupWithPlaces(tr("Recent"), m_recent, bundled)}) {
    if (!group.children.empty()) {
      roots.push_back(std::move(group));
    }
  }
  roots.insert(roots.end(), m_scanned.begin(), m_scanned.end());
  m_model->setRoots(std::move(roots));
  applySearch();
  updateButtons();
}

void TasksPage::applySearch() {
  m_filter->setFilterFixedString(m_search->text().trimmed());
  const bool found = m_filter->rowCount() > 0;
  m_empty->setSentence(m_model->rowCount() > 0 ? tr("No task matches.")
                                               : tr("Add a folder of tasks, or drop a Python file on the window."));
  m_empty->setEmpty(!found);
  if (m_search->text().trimmed().isEmpty()) {
    m_tree->expandToDepth(0);
  } else {
    m_tree->expandAll();
  }
}

void TasksPage::choose(const QModelIndex& index) {
  if (index.data(TaskTreeModel::IsTaskRole).toBool()) {
    Q_EMIT taskChosen(index.data(TaskTreeModel::PathRole).toString());
  }
}

QString TasksPage::currentFolder() const {
  QModelIndex index = m_tree->currentIndex();
  while (index.parent().isValid()) {
    index = index.parent();
  }
  const QString path = index.data(TaskTreeModel::PathRole).toString();
  return m_folders.contains(path) ? path : QString();
}

void TasksPage::removeCurrentFolder() {
  m_folders.removeAll(currentFolder());
  scan();
}

void TasksPage::updateButtons() {
  showPreview();
  m_remove->setEnabled(!currentFolder().isEmpty());
}

std::vector<TaskNode> TasksPage::tasks() const {
  std::vector<TaskNode> tasks;
  collectTasks(m_model->root(), tasks);
  return tasks;
}

QJsonObject TasksPage::saveState() const {
  return {{u"folders"_s, QJsonArray::fromStringList(m_folders)}, {u"search"_s, m_search->text()}};
}

void TasksPage::restoreState(const QJsonObject& state) {
  for (const auto& folder : state[u"folders"_s].toArray()) {
    if (!folder.toString().isEmpty() && !m_folders.contains(folder.toString())) {
      m_folders.push_back(folder.toString());
    }
  }
  m_search->setText(state[u"search"_s].toString());
  if (!m_folders.empty()) {
    scan();
  }
}

}  // namespace swage::ui
