// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/candidates_page.h"

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QJsonArray>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QScopedValueRollback>
#include <QScrollBar>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <array>

#include "ui/models/candidate_table_model.h"
#include "ui/models/csv_export.h"
#include "ui/models/format.h"
#include "ui/pages/candidate_delegate.h"
#include "ui/pages/candidate_menu.h"
#include "ui/widgets/annotation_bar.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/filter_edit.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/table_style.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr int kStateVersion = 2;
// Hidden until somebody wants them: a table of fifteen columns is wider than most windows.
constexpr std::array kHiddenAtFirst = {CandidateField::Roof, CandidateField::Parents, CandidateField::Note,
                                       CandidateField::Summary};

// What people look for most, as they would type it.
struct Preset {
  const char* title;
  const char* filter;
};
constexpr std::array<Preset, 7> kPresets = {{
    {QT_TRANSLATE_NOOP("swage::ui::CandidatesPage", "All"), ""},
    {QT_TRANSLATE_NOOP("swage::ui::CandidatesPage", "Best of each cell"), "best"},
    {QT_TRANSLATE_NOOP("swage::ui::CandidatesPage", "Correct"), "status:correct"},
    {QT_TRANSLATE_NOOP("swage::ui::CandidatesPage", "Failed"), "failed"},
    {QT_TRANSLATE_NOOP("swage::ui::CandidatesPage", "First: without parents"), "first"},
    {QT_TRANSLATE_NOOP("swage::ui::CandidatesPage", "Edited by hand"), "operator:human"},
    {QT_TRANSLATE_NOOP("swage::ui::CandidatesPage", "Pinned"), "pinned"},
}};

QString nothingYet() {
  return CandidatesPage::tr("No candidates.");
}

// As wide as the widest text that a column is made for.
QString sampleOf(CandidateField field) {
  switch (field) {
    case CandidateField::Id: return u"100000"_s;
    case CandidateField::Cell: return u"A0B0C0"_s;
    case CandidateField::Island: return u"Island"_s;
    case CandidateField::Operator: return u"pattern swap"_s;
    case CandidateField::Status: return u"compile error"_s;
    case CandidateField::Time: return u"000.0 µs ± 00.0 %"_s;
    case CandidateField::Speedup: return u"00.00× ± 00.0 %"_s;
    case CandidateField::Error: return u"1.2e-07"_s;
    case CandidateField::Registers: return u"Registers"_s;
    case CandidateField::Found: return u"00:00:00"_s;
    case CandidateField::Roof: return u"100.0 %"_s;
    case CandidateField::Parents: return u"100000, 100000"_s;
    case CandidateField::Tags: return u"★ promising"_s;
    case CandidateField::Note: return u"a note of several words"_s;
    case CandidateField::Summary: return u"wrong: output 0, element 4711: expected 0.0123"_s;
  }
  return {};
}

}  // namespace

CandidatesPage::CandidatesPage(ProjectSession& session, services::RecordService& record, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_record(record),
      m_editor(record),
      m_model(new CandidateTableModel(record, this)),
      m_table(new QTableView),
      m_empty(new EmptyState(m_table, nothingYet())),
      m_delegate(new CandidateDelegate(this)),
      m_filter(new FilterEdit(domain::candidateFilterKeys(), this)),
      m_presets(new QToolButton(this)),
      m_status(new QComboBox(this)),
      m_groups(new QComboBox(this)),
      m_onlyCell(new QCheckBox(tr("Selected cell only"), this)),
      m_count(new ElidedLabel(Qt::ElideRight, this)),
      m_columns(new QToolButton(this)),
      m_export(new QToolButton(this)),
      m_annotations(new AnnotationBar(this)) {
  setObjectName(u"candidatesPage"_s);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(makeFilters());
  column->addWidget(m_empty, 1);
  column->addWidget(m_annotations);
  setUpTable();
  setUpActions();
  connect(&session, &ProjectSession::runShown, this, &CandidatesPage::showRun);
  connect(&session, &ProjectSession::candidatesChanged, this, &CandidatesPage::refresh);
  connect(&session, &ProjectSession::selectionChanged, this, &CandidatesPage::showSelection);
  connect(m_model, &CandidateTableModel::failed, &session, &ProjectSession::report);
  connect(m_model, &CandidateTableModel::searchingChanged, this, &CandidatesPage::updateCounts);
  connect(m_model, &CandidateTableModel::searched, this, &CandidatesPage::showSelection);
  connect(m_annotations, &AnnotationBar::edited, &m_editor, &AnnotationEditor::apply);
  connect(&m_editor, &AnnotationEditor::changed, this, &CandidatesPage::refresh);
  connect(&m_editor, &AnnotationEditor::failed, &session, &ProjectSession::report);
  showRun();
}

QWidget* CandidatesPage::makeFilters() {
  auto* bar = new QWidget(this);
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(8, 4, 8, 4);
  row->setSpacing(8);
  nameFilters();
  fillPresets();
  row->addWidget(m_filter, 1, Qt::AlignTop);
  for (QWidget* widget :
       {static_cast<QWidget*>(m_presets), static_cast<QWidget*>(m_status), static_cast<QWidget*>(m_groups),
        static_cast<QWidget*>(m_onlyCell), static_cast<QWidget*>(m_count), static_cast<QWidget*>(m_columns),
        static_cast<QWidget*>(m_export)}) {
    row->addWidget(widget, 0, Qt::AlignTop);
    widget->setMinimumHeight(m_status->sizeHint().height());
  }
  connectFilters();
  return bar;
}

void CandidatesPage::nameFilters() {
  const auto name = [](QWidget* widget, const QString& id, const QString& text) {
    widget->setObjectName(id);
    widget->setAccessibleName(text);
    widget->setToolTip(text);
  };
  m_filter->setObjectName(u"candidateFilter"_s);
  m_filter->setPlaceholder(tr("Filter: status:correct speedup>1.5 -operator:human"));
  name(m_presets, u"filterPresets"_s, tr("Filters that are used often"));
  m_presets->setText(tr("Filters"));
  m_presets->setAutoRaise(true);
  m_presets->setPopupMode(QToolButton::InstantPopup);
  name(m_status, u"statusFilter"_s, tr("Show candidates with this status"));
  m_status->addItem(tr("Any status"));
  for (const std::string_view word : domain::statusNames()) {
    m_status->addItem(toQString(word), toQString(word));
  }
  name(m_groups, u"groupBy"_s, tr("Divide the list into groups"));
  for (int i = 0; i < kGroupings; ++i) {
    m_groups->addItem(title(static_cast<GroupBy>(i)));
  }
  for (QComboBox* box : {m_status, m_groups}) {
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(8);
    box->setMinimumWidth(fontMetrics().averageCharWidth() * 12);  // gives way in a narrow window
  }
  m_filter->setMinimumWidth(fontMetrics().averageCharWidth() * 15);
  m_count->setMinimumWidth(1);
  m_onlyCell->setObjectName(u"onlyCell"_s);
  m_count->setObjectName(u"candidateCount"_s);
  m_count->setForegroundRole(QPalette::PlaceholderText);
  name(m_columns, u"columnsButton"_s, tr("Choose columns"));
  m_columns->setAutoRaise(true);
  m_columns->setPopupMode(QToolButton::InstantPopup);
  name(m_export, u"csvButton"_s, tr("Export the listed candidates as CSV"));
  m_export->setAutoRaise(true);
}

// A preset is written into the field, where it can be changed and learned from.
void CandidatesPage::fillPresets() {
  auto* menu = new QMenu(m_presets);
  menu->setObjectName(u"presetsMenu"_s);
  for (const Preset& preset : kPresets) {
    const QString filter = QString::fromLatin1(preset.filter);
    // QMenu shows what stands behind a tab where other entries have their keys.
    QAction* action = menu->addAction(filter.isEmpty() ? tr(preset.title) : tr(preset.title) % u'\t' % filter);
    action->setData(filter);
    connect(action, &QAction::triggered, this, [this, filter] { setFilterText(filter); });
  }
  m_presets->setMenu(menu);
}

void CandidatesPage::connectFilters() {
  connect(m_filter, &FilterEdit::filterChanged, this, [this](const domain::Filter& filter) {
    m_model->setFilter(filter);
    updateCounts();
  });
  connect(m_status, &QComboBox::currentIndexChanged, this, &CandidatesPage::applyStatusFilter);
  connect(m_groups, &QComboBox::currentIndexChanged, this, [this](int index) {
    const QScopedValueRollback guard(m_showingSelection, true);
    m_model->setGrouping(static_cast<GroupBy>(index));
    showSelection();
  });
  connect(m_onlyCell, &QCheckBox::toggled, this, &CandidatesPage::applyCellFilter);
  connect(m_export, &QToolButton::clicked, this, [this] {
    const auto& run = m_session.summary();
    Q_EMIT exportRequested((run ? toQString(run->taskName) : u"candidates"_s) % u".csv"_s);
  });
}

void CandidatesPage::setUpTable() {
  m_table->setObjectName(u"candidateTable"_s);
  m_table->setAccessibleName(tr("Candidates"));
  m_table->setModel(m_model);
  styleTable(*m_table);
  m_table->setItemDelegate(m_delegate);
  m_table->installEventFilter(this);
  m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
  m_table->setWordWrap(false);
  m_table->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  m_table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  m_table->verticalHeader()->setDefaultSectionSize(m_table->fontMetrics().height() + 6);
  m_table->setContextMenuPolicy(Qt::CustomContextMenu);
  setUpHeader();
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &CandidatesPage::chooseRow);
  connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, &CandidatesPage::showChosen);
  connect(m_table, &QTableView::activated, this, &CandidatesPage::foldOrOpen);
  connect(m_table, &QTableView::clicked, this, &CandidatesPage::foldByClick);
  connect(m_table, &QTableView::customContextMenuRequested, this, &CandidatesPage::showContextMenu);
}

void CandidatesPage::setUpHeader() {
  QHeaderView* header = m_table->horizontalHeader();
  header->setHighlightSections(false);
  header->setSectionsMovable(true);
  header->setStretchLastSection(true);
  for (int column = 0; column < m_model->columnCount(); ++column) {
    const QString sample = sampleOf(static_cast<CandidateField>(column));
    m_table->setColumnWidth(column, m_table->fontMetrics().horizontalAdvance(sample) + 26);
  }
  for (const CandidateField field : kHiddenAtFirst) {
    m_table->hideColumn(static_cast<int>(field));
  }
  // Tags and pins stand where they are seen in a narrow window, too.
  header->moveSection(static_cast<int>(CandidateField::Tags), static_cast<int>(CandidateField::Speedup) + 1);
  m_sortColumn = static_cast<int>(CandidateField::Speedup);
  header->setSortIndicator(m_sortColumn, m_sortOrder);
  m_table->setSortingEnabled(true);
  connect(header, &QHeaderView::sortIndicatorChanged, this, &CandidatesPage::keepSortable);
  auto* menu = new QMenu(m_columns);
  menu->setObjectName(u"columnsMenu"_s);
  m_columns->setMenu(menu);
  connect(menu, &QMenu::aboutToShow, this, [this, menu] { fillColumnMenu(*menu); });
  header->setContextMenuPolicy(Qt::CustomContextMenu);
  connect(header, &QHeaderView::customContextMenuRequested, menu,
          [menu, header](const QPoint& position) { menu->popup(header->mapToGlobal(position)); });
}

// The record cannot order by every column; the mark stays where the order is.
void CandidatesPage::keepSortable(int column, Qt::SortOrder order) {
  if (CandidateTableModel::canSortBy(column)) {
    m_sortColumn = column;
    m_sortOrder = order;
  } else {
    m_table->horizontalHeader()->setSortIndicator(m_sortColumn, m_sortOrder);
  }
}

void CandidatesPage::fillColumnMenu(QMenu& menu) {
  menu.clear();
  QHeaderView* header = m_table->horizontalHeader();
  for (int position = 0; position < header->count(); ++position) {
    const int column = header->logicalIndex(position);
    QAction* action = menu.addAction(m_model->headerData(column, Qt::Horizontal).toString());
    action->setCheckable(true);
    action->setChecked(!m_table->isColumnHidden(column));
    action->setEnabled(column != static_cast<int>(CandidateField::Id));  // something has to say which one it is
    connect(action, &QAction::toggled, this, [this, column](bool shown) {
      m_choseRegisters = m_choseRegisters || column == static_cast<int>(CandidateField::Registers);
      m_table->setColumnHidden(column, !shown);
    });
  }
}

void CandidatesPage::setUpActions() {
  const auto add = [this](const QString& name, const QString& text, const QKeySequence& keys, auto handler) {
    auto* action = new QAction(text, this);
    action->setObjectName(name);
    action->setShortcut(keys);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(action, &QAction::triggered, this, handler);
    m_table->addAction(action);
    m_annotationActions.push_back(action);
  };
  add(u"pinCandidates"_s, tr("&Pin or Unpin"), Qt::CTRL | Qt::Key_D, [this] { m_annotations->togglePin(); });
  add(u"tagCandidates"_s, tr("&Tags…"), Qt::CTRL | Qt::Key_T, [this] { m_annotations->editTags(); });
  add(u"noteCandidates"_s, tr("&Note…"), Qt::Key_F2, [this] { m_annotations->editNote(); });
  add(u"trashCandidates"_s, tr("Move to the Trash or &Restore"), Qt::Key_Delete,
      [this] { m_annotations->toggleTrash(); });
  add(u"copyIds"_s, tr("&Copy IDs"), QKeySequence::Copy, [this] { copyIds(m_annotations->chosen()); });
  add(u"showLineage"_s, tr("Show &Lineage"), Qt::CTRL | Qt::Key_L, [this] { Q_EMIT lineageRequested(); });
  m_annotationActions.removeLast();  // every menu of candidates has it
  const auto undo = [this](const QString& name, QAction* action, QKeySequence::StandardKey key) {
    action->setObjectName(name);
    action->setShortcuts(key);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    m_table->addAction(action);
    m_annotationActions.push_back(action);
  };
  undo(u"undoAnnotation"_s, undoStack().createUndoAction(this, tr("&Undo")), QKeySequence::Undo);
  undo(u"redoAnnotation"_s, undoStack().createRedoAction(this, tr("Re&do")), QKeySequence::Redo);
}

void CandidatesPage::showContextMenu(const QPoint& position) {
  if (m_menu != nullptr && !m_annotations->chosen().empty()) {
    m_menu->popup(*m_table, m_table->viewport()->mapToGlobal(position), m_annotations->chosen(), m_annotationActions);
  }
}

void CandidatesPage::foldOrOpen(const QModelIndex& index) {
  if (m_model->isHeader(index.row())) {
    m_model->setUnfolded(index.row(), !m_model->isUnfolded(index.row()));
  } else {
    Q_EMIT candidateOpened();
  }
}

void CandidatesPage::foldByClick(const QModelIndex& index) {
  const int x = m_table->viewport()->mapFromGlobal(QCursor::pos()).x();
  if (m_model->isHeader(index.row()) && x < CandidateDelegate::arrowWidth(m_table->fontMetrics())) {
    m_model->setUnfolded(index.row(), !m_model->isUnfolded(index.row()));
  }
}

bool CandidatesPage::foldByKey(int key) {
  const int row = m_table->currentIndex().row();
  if (!m_model->isHeader(row) || (key != Qt::Key_Left && key != Qt::Key_Right)) {
    return false;
  }
  m_model->setUnfolded(row, key == Qt::Key_Right);
  return true;
}

bool CandidatesPage::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_table && event->type() == QEvent::KeyPress) {
    return foldByKey(static_cast<QKeyEvent*>(event)->key());  // NOLINT(cppcoreguidelines-pro-type-static-cast-downcast)
  }
  return QWidget::eventFilter(watched, event);
}

void CandidatesPage::setTheme(const Theme& theme) {
  m_delegate->setTheme(theme);
  m_filter->setTheme(theme);
  m_annotations->setTheme(theme);
  m_columns->setIcon(themedIcon(u"columns"_s, theme));
  m_export->setIcon(themedIcon(u"export"_s, theme));
  m_table->viewport()->update();
}

void CandidatesPage::focusFilter() {
  m_filter->setFocus(Qt::ShortcutFocusReason);
}

void CandidatesPage::setFilterText(const QString& text) {
  m_filter->setText(text);
}

QJsonObject CandidatesPage::saveState() const {
  return {{u"version"_s, kStateVersion},
          {u"columns"_s, QString::fromLatin1(m_table->horizontalHeader()->saveState().toBase64())},
          {u"groups"_s, m_groups->currentIndex()},
          {u"filters"_s, QJsonArray::fromStringList(m_filter->history())}};
}

void CandidatesPage::restoreState(const QJsonObject& state) {
  if (state[u"version"_s].toInt() != kStateVersion) {
    return;
  }
  QHeaderView& header = *m_table->horizontalHeader();
  if (header.restoreState(QByteArray::fromBase64(state[u"columns"_s].toString().toLatin1()))) {
    m_table->sortByColumn(header.sortIndicatorSection(), header.sortIndicatorOrder());
  }
  m_groups->setCurrentIndex(std::clamp(state[u"groups"_s].toInt(), 0, kGroupings - 1));
  QStringList history;
  for (const auto& entry : state[u"filters"_s].toArray()) {
    history.push_back(entry.toString());
  }
  m_filter->setHistory(history);
}

void CandidatesPage::exportCsv(const QString& file) {
  if (m_csv != nullptr) {
    return;
  }
  m_csv = new CsvExport(m_record, m_model->ids(), file, this);
  connect(m_csv, &CsvExport::progressed, this, &CandidatesPage::exportProgressed);
  connect(m_csv, &CsvExport::finished, this, [this](const Result<>& result) {
    m_csv->deleteLater();
    m_csv.clear();
    m_export->setEnabled(true);
    if (!result && result.error().kind() != ErrorKind::Cancelled) {
      m_session.report(result.error());
    }
    Q_EMIT exportFinished(result);
  });
  m_export->setEnabled(false);
  m_csv->start();
}

void CandidatesPage::cancelExport() {
  if (m_csv != nullptr) {
    m_csv->cancel();
  }
}

void CandidatesPage::showRun() {
  const QScopedValueRollback guard(m_showingSelection, true);
  if (m_project != m_session.project()) {
    m_project = m_session.project();
    m_editor.clear();
  }
  showUsefulColumns();
  m_model->setRun(m_session.shownRun());
  updateCounts();
}

// A CPU has no registers for each thread: the column would be empty.
void CandidatesPage::showUsefulColumns() {
  const auto& run = m_session.summary();
  if (!m_choseRegisters && run) {
    m_table->setColumnHidden(static_cast<int>(CandidateField::Registers), run->target == "cpu");
  }
}

void CandidatesPage::refresh() {
  const QScopedValueRollback guard(m_showingSelection, true);
  m_model->refresh();
}

void CandidatesPage::applyStatusFilter() {
  const QScopedValueRollback guard(m_showingSelection, true);
  const QVariant word = m_status->currentData();
  m_model->setStatusFilter(domain::parseCandidateStatus(word.toString().toStdString()));
  updateCounts();
}

void CandidatesPage::applyCellFilter() {
  const QScopedValueRollback guard(m_showingSelection, true);
  const int cell = m_session.selectedCell();
  m_cellShown = cell;
  m_model->setCellFilter(m_onlyCell->isChecked() && cell >= 0 ? std::optional(domain::Cell::fromIndex(cell))
                                                              : std::nullopt);
  updateCounts();
}

void CandidatesPage::updateCounts() {
  const auto count = static_cast<int>(m_model->ids()->size());
  const QString number = count == 1 ? tr("1 candidate") : tr("%1 candidates").arg(formatCount(count));
  m_count->setFullText(m_model->isSearching() ? tr("Searching…") : number);
  const bool filtered = m_status->currentIndex() > 0 || m_onlyCell->isChecked() || !m_filter->filter().isEmpty();
  m_empty->setSentence(filtered ? tr("No candidate matches. Change the filter, or choose another status or cell.")
                                : nothingYet());
  m_empty->setEmpty(count == 0 && !m_model->isSearching());
  m_export->setEnabled(count > 0 && m_csv == nullptr);
}

void CandidatesPage::chooseRow(const QModelIndex& index) {
  if (!m_showingSelection && index.isValid() && !m_model->isHeader(index.row())) {
    m_session.selectCandidate(m_model->candidateAt(index.row()));
  }
}

void CandidatesPage::showSelection() {
  const int cell = m_session.selectedCell();
  if (m_onlyCell->isChecked() && m_session.follow() != ProjectSession::Follow::Candidate && cell != m_cellShown) {
    applyCellFilter();
  }
  const QScopedValueRollback guard(m_showingSelection, true);
  const int row = m_model->rowOf(m_session.selectedCandidate());
  if (row < 0 && m_model->isHeader(m_table->currentIndex().row())) {
    // The keyboard is at a group.
  } else if (row < 0) {
    m_table->setCurrentIndex({});
  } else if (m_table->currentIndex().row() != row) {
    m_table->setCurrentIndex(m_model->index(row, 0));
  }
  showChosen();
}

void CandidatesPage::showChosen() {
  std::vector<domain::CandidateId> ids = m_model->idsOf(m_table->selectionModel()->selection());
  const int first = ids.empty() ? -1 : m_model->rowOf(ids.front());
  m_annotations->setChosen(std::move(ids), m_model->rowAt(first));
}

}  // namespace swage::ui
