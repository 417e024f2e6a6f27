// SPDX-License-Identifier: Apache-2.0
#include "core/process/worker_supervisor.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/log.h"

namespace swage::process {
namespace {

constexpr int kMaxUnusable = 2;
constexpr int kMaxSpareDeaths = 3;
constexpr int kMaxKilledLoads = 3;              // of one task
constexpr std::chrono::seconds kRoomLimit{30};  // freeing is a matter of milliseconds

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000.0));
}

Error lossError(const JobLost& lost, std::string_view doing) {
  const ErrorKind kind = lost.reason == JobLost::Reason::Stopped    ? ErrorKind::Cancelled
                         : lost.reason == JobLost::Reason::TimedOut ? ErrorKind::Timeout
                                                                    : ErrorKind::Environment;
  return {kind, fmt::format("{}: {}", doing, lost.detail), "run `swage doctor`"};
}

// What a worker does, by the name that it gives the stage.
std::string stageTitle(const std::string& stage) {
  return stage.empty()        ? "evaluating"
         : stage == "verify"  ? "verifying"
         : stage == "time"    ? "timing"
         : stage == "profile" ? "profiling"
                              : stage;
}

}  // namespace

WorkerSupervisor::WorkerSupervisor(Options options, QObject* parent) : QObject(parent), m_options(std::move(options)) {}

WorkerSupervisor::~WorkerSupervisor() = default;

std::string WorkerSupervisor::stateText() const {
  switch (m_state) {
    case State::Down: return "down";
    case State::Starting: return m_replacements > 0 ? "restarting" : "starting";
    case State::Loading: return "loading the task";
    case State::Idle: return "idle";
    case State::Evaluating: return m_channel ? stageTitle(m_channel->stage()) : std::string("evaluating");
    case State::MakingRoom: return "making room";
    case State::Stopping: return "stopping";
  }
  return "unknown";
}

void WorkerSupervisor::setState(State state) {
  if (m_state != state) {
    m_state = state;
    Q_EMIT stateChanged();
  }
}

void WorkerSupervisor::start() {
  SWAGE_ASSERT(m_state == State::Down && !m_channel);
  open();
}

std::unique_ptr<ProcessChannel> WorkerSupervisor::makeChannel(const LaunchCommand& command,
                                                              ChannelOptions::Handshake handshake) {
  return std::make_unique<ProcessChannel>(ChannelOptions{.command = command,
                                                         .name = m_options.name,
                                                         .handshake = handshake,
                                                         .startLimit = m_options.startLimit,
                                                         .stopGrace = m_options.stopGrace,
                                                         .silenceLimit = m_options.silence,
                                                         .endLimit = m_options.endLimit,
                                                         .lastSignal = m_options.lastSignal});
}

// NOLINTNEXTLINE(readability-make-member-function-const): its slots change things
void WorkerSupervisor::attach(ProcessChannel* channel) {
  connect(channel, &ProcessChannel::ready, this, &WorkerSupervisor::handleReady);
  connect(channel, &ProcessChannel::deviceOpened, this, &WorkerSupervisor::isSameDevice);
  connect(channel, &ProcessChannel::jobFinished, this, &WorkerSupervisor::handleOutcome);
  connect(channel, &ProcessChannel::stageChanged, this, &WorkerSupervisor::stateChanged);
  connect(channel, &ProcessChannel::died, this, &WorkerSupervisor::handleDeath);
}

void WorkerSupervisor::open() {
  m_doneInLife = 0;
  m_blamed = false;
  m_replacing = false;
  setState(State::Starting);
  if (m_spare) {
    m_channel = std::move(m_spare);
    m_channel->disconnect(this);
    attach(m_channel.get());
    if (m_channel->state() == ProcessChannel::State::Ready) {
      sendLoad();
    }
    return;
  }
  m_channel = makeChannel(m_options.command, ChannelOptions::Handshake::HelloThenWorkerReady);
  attach(m_channel.get());
  m_channel->start();
}

bool WorkerSupervisor::hasSpare() const {
  return m_spare && m_spare->state() == ProcessChannel::State::Ready;
}

void WorkerSupervisor::openSpare() {
  if (m_spare || m_options.spare.program.empty() || m_spareDeaths >= kMaxSpareDeaths) {
    return;
  }
  m_spare = makeChannel(m_options.spare, ChannelOptions::Handshake::StandBy);
  connect(m_spare.get(), &ProcessChannel::died, this, &WorkerSupervisor::handleSpareDeath);
  m_spare->start();
}

// Nothing is lost with it but time: the next replacement starts from scratch.
void WorkerSupervisor::handleSpareDeath(const ChannelEnd& end) {
  m_spare->disconnect(this);
  m_spare.release()->deleteLater();  // we are inside one of its signals
  ++m_spareDeaths;
  log::debug("[{}] the spare is gone: {}", m_options.name, end.detail);
  if (m_state == State::Stopping && !m_channel) {
    Q_EMIT stopped();
  }
}

void WorkerSupervisor::load(wire::LoadTask task) {
  SWAGE_ASSERT(!m_job && m_state != State::Loading && m_state != State::MakingRoom);
  m_task = std::move(task);
  m_loadReported = false;
  m_killedLoads = 0;
  // A worker that is ending is left alone: the one that replaces it loads the task.
  const bool isFresh = m_state == State::Starting && m_doneInLife == 0 && !m_blamed;
  if (m_channel && m_channel->state() == ProcessChannel::State::Ready && (m_state == State::Idle || isFresh)) {
    sendLoad();
  }
}

void WorkerSupervisor::evaluate(wire::Evaluate message) {
  SWAGE_ASSERT(canTakeMore() && m_loadReported);
  message.request = m_nextRequest++;
  if (m_job) {
    m_next = std::move(message);
    sendAhead();
    return;
  }
  m_job = std::move(message);
  m_jobWasKilled = false;
  if (m_state == State::Idle) {
    sendJob();
  }
}

void WorkerSupervisor::makeRoom() {
  SWAGE_ASSERT(!m_job && m_state != State::MakingRoom);
  if (m_state != State::Idle) {
    QTimer::singleShot(0, this, [this] { Q_EMIT roomMade(0); });
    return;
  }
  setState(State::MakingRoom);
  m_channel->submit(wire::MakeRoom{}, kRoomLimit);
}

void WorkerSupervisor::stop() {
  endChannel(&ProcessChannel::stop);
}

void WorkerSupervisor::kill() {
  endChannel(&ProcessChannel::kill);
}

void WorkerSupervisor::endChannel(void (ProcessChannel::*how)()) {
  releaseHeld(false);
  setState(State::Stopping);
  if (m_spare) {
    m_spare->kill();
  }
  if (m_channel) {
    (m_channel.get()->*how)();
  } else if (!m_spare) {
    QTimer::singleShot(0, this, &WorkerSupervisor::stopped);
  }
}

void WorkerSupervisor::handleReady(const wire::Message& message) {
  // A spare that came to work while it was still starting says Hello here, and names its device later.
  const auto* worker = std::get_if<wire::WorkerReady>(&message);
  if (worker != nullptr && m_deviceKnown && !isSameDevice(*worker)) {
    return;
  }
  if (m_task) {
    sendLoad();
  }
  if (worker != nullptr && !std::exchange(m_deviceKnown, true)) {
    m_deviceUuid = worker->device.uuid;
    Q_EMIT deviceReady(*worker);
  }
}

// When a GPU falls off the bus, its number names the next one.
bool WorkerSupervisor::isSameDevice(const wire::WorkerReady& worker) {
  if (worker.device.uuid == m_deviceUuid) {
    return true;
  }
  m_deviceLost = true;
  giveUp({ErrorKind::Environment,
          fmt::format("the device {} is gone; a new worker found {} ({}) in its place", m_deviceUuid,
                      worker.device.uuid, worker.device.name),
          "look at nvidia-smi; `swage resume` goes on when the device is back"});
  return false;
}

void WorkerSupervisor::sendLoad() {
  setState(State::Loading);
  m_channel->submit(*m_task, m_options.loadLimit);
}

void WorkerSupervisor::sendJob() {
  setState(State::Evaluating);
  m_channel->submit(*m_job, milliseconds(m_job->limitSeconds) + m_options.overdue);
  sendAhead();
}

// A worker that is about to be replaced gets nothing: its successor will.
void WorkerSupervisor::sendAhead() {
  if (m_next && m_state == State::Evaluating && m_channel->state() == ProcessChannel::State::Busy) {
    m_channel->sendAhead(*m_next);
  }
}

void WorkerSupervisor::handleOutcome(const JobOutcome& outcome) {
  if (m_state == State::Loading) {
    handleLoadOutcome(outcome);
  } else if (m_state == State::MakingRoom) {
    handleRoom(outcome);
  } else {
    handleEvaluation(outcome);
  }
}

void WorkerSupervisor::handleLoadOutcome(const JobOutcome& outcome) {
  if (const auto* lost = std::get_if<JobLost>(&outcome)) {
    const bool wasKilled = lost->reason == JobLost::Reason::Died && lost->signal == SIGKILL;
    if (!m_loadReported && wasKilled && m_killedLoads++ < kMaxKilledLoads) {
      setState(State::Starting);  // the next worker loads it
    } else if (!m_loadReported) {
      // Loading the user's task again would most likely fail again, and may take minutes.
      giveUp(lossError(*lost, "loading the task into the worker"));
    }
    return;
  }
  const auto& message = std::get<wire::Message>(outcome);
  if (const auto* refused = std::get_if<wire::TaskRefused>(&message)) {
    const Error error(refused->kind, refused->message, refused->hint);
    if (m_loadReported) {
      giveUp(Error(error).withContext("loading the task into a new worker"));
      return;
    }
    setState(State::Idle);
    Q_EMIT loaded(error);
    return;
  }
  const auto* ready = std::get_if<wire::TaskReady>(&message);
  if (ready == nullptr) {
    m_channel->kill();
    return;
  }
  setState(State::Idle);
  if (!std::exchange(m_loadReported, true)) {
    m_task->timeEager = false;  // known now; a replacement need not measure it again
    Q_EMIT loaded(*ready);
  } else {
    m_afterFault = false;
    m_unusable = 0;
    Q_EMIT readyAgain(std::chrono::duration<double>(std::chrono::steady_clock::now() - m_lostAt).count());
    if (m_held) {
      releaseHeld(true);
    } else if (m_job) {
      sendJob();
    }
  }
  openSpare();
}

void WorkerSupervisor::handleRoom(const JobOutcome& outcome) {
  const auto* message = std::get_if<wire::Message>(&outcome);
  const auto* made = message != nullptr ? std::get_if<wire::RoomMade>(message) : nullptr;
  if (made == nullptr && message != nullptr) {
    m_channel->kill();
  }
  setState(made != nullptr ? State::Idle : State::Starting);
  if (m_job && made != nullptr) {
    sendJob();
  }
  Q_EMIT roomMade(made != nullptr ? made->freeBytes : 0);
}

void WorkerSupervisor::handleEvaluation(const JobOutcome& outcome) {
  if (!m_job) {
    return;
  }
  if (const auto* lost = std::get_if<JobLost>(&outcome)) {
    reportLoss(*lost);
    return;
  }
  const auto* answer = std::get_if<wire::Evaluated>(&std::get<wire::Message>(outcome));
  if (answer == nullptr || answer->request != m_job->request) {
    reportLoss({.reason = JobLost::Reason::Protocol, .detail = "the worker answered another request"});
    m_channel->kill();
    return;
  }
  ++m_doneInLife;
  m_barrenLives = 0;
  m_replacing = answer->workerExits;
  setState(m_replacing ? State::Starting : State::Idle);
  if (m_replacing) {
    m_blamed = true;
    m_lostAt = std::chrono::steady_clock::now();
    m_channel->stop();
  }
  log::debug("[{}] verified for {:.3f} s, timed for {:.3f} s", m_options.name, answer->verifySeconds,
             answer->timingSeconds);
  const EvaluationResult result{.request = answer->request,
                                .evaluation = answer->evaluation,
                                .verifySeconds = answer->verifySeconds,
                                .timingSeconds = answer->timingSeconds};
  if (m_replacing) {
    m_held = result;
  } else {
    report(result);
  }
}

void WorkerSupervisor::reportLoss(const JobLost& lost) {
  const bool wasKilled = lost.reason == JobLost::Reason::Died && lost.signal == SIGKILL;
  if (wasKilled && m_state != State::Stopping && !std::exchange(m_jobWasKilled, true)) {
    setState(State::Starting);  // the next worker gets it
    return;
  }
  m_blamed = true;
  EvaluationResult result;
  result.request = m_job->request;
  result.interrupted = lost.reason == JobLost::Reason::Stopped;
  if (lost.reason == JobLost::Reason::TimedOut) {
    result.evaluation = domain::TimedOut{.stage = lost.stage, .limitSeconds = m_job->limitSeconds};
  } else {
    std::string detail = lost.detail;
    if (!lost.stage.empty()) {
      detail += " (while in stage " + lost.stage + ")";
    }
    result.evaluation = domain::Crashed{.signal = lost.signal, .detail = std::move(detail)};
  }
  if (m_state == State::Stopping) {
    report(result);
    return;
  }
  m_lostAt = std::chrono::steady_clock::now();
  m_held = std::move(result);
  setState(State::Starting);
}

void WorkerSupervisor::releaseHeld(bool deviceWorks) {
  if (std::optional<EvaluationResult> held = std::exchange(m_held, std::nullopt)) {
    held->interrupted = held->interrupted || !deviceWorks;
    report(*held);
  }
}

void WorkerSupervisor::report(const EvaluationResult& result) {
  m_job = std::exchange(m_next, std::nullopt);
  m_jobWasKilled = false;
  ++m_done;
  if (m_job && m_state == State::Idle) {
    sendJob();
  }
  Q_EMIT evaluated(result);
}

Error WorkerSupervisor::givenUp(std::string_view why, const ChannelEnd& end) const {
  std::string message = fmt::format("{}: {}", why, end.detail);
  if (!end.child.lastLines.empty()) {
    message += "\n" + end.child.lastLines;
  }
  return {ErrorKind::Environment, std::move(message),
          "look at nvidia-smi and at the kernel's log for Xid errors: the device may need a reset or a reboot; `swage "
          "resume` goes on from here afterwards"};
}

std::optional<Error> WorkerSupervisor::countBlamed(const ChannelEnd& end) {
  m_afterFault = true;
  m_unusable = 0;
  if (m_doneInLife == 0 && ++m_barrenLives >= m_options.maxBarrenLives) {
    return Error(
        ErrorKind::Environment,
        fmt::format("{} workers in a row ended in their first evaluation; the last one: {}", m_barrenLives, end.detail),
        "run `swage doctor`");
  }
  return std::nullopt;
}

std::optional<Error> WorkerSupervisor::countDeath(const ChannelEnd& end) {
  if (end.unkillable) {
    m_deviceLost = true;
    return givenUp("the device is given up, because its worker hangs in the driver", end);
  }
  if (m_blamed) {
    return countBlamed(end);
  }
  // Who is killed from outside has said nothing of the device.
  const bool wasKilled = end.child.signal == SIGKILL && !end.child.byUs;
  if (m_afterFault && !wasKilled && ++m_unusable >= kMaxUnusable) {
    m_deviceLost = true;
    return givenUp("the device is given up, because after a fault new workers cannot use it", end);
  }
  const auto now = std::chrono::steady_clock::now();
  m_blamelessDeaths.push_back(now);
  while (now - m_blamelessDeaths.front() > std::chrono::minutes(1)) {
    m_blamelessDeaths.pop_front();
  }
  if (static_cast<int>(m_blamelessDeaths.size()) <= m_options.maxRestarts &&
      end.child.kind != ChildEnd::Kind::FailedToStart) {
    return std::nullopt;
  }
  std::string message = fmt::format("the worker cannot be kept running: {}", end.detail);
  if (!end.child.lastLines.empty()) {
    message += "\n" + end.child.lastLines;
  }
  return Error(ErrorKind::Environment, std::move(message), "run `swage doctor`");
}

void WorkerSupervisor::handleDeath(const ChannelEnd& end) {
  m_channel->disconnect(this);
  m_channel.release()->deleteLater();  // we are inside one of its signals
  if (m_state == State::Stopping) {
    if (!m_spare) {
      Q_EMIT stopped();
    }
    return;
  }
  if (m_state == State::Down) {
    return;
  }
  if (!end.expected && end.child.signal == SIGKILL && !end.child.byUs) {
    Q_EMIT killed();
  }
  if (const std::optional<Error> error = countDeath(end)) {
    // A candidate that no worker survives is to blame; a device that no worker can use is not its fault.
    releaseHeld(m_blamed && !end.unkillable);
    giveUp(*error);
    return;
  }
  if (!m_blamed) {
    m_lostAt = std::chrono::steady_clock::now();
  }
  ++m_replacements;
  const std::string why = m_replacing ? std::string("its device context was poisoned") : end.detail;
  log::debug("[{}] replaced: {}", m_options.name, why);
  open();
  Q_EMIT replaced(why);
}

void WorkerSupervisor::giveUp(const Error& error) {
  releaseHeld(false);
  setState(State::Down);
  m_job.reset();
  m_next.reset();
  if (m_spare) {
    m_spare->kill();
  }
  if (m_channel) {
    m_channel->kill();
  }
  Q_EMIT failed(error);
}

}  // namespace swage::process
