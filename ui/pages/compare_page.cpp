// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/compare_page.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QStackedWidget>
#include <QTabBar>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

#include "core/domain/listing.h"
#include "ui/editor/diff_view.h"
#include "ui/models/format.h"
#include "ui/pages/candidate_picker.h"
#include "ui/pages/diff_tools.h"
#include "ui/widgets/badge.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/table_style.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

QString titleOf(const ComparedCandidate& candidate) {
  const services::CandidateRow& row = candidate.detail.row;
  QString title = ComparePage::tr("Candidate %1").arg(row.id.value());
  if (!candidate.from.project.isEmpty()) {
    title += u" · "_s % candidate.from.project;
  }
  if (row.cell) {
    title += u" · "_s % toQString(row.cell->name());
  }
  return row.timeNs > 0.0 ? QString(title % u" · "_s % formatInterval(row.timeNs, row.lowNs, row.highNs)) : title;
}

RunRef runOf(const ComparedCandidate& candidate) {
  RunRef run{candidate.from.record, candidate.from.project, candidate.run};
  run.run.id = candidate.detail.row.run;
  return run;
}

std::pair<QString, Badge::Tone> badgeOf(const Comparison& comparison) {
  if (const QString obstacle = obstacleOf(comparison); !obstacle.isEmpty()) {
    return {ComparePage::tr("Not comparable: %1").arg(obstacle), Badge::Tone::Caution};
  }
  switch (verdictOf(comparison)) {
    case Verdict::Better: return {ComparePage::tr("B is faster"), Badge::Tone::Good};
    case Verdict::Worse: return {ComparePage::tr("A is faster"), Badge::Tone::Good};
    case Verdict::Undecided:
    case Verdict::Same: return {ComparePage::tr("No significant difference"), Badge::Tone::Neutral};
    case Verdict::Unknown: break;
  }
  return {ComparePage::tr("Not measured"), Badge::Tone::Caution};
}

// A side of a comparison; listings as the kernel page shows them.
DiffText diffTextOf(const QString& title, const ComparedCandidate& candidate, ComparePage::Tab tab) {
  if (tab == ComparePage::Tab::Source) {
    return {title, toQString(candidate.detail.program.source),
            ComparePage::tr("This candidate has no source: every step is a PyTorch operator.")};
  }
  domain::ListingOptions options;
  options.unusedLabels = false;
  options.library = false;
  return {title, toQString(domain::readableListing(candidate.detail.assembly, options).text),
          ComparePage::tr("This candidate has no assembly.")};
}

}  // namespace

ComparePage::ComparePage(ProjectSession& session, const ComparisonServices& services, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_services(services),
      m_leftRun(new RunPicker(session, services.record, tr("Run of A"))),
      m_rightRun(new RunPicker(session, services.record, tr("Run of B"))),
      m_left(new CandidatePicker(session, tr("A"))),
      m_right(new CandidatePicker(session, tr("B"))),
      m_swap(new QToolButton),
      m_ancestor(new QCheckBox(tr("Common ancestor"))),
      m_verdict(new Badge),
      m_summary(new ElidedLabel),
      m_tabs(new QTabBar),
      m_stack(new QStackedWidget),
      m_source(new DiffView),
      m_assembly(new DiffView),
      m_draft(new QPushButton(tr("Continue as Draft"))),
      m_model(new ComparisonModel(this)),
      m_table(new QTableView),
      m_onlyDifferences(new QCheckBox(tr("Only what differs"))) {
  setObjectName(u"comparePage"_s);
  QWidget* content = makeContent();
  m_empty = new EmptyState(content, tr("Choose two candidates above, or drop one cell of the map on another."));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(makeHeader());
  column->addWidget(m_empty, 1);
  connectParts();
  setMinimumWidth(fontMetrics().averageCharWidth() * 48);  // so that it does not push others aside when it opens
  setTheme(Theme::light());
}

QWidget* ComparePage::makeContent() {
  m_source->setObjectName(u"sourceDiff"_s);
  m_assembly->setObjectName(u"assemblyDiff"_s);
  m_assembly->setLanguage(DiffPane::Language::Assembly);
  m_stack->addWidget(makeTextPage(*m_source, CommentSyntax::C));
  m_stack->addWidget(makeTextPage(*m_assembly, CommentSyntax::Assembly));
  m_stack->addWidget(makeTablePage());
  auto* content = new QWidget;
  auto* inner = new QVBoxLayout(content);
  inner->setContentsMargins(0, 0, 0, 0);
  inner->setSpacing(0);
  auto* summary = new QHBoxLayout;
  const int gap = fontMetrics().height() / 2;
  summary->setContentsMargins(gap, 0, gap, gap);
  summary->setSpacing(gap);
  summary->addWidget(m_verdict);
  summary->addWidget(m_summary, 1);
  summary->addWidget(m_ancestor);
  inner->addLayout(summary);
  inner->addWidget(m_tabs);
  inner->addWidget(m_stack, 1);
  return content;
}

QWidget* ComparePage::makeHeader() {
  m_left->setObjectName(u"comparePickerA"_s);
  m_right->setObjectName(u"comparePickerB"_s);
  m_swap->setObjectName(u"compareSwap"_s);
  m_swap->setText(u"⇄"_s);
  m_swap->setToolTip(tr("Swap sides (Alt+\\)"));
  m_swap->setAccessibleName(tr("Swap sides"));
  m_ancestor->setObjectName(u"compareAncestor"_s);
  m_verdict->setObjectName(u"compareVerdict"_s);
  m_summary->setObjectName(u"compareSummary"_s);
  const int gap = fontMetrics().height() / 2;
  m_summary->setForegroundRole(QPalette::PlaceholderText);
  m_leftRun->setObjectName(u"compareRunA"_s);
  m_rightRun->setObjectName(u"compareRunB"_s);
  auto* header = new QWidget;
  auto* row = new QHBoxLayout(header);
  row->setContentsMargins(gap, gap, gap, gap);
  row->addWidget(new QLabel(tr("A")));
  row->addWidget(m_leftRun);
  row->addWidget(m_left, 1);
  row->addWidget(m_swap);
  row->addWidget(new QLabel(tr("B")));
  row->addWidget(m_rightRun);
  row->addWidget(m_right, 1);
  m_tabs->setObjectName(u"compareTabs"_s);
  m_tabs->setDocumentMode(true);
  m_tabs->setExpanding(false);
  for (const QString& text : {tr("Source"), tr("Assembly"), tr("Metrics"), tr("Plan"), tr("Genome")}) {
    m_tabs->addTab(text);
  }
  return header;
}

QWidget* ComparePage::makeTextPage(DiffView& view, CommentSyntax comments) {
  const int gap = fontMetrics().height() / 3;
  auto* page = new QWidget;
  auto* row = new QHBoxLayout;
  row->setContentsMargins(gap, gap, gap, gap);
  m_tools.push_back(new DiffTools(view, comments));
  m_tools.back()->setObjectName(view.objectName() % u"Tools"_s);
  row->addWidget(m_tools.back(), 1);
  if (&view == m_source) {
    m_draft->setObjectName(u"compareDraft"_s);
    m_draft->setToolTip(tr("Open the edited side in the editor, where it can be evaluated"));
    m_draft->hide();
    row->addWidget(m_draft);
  }
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(row);
  column->addWidget(&view, 1);
  return page;
}

QWidget* ComparePage::makeTablePage() {
  m_onlyDifferences->setObjectName(u"onlyDifferences"_s);
  m_table->setObjectName(u"comparisonTable"_s);
  m_table->setAccessibleName(tr("Comparison"));
  m_table->setModel(m_model);
  styleTable(*m_table);
  m_table->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
  const int gap = fontMetrics().height() / 3;
  auto* page = new QWidget;
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* tools = new QHBoxLayout;
  tools->setContentsMargins(gap, gap, gap, gap);
  tools->addWidget(m_onlyDifferences);
  tools->addStretch(1);
  column->addLayout(tools);
  column->addWidget(m_table, 1);
  return page;
}

void ComparePage::connectParts() {
  connectPickers();
  connect(m_swap, &QToolButton::clicked, this, &ComparePage::swapSides);
  connect(m_ancestor, &QCheckBox::toggled, this, &ComparePage::showCurrentTab);
  connect(m_tabs, &QTabBar::currentChanged, this, &ComparePage::showCurrentTab);
  connect(m_onlyDifferences, &QCheckBox::toggled, m_model, &ComparisonModel::showOnlyDifferences);
  connect(m_source, &DiffView::edited, this, &ComparePage::updateDraft);
  connect(m_source, &DiffView::compared, this, &ComparePage::updateDraft);
  for (const DiffView* view : {m_source, m_assembly}) {
    connect(view, &DiffView::swapRequested, this, &ComparePage::swapSides);
  }
  connect(m_draft, &QPushButton::clicked, this, &ComparePage::requestDraft);
  connect(&m_session, &ProjectSession::runShown, this, &ComparePage::showProject);
}

void ComparePage::connectPickers() {
  // Another candidate of a side is of the same record.
  const auto side = [this](const ComparedCandidate Comparison::*which) {
    return m_comparison ? ((*m_comparison).*which).from : CandidateRef(m_session.selectedCandidate());
  };
  connect(m_left, &CandidatePicker::chosen, this, [this, side](domain::CandidateId id) {
    CandidateRef left = side(&Comparison::left);
    left.id = id;
    compare(left, side(&Comparison::right));
  });
  connect(m_right, &CandidatePicker::chosen, this, [this, side](domain::CandidateId id) {
    CandidateRef right = side(&Comparison::right);
    right.id = id;
    compare(side(&Comparison::left), right);
  });
  const auto best = [](const RunRef& run) {
    CandidateRef ref(bestOf(run.run));
    ref.record = run.record;
    ref.project = run.project;
    return ref;
  };
  connect(m_leftRun, &RunPicker::chosen, this,
          [this, side, best](const RunRef& run) { compare(best(run), side(&Comparison::right)); });
  connect(m_rightRun, &RunPicker::chosen, this,
          [this, side, best](const RunRef& run) { compare(side(&Comparison::left), best(run)); });
}

void ComparePage::setOtherProjects(const OpenRecord& open, const ChooseFolder& chooseFolder) {
  m_projects = OtherProjects(open);
  m_leftRun->setProjects(&m_projects, chooseFolder);
  m_rightRun->setProjects(&m_projects, chooseFolder);
}

// Runs come and go while the comparison stays; another project has other candidates.
void ComparePage::showProject() {
  if (m_project != m_session.project()) {
    m_project = m_session.project();
    clear();
  }
  compareRestored();
}

QJsonObject ComparePage::saveState() const {
  if (!m_comparison || m_comparison->left.from.record || m_comparison->right.from.record) {
    QJsonObject state = m_leftOff;
    state[u"tab"_s] = m_tabs->currentIndex();
    return state;
  }
  return {{u"tab"_s, m_tabs->currentIndex()},
          {u"project"_s, toQString(m_project.string())},
          {u"left"_s, static_cast<qint64>(m_comparison->left.detail.row.id.value())},
          {u"right"_s, static_cast<qint64>(m_comparison->right.detail.row.id.value())}};
}

void ComparePage::restoreState(const QJsonObject& state) {
  m_tabs->setCurrentIndex(state[u"tab"_s].toInt());
  m_leftOff = state;
  compareRestored();
}

// What is gone from the record is passed over.
void ComparePage::compareRestored() {
  if (m_comparison || !m_session.hasRecord() || !m_session.shownRun().isValid() ||
      m_leftOff[u"project"_s].toString() != toQString(m_session.project().string())) {
    return;
  }
  const domain::CandidateId left(m_leftOff[u"left"_s].toInteger());
  const domain::CandidateId right(m_leftOff[u"right"_s].toInteger());
  m_leftOff = {};
  if (m_services.record.candidate(left) && m_services.record.candidate(right)) {
    m_project = m_session.project();
    compare(left, right);
  }
}

void ComparePage::setTheme(const Theme& theme) {
  m_source->setTheme(theme);
  m_assembly->setTheme(theme);
  for (DiffTools* tools : m_tools) {
    tools->setTheme(theme);
  }
  m_verdict->setTheme(theme);
}

void ComparePage::clear() {
  m_comparison.reset();
  for (CandidatePicker* picker : {m_left, m_right}) {
    picker->setSource(nullptr, {});
    picker->clearCandidate();
  }
  m_leftRun->setShown({});
  m_rightRun->setShown({});
  m_verdict->setBadge({}, Badge::Tone::Neutral);
  m_empty->setEmpty(true);
}

void ComparePage::compare(const CandidateRef& left, const CandidateRef& right) {
  if (!left.id.isValid() || !right.id.isValid()) {
    return;
  }
  Result<Comparison> loaded = loadComparison(m_services, left, right);
  if (!loaded) {
    m_session.report(loaded.error());
    return;
  }
  m_comparison = std::move(*loaded);
  m_leftOff = {};
  showComparison();
}

void ComparePage::compareWithParent() {
  const auto& detail = m_session.detail();
  if (detail && !detail->row.parents.empty()) {
    compare(detail->row.parents.front(), detail->row.id);
  }
}

void ComparePage::showTab(Tab tab) {
  m_tabs->setCurrentIndex(static_cast<int>(tab));
}

void ComparePage::swapSides() {
  if (m_comparison) {
    std::swap(m_comparison->left, m_comparison->right);
    showComparison();
  }
}

void ComparePage::showComparison() {
  m_empty->setEmpty(false);
  const auto showSide = [](RunPicker& run, CandidatePicker& picker, const ComparedCandidate& candidate) {
    run.setShown(shortName(runOf(candidate)));
    picker.setSource(candidate.from.record, candidate.detail.row.run);
    picker.setCandidate(candidate.detail.row);
  };
  showSide(*m_leftRun, *m_left, m_comparison->left);
  showSide(*m_rightRun, *m_right, m_comparison->right);
  m_summary->setFullText(comparisonSummary(*m_comparison));
  const auto [word, tone] = badgeOf(*m_comparison);
  m_verdict->setBadge(word, tone);
  const auto& ancestor = m_comparison->ancestor;
  m_ancestor->setEnabled(ancestor.has_value());
  m_ancestor->setText(ancestor ? tr("Common ancestor %1").arg(ancestor->detail.row.id.value())
                               : tr("No separate common ancestor"));
  showCurrentTab();
}

ComparePage::Tab ComparePage::tab() const {
  return static_cast<Tab>(m_tabs->currentIndex());
}

bool ComparePage::showsAncestor() const {
  return m_comparison && m_comparison->ancestor && m_ancestor->isChecked();
}

void ComparePage::showCurrentTab() {
  if (!m_comparison) {
    return;
  }
  m_stack->setCurrentIndex(std::min(m_tabs->currentIndex(), m_stack->count() - 1));  // the tables share one page
  switch (tab()) {
    case Tab::Source: showTexts(*m_source, Tab::Source); break;
    case Tab::Assembly: showTexts(*m_assembly, Tab::Assembly); break;
    case Tab::Metrics: showRows(compareMetrics(*m_comparison)); break;
    case Tab::Plan: showRows(comparePlans(*m_comparison)); break;
    case Tab::Genome: showRows(compareGenomes(*m_comparison)); break;
  }
}

void ComparePage::showTexts(DiffView& view, Tab tab) {
  std::vector<DiffText> texts = {diffTextOf(titleOf(m_comparison->left), m_comparison->left, tab)};
  if (showsAncestor()) {
    texts.push_back(
        diffTextOf(tr("Common ancestor: %1").arg(titleOf(*m_comparison->ancestor)), *m_comparison->ancestor, tab));
  }
  texts.push_back(diffTextOf(titleOf(m_comparison->right), m_comparison->right, tab));
  view.setTexts(std::move(texts));
}

void ComparePage::showRows(std::vector<ComparisonRow> rows) {
  m_model->setRows(std::move(rows));
  const bool isMeasured = tab() == Tab::Metrics;
  m_table->setColumnHidden(static_cast<int>(ComparisonColumn::Ancestor), !showsAncestor() || tab() == Tab::Plan);
  m_table->setColumnHidden(static_cast<int>(ComparisonColumn::Delta), !isMeasured);
  m_table->setColumnHidden(static_cast<int>(ComparisonColumn::Verdict), !isMeasured);
  m_onlyDifferences->setText(tr("Only what differs (%1)").arg(m_model->differenceCount()));
  fitColumns();
}

// Names as wide as they are, and the rest shares what is left.
void ComparePage::fitColumns() {
  QHeaderView* header = m_table->horizontalHeader();
  for (const ComparisonColumn column : {ComparisonColumn::Name, ComparisonColumn::Delta, ComparisonColumn::Verdict}) {
    header->setSectionResizeMode(static_cast<int>(column), QHeaderView::ResizeToContents);
  }
  for (const ComparisonColumn column : {ComparisonColumn::Ancestor, ComparisonColumn::Left, ComparisonColumn::Right}) {
    header->setSectionResizeMode(static_cast<int>(column), QHeaderView::Stretch);
  }
}

const ComparedCandidate& ComparePage::candidateOf(int pane) const {
  if (pane == 0) {
    return m_comparison->left;
  }
  return pane + 1 == m_source->paneCount() ? m_comparison->right : *m_comparison->ancestor;
}

void ComparePage::updateDraft() {
  bool isEdited = false;
  for (int i = 0; i < m_source->paneCount(); ++i) {
    isEdited = isEdited || (m_source->isEdited(i) && !candidateOf(i).from.record);
  }
  m_draft->setVisible(isEdited);
}

// The active side if it was edited, else the one that was.
void ComparePage::requestDraft() {
  int pane = m_source->activePane();
  const auto isDraft = [this](int i) { return m_source->isEdited(i) && !candidateOf(i).from.record; };
  for (int i = 0; i < m_source->paneCount() && !isDraft(pane); ++i) {
    pane = i;
  }
  Q_EMIT draftRequested(candidateOf(pane).detail.row.id, m_source->text(pane));
}

}  // namespace swage::ui
