// SPDX-License-Identifier: Apache-2.0
#include "core/process/process_channel.h"

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/log.h"

namespace swage::process {
namespace {

QByteArray encoded(const wire::Message& message) {
  const std::string frame = wire::encodeFrame(message);
  return {frame.data(), static_cast<qsizetype>(frame.size())};
}

bool isAnswer(const wire::Message& message) {
  return std::holds_alternative<wire::TaskReady>(message) || std::holds_alternative<wire::TaskRefused>(message) ||
         std::holds_alternative<wire::Evaluated>(message) || std::holds_alternative<wire::Compiled>(message) ||
         std::holds_alternative<wire::Profiled>(message) || std::holds_alternative<wire::RoomMade>(message);
}

}  // namespace

std::string_view name(ProcessChannel::State state) {
  switch (state) {
    case ProcessChannel::State::Idle: return "idle";
    case ProcessChannel::State::Starting: return "starting";
    case ProcessChannel::State::Ready: return "ready";
    case ProcessChannel::State::Busy: return "busy";
    case ProcessChannel::State::Stopping: return "stopping";
    case ProcessChannel::State::Dead: return "dead";
  }
  return "unknown";
}

ProcessChannel::ProcessChannel(ChannelOptions options, QObject* parent)
    : QObject(parent), m_options(std::move(options)), m_child(m_options.name, m_options.lastSignal) {
  m_deadline.setSingleShot(true);
  m_silence.setSingleShot(true);
  m_end.setSingleShot(true);
  connect(&m_silence, &QTimer::timeout, this, &ProcessChannel::handleSilence);
  connect(&m_end, &QTimer::timeout, this, &ProcessChannel::handleUnkillable);
  connect(&m_deadline, &QTimer::timeout, this, &ProcessChannel::handleDeadline);
  connect(&m_child, &ChildProcess::output, this, &ProcessChannel::read);
  connect(&m_child, &ChildProcess::ended, this, &ProcessChannel::handleEnd);
}

void ProcessChannel::start() {
  SWAGE_ASSERT(m_state == State::Idle);
  setState(State::Starting);
  m_deadline.start(m_options.startLimit);
  m_child.start(m_options.command);
  wire::Hello hello;
  hello.program = "engine";
  m_child.write(encoded(hello));
}

void ProcessChannel::submit(const wire::Message& job, std::chrono::milliseconds limit) {
  SWAGE_ASSERT(m_state == State::Ready && !m_hasJob);
  m_hasJob = true;
  m_stage.clear();
  m_jobLimitSeconds = std::chrono::duration<double>(limit).count();
  setState(State::Busy);
  m_deadline.start(limit);
  if (m_options.silenceLimit.count() > 0) {
    m_silence.start(m_options.silenceLimit);
  }
  if (!std::exchange(m_sentAhead, false)) {
    m_child.write(encoded(job));
  }
}

void ProcessChannel::sendAhead(const wire::Message& job) {
  SWAGE_ASSERT(m_state == State::Busy && !m_sentAhead);
  m_sentAhead = true;
  m_child.write(encoded(job));
}

void ProcessChannel::stop() {
  if (m_state == State::Idle || m_state == State::Dead || m_state == State::Stopping) {
    return;
  }
  m_stopRequested = true;
  if (!m_cause) {
    m_cause = JobLost{.reason = JobLost::Reason::Stopped, .detail = "stopped", .stage = m_stage};
  }
  m_deadline.stop();
  m_silence.stop();
  const bool polite = m_state == State::Ready;
  setState(State::Stopping);
  if (polite) {
    m_child.write(encoded(wire::Shutdown{}));
  }
  m_child.stop(m_options.stopGrace);
  m_end.start(2 * m_options.stopGrace + m_options.endLimit);
}

void ProcessChannel::kill() {
  if (m_state == State::Idle || m_state == State::Dead) {
    return;
  }
  m_stopRequested = true;
  if (!m_cause) {
    m_cause = JobLost{.reason = JobLost::Reason::Stopped, .detail = "killed", .stage = m_stage};
  }
  setState(State::Stopping);
  awaitEnd();
}

void ProcessChannel::awaitEnd() {
  m_deadline.stop();
  m_silence.stop();
  m_end.start(m_options.endLimit);
  m_child.kill();
}

void ProcessChannel::setState(State state) {
  if (state != m_state) {
    m_state = state;
    Q_EMIT stateChanged(state);
  }
}

void ProcessChannel::read(const QByteArray& bytes) {
  if (m_state == State::Stopping || m_state == State::Dead) {
    return;
  }
  if (m_silence.isActive()) {
    m_silence.start();
  }
  m_reader.feed({bytes.constData(), static_cast<std::size_t>(bytes.size())});
  while (m_state != State::Stopping && m_state != State::Dead) {
    Result<std::optional<wire::Message>> next = m_reader.next();
    if (!next) {
      breakOff({.reason = JobLost::Reason::Protocol,
                .detail = fmt::format("{} sent what is not a frame: {}", m_options.name, next.error().message()),
                .stage = m_stage});
      return;
    }
    if (!next->has_value()) {
      return;
    }
    handle(**next);
  }
}

void ProcessChannel::handle(const wire::Message& message) {
  if (const auto* hello = std::get_if<wire::Hello>(&message); hello != nullptr && !m_greeted) {
    handleHello(*hello);
    return;
  }
  if (m_greeted && m_state == State::Starting && std::holds_alternative<wire::WorkerReady>(message) &&
      m_options.handshake == ChannelOptions::Handshake::HelloThenWorkerReady) {
    becomeReady(message);
    return;
  }
  if (const auto* worker = std::get_if<wire::WorkerReady>(&message);
      worker != nullptr && m_state == State::Busy && m_options.handshake == ChannelOptions::Handshake::StandBy &&
      !std::exchange(m_deviceOpened, true)) {
    Q_EMIT deviceOpened(*worker);
    return;
  }
  if (const auto* heartbeat = std::get_if<wire::Heartbeat>(&message); heartbeat != nullptr && m_greeted) {
    m_stage = heartbeat->stage;
    Q_EMIT stageChanged(m_stage);
    return;
  }
  if (m_state == State::Busy && isAnswer(message)) {
    answer(message);
    return;
  }
  breakOff({.reason = JobLost::Reason::Protocol,
            .detail = fmt::format("{} sent a message that is out of turn while {}", m_options.name, name(m_state)),
            .stage = m_stage});
}

void ProcessChannel::handleHello(const wire::Hello& hello) {
  if (hello.protocol != wire::kProtocolVersion) {
    breakOff({.reason = JobLost::Reason::Protocol,
              .detail = fmt::format("{} speaks protocol {}, this program speaks {}", m_options.name, hello.protocol,
                                    wire::kProtocolVersion)});
    return;
  }
  m_greeted = true;
  if (m_options.handshake != ChannelOptions::Handshake::HelloThenWorkerReady) {
    becomeReady(hello);
  }
}

void ProcessChannel::becomeReady(const wire::Message& message) {
  m_deadline.stop();
  m_wasReady = true;
  setState(State::Ready);
  Q_EMIT ready(message);
}

void ProcessChannel::answer(const wire::Message& message) {
  m_deadline.stop();
  m_silence.stop();
  m_hasJob = false;
  m_stage.clear();
  setState(State::Ready);
  Q_EMIT jobFinished(JobOutcome(message));
}

void ProcessChannel::breakOff(JobLost why) {
  log::debug("[{}] {}", m_options.name, why.detail);
  if (!m_cause) {
    m_cause = std::move(why);
  }
  setState(State::Stopping);
  awaitEnd();
}

void ProcessChannel::handleSilence() {
  breakOff({.reason = JobLost::Reason::TimedOut,
            .detail = fmt::format("{} gave no sign of life for {:.1f} s", m_options.name,
                                  std::chrono::duration<double>(m_options.silenceLimit).count()),
            .stage = m_stage,
            .limitSeconds = m_jobLimitSeconds});
}

// A process that waits for a broken device inside the driver takes no signal. It is left to the kernel.
void ProcessChannel::handleUnkillable() {
  m_child.disconnect(this);
  ChildEnd end;
  end.detail = "does not end although it was killed";
  end.byUs = true;
  if (!m_cause) {
    m_cause = JobLost{.reason = JobLost::Reason::Stopped, .detail = end.detail, .stage = m_stage};
  }
  finish(end, true);
}

void ProcessChannel::handleDeadline() {
  if (m_state == State::Starting) {
    breakOff({.reason = JobLost::Reason::TimedOut,
              .detail = fmt::format("{} was not ready after {:.1f} s", m_options.name,
                                    std::chrono::duration<double>(m_options.startLimit).count()),
              .limitSeconds = std::chrono::duration<double>(m_options.startLimit).count()});
    return;
  }
  breakOff({.reason = JobLost::Reason::TimedOut,
            .detail = fmt::format("{} gave no answer within {:.1f} s", m_options.name, m_jobLimitSeconds),
            .stage = m_stage,
            .limitSeconds = m_jobLimitSeconds});
}

JobLost ProcessChannel::lossFor(const ChildEnd& end) const {
  if (m_cause) {
    return *m_cause;
  }
  JobLost lost;
  lost.reason = end.kind == ChildEnd::Kind::FailedToStart ? JobLost::Reason::FailedToStart : JobLost::Reason::Died;
  lost.signal = end.signal;
  lost.detail = end.kind == ChildEnd::Kind::FailedToStart ? end.detail : m_options.name + " " + end.detail;
  lost.stage = m_stage;
  return lost;
}

void ProcessChannel::handleEnd(const ChildEnd& end) {
  finish(end, false);
}

void ProcessChannel::finish(const ChildEnd& end, bool unkillable) {
  m_deadline.stop();
  m_silence.stop();
  m_end.stop();
  const JobLost loss = lossFor(end);
  setState(State::Dead);
  if (std::exchange(m_hasJob, false)) {
    Q_EMIT jobFinished(JobOutcome(loss));
  }
  Q_EMIT died({.child = end,
               .detail = unkillable ? loss.detail + "; it " + end.detail : loss.detail,
               .wasReady = m_wasReady,
               .expected = m_stopRequested,
               .unkillable = unkillable});
}

}  // namespace swage::process
