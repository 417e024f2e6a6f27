// SPDX-License-Identifier: Apache-2.0
#include "core/run/candidate_pipeline.h"

#include <QTimer>

#include <algorithm>
#include <chrono>
#include <numeric>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/log.h"
#include "core/domain/json.h"
#include "core/run/candidate_outcome.h"
#include "core/run/offer_event.h"
#include "core/stats/roofline.h"
#include "core/store/candidate_keys.h"
#include "core/trust/trust.h"

namespace swage::run {
namespace {

// Then the event loop gets its turn. A proposal takes milliseconds, many end as duplicates, and a device that is done
// must not wait for the compilers' next ones.
constexpr std::chrono::milliseconds kProposingTurn{4};

// Times the fastest so far: who takes longer can hold a cell, but not win. Who does win is measured and checked again.
constexpr double kFarBehind = 1.5;

// A person wants to know the time of an edit, and everybody that of the task's own operators.
bool isRaced(const domain::ProposerName& madeBy) {
  return madeBy != domain::OperatorKind::Baseline && madeBy != domain::OperatorKind::Human;
}

// Of a few programs at most, each once.
std::vector<domain::CandidateId> soundParents(const std::vector<domain::CandidateId>& offered) {
  constexpr std::size_t kMost = 16;
  std::vector<domain::CandidateId> parents;
  for (const domain::CandidateId parent : offered) {
    const bool isNew = std::find(parents.begin(), parents.end(), parent) == parents.end();
    if (parent.isValid() && isNew && parents.size() < kMost) {
      parents.push_back(parent);
    }
  }
  return parents;
}

}  // namespace

CandidatePipeline::CandidatePipeline(Parts parts, Options options, QObject* parent)
    : QObject(parent), m_parts(parts), m_options(std::move(options)) {
  addLane(m_parts.worker);
  connect(&m_parts.compilers, &process::CompilerPool::compiled, this, &CandidatePipeline::handleCompiled);
  connect(&m_parts.proposers, &ProposerPool::ready, this, &CandidatePipeline::pumpLater);
  connect(&m_parts.proposers, &ProposerPool::failed, this, [this](const Error& error) { check(error); });
}

CandidatePipeline::Lane& CandidatePipeline::addLane(process::WorkerSupervisor& worker) {
  Lane& lane = *m_lanes.emplace_back(std::make_unique<Lane>());
  lane.worker = &worker;
  connect(&worker, &process::WorkerSupervisor::evaluated, this, [this, &lane](const process::EvaluationResult& result) {
    if (!lane.items.empty()) {  // else it is somebody else's: the worker is borrowed
      handleEvaluated(lane, result);
    }
  });
  return lane;
}

void CandidatePipeline::addWorker(process::WorkerSupervisor& worker, std::string device) {
  addLane(worker).device = std::move(device);
  pumpLater();
}

void CandidatePipeline::removeWorker(process::WorkerSupervisor& worker) {
  const auto found =
      std::find_if(m_lanes.begin(), m_lanes.end(), [&worker](const auto& lane) { return lane->worker == &worker; });
  if (found == m_lanes.end()) {
    return;
  }
  worker.disconnect(this);
  std::deque<Item> items = std::move((*found)->items);
  m_lanes.erase(found);
  for (; !items.empty(); items.pop_back()) {
    check(requeue(std::move(items.back())));
  }
  if (m_flow == Flow::Halted && !isEvaluating()) {
    Q_EMIT halted();
  }
  pumpLater();
}

// In front: it was its turn already. Its binary went away with the message.
Result<> CandidatePipeline::requeue(Item item) {
  if (item.record.program.plan.hasKernels()) {
    SWAGE_TRY_ASSIGN(item.binary, m_parts.record.binary(item.record.binaryHash));
  }
  m_ready.push_front(std::move(item));
  return {};
}

std::int64_t CandidatePipeline::inWorkers() const {
  return std::accumulate(m_lanes.begin(), m_lanes.end(), std::int64_t{0}, [](std::int64_t sum, const auto& lane) {
    return sum + static_cast<std::int64_t>(lane->items.size());
  });
}

// Idle workers first. Where compilers work at the same time, a worker also gets the candidate after its present one, so
// that the device does not wait while the engine records and proposes.
CandidatePipeline::Lane* CandidatePipeline::freeLane() const {
  const std::size_t depth = m_options.overlap ? 2 : 1;
  const auto least = std::min_element(m_lanes.begin(), m_lanes.end(),
                                      [](const auto& a, const auto& b) { return a->items.size() < b->items.size(); });
  return least != m_lanes.end() && (*least)->items.size() < depth ? least->get() : nullptr;
}

domain::CandidateId CandidatePipeline::candidateOf(const process::WorkerSupervisor& worker) const {
  const auto lane =
      std::find_if(m_lanes.begin(), m_lanes.end(), [&worker](const auto& one) { return one->worker == &worker; });
  return lane != m_lanes.end() && !(*lane)->items.empty() ? (*lane)->items.front().record.id : domain::CandidateId();
}

Result<> CandidatePipeline::restore(std::vector<store::CandidateRecord> history) {
  for (store::CandidateRecord& record : history) {
    if (record.madeBy == domain::OperatorKind::Baseline && !m_identity.isValid()) {
      m_identity = record.id;
    }
    remember(record);
    Item item{.record = std::move(record), .binary = {}};
    if (item.record.evaluation) {
      count(*item.record.evaluation);
      tell(item);
    }
    Q_EMIT restored(item.record);
    if (!item.record.evaluation) {
      m_waiting.push_back(std::move(item));
    }
  }
  return {};
}

void CandidatePipeline::remember(const store::CandidateRecord& record) {
  m_bySource.try_emplace(record.sourceHash, record.id);
  if (const std::string key = store::binaryKey(record); !key.empty()) {
    m_byBinary.try_emplace(key, record.id);
  }
}

void CandidatePipeline::addIdentity(domain::Program program) {
  Item item;
  item.record.madeBy = domain::OperatorKind::Baseline;
  item.record.proposal = -1;
  item.record.genome = domain::Genome();
  item.record.program = std::move(program);
  item.record.program.plan.isCaptured = false;  // it stands for eager
  check(admit(std::move(item)));
}

void CandidatePipeline::run() {
  if (m_flow == Flow::Halted) {
    m_flow = Flow::Running;
    m_parts.proposers.resume();
    pumpLater();
  }
}

void CandidatePipeline::halt() {
  if (m_flow == Flow::Running) {
    m_flow = Flow::Halted;
    m_parts.proposers.pause();
  }
  if (!isEvaluating()) {
    QTimer::singleShot(0, this, &CandidatePipeline::halted);
  }
}

std::int64_t CandidatePipeline::inFlight() const {
  return static_cast<std::int64_t>(m_compiling.size() + m_waiting.size() + m_ready.size()) + inWorkers();
}

std::string CandidatePipeline::stage() const {
  std::string text;
  if (!m_compiling.empty()) {
    text = fmt::format("compiling {}", m_compiling.size());
  }
  for (const auto& lane : m_lanes) {
    if (!lane->items.empty()) {
      text += fmt::format("{}{}", text.empty() ? "" : ", ", lane->worker->stateText());
    }
  }
  if (!m_ready.empty()) {
    text += fmt::format("{}{} queued", text.empty() ? "" : "; ", m_ready.size());
  }
  return text.empty() ? "idle" : text;
}

bool CandidatePipeline::mayCompile() const {
  if (!m_options.overlap && (m_evaluatingBatch || isEvaluating())) {
    return false;
  }
  const int more = static_cast<int>(m_lanes.size()) - 1;  // each device wants one in stock
  return static_cast<int>(m_compiling.size() + m_ready.size()) < m_options.batch + std::max(more, 0);
}

bool CandidatePipeline::mayEvaluate() const {
  return freeLane() != nullptr && !m_ready.empty() && (m_options.overlap || m_evaluatingBatch);
}

void CandidatePipeline::pumpLater() {
  if (!std::exchange(m_pumpQueued, true)) {
    QTimer::singleShot(0, this, [this] {
      m_pumpQueued = false;
      pump();
    });
  }
}

void CandidatePipeline::pump() {
  if (m_flow != Flow::Running) {
    return;
  }
  if (m_evaluatingBatch && m_ready.empty() && !isEvaluating()) {
    m_evaluatingBatch = false;
  }
  bool found = true;
  const auto begin = std::chrono::steady_clock::now();
  while (m_flow == Flow::Running && mayCompile() && found &&
         std::chrono::steady_clock::now() - begin < kProposingTurn) {
    found = takeOne();
  }
  if (m_flow != Flow::Running) {
    return;
  }
  const bool full = !mayCompile() || !found;
  if (full && !m_compiling.empty() && m_compiled.size() == m_compiling.size()) {
    settleBatch();
    pumpLater();  // some may have ended here and made room
    return;
  }
  if (full && m_compiling.empty() && !m_ready.empty()) {
    m_evaluatingBatch = true;
  }
  evaluateReady();
  if (!full) {
    pumpLater();
  } else if (inFlight() == 0 && !(m_options.mayPropose(0) && m_parts.proposers.isWaiting())) {
    Q_EMIT drained();
  }
}

bool CandidatePipeline::takeOne() {
  if (!m_waiting.empty()) {
    Item item = std::move(m_waiting.front());
    m_waiting.pop_front();
    check(build(std::move(item)));
    return true;
  }
  if (!m_options.mayPropose(inFlight())) {
    return false;
  }
  std::optional<ProposerPool::Taken> taken = m_parts.proposers.next();
  if (!taken) {
    return false;
  }
  check(take(std::move(*taken)));
  return true;
}

Result<> CandidatePipeline::take(ProposerPool::Taken taken) {
  Offer& offer = taken.offer;
  Item item{.record = {}, .binary = {}, .proposer = std::move(taken.proposer)};
  item.record.proposal = offer.number;
  item.record.island = std::clamp(offer.island, 0, m_options.islands - 1);
  item.record.madeBy = offer.madeBy;
  item.record.parents = soundParents(offer.parents);
  item.record.genome = std::move(offer.genome);
  if (!offer.unwritten) {
    offer.unwritten = unkeepableOf(offer.program, offer.madeBy.kind().has_value());
  }
  if (offer.unwritten) {
    return addUnwritten(std::move(item), std::move(*offer.unwritten), offer);
  }
  item.record.program = std::move(offer.program);
  item.compiled = std::move(offer.compiled);
  return admit(std::move(item), &offer);
}

Result<> CandidatePipeline::enter(store::CandidateRecord& record) {
  record.run = m_options.run;
  SWAGE_TRY_ASSIGN(record.id, m_parts.record.addCandidate({.run = record.run,
                                                           .island = record.island,
                                                           .madeBy = record.madeBy,
                                                           .parents = record.parents,
                                                           .genome = record.genome,
                                                           .program = record.program,
                                                           .sourceHash = record.sourceHash,
                                                           .proposal = record.proposal}));
  Q_EMIT proposed(record);
  return {};
}

Result<> CandidatePipeline::addUnwritten(Item item, domain::Evaluation why, const Offer& offer) {
  item.record.program.language = domain::standardLanguage(m_options.device.kind);
  SWAGE_TRY(enter(item.record));
  SWAGE_TRY(keepOffer(m_parts.record, item.record.run, item.record.id, offer));
  return finish(std::move(item), std::move(why));
}

Result<> CandidatePipeline::admit(Item item, const Offer* offer) {
  store::CandidateRecord& record = item.record;
  record.sourceHash = store::sourceHash(record.program);
  SWAGE_TRY(enter(record));
  if (offer != nullptr) {
    SWAGE_TRY(keepOffer(m_parts.record, record.run, record.id, *offer));
  }
  if (record.madeBy == domain::OperatorKind::Baseline && !m_identity.isValid()) {
    m_identity = record.id;
  }
  if (const auto [known, isNew] = m_bySource.try_emplace(record.sourceHash, record.id); !isNew) {
    const domain::CandidateId of = known->second;
    return finish(std::move(item), domain::Duplicate{.of = of, .what = "source"});
  }
  if (item.proposer) {
    if (std::optional<domain::Evaluation> refusal = refusalOf(record.program, m_options.device.kind)) {
      return finish(std::move(item), std::move(*refusal));
    }
  }
  return build(std::move(item));
}

Result<> CandidatePipeline::build(Item item) {
  if (!item.record.program.plan.hasKernels()) {
    return accept(std::move(item), {});
  }
  domain::CompileRequest request = domain::compileRequest(item.record.program, m_options.device);
  const auto token = static_cast<std::uint64_t>(item.record.id.value());
  const std::optional<domain::CompileOutcome> compiled = std::exchange(item.compiled, std::nullopt);
  m_compiling.emplace(token, std::move(item));
  if (compiled) {
    handleCompiled(token, *compiled);
  } else {
    m_parts.compilers.compile(token, std::move(request));
  }
  return {};
}

void CandidatePipeline::handleCompiled(std::uint64_t token, const domain::CompileOutcome& outcome) {
  if (m_flow == Flow::Broken || !m_compiling.contains(token)) {
    return;
  }
  if (m_options.overlap) {
    settle(token, outcome);
  } else {
    m_compiled.emplace(token, outcome);
  }
  pumpLater();
}

// In the order of the proposals, whichever compiler was faster: so that a seed gives the same search again.
void CandidatePipeline::settleBatch() {
  for (auto& [token, outcome] : std::exchange(m_compiled, {})) {
    settle(token, outcome);
  }
}

void CandidatePipeline::settle(std::uint64_t token, const domain::CompileOutcome& outcome) {
  const auto found = m_compiling.find(token);
  Item item = std::move(found->second);
  m_compiling.erase(found);
  if (const auto* failure = std::get_if<domain::CompileFailed>(&outcome)) {
    check(finish(std::move(item), domain::evaluationOf(*failure)));
  } else {
    check(accept(std::move(item), std::get<domain::CompiledBinary>(outcome)));
  }
}

Result<> CandidatePipeline::accept(Item item, const domain::CompiledBinary& binary) {
  store::CandidateRecord& record = item.record;
  record.kernels = binary.kernels;
  record.binaryHash = binary.binaryHash;
  record.compileLog = binary.log;
  record.compileSeconds = binary.seconds;
  if (record.madeBy !=
      domain::OperatorKind::Baseline) {  // PyTorch's own operators are in no cell: nothing was compiled
    record.cell = domain::classify(binary.kernels, record.program.plan.launchCount());
  }
  SWAGE_TRY(m_parts.record.setCompiled(record.id, binary, record.cell));
  if (const std::string key = store::binaryKey(record); !key.empty()) {
    // A restored candidate finds itself here; that is no duplicate.
    const auto [known, isNew] = m_byBinary.try_emplace(key, record.id);
    if (!isNew && known->second != record.id) {
      const domain::CandidateId of = known->second;
      return finish(std::move(item), domain::Duplicate{.of = of, .what = "binary"});
    }
  }
  item.binary = binary.bytes;
  // In the order in which they were proposed, which is that of what is expected of them: what compiles soonest is only
  // the shortest program.
  const auto later = std::find_if(m_ready.begin(), m_ready.end(), [&item](const Item& other) {
    return other.record.id.value() > item.record.id.value();
  });
  m_ready.insert(later, std::move(item));
  return {};
}

void CandidatePipeline::evaluateReady() {
  while (mayEvaluate()) {
    evaluateNext(*freeLane());
  }
}

// The elite's time as it would be beside the eager that the worker measured when it loaded the task. 0: no racing.
double CandidatePipeline::screeningNs(const store::CandidateRecord& record) const {
  if (!isRaced(record.madeBy) || !record.cell || !m_options.eliteSpeedup) {
    return 0.0;
  }
  const domain::Speedup elite = m_options.eliteSpeedup(*record.cell);
  return elite.isKnown() ? m_options.eagerNs / elite.value : 0.0;
}

double CandidatePipeline::contenderNs(const store::CandidateRecord& record) const {
  if (!isRaced(record.madeBy) || !m_options.bestSpeedup) {
    return 0.0;
  }
  const domain::Speedup best = m_options.bestSpeedup();
  return best.isKnown() ? kFarBehind * m_options.eagerNs / best.value : 0.0;
}

void CandidatePipeline::evaluateNext(Lane& lane) {
  lane.items.push_back(std::move(m_ready.front()));
  m_ready.pop_front();
  const store::CandidateRecord& record = lane.items.back().record;
  wire::Evaluate message;
  message.plan = record.program.plan;
  message.binary = std::move(lane.items.back().binary);
  message.screeningNs = screeningNs(record);
  message.contenderNs = contenderNs(record);
  message.timingBudgetSeconds = m_options.timingBudgetSeconds;
  message.maxSamples = m_options.maxSamples;
  message.checkSeconds = m_options.checkSeconds;
  message.limitSeconds = m_options.limitSeconds;
  message.heldBack = true;  // what is timed in full may become an elite
  lane.worker->evaluate(std::move(message));
}

void CandidatePipeline::handleEvaluated(Lane& lane, const process::EvaluationResult& result) {
  Item item = std::move(lane.items.front());
  lane.items.pop_front();
  if (result.interrupted && m_flow != Flow::Broken && m_lanes.size() > 1) {
    check(requeue(std::move(item)));
    pumpLater();  // the device is lost: its worker is removed before it could get another
    if (m_flow == Flow::Halted && !isEvaluating()) {
      Q_EMIT halted();
    }
    return;
  }
  if (m_options.overlap && m_flow == Flow::Running) {
    evaluateReady();  // the device works on while what it found is recorded
  }
  if (!result.interrupted && m_flow != Flow::Broken) {
    if (!lane.device.empty()) {
      const nlohmann::json where = {{"candidate", item.record.id.value()}, {"device", lane.device}};
      check(m_parts.record.addEvent(m_options.run, domain::EventKind::EvaluatedOn, where.dump()));
    }
    item.stages = store::StageSeconds{result.verifySeconds, result.timingSeconds};
    check(finish(std::move(item), checkFloor(result.evaluation)));
  }
  if (m_flow == Flow::Halted && !isEvaluating()) {
    Q_EMIT halted();
  }
  pump();
}

domain::Evaluation CandidatePipeline::checkFloor(domain::Evaluation evaluation) const {
  const domain::Correct* correct = domain::asCorrect(evaluation);
  if (correct == nullptr || correct->timing.candidate.medianNs >= stats::kFloorTolerance * m_options.floorNs) {
    return evaluation;
  }
  return domain::Cheating{
      .rule = "physical floor",
      .detail = fmt::format("{:.0f} ns measured, but the task's memory traffic and operations need {:.0f} ns",
                            correct->timing.candidate.medianNs, m_options.floorNs)};
}

Result<> CandidatePipeline::finish(Item item, domain::Evaluation evaluation) {
  const double elapsed = m_options.elapsedSeconds();
  SWAGE_TRY(m_parts.record.setEvaluation(item.record.id, evaluation, elapsed, item.stages));
  if (const auto heldBack = trust::heldBackAssurance(evaluation)) {
    SWAGE_TRY(m_parts.record.setAssurance(item.record.id, *heldBack));
  }
  item.record.elapsedSeconds = elapsed;
  count(evaluation);
  item.record.evaluation = std::move(evaluation);
  tell(item);
  const store::StageSeconds stages = item.stages.value_or(store::StageSeconds());
  Q_EMIT ended(item.record, item.record.compileSeconds + stages.verify + stages.timing);
  return {};
}

void CandidatePipeline::count(const domain::Evaluation& evaluation) {
  ++m_evaluations;
  m_correct += domain::asCorrect(evaluation) != nullptr ? 1 : 0;
}

void CandidatePipeline::tell(const Item& item) {
  const CandidateEnd end{.candidate = item.record, .stages = item.stages.value_or(store::StageSeconds())};
  if (item.proposer) {
    m_parts.proposers.tell(*item.proposer, end);
  } else {
    m_parts.proposers.show(end);
  }
}

void CandidatePipeline::check(const Result<>& result) {
  if (!result && m_flow != Flow::Broken) {
    m_flow = Flow::Broken;
    Q_EMIT failed(result.error());
  }
}

}  // namespace swage::run
