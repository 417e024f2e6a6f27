// SPDX-License-Identifier: Apache-2.0
// The part of Session that leads up to the first candidate.
#include <algorithm>
#include <ctime>
#include <limits>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "core/base/log.h"
#include "core/domain/json.h"
#include "core/process/spare_worker.h"
#include "core/run/baseline_stage.h"
#include "core/run/elite_profiles.h"
#include "core/run/offer_event.h"
#include "core/run/session.h"
#include "core/run/snapshots.h"
#include "core/stats/agreement.h"
#include "core/trust/load_request.h"
#include "core/trust/trust.h"

namespace swage::run {
namespace {

constexpr double kMaxLimitSeconds = 600.0;
// Up to sixteen checks, each with a float64 reference and eager in its own type, then the timing: generous on purpose,
// because this limit only has to end what never ends.
constexpr double kLimitPerEagerSecond = 600.0;
constexpr int kWaiting = 4;
constexpr int kMaxInFlight = 32;
constexpr double kTimingSecondsGpu = 0.25;
constexpr double kTimingSecondsCpu = 0.5;

std::string subjectOf(const services::RunSpec& spec) {
  return spec.resume ? fmt::format("run {}", spec.resume->value()) : spec.task;
}

}  // namespace

std::string optionsJson(const services::RunSpec& spec) {
  nlohmann::json overrides = nlohmann::json::object();
  for (const auto& [name, value] : spec.overrides) {
    overrides[name] = value;
  }
  const nlohmann::json json = {{"task", spec.task},
                               {"inputs", spec.inputs},
                               {"set", std::move(overrides)},
                               {"eval", spec.eval},
                               {"target", spec.target},
                               {"time_budget_s", spec.timeBudgetSeconds},
                               {"max_evaluations", spec.maxEvaluations},
                               {"seed", spec.seed},
                               {"compile_baselines", spec.compileBaselines},
                               {"baselines", spec.baselines},
                               {"remeasure_baselines", spec.remeasureBaselines},
                               {"target_speedup", spec.targetSpeedup},
                               {"required_speedup", spec.requiredSpeedup}};
  return json.dump();
}

Result<> Session::openRecord() {
  SWAGE_TRY_ASSIGN(store::Record record, store::Record::open(m_spec.project, store::Record::Mode::ReadWrite));
  m_record.emplace(std::move(record));
  if (m_spec.resume) {
    SWAGE_TRY(takeUp(*m_spec.resume));
  }
  return {};
}

Result<> Session::takeUp(domain::RunId run) {
  SWAGE_TRY_ASSIGN(const store::RunRow row, m_record->run(run));
  SWAGE_TRY_ASSIGN(store::TaskBundle bundle, store::readTaskBundle(row.bundlePath));
  if (bundle.task.id != row.taskId) {
    return Error(ErrorKind::InvalidInput,
                 fmt::format("the bundle '{}' is not the task of run {} any more", row.bundlePath, run.value()),
                 "import the task again and start a new run");
  }
  m_bundle = std::move(bundle);
  m_run = run;
  m_resumed = true;
  m_device = row.device;
  m_spec.seed = row.seed;
  m_spec.target = domain::name(row.device.kind);
  if (m_spec.timeBudgetSeconds <= 0.0) {
    m_spec.timeBudgetSeconds = row.timeBudgetSeconds;
  }
  if (m_spec.maxEvaluations <= 0) {
    m_spec.maxEvaluations = row.maxEvaluations;
  }
  m_clock.reset(row.elapsedSeconds);
  return {};
}

// Importing takes seconds, and a self-test as many: both would be for nothing.
void Session::checkCompiler() {
  m_compilerCheck = std::make_unique<process::CompilerCheck>(m_parts.programs.compilerCommand);
  connect(m_compilerCheck.get(), &process::CompilerCheck::finished, this, [this](const Result<>& usable) {
    if (m_concluding) {
      return;
    }
    if (!usable) {
      fail(usable.error());
      return;
    }
    prepareTask();
  });
  m_compilerCheck->start();
}

void Session::prepareTask() {
  m_stage = "importing " + subjectOf(m_spec);
  emitProgress();
  if (m_bundle) {
    chooseTarget();
    return;
  }
  TaskRequest request{.task = m_spec.task,
                      .inputs = m_spec.inputs,
                      .overrides = m_spec.overrides,
                      .eval = m_spec.eval,
                      .folder = m_spec.project / "tasks",
                      .exactOutput = {}};
  m_preparation = std::make_unique<TaskPreparation>(m_parts.programs.bridge, std::move(request));
  connect(m_preparation.get(), &TaskPreparation::finished, this, &Session::handleBundle);
  m_preparation->start();
}

void Session::handleBundle(const Result<store::TaskBundle>& bundle) {
  if (m_concluding) {
    return;
  }
  if (!bundle) {
    fail(bundle.error());
    return;
  }
  m_bundle = *bundle;
  for (const std::string& warning : m_bundle->task.warnings) {
    notice(services::Notice::Severity::Warning, warning);
  }
  chooseTarget();
}

void Session::chooseTarget() {
  m_targetChoice =
      std::make_unique<process::TargetChoice>(m_parts.programs.bridge, m_spec.target, m_parts.programs.driver());
  connect(m_targetChoice.get(), &process::TargetChoice::finished, this,
          [this](const Result<domain::DeviceKind>& target) {
            if (m_concluding) {
              return;
            }
            if (!target) {
              fail(target.error());
              return;
            }
            startRig(*target);
          });
  m_targetChoice->start();
}

void Session::startRig(domain::DeviceKind target) {
  setState(services::RunState::Preparing);
  m_stage = "starting the worker";
  emitProgress();
  m_rig = std::make_unique<trust::Rig>(
      rigOptions(m_parts.programs.workerCommand(target), target, fmt::format("worker {}", domain::name(target))));
  connect(m_rig.get(), &trust::Rig::taken, this, &Session::handleDevice);
  connect(m_rig.get(), &trust::Rig::testing, this, &Session::handleSelfTest);
  connect(m_rig.get(), &trust::Rig::loading, this, &Session::handleLoading);
  connect(m_rig.get(), &trust::Rig::ready, this, &Session::handleReady);
  connect(m_rig.get(), &trust::Rig::refused, this, &Session::fail);
  watch(*m_rig);
  m_rig->start();
}

trust::Rig::Options Session::rigOptions(const process::LaunchCommand& command, domain::DeviceKind target,
                                        std::string name) const {
  trust::Rig::Options options;
  options.worker.command = command;
  options.worker.spare = process::spareFor(target, command);
  options.worker.name = std::move(name);
  options.worker.stopGrace = m_parts.programs.stopGrace;
  if (m_parts.selfTest) {
    options.selfTest = m_parts.selfTest;
    options.selfTestOptions = trust::selfTestOptions(m_parts.programs, target);
    options.selfTestOptions.worker = command;
  }
  options.task = [this](const domain::DeviceInfo& device) {
    return trust::loadRequest(*m_bundle, m_spec.seed, device.kind);
  };
  return options;
}

void Session::handleDevice(const wire::WorkerReady& ready) {
  if (m_resumed && m_device.uuid != ready.device.uuid) {
    notice(services::Notice::Severity::Warning,
           fmt::format("this run began on another device ({}); its times are not comparable", m_device.name));
  }
  m_device = ready.device;
  m_laneBoard.rename(m_rig->worker(), m_device);
  m_torchVersion = plainVersion(ready.torchVersion);
  if (m_parts.selfTest) {
    m_stage = "self-test";
    emitProgress();
  }
}

void Session::handleSelfTest(int done, int total) {
  m_stage = fmt::format("self-test {} of {}", done, total);
  m_selfTestStep = done;
  m_selfTestSteps = total;
  emitProgress();
}

void Session::handleLoading() {
  m_selfTestSteps = 0;
  if (m_rig->ground() == trust::SelfTestGate::Ground::Skipped) {
    notice(services::Notice::Severity::Warning,
           fmt::format("the self-test of {} was skipped: cheat detection is untested on this device", m_device.name),
           "run `swage doctor --self-test` before you trust these results");
  }
  m_stage = "reference and eager PyTorch";
  emitProgress();
}

Result<> Session::recordGround() {
  if (!m_rig->ground()) {
    return {};
  }
  const nlohmann::json detail = {{"ground", name(*m_rig->ground())}, {"device", m_device.uuid}};
  return m_record->addEvent(m_run, domain::EventKind::SelfTest, detail.dump());
}

void Session::handleReady(const wire::TaskReady& task) {
  m_task = task;
  Result<> ready = m_resumed ? knowBaselines() : createRun();
  if (ready) {
    ready = recordGround();
  }
  if (!ready) {
    fail(ready.error());
    return;
  }
  Q_EMIT runCreated(m_run);
  for (const std::string& doubt : m_task.doubts) {
    notice(services::Notice::Severity::Warning, "correctness checks of this task are weak: " + doubt);
  }
  settleBaselines();
}

// Of one task, device and PyTorch the baselines are measured once.
void Session::settleBaselines() {
  std::vector<std::string> modes = baselineModes(m_spec);
  const bool needsBridge = std::any_of(modes.begin(), modes.end(), [](const auto& mode) { return mode != "eager"; });
  if (m_baselines.empty() && needsBridge && !m_spec.remeasureBaselines) {
    if (const Result<> reused = reuseBaselines(modes); !reused) {
      fail(reused.error());
      return;
    }
  }
  if (!m_baselines.empty()) {
    startSearch();
  } else if (needsBridge) {
    measureBaselines(std::move(modes));
  } else {
    handleBaselines(std::vector<domain::Baseline>{});
  }
}

Result<> Session::reuseBaselines(const std::vector<std::string>& modes) {
  const domain::Task& task = m_bundle->task;
  const std::string taskId = task.id.empty() ? domain::taskId(task) : task.id;
  SWAGE_TRY_ASSIGN(const auto known, m_record->knownBaselines(taskId, m_device.uuid, m_torchVersion));
  std::vector<domain::Baseline> usable;
  std::int64_t oldestMs = std::numeric_limits<std::int64_t>::max();
  nlohmann::json sources = nlohmann::json::array();
  for (const store::Record::KnownBaseline& one : known) {
    const bool isWanted = std::find(modes.begin(), modes.end(), one.baseline.mode) != modes.end();
    if (isWanted && !stats::isDoubtful(one.baseline.timing) && !one.baseline.eagerSpeedup.isUncertain()) {
      usable.push_back(one.baseline);
      oldestMs = std::min(oldestMs, one.startedAtMs);
      sources.push_back({{"mode", one.baseline.mode}, {"run", one.run.value()}, {"started_at_ms", one.startedAtMs}});
    }
  }
  if (usable.size() < modes.size()) {
    return {};
  }
  SWAGE_TRY(m_record->addEvent(m_run, domain::EventKind::BaselinesReused, sources.dump()));
  notice(services::Notice::Severity::Info,
         fmt::format("the baselines ({}) are those that an earlier run measured on {:%Y-%m-%d %H:%M} UTC",
                     fmt::join(modes, ", "), fmt::gmtime(static_cast<std::time_t>(oldestMs / 1000))),
         "--remeasure measures them again.");
  return addBaselines(merged(eagerBaseline(m_task, task.graph, m_torchVersion), std::move(usable)));
}

Result<> Session::createRun() {
  store::NewRun run;
  run.task = m_bundle->task;
  run.bundlePath = m_bundle->directory.string();
  run.device = m_device;
  run.seed = m_spec.seed;
  run.timeBudgetSeconds = m_spec.timeBudgetSeconds;
  run.maxEvaluations = m_spec.maxEvaluations;
  run.optionsJson = optionsJson(m_spec);
  run.swageVersion = SWAGE_VERSION;
  SWAGE_TRY_ASSIGN(m_run, m_record->createRun(run));
  return trust::addDoubts(*m_record, m_run, m_task.doubts);
}

Result<> Session::knowBaselines() {
  SWAGE_TRY(m_record->setRunStatus(m_run, store::RunStatus::Running, m_clock.elapsedSeconds()));
  SWAGE_TRY_ASSIGN(m_baselines, m_record->baselines(m_run));
  for (const domain::Baseline& baseline : m_baselines) {
    Q_EMIT baselineMeasured(baseline);
  }
  return {};
}

void Session::measureBaselines(std::vector<std::string> modes) {
  m_stage = "measuring PyTorch: " + fmt::format("{}", fmt::join(modes, ", "));
  emitProgress();
  BaselineStage::Options options;
  options.environment = m_parts.programs.bridge;
  options.bundle = m_bundle->directory;
  options.device = m_device;
  options.budgetSeconds = std::clamp(60.0 * m_task.eager.medianNs * 1e-9, 4.0, 20.0);
  options.modes = std::move(modes);
  m_baselineStage = std::make_unique<BaselineStage>(std::move(options));
  connect(m_baselineStage.get(), &BaselineStage::finished, this, &Session::handleBaselines);
  m_baselineStage->start();
}

void Session::handleBaselines(const Result<std::vector<domain::Baseline>>& measured) {
  if (m_concluding) {
    return;
  }
  if (!measured) {
    notice(services::Notice::Severity::Warning, "torch.compile was not measured: " + measured.error().message(),
           measured.error().hint());
  }
  const Result<> added = addBaselines(merged(eagerBaseline(m_task, m_bundle->task.graph, m_torchVersion),
                                             measured ? *measured : std::vector<domain::Baseline>{}));
  if (!added) {
    fail(added.error());
    return;
  }
  startSearch();
}

Result<> Session::addBaselines(const std::vector<domain::Baseline>& baselines) {
  for (const domain::Baseline& baseline : baselines) {
    SWAGE_TRY(m_record->addBaseline(m_run, baseline));
    m_baselines.push_back(baseline);
    noticeDoubts(baseline);
    Q_EMIT baselineMeasured(baseline);
  }
  return {};
}

void Session::noticeDoubts(const domain::Baseline& baseline) {
  if (!baseline.failure.empty()) {
    notice(services::Notice::Severity::Info,
           fmt::format("the baseline '{}' does not work: {}", baseline.mode, baseline.failure));
  } else if (stats::isDoubtful(baseline.timing)) {
    notice(
        services::Notice::Severity::Warning,
        fmt::format("the baseline '{}' was measured while the device was throttled or busy ({}); speedups against it "
                    "are uncertain",
                    baseline.mode, fmt::join(baseline.timing.conditions.throttleReasons, ", ")),
        "search again when nothing else uses the device; a later run measures the baseline again");
  }
}

void Session::startSearch() {
  if (const Result<> built = buildSearch(); !built) {
    fail(built.error());
    return;
  }
  m_evaluationsAtStart = m_pipeline->evaluations();
  m_elapsedAtStart = m_clock.elapsedSeconds();
  m_archiveDirty = true;
  m_clock.run();
  setState(services::RunState::Running);
  m_stage.clear();
  m_pipeline->run();
  startMoreWorkers();
}

Result<> Session::buildSearch() {
  SWAGE_TRY_ASSIGN(const store::RunRow row, m_record->run(m_run));
  m_eagerSpeedup = row.eagerSpeedup;
  m_baselineMode = row.baselineMode;
  m_roof = stats::roofline(m_bundle->task.graph, m_device);
  SWAGE_TRY_ASSIGN(m_synthesizer, m_parts.programs.makeSynthesizer(m_bundle->task.graph, m_device));
  search::SearchOptions search;
  search.seed = m_spec.seed;
  search.reachable = m_synthesizer->reachableCells();
  m_searcher = std::make_unique<search::Searcher>(*m_synthesizer, search);
  process::CompilerPool::Options pool;
  pool.command = m_parts.programs.compilerCommand;
  pool.size = m_parts.programs.compilersFor(m_device.kind);
  pool.stopGrace = m_parts.programs.stopGrace;
  pool.now = m_parts.now;
  m_compilers = std::make_unique<process::CompilerPool>(std::move(pool));
  m_compilersGone = false;
  connect(m_compilers.get(), &process::CompilerPool::failed, this, &Session::fail);
  connect(m_compilers.get(), &process::CompilerPool::stopped, this, [this] {
    m_compilersGone = true;
    finishWhenQuiet();
  });
  SWAGE_TRY(buildProposers());
  m_pipeline = std::make_unique<CandidatePipeline>(
      CandidatePipeline::Parts{*m_record, *m_proposerPool, *m_compilers, m_rig->worker()}, pipelineOptions());
  connect(m_pipeline.get(), &CandidatePipeline::proposed, this, [this](const store::CandidateRecord& candidate) {
    m_proposers.countProposed(candidate);
    m_archiveDirty = true;
  });
  connect(m_pipeline.get(), &CandidatePipeline::restored, this,
          [this](const auto& candidate) { m_proposers.takeUp(candidate, m_searcher->archive()); });
  connect(m_pipeline.get(), &CandidatePipeline::ended, this, &Session::handleEnded);
  connect(m_pipeline.get(), &CandidatePipeline::halted, this, &Session::handleHalted);
  connect(m_pipeline.get(), &CandidatePipeline::drained, this, &Session::handleDrained);
  connect(m_pipeline.get(), &CandidatePipeline::failed, this, &Session::fail);
  return takeUpHistory();
}

// The search first: it keeps the archive.
Result<> Session::buildProposers() {
  m_proposerPool = std::make_unique<ProposerPool>(
      ProposerPool::Options{.now = m_parts.now, .isElite = [this](const store::CandidateRecord& candidate) {
                              return holdsItsCell(candidate, m_searcher->archive());
                            }});
  auto search = std::make_unique<SearcherProposer>(*m_searcher, *m_synthesizer);
  m_search = search.get();
  SWAGE_TRY(m_proposerPool->add(std::move(search)));
  const ProposerContext context{.task = m_bundle->task, .device = m_device, .run = m_run, .seed = m_spec.seed};
  for (const ProposerFactory& make : m_parts.proposers) {
    SWAGE_TRY(m_proposerPool->add(make(context)));
  }
  connect(m_proposerPool.get(), &ProposerPool::dropped, this, [this](const auto& proposer, const Error& why) {
    notice(services::Notice::Severity::Warning,
           fmt::format("the proposer '{}' is asked no more: {}", proposer.text(), why.message()), why.hint());
  });
  return {};
}

Result<> Session::takeUpHistory() {
  if (m_resumed) {
    SWAGE_TRY_ASSIGN(std::vector<store::CandidateRecord> history, m_record->history(m_run));
    SWAGE_TRY(m_pipeline->restore(std::move(history)));
    SWAGE_TRY_ASSIGN(const std::vector<domain::RunEvent> events, m_record->events(m_run));
    for (const domain::RunEvent& event : events) {
      if (event.kind == domain::EventKind::Offer) {
        SWAGE_TRY_ASSIGN(const OfferProvenance offer, parseProvenance(event.json));
        m_proposerPool->addCost(offer.madeBy, offer.cost);
      }
    }
  }
  if (m_pipeline->identity().isValid()) {
    return {};
  }
  Result<domain::Program> program = m_synthesizer->realise(domain::Genome());
  if (!program) {
    return std::move(program).error().withContext("writing the graph as a launch plan");
  }
  m_pipeline->addIdentity(std::move(*program));
  return {};
}

double evaluationLimit(double leastSeconds, double eagerMedianNs) {
  return std::min(leastSeconds + kLimitPerEagerSecond * eagerMedianNs * 1e-9, kMaxLimitSeconds);
}

double Session::limitSeconds() const {
  return evaluationLimit(m_parts.minLimitSeconds, m_task.eager.medianNs);
}

CandidatePipeline::Options Session::pipelineOptions() const {
  CandidatePipeline::Options options;
  options.run = m_run;
  options.device = m_device;
  options.overlap = m_device.kind == domain::DeviceKind::Cuda;
  // Enough to keep the worker busy, and not more: what is in flight was proposed without knowing what came before it.
  options.batch = options.overlap ? std::clamp(m_compilers->size() + kWaiting, kWaiting, kMaxInFlight)
                                  : std::max(2, m_compilers->size());
  options.timingBudgetSeconds = options.overlap ? kTimingSecondsGpu : kTimingSecondsCpu;
  options.limitSeconds = limitSeconds();
  // Where the outputs do not depend on all inputs, as a doubtful task's may not, nothing has to be read.
  options.floorNs = m_task.doubts.empty() ? m_roof.floorNs : 0.0;
  options.eagerNs = m_task.eager.medianNs;
  options.islands = m_searcher->archive().islandCount();
  options.eliteSpeedup = [this](const domain::Cell& cell) { return m_searcher->eliteSpeedup(cell); };
  options.elapsedSeconds = [this] { return m_clock.elapsedSeconds(); };
  options.mayPropose = [this](std::int64_t inFlight) { return mayPropose(inFlight); };
  return options;
}

}  // namespace swage::run
