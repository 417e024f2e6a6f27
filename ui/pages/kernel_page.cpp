// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/kernel_page.h"

#include <QAction>
#include <QHeaderView>
#include <QSplitter>
#include <QTabWidget>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

#include "core/domain/diagnostic.h"
#include "core/domain/source_parameters.h"
#include "ui/models/diagnostic_model.h"
#include "ui/models/fact_model.h"
#include "ui/models/format.h"
#include "ui/models/plan_model.h"
#include "ui/pages/code_panes.h"
#include "ui/pages/kernel_draft.h"
#include "ui/pages/kernel_editing.h"
#include "ui/pages/kernel_header.h"
#include "ui/pages/parameter_panel.h"
#include "ui/pages/wrapped_rows.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/flow_layout.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/table_style.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

QTableView* makeTable(QAbstractItemModel* model, const QString& name) {
  auto* table = new QTableView;
  table->setObjectName(name);
  table->setModel(model);
  styleTable(*table);
  table->verticalHeader()->setDefaultSectionSize(table->fontMetrics().height() + 6);
  table->horizontalHeader()->setStretchLastSection(true);
  return table;
}

QToolButton* makeButton(QAction* action) {
  auto* button = new QToolButton;
  button->setObjectName(QString(action->objectName() % u"Button"_s));
  button->setDefaultAction(action);
  button->setToolButtonStyle(Qt::ToolButtonTextOnly);
  button->setAutoRaise(action->isCheckable() || !action->icon().isNull());
  button->setFocusPolicy(Qt::TabFocus);
  return button;
}

QString draftText(const KernelEditing& editing) {
  return editing.recoveredFrom().isValid()
             ? KernelPage::tr("Draft of %1, not evaluated yet")
                   .arg(editing.recoveredFrom().toLocalTime().toString(u"yyyy-MM-dd hh:mm"_s))
             : KernelPage::tr("Draft, not evaluated yet");
}

QString editStateText(const KernelEditing& editing, const KernelDraft& draft) {
  switch (editing.state()) {
    case KernelEditing::State::Unavailable: return {};
    case KernelEditing::State::Recorded: return KernelPage::tr("Recorded. Typing starts a draft.");
    case KernelEditing::State::Evaluating: return KernelPage::tr("Evaluating: %1").arg(editing.stage());
    case KernelEditing::State::Draft: break;
  }
  const QString text = editing.obstacle().isEmpty() ? draftText(editing) : editing.obstacle();
  return draft.stateText().isEmpty() ? text : KernelPage::tr("%1; %2").arg(text, draft.stateText());
}

}  // namespace

KernelPage::KernelPage(ProjectSession& session, KernelServices services, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_services(std::move(services)),
      m_editing(new KernelEditing(session, m_services.edits, m_services.drafts, this)),
      m_header(new KernelHeader),
      m_tabs(new QTabWidget),
      m_code(new CodePanes),
      m_diagnostics(new DiagnosticModel(this)),
      m_editState(new ElidedLabel(Qt::ElideRight)),
      m_parameters(new ParameterPanel),
      m_plan(new PlanModel(this)),
      m_facts(new FactModel(this)) {
  setObjectName(u"kernelPage"_s);
  m_draft = new KernelDraft(session, m_services.compiles, *m_editing, *m_code, this);
  m_factTable = makeTable(m_facts, u"factTable"_s);
  makeActions();
  makeTabs();
  auto* content = new QWidget;
  auto* inner = new QVBoxLayout(content);
  inner->setContentsMargins(0, 0, 0, 0);
  inner->setSpacing(0);
  inner->addWidget(m_header);
  inner->addWidget(m_tabs, 1);
  m_empty = new EmptyState(content, tr("Choose a cell of the archive or a row of the table to read its kernel."));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(m_empty);
  KernelView& source = m_code->view(CodePanes::Pane::Source);
  connect(&source, &KernelView::edited, this, [this, &source] {
    m_editing->setDraft(source.text());
    m_draft->update();
  });
  connect(m_editing, &KernelEditing::changed, this, &KernelPage::showEditing);
  connect(m_draft, &KernelDraft::changed, this, &KernelPage::showDiagnostics);
  connect(m_draft, &KernelDraft::refused, this, [this] { goToProblem(m_diagnostics->nextWithLine(-1, 1)); });
  connect(m_parameters, &ParameterPanel::evaluationRequested, this,
          [this](const domain::Genome& genome) { m_editing->evaluate(genome); });
  connect(&session, &ProjectSession::selectionChanged, this, &KernelPage::showSelection);
  showSelection();
}

QAction* KernelPage::makeAction(const QString& name, const QString& text, const QList<QKeySequence>& keys,
                                void (KernelPage::*slot)()) {
  auto* action = new QAction(text, this);
  action->setObjectName(name);
  action->setShortcuts(keys);
  action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  if (!keys.isEmpty()) {
    action->setToolTip(QString(text % u" ("_s % keys.first().toString(QKeySequence::NativeText) % u')'));
  }
  connect(action, &QAction::triggered, this, slot);
  addAction(action);
  m_pageActions.push_back(action);
  return action;
}

void KernelPage::makeActions() {
  m_evaluate = makeAction(u"evaluateEdit"_s, tr("Evaluate"), {Qt::CTRL | Qt::Key_Return, Qt::CTRL | Qt::Key_Enter},
                          &KernelPage::evaluate);
  m_discard = makeAction(u"discardDraft"_s, tr("Discard"), {}, &KernelPage::discard);
  m_discard->setToolTip(tr("Back to the recorded source"));
  m_cancel = makeAction(u"cancelEvaluation"_s, tr("Cancel"), {}, &KernelPage::cancel);
  makeAction(u"nextProblem"_s, tr("Next Problem"), {Qt::Key_F8}, &KernelPage::nextProblem);
  makeAction(u"previousProblem"_s, tr("Previous Problem"), {Qt::SHIFT | Qt::Key_F8}, &KernelPage::previousProblem);
  makeAction(u"replaceInKernel"_s, tr("Replace…"), {Qt::CTRL | Qt::Key_H}, &KernelPage::openReplace);
  makeAction(u"goToLineInKernel"_s, tr("Go to Line…"), {Qt::CTRL | Qt::Key_G, Qt::CTRL | Qt::Key_L},
             &KernelPage::openGoToLine);
  m_nextHotSpot = makeAction(u"nextHotSpot"_s, tr("Next Hot Spot"), {Qt::CTRL | Qt::Key_F8}, &KernelPage::nextHotSpot);
  m_previousHotSpot = makeAction(u"previousHotSpot"_s, tr("Previous Hot Spot"), {Qt::CTRL | Qt::SHIFT | Qt::Key_F8},
                                 &KernelPage::previousHotSpot);
}

QWidget* KernelPage::makeToolRow() {
  auto* widget = new QWidget;
  auto* row = new FlowLayout(widget);
  row->setContentsMargins(6, 3, 6, 3);
  row->setSpacing(2);
  const auto add = [row](QAction* action) {
    QToolButton* button = makeButton(action);
    connect(action, &QAction::changed, button, [button, action] { button->setVisible(action->isVisible()); });
    button->setVisible(action->isVisible());
    row->addWidget(button);
    return button;
  };
  for (const CodePanes::Pane pane : {CodePanes::Pane::Source, CodePanes::Pane::Assembly, CodePanes::Pane::Sass}) {
    add(m_code->toggle(pane));
  }
  auto* listing = new QToolButton;
  listing->setObjectName(u"listingButton"_s);
  listing->setText(tr("Listing"));
  listing->setToolTip(tr("What of the listings is shown"));
  listing->setMenu(m_code->listingMenu());
  listing->setPopupMode(QToolButton::InstantPopup);
  listing->setAutoRaise(true);
  row->addWidget(listing);
  m_editState->setObjectName(u"editState"_s);
  m_editState->setForegroundRole(QPalette::PlaceholderText);
  m_editState->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  m_editState->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  row->addWidget(m_editState);
  for (QAction* action : {m_previousHotSpot, m_nextHotSpot}) {
    add(action)->setToolButtonStyle(Qt::ToolButtonIconOnly);
  }
  for (QAction* action : {m_discard, m_cancel, m_evaluate}) {
    add(action);
  }
  return widget;
}

QWidget* KernelPage::makeCodeTab() {
  m_problems = makeTable(m_diagnostics, u"problemTable"_s);
  m_problems->setAccessibleName(tr("Problems"));
  m_problems->setSelectionMode(QAbstractItemView::SingleSelection);
  m_problems->horizontalHeader()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
  m_problems->horizontalHeader()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
  connect(m_problems, &QTableView::activated, this, [this](const QModelIndex& index) { goToProblem(index.row()); });
  connect(m_problems, &QTableView::clicked, this, [this](const QModelIndex& index) { goToProblem(index.row()); });
  auto* splitter = new QSplitter(Qt::Vertical);
  splitter->setObjectName(u"problemSplitter"_s);
  splitter->addWidget(m_code);
  splitter->addWidget(m_problems);
  splitter->setStretchFactor(0, 4);
  splitter->setStretchFactor(1, 1);
  splitter->setCollapsible(0, false);
  m_problems->hide();
  auto* tab = new QWidget;
  auto* column = new QVBoxLayout(tab);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(makeToolRow());
  column->addWidget(splitter, 1);
  return tab;
}

void KernelPage::makeTabs() {
  m_tabs->setObjectName(u"kernelTabs"_s);
  m_tabs->setDocumentMode(true);
  m_tabs->addTab(makeCodeTab(), tr("Code"));
  m_parameters->setObjectName(u"parameterPanel"_s);
  m_tabs->addTab(m_parameters, tr("Parameters"));
  auto* plan = makeTable(m_plan, u"planTable"_s);
  plan->setAccessibleName(tr("Launch plan"));
  for (int column = 0; column < static_cast<int>(PlanColumn::Arguments); ++column) {
    plan->horizontalHeader()->setSectionResizeMode(column, QHeaderView::ResizeToContents);
  }
  wrapRows(*plan);
  m_tabs->addTab(plan, tr("Plan"));
  m_factTable->setAccessibleName(tr("Evaluation"));
  m_factTable->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  m_factTable->horizontalHeader()->hide();
  wrapRows(*m_factTable);
  m_factTable->setColumnWidth(0, m_factTable->fontMetrics().horizontalAdvance(u"Compiler's messages "_s) + 16);
  m_tabs->addTab(m_factTable, tr("Evaluation"));
}

void KernelPage::setTheme(const Theme& theme) {
  m_code->setTheme(theme);
  m_previousHotSpot->setIcon(themedIcon(u"up"_s, theme));
  m_nextHotSpot->setIcon(themedIcon(u"down"_s, theme));
  m_header->setTheme(theme);
}

void KernelPage::focusSource() {
  m_tabs->setCurrentIndex(0);
  m_code->view(CodePanes::Pane::Source).setFocus();
}

void KernelPage::openFind() {
  m_tabs->setCurrentIndex(0);
  m_code->focusedView().openFind();
}

void KernelPage::startDraft(const QString& source) {
  m_editing->setDraft(source);
  showEditing();
}

void KernelPage::openReplace() {
  m_tabs->setCurrentIndex(0);
  m_code->focusedView().openReplace();
}

void KernelPage::openGoToLine() {
  m_tabs->setCurrentIndex(0);
  m_code->focusedView().openGoToLine();
}

QJsonObject KernelPage::saveState() const {
  QJsonObject state = m_code->saveState();
  state[u"tab"_s] = m_tabs->currentIndex();
  if (m_session.detail()) {
    state[u"project"_s] = toQString(m_session.project().string());
    state[u"candidate"_s] = static_cast<qint64>(m_shown.value());
    state[u"line"_s] = m_code->view(CodePanes::Pane::Source).caretLine();
  }
  return state;
}

void KernelPage::restoreState(const QJsonObject& state) {
  m_code->restoreState(state);
  m_tabs->setCurrentIndex(state[u"tab"_s].toInt(m_tabs->currentIndex()));
  m_leftOff = state;
  restoreCaret();
}

// Once, when the candidate that was shown at the end is shown again.
void KernelPage::restoreCaret() {
  const domain::CandidateId candidate(m_leftOff[u"candidate"_s].toInteger());
  if (m_session.detail() && m_shown.isValid() && m_shown == candidate &&
      m_leftOff[u"project"_s].toString() == toQString(m_session.project().string())) {
    m_code->view(CodePanes::Pane::Source).goToLine(m_leftOff[u"line"_s].toInt());
    m_leftOff = {};
  }
}

void KernelPage::goToSourceLine(int line) {
  focusSource();
  m_code->view(CodePanes::Pane::Source).goToLine(line - 1);
}

void KernelPage::showSelection() {
  const auto& detail = m_session.detail();
  m_empty->setEmpty(!detail);
  m_editing->setCandidate(detail ? &*detail : nullptr);
  if (detail) {
    showDetail(*detail);
  }
  showEditing();
}

void KernelPage::showDetail(const services::CandidateDetail& detail) {
  m_header->setCandidate(detail, trustOf(detail.row));
  showCode(detail);
  // Of an edited source the record has the parameters of its parent.
  services::CandidateDetail said = detail;
  said.genome = domain::withSourceParameters(detail.genome, detail.program.source);
  showParameters(said);
  m_plan->setRows(planRows(detail.program.plan));
  m_facts->setRows(evaluationFacts(said));
}

KernelTrust KernelPage::trustOf(const services::CandidateRow& row) const {
  KernelTrust trust;
  if (m_services.profiles == nullptr) {
    return trust;
  }
  if (const auto skipped = m_services.profiles->skippedSelfTest(row.run)) {
    trust.skippedSelfTest = *skipped;
  } else {
    m_session.report(skipped.error());
  }
  const auto gates = m_services.profiles->gates(row.id);
  if (!gates) {
    m_session.report(gates.error());
    return trust;
  }
  const auto found = std::find_if(gates->begin(), gates->end(), [](const services::ExportGate& gate) {
    return gate.kind == services::ExportGate::Kind::Sanitizer;
  });
  if (found != gates->end()) {
    trust.sanitizer = *found;
  }
  return trust;
}

void KernelPage::showCode(const services::CandidateDetail& detail) {
  std::optional<domain::Profile> profile;
  if (m_services.record != nullptr) {
    if (auto found = m_services.record->profile(detail.row.id)) {
      profile = std::move(*found);
    } else {
      m_session.report(found.error());
    }
  }
  KernelView& source = m_code->view(CodePanes::Pane::Source);
  // The editor has the text already.
  const bool isOther = m_editing->text() != m_shownText && detail.row.id != m_shown;
  m_shown = detail.row.id;
  m_shownText = m_editing->text();
  showEditing();
  m_code->setCandidate(detail, profile);
  m_nextHotSpot->setVisible(profile && !heatOf(*profile).empty());
  m_previousHotSpot->setVisible(m_nextHotSpot->isVisible());
  if (isOther && !source.wasKnown()) {
    // Where no kernel is recognised, its name leads to it.
    const std::vector<std::string> entries = detail.program.entries();
    source.reveal(entries.empty() ? QString() : toQString(entries.front()));
  }
  restoreCaret();
  m_draft->setCandidate(detail);
}

void KernelPage::showDiagnostics() {
  m_diagnostics->setRows(m_draft->diagnostics());
  m_code->view(CodePanes::Pane::Source).setDiagnostics(m_diagnostics->items());
  showProblems();
  showEditing();
}

// In a low page the code needs the room: warnings are marked in it, and Evaluation has them all.
void KernelPage::showProblems() {
  constexpr int kLinesWithWarnings = 40;
  const bool isHigh = height() >= kLinesWithWarnings * fontMetrics().lineSpacing();
  m_problems->setVisible(m_diagnostics->hasErrors() || (isHigh && m_diagnostics->rowCount() > 0));
}

void KernelPage::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  showProblems();
}

void KernelPage::showParameters(const services::CandidateDetail& detail) {
  std::vector<services::RegionParameters> regions;
  const bool hasParameters = m_services.edits != nullptr && detail.genome.has_value();
  if (hasParameters) {
    if (auto found = m_services.edits->regions(detail.program.language, *detail.genome)) {
      regions = std::move(*found);
    } else {
      m_session.report(found.error());
    }
  }
  m_parameters->setRegions(detail.genome.value_or(domain::Genome()), regions);
  m_tabs->setTabVisible(m_tabs->indexOf(m_parameters), hasParameters);
}

void KernelPage::showEditing() {
  using State = KernelEditing::State;
  const State state = m_editing->state();
  KernelView& source = m_code->view(CodePanes::Pane::Source);
  source.setEditing(state == State::Draft      ? KernelView::Editing::Now
                    : state == State::Recorded ? KernelView::Editing::OnFirstKey
                                               : KernelView::Editing::Never);
  m_draft->update();
  m_code->setSource(m_editing->text(), m_draft->isListed());
  source.setOriginal(m_editing->recorded());
  m_editState->setFullText(editStateText(*m_editing, *m_draft));
  m_evaluate->setVisible(state == State::Recorded || state == State::Draft);
  m_evaluate->setEnabled(m_editing->mayEvaluate());
  m_discard->setVisible(state == State::Draft);
  m_cancel->setVisible(state == State::Evaluating);
  const bool isBusy = state == State::Evaluating;
  m_parameters->setObstacle(isBusy ? tr("An edit is being evaluated.") : m_editing->obstacle());
}

void KernelPage::evaluate() {
  m_draft->evaluate();
}

void KernelPage::discard() {
  m_editing->discard();
}

void KernelPage::cancel() {
  m_editing->cancel();
}

void KernelPage::nextProblem() {
  goToProblem(m_diagnostics->nextWithLine(m_problems->currentIndex().row(), 1));
}

void KernelPage::previousProblem() {
  const int row = m_problems->currentIndex().row();
  goToProblem(m_diagnostics->nextWithLine(row < 0 ? 0 : row, -1));
}

void KernelPage::goToProblem(int row) {
  if (row < 0) {
    return;
  }
  m_problems->selectRow(row);
  const domain::Diagnostic& one = m_diagnostics->item(row);
  if (one.line > 0) {
    focusSource();
    m_code->view(CodePanes::Pane::Source).goToLine(one.line - 1, one.column > 0 ? one.column - 1 : 0);
  }
}

void KernelPage::nextHotSpot() {
  m_code->focusedView().nextHotSpot();
}

void KernelPage::previousHotSpot() {
  m_code->focusedView().previousHotSpot();
}

}  // namespace swage::ui
