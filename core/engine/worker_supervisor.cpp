// SPDX-License-Identifier: Apache-2.0
#include "core/engine/worker_supervisor.h"

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/log.h"

namespace swage::engine {
namespace {

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000.0));
}

Error lossError(const JobLost& lost, std::string_view doing) {
  const ErrorKind kind = lost.reason == JobLost::Reason::Stopped    ? ErrorKind::Cancelled
                         : lost.reason == JobLost::Reason::TimedOut ? ErrorKind::Timeout
                                                                    : ErrorKind::Environment;
  return {kind, fmt::format("{}: {}", doing, lost.detail), "run `swage doctor`"};
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
    case State::Evaluating:
      return m_channel && !m_channel->stage().empty() ? m_channel->stage() : std::string("evaluating");
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

void WorkerSupervisor::open() {
  m_channel =
      std::make_unique<ProcessChannel>(ChannelOptions{.command = m_options.command,
                                                      .name = m_options.name,
                                                      .handshake = ChannelOptions::Handshake::HelloThenWorkerReady,
                                                      .startLimit = m_options.startLimit,
                                                      .stopGrace = m_options.stopGrace});
  m_doneInLife = 0;
  m_blamed = false;
  m_replacing = false;
  connect(m_channel.get(), &ProcessChannel::ready, this, &WorkerSupervisor::handleReady);
  connect(m_channel.get(), &ProcessChannel::jobFinished, this, &WorkerSupervisor::handleOutcome);
  connect(m_channel.get(), &ProcessChannel::stageChanged, this, &WorkerSupervisor::stateChanged);
  connect(m_channel.get(), &ProcessChannel::died, this, &WorkerSupervisor::handleDeath);
  setState(State::Starting);
  m_channel->start();
}

void WorkerSupervisor::load(wire::LoadTask task) {
  SWAGE_ASSERT(!m_job && m_state != State::Loading);
  m_task = std::move(task);
  m_loadReported = false;
  // A worker that is ending is left alone: the one that replaces it loads the task.
  const bool isFresh = m_state == State::Starting && m_doneInLife == 0 && !m_blamed;
  if (m_channel && m_channel->state() == ProcessChannel::State::Ready && (m_state == State::Idle || isFresh)) {
    sendLoad();
  }
}

void WorkerSupervisor::evaluate(wire::Evaluate message) {
  SWAGE_ASSERT(!m_job && m_loadReported);
  message.request = m_nextRequest++;
  m_job = std::move(message);
  m_jobSent = false;
  if (m_state == State::Idle) {
    sendJob();
  }
}

void WorkerSupervisor::stop() {
  endChannel(&ProcessChannel::stop);
}

void WorkerSupervisor::kill() {
  endChannel(&ProcessChannel::kill);
}

void WorkerSupervisor::endChannel(void (ProcessChannel::*how)()) {
  setState(State::Stopping);
  if (m_channel) {
    (m_channel.get()->*how)();
  } else {
    QTimer::singleShot(0, this, &WorkerSupervisor::stopped);
  }
}

void WorkerSupervisor::handleReady(const wire::Message& message) {
  if (m_task) {
    sendLoad();
  }
  if (!std::exchange(m_deviceKnown, true)) {
    Q_EMIT deviceReady(std::get<wire::WorkerReady>(message));
  }
}

void WorkerSupervisor::sendLoad() {
  setState(State::Loading);
  m_channel->submit(*m_task, m_options.loadLimit);
}

void WorkerSupervisor::sendJob() {
  setState(State::Evaluating);
  m_jobSent = true;
  m_channel->submit(*m_job, milliseconds(m_job->limitSeconds) + m_options.overdue);
}

void WorkerSupervisor::handleOutcome(const JobOutcome& outcome) {
  if (m_state == State::Loading) {
    handleLoadOutcome(outcome);
  } else {
    handleEvaluation(outcome);
  }
}

void WorkerSupervisor::handleLoadOutcome(const JobOutcome& outcome) {
  if (const auto* lost = std::get_if<JobLost>(&outcome)) {
    if (!m_loadReported) {
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
  } else if (m_job) {
    sendJob();
  }
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
    m_channel->stop();
  }
  log::debug("[{}] verified for {:.3f} s, timed for {:.3f} s", m_options.name, answer->verifySeconds,
             answer->timingSeconds);
  report({.request = answer->request,
          .evaluation = answer->evaluation,
          .verifySeconds = answer->verifySeconds,
          .timingSeconds = answer->timingSeconds});
}

void WorkerSupervisor::reportLoss(const JobLost& lost) {
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
  if (m_state != State::Stopping) {
    setState(State::Starting);
  }
  report(result);
}

void WorkerSupervisor::report(const EvaluationResult& result) {
  m_job.reset();
  m_jobSent = false;
  ++m_done;
  Q_EMIT evaluated(result);
}

std::optional<Error> WorkerSupervisor::countDeath(const ChannelEnd& end) {
  if (m_blamed) {
    if (m_doneInLife == 0 && ++m_barrenLives >= m_options.maxBarrenLives) {
      return Error(ErrorKind::Environment,
                   fmt::format("{} workers in a row ended in their first evaluation; the last one: {}", m_barrenLives,
                               end.detail),
                   "run `swage doctor`");
    }
    return std::nullopt;
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
    Q_EMIT stopped();
    return;
  }
  if (m_state == State::Down) {
    return;
  }
  if (std::optional<Error> error = countDeath(end)) {
    giveUp(std::move(*error));
    return;
  }
  ++m_replacements;
  const std::string why = m_replacing ? std::string("its device context was poisoned") : end.detail;
  log::debug("[{}] replaced: {}", m_options.name, why);
  open();
  Q_EMIT replaced(why);
}

void WorkerSupervisor::giveUp(const Error& error) {
  setState(State::Down);
  m_job.reset();
  if (m_channel) {
    m_channel->kill();
  }
  Q_EMIT failed(error);
}

}  // namespace swage::engine
