// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <QTimer>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "core/process/child_process.h"
#include "core/process/launch_command.h"
#include "core/wire/codec.h"
#include "core/wire/messages.h"

namespace swage::process {

struct ChannelOptions {
  LaunchCommand command;
  std::string name{};  // for the log: "compiler 2"
  // StandBy: a worker that keeps off its device until its first job, and says WorkerReady while it works on it.
  enum class Handshake : std::uint8_t { Hello, HelloThenWorkerReady, StandBy } handshake = Handshake::Hello;
  std::chrono::milliseconds startLimit{60000};
  std::chrono::milliseconds stopGrace{2000};
  std::chrono::milliseconds silenceLimit{
      0};  // without any frame during a job; 0: none, for programs without heartbeats
  std::chrono::milliseconds endLimit{10000};  // after SIGKILL; a process that is still there hangs in the kernel
  int lastSignal = SIGKILL;                   // see ChildProcess
};

// Why a job has no answer.
struct JobLost {
  enum class Reason : std::uint8_t { FailedToStart, Died, TimedOut, Protocol, Stopped };
  Reason reason = Reason::Died;
  int signal = 0;  // Died
  std::string detail{};
  std::string stage{};        // last one the program told us
  double limitSeconds = 0.0;  // TimedOut
};
using JobOutcome = std::variant<wire::Message, JobLost>;

// Why a program is gone.
struct ChannelEnd {
  ChildEnd child;
  std::string detail{};  // one line for a person; names the cause before the effect ("spoke protocol 7 …")
  bool wasReady = false;
  bool expected = false;    // stop() or kill() was called
  bool unkillable = false;  // SIGKILL did not end it: whatever it holds cannot be had back
};

// One frame program, worker or compiler, and the one job it may have, and perhaps the next one sent ahead. A channel is
// started once; a dead one is replaced by a new object. Every submitted job ends with exactly one jobFinished(), every
// start() with exactly one died(), in that order, also when the program cannot start, hangs or talks garbage. One
// thread only; nothing here waits.
//
//   Idle -start-> Starting -handshake-> Ready -submit-> Busy -answer-> Ready
//   Starting, Ready, Busy -deadline, silence, protocol error, stop, kill-> Stopping -end of process-> Dead
//   Stopping -killed, but does not end-> Dead
class ProcessChannel : public QObject {
  Q_OBJECT

 public:
  enum class State : std::uint8_t { Idle, Starting, Ready, Busy, Stopping, Dead };

  explicit ProcessChannel(ChannelOptions options, QObject* parent = nullptr);

  void start();
  // Only when Ready. An answer later than `limit` kills the program.
  void submit(const wire::Message& job, std::chrono::milliseconds limit);
  // Only when Busy, and once: sends the job that will be submitted next, so that the program finds it there when it has
  // answered the one before. It is no job of this channel until submit() is called with the same message.
  void sendAhead(const wire::Message& job);
  void stop();
  void kill();

  [[nodiscard]] State state() const { return m_state; }
  [[nodiscard]] const std::string& stage() const { return m_stage; }

 Q_SIGNALS:
  void stateChanged(swage::process::ProcessChannel::State state);
  // With WorkerReady or Hello, whichever ends the handshake.
  void ready(const swage::wire::Message& message);
  // StandBy: the device is open, the first job goes on.
  void deviceOpened(const swage::wire::WorkerReady& worker);
  void stageChanged(const std::string& stage);
  void jobFinished(const swage::process::JobOutcome& outcome);
  void died(const swage::process::ChannelEnd& end);

 private:
  void setState(State state);
  void read(const QByteArray& bytes);
  void handle(const wire::Message& message);
  void handleHello(const wire::Hello& hello);
  void becomeReady(const wire::Message& message);
  void answer(const wire::Message& message);
  void breakOff(JobLost why);
  void handleDeadline();
  void handleSilence();
  void awaitEnd();
  void handleUnkillable();
  void handleEnd(const ChildEnd& end);
  void finish(const ChildEnd& end, bool unkillable);
  [[nodiscard]] JobLost lossFor(const ChildEnd& end) const;

  ChannelOptions m_options;
  ChildProcess m_child;
  wire::FrameReader m_reader;
  QTimer m_deadline;
  QTimer m_silence;
  QTimer m_end;
  State m_state = State::Idle;
  bool m_greeted = false;
  bool m_deviceOpened = false;  // StandBy
  bool m_wasReady = false;
  bool m_hasJob = false;
  bool m_sentAhead = false;  // the next job is with the program already
  bool m_stopRequested = false;
  double m_jobLimitSeconds = 0.0;
  std::string m_stage;
  std::optional<JobLost> m_cause;  // set by the first thing that went wrong
};

[[nodiscard]] std::string_view name(ProcessChannel::State state);

}  // namespace swage::process
