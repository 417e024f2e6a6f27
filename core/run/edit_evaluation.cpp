// SPDX-License-Identifier: Apache-2.0
#include "core/run/edit_evaluation.h"

#include <QTimer>

#include <utility>

#include <fmt/format.h>

#include "core/run/candidate_outcome.h"
#include "core/run/edit_proposer.h"
#include "core/run/run_context.h"
#include "core/run/searcher_proposer.h"
#include "core/run/snapshots.h"
#include "core/run/winner_choice.h"
#include "core/stats/roofline.h"
#include "core/trust/load_request.h"
#include "core/trust/trust.h"
#include "core/trust/verification.h"

namespace swage::run {
namespace {

constexpr double kTimingBudgetSeconds = 1.5;  // as long as a run's last measurement: a person looks at this one
constexpr int kMaxSamples = 200;
constexpr double kSanitizerSeconds = 60.0;
constexpr std::uint64_t kEarlyToken = 0;  // no candidate's

// The plan with the sizes of the edit.
Result<> resize(domain::LaunchPlan& plan, const std::vector<services::LaunchSize>& launches) {
  if (launches.empty()) {
    return {};
  }
  std::size_t next = 0;
  for (domain::PlanStep& step : plan.steps) {
    auto* kernel = std::get_if<domain::KernelStep>(&step);
    if (kernel != nullptr && next < launches.size()) {
      kernel->grid = launches[next].grid;
      kernel->block = launches[next].block;
      kernel->dynamicSharedBytes = launches[next].dynamicSharedBytes;
    }
    next += kernel != nullptr ? 1U : 0U;
  }
  if (next != launches.size()) {
    return Error(ErrorKind::InvalidInput,
                 fmt::format("the plan launches {} kernels, but there are sizes for {}", next, launches.size()));
  }
  const std::string defect = domain::findDefect(plan);
  return defect.empty() ? Result<>() : Error(ErrorKind::InvalidInput, "the launch plan cannot be used: " + defect);
}

}  // namespace

EditEvaluation::EditEvaluation(SessionParts parts, services::EditSpec spec, QObject* parent)
    : QObject(parent), m_parts(std::move(parts)), m_spec(std::move(spec)) {}

EditEvaluation::~EditEvaluation() = default;

void EditEvaluation::start() {
  QTimer::singleShot(0, this, [this] {
    if (m_outcome) {
      return;  // cancelled before it began
    }
    Result<> prepared = prepare();
    if (prepared) {
      prepared = compileEarly();
    }
    if (!prepared) {
      fail(prepared.error());
    } else if (!m_outcome) {
      startRig();
    }
  });
}

void EditEvaluation::cancel() {
  fail(Error(ErrorKind::Cancelled, "the evaluation of the edit was cancelled"));
}

Result<> EditEvaluation::prepare() {
  {
    // A project that is not there is not made.
    SWAGE_TRY_ASSIGN(const store::Record existing, store::Record::open(m_spec.project, store::Record::Mode::ReadOnly));
    SWAGE_TRY_ASSIGN(m_parent, existing.candidate(m_spec.parent));
    SWAGE_TRY_ASSIGN(m_run, existing.run(m_parent.run));
  }
  if (!m_parent.program.plan.hasKernels() && std::holds_alternative<services::SourceEdit>(m_spec.change)) {
    return Error(ErrorKind::InvalidInput,
                 fmt::format("candidate {} has no source: every step is a PyTorch operator", m_parent.id.value()));
  }
  auto record = store::Record::open(m_spec.project, store::Record::Mode::ReadWrite);
  if (!record && record.error().kind() == ErrorKind::Locked) {
    return std::move(record).error().withHint("stop the search that writes this project, or wait for its end");
  }
  SWAGE_TRY_ASSIGN(m_record, std::move(record));
  SWAGE_TRY_ASSIGN(m_bundle, store::readTaskBundle(m_run.bundlePath));
  return {};
}

// PyTorch takes ten seconds to start, and whoever mistyped need not wait for it. Parameters are realised for the device
// that the worker finds, and what is refused without a look at it says so in its turn.
Result<> EditEvaluation::compileEarly() {
  if (std::holds_alternative<services::ParameterEdit>(m_spec.change)) {
    return {};
  }
  SWAGE_TRY_ASSIGN(const Offer edit, edited());
  if (unkeepableOf(edit.program, edit.madeBy.kind().has_value()) || refusalOf(edit.program, m_run.device.kind)) {
    return {};
  }
  m_compilesEarly = true;
  startCompilers();
  connect(m_compilers.get(), &process::CompilerPool::compiled, this,
          [this](std::uint64_t token, const domain::CompileOutcome& outcome) {
            if (token == kEarlyToken) {
              m_compiled = outcome;
              submitWhenPossible();
            }
          });
  m_compilers->compile(kEarlyToken, domain::compileRequest(edit.program, m_run.device));
  Q_EMIT stageChanged("compiling");
  return {};
}

void EditEvaluation::startRig() {
  const domain::DeviceKind target = m_run.device.kind;
  trust::Rig::Options options;
  options.worker.command = m_parts.programs.workerCommand(target);
  options.worker.name = fmt::format("worker {}", domain::name(target));
  options.worker.stopGrace = m_parts.programs.stopGrace;
  options.admit = [this](const domain::DeviceInfo& device) { return admit(device); };
  options.takesLease = !m_parts.programs.deviceIsLeased;
  if (m_parts.selfTest) {
    options.selfTest = m_parts.selfTest;
    options.selfTestOptions = trust::selfTestOptions(m_parts.programs, target);
  }
  options.task = [this](const domain::DeviceInfo& device) {
    return trust::loadRequest(*m_bundle, m_run.seed, device.kind);
  };
  m_rig = std::make_unique<trust::Rig>(std::move(options));
  connect(m_rig.get(), &trust::Rig::testing, this,
          [this](int done, int total) { Q_EMIT stageChanged(fmt::format("self-test {} of {}", done, total)); });
  connect(m_rig.get(), &trust::Rig::loading, this, [this] { Q_EMIT stageChanged("reference and eager PyTorch"); });
  connect(m_rig.get(), &trust::Rig::ready, this, &EditEvaluation::handleReady);
  connect(m_rig.get(), &trust::Rig::refused, this, &EditEvaluation::fail);
  connect(m_rig.get(), &trust::Rig::lost, this, &EditEvaluation::fail);
  connect(m_rig.get(), &trust::Rig::stopped, this, &EditEvaluation::finishWhenQuiet);
  connect(&m_rig->worker(), &process::WorkerSupervisor::stateChanged, this, [this] {
    if (m_rig->worker().state() == process::WorkerSupervisor::State::Evaluating) {
      Q_EMIT stageChanged(m_rig->worker().stateText());
    }
  });
  m_rig->start();
  Q_EMIT stageChanged("starting the worker");
}

// A time from another device would compete with the run's own.
Result<> EditEvaluation::admit(const domain::DeviceInfo& device) const {
  if (device.name == m_run.device.name) {
    return {};
  }
  return Error(
      ErrorKind::Environment,
      fmt::format("run {} was measured on {}, and this is {}", m_run.id.value(), m_run.device.name, device.name),
      "start a search on this device, and edit its candidates");
}

void EditEvaluation::handleReady(const wire::TaskReady& task) {
  m_task = task;
  submitWhenPossible();
}

void EditEvaluation::submitWhenPossible() {
  const bool isCompiling = m_compilesEarly && !m_compiled;
  const bool needsNoWorker = m_compiled && std::holds_alternative<domain::CompileFailed>(*m_compiled);
  if (m_outcome || m_pipeline || isCompiling || !(m_task || needsNoWorker)) {
    return;
  }
  if (const Result<> submitted = submit(); !submitted) {
    fail(submitted.error());
  }
}

const domain::DeviceInfo& EditEvaluation::device() const {
  return m_task ? m_rig->device() : m_run.device;
}

Result<> EditEvaluation::submit() {
  SWAGE_TRY_ASSIGN(m_synthesizer, m_parts.programs.makeSynthesizer(m_bundle->task.graph, device()));
  SWAGE_TRY_ASSIGN(Offer edit, edited());
  SWAGE_TRY(trust::addSandbox(*m_record, m_run.id, m_parts.programs.sandbox));
  m_searcher = std::make_unique<search::Searcher>(*m_synthesizer, search::SearchOptions{});
  m_onlyEdit = std::make_unique<search::Searcher>(*m_synthesizer, search::SearchOptions{});
  if (!m_compilers) {
    startCompilers();
  }
  SWAGE_TRY(
      m_proposers.add(std::make_unique<SearcherProposer>(*m_searcher, *m_synthesizer), ProposerPool::Turns::None));
  edit.compiled = m_compiled;
  auto person = std::make_unique<EditProposer>(edit.madeBy);
  person->submit(std::move(edit));
  SWAGE_TRY(m_proposers.add(std::move(person)));
  m_pipeline = std::make_unique<CandidatePipeline>(
      CandidatePipeline::Parts{*m_record, m_proposers, *m_compilers, m_rig->worker()}, pipelineOptions());
  connect(m_pipeline.get(), &CandidatePipeline::ended, this, &EditEvaluation::handleEnded);
  connect(m_pipeline.get(), &CandidatePipeline::drained, this, &EditEvaluation::handleDrained);
  connect(m_pipeline.get(), &CandidatePipeline::failed, this, &EditEvaluation::fail);
  SWAGE_TRY_ASSIGN(std::vector<store::CandidateRecord> history, m_record->history(m_run.id));
  // What a search left unfinished is for `resume` to take up.
  std::erase_if(history, [](const store::CandidateRecord& candidate) { return !candidate.evaluation; });
  SWAGE_TRY(m_pipeline->restore(std::move(history)));
  m_pipeline->run();
  if (!m_compilesEarly) {
    Q_EMIT stageChanged("compiling");
  }
  return {};
}

void EditEvaluation::startCompilers() {
  process::CompilerPool::Options pool;
  pool.command = m_parts.programs.compilerCommand;
  pool.size = 1;
  pool.stopGrace = m_parts.programs.stopGrace;
  m_compilers = std::make_unique<process::CompilerPool>(std::move(pool));
  m_compilersGone = false;
  connect(m_compilers.get(), &process::CompilerPool::failed, this, &EditEvaluation::fail);
  connect(m_compilers.get(), &process::CompilerPool::stopped, this, [this] {
    m_compilersGone = true;
    finishWhenQuiet();
  });
}

Result<Offer> EditEvaluation::edited() const {
  Offer edit;
  edit.madeBy = domain::OperatorKind::Human;
  edit.island = m_parent.island;
  edit.parents = {m_parent.id};
  if (const auto* source = std::get_if<services::SourceEdit>(&m_spec.change)) {
    edit.genome = m_parent.genome;
    edit.program = m_parent.program;
    edit.program.source = source->source;
    SWAGE_TRY(resize(edit.program.plan, source->launches));
  } else if (const auto* program = std::get_if<services::ProgramEdit>(&m_spec.change)) {
    edit.madeBy = program->madeBy;
    edit.program = program->program;
    edit.note = program->note;
    if (!program->isVariant) {
      edit.parents.clear();
    }
  } else {
    edit.genome = std::get<services::ParameterEdit>(m_spec.change).genome;
    SWAGE_TRY_ASSIGN(edit.program, m_synthesizer->realise(*edit.genome));
  }
  return edit;
}

CandidatePipeline::Options EditEvaluation::pipelineOptions() const {
  CandidatePipeline::Options options;
  options.run = m_run.id;
  options.device = device();
  options.timingBudgetSeconds = kTimingBudgetSeconds;
  options.maxSamples = kMaxSamples;
  const wire::TaskReady task = m_task.value_or(wire::TaskReady());
  options.limitSeconds = evaluationLimit(m_parts.minLimitSeconds, task.eager.medianNs) + kTimingBudgetSeconds;
  options.eagerNs = task.eager.medianNs;
  options.floorNs = task.doubts.empty() ? stats::roofline(m_bundle->task.graph, device()).floorNs : 0.0;
  options.elapsedSeconds = [elapsed = m_run.elapsedSeconds] { return elapsed; };
  options.islands = m_searcher->archive().islandCount();
  options.mayPropose = [](std::int64_t) { return true; };  // the one edit
  return options;
}

void EditEvaluation::handleEnded(const store::CandidateRecord& candidate) {
  m_edit = candidate;
}

void EditEvaluation::handleDrained() {
  if (m_outcome) {
    return;
  }
  if (!isElite()) {
    conclude(outcome());
  } else if (m_rig->device().kind == domain::DeviceKind::Cuda) {
    sanitise();
  } else {
    challengeWinner();
  }
}

bool EditEvaluation::isElite() const {
  if (!m_edit || !m_edit->cell) {
    return false;
  }
  const search::Elite* best = m_searcher->archive().best(*m_edit->cell);
  return best != nullptr && best->candidate == m_edit->id;
}

void EditEvaluation::sanitise() {
  search::Proposal proposal;
  proposal.genome = m_edit->genome;
  proposal.made_by = m_edit->madeBy;
  m_onlyEdit->restore(proposal, outcomeOf(*m_edit, *m_edit->evaluation));
  trust::SanitizerPass::Options options;
  options.check.sanitizer = m_parts.programs.sanitizer;
  options.check.replay = m_parts.programs.replay;
  options.check.ordinal = m_rig->device().ordinal;
  options.budgetSeconds = kSanitizerSeconds;
  m_sanitizing = std::make_unique<trust::SanitizerPass>(*m_record, *m_onlyEdit, m_rig->worker(), std::move(options));
  connect(m_sanitizing.get(), &trust::SanitizerPass::rejected, this, [this](const store::CandidateRecord& candidate) {
    m_edit = candidate;
    m_searcher->retract(candidate.id);
  });
  connect(m_sanitizing.get(), &trust::SanitizerPass::finished, this, [this](const Result<>& done) {
    if (!done) {
      fail(done.error());
    } else if (!m_outcome) {
      challengeWinner();
    }
  });
  m_sanitizing->start();
  Q_EMIT stageChanged("compute-sanitizer");
}

// A run that has not ended has no winner yet: its last measurement will look at the edit, too.
bool EditEvaluation::mayWin() const {
  const domain::Speedup speedup = speedupOf(*m_edit, m_run.eagerSpeedup);
  return isElite() && m_run.status == store::RunStatus::Finished && speedup.high > m_run.bestSpeedup.low;
}

// All that compete were measured in turns with eager, for as long: nothing but an uncertain one is timed again.
void EditEvaluation::challengeWinner() {
  if (!mayWin()) {
    conclude(outcome());
    return;
  }
  FinishingPass::Options options;
  options.known = {m_edit->id};
  if (m_run.best.isValid()) {
    options.known.insert(m_run.best);
  }
  options.contenders = 0;
  options.run = m_run.id;
  options.identity = m_pipeline->identity();
  options.limitSeconds = pipelineOptions().limitSeconds;
  options.elapsedSeconds = [elapsed = m_run.elapsedSeconds] { return elapsed; };
  options.eagerSpeedup = m_run.eagerSpeedup;
  options.freshProcess = [this](domain::CandidateId candidate) {
    process::Programs programs = m_parts.programs;
    programs.deviceIsLeased = true;
    return std::make_unique<trust::Verification>(programs, m_spec.project, candidate);
  };
  m_finishing = std::make_unique<FinishingPass>(*m_record, m_rig->worker(), search::Archive(1), std::move(options));
  connect(m_finishing.get(), &FinishingPass::finished, this, &EditEvaluation::handleWinner);
  m_finishing->start();
  Q_EMIT stageChanged("measuring it beside the winner");
}

void EditEvaluation::handleWinner(const Result<domain::CandidateId>& winner) {
  if (!winner) {
    fail(winner.error());
  } else if (!m_outcome) {
    conclude(outcome());
  }
}

// As recorded: what is measured again replaces what was measured first.
Result<services::EditOutcome> EditEvaluation::outcome() {
  if (!m_edit) {
    return Error(ErrorKind::Internal, "the edit was not evaluated");
  }
  SWAGE_TRY_ASSIGN(store::CandidateRecord candidate, m_record->candidate(m_edit->id));
  SWAGE_TRY_ASSIGN(const store::RunRow run, m_record->run(m_run.id));
  SWAGE_TRY_ASSIGN(const std::vector<domain::CellSummary> cells, m_record->cells(m_run.id, std::nullopt));
  services::EditOutcome outcome;
  outcome.isWinner = run.best == m_edit->id;
  for (const domain::CellSummary& line : cells) {
    outcome.isElite = outcome.isElite || line.best == m_edit->id;
  }
  const stats::Roofline roof = stats::roofline(m_bundle->task.graph, m_run.device);
  outcome.detail = detailOf(std::move(candidate), run.eagerSpeedup, roof.roofNs);
  return outcome;
}

void EditEvaluation::conclude(Result<services::EditOutcome> outcome) {
  if (m_outcome) {
    return;
  }
  m_outcome = std::move(outcome);
  if (m_pipeline) {
    m_pipeline->halt();
  }
  if (m_sanitizing) {
    m_sanitizing->cancel();
  }
  if (m_finishing) {
    m_finishing->cancel();
  }
  if (m_rig && m_task) {
    m_rig->stop();
  } else if (m_rig) {
    m_rig->kill();  // it loads libraries, and hears nothing meanwhile
  }
  if (m_compilers && !m_compilersGone) {
    m_compilers->stop();
  }
  QTimer::singleShot(0, this, &EditEvaluation::finishWhenQuiet);
}

void EditEvaluation::finishWhenQuiet() {
  const bool isRigGone = !m_rig || m_rig->isGone();
  if (!m_outcome || !isRigGone || !m_compilersGone || std::exchange(m_finishedEmitted, true)) {
    return;
  }
  if (m_finishing) {
    m_finishing->abandon();
  }
  m_record.reset();
  if (m_rig) {
    m_rig->giveBackDevice();
  }
  Q_EMIT finished(*m_outcome);
}

}  // namespace swage::run
