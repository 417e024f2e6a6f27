// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <QTimer>

#include <chrono>
#include <deque>
#include <memory>
#include <optional>

#include "core/base/result.h"
#include "core/process/process_channel.h"

namespace swage::process {

// What became of one Evaluate, whatever happened to the worker.
struct EvaluationResult {
  std::uint64_t request = 0;
  domain::Evaluation evaluation;
  double verifySeconds = 0.0;
  double timingSeconds = 0.0;
  bool interrupted = false;  // we ended the worker: `evaluation` says nothing about the candidate
};

// Keeps one device's worker alive. A worker that crashes, hangs or poisons its device is replaced at once, and the task
// is loaded into the new one before the next evaluation; the candidate's end is reported as data (Crashed, TimedOut).
// With `spare`, the next worker waits with its libraries loaded, off the device.
//
// A worker that somebody else killed (SIGKILL, which the system also sends when memory runs out) says nothing about the
// candidate: that is evaluated once more, and counts as crashed only when it happens to it again. A task that was being
// loaded is loaded again, three times at most.
//
// What a worker died of is reported when its replacement has shown that the device still works. When two in a row
// cannot use it, the device was at fault: the evaluation counts as interrupted, and failed() says that the device is
// given up. failed() also comes for workers that die without a candidate to blame more than `maxRestarts` times a
// minute, and for one that cannot be killed. Every load() ends with one loaded(), every evaluate() with one
// evaluated(), unless failed() or stop() ends everything. One thread only; nothing here waits.
class WorkerSupervisor : public QObject {
  Q_OBJECT

 public:
  struct Options {
    LaunchCommand command;
    LaunchCommand spare{};  // no program: none is kept
    std::string name = "worker";
    std::chrono::milliseconds startLimit{120000};  // PyTorch from a cold disk, then the CUDA context
    std::chrono::milliseconds loadLimit{600000};
    std::chrono::milliseconds overdue{2000};  // how late after its own limit an evaluation may be
    std::chrono::milliseconds stopGrace{2000};
    std::chrono::milliseconds silence{30000};  // workers beat twice a second while they work
    std::chrono::milliseconds endLimit{10000};
    int lastSignal = SIGKILL;  // see ChildProcess
    int maxRestarts = 3;
    int maxBarrenLives = 10;  // workers in a row that end in their first evaluation
  };
  enum class State : std::uint8_t { Down, Starting, Loading, Idle, Evaluating, MakingRoom, Stopping };

  explicit WorkerSupervisor(Options options, QObject* parent = nullptr);
  ~WorkerSupervisor() override;

  void start();
  // After deviceReady(), and again when nothing is being evaluated: another task takes the place of the first.
  void load(wire::LoadTask task);
  // After loaded(). `message.request` is chosen here. While one evaluation is in progress a second may be given, which
  // is sent ahead: the worker goes on without waiting for the engine. Results come in the order of the calls.
  void evaluate(wire::Evaluate message);
  // When nothing is being evaluated: memory of the device that the worker keeps only to be faster is given back. Ends
  // with one roomMade(), unless failed() or stop() ends everything.
  void makeRoom();
  void stop();
  void kill();

  [[nodiscard]] State state() const { return m_state; }
  [[nodiscard]] bool isBusy() const { return m_job.has_value(); }
  [[nodiscard]] bool canTakeMore() const { return !m_next.has_value(); }
  [[nodiscard]] int replacements() const { return m_replacements; }
  [[nodiscard]] bool isDeviceLost() const { return m_deviceLost; }  // why failed() came
  [[nodiscard]] bool hasSpare() const;
  [[nodiscard]] std::int64_t done() const { return m_done; }
  [[nodiscard]] std::string stateText() const;

 Q_SIGNALS:
  void deviceReady(const swage::wire::WorkerReady& ready);         // first worker only
  void loaded(const swage::Result<swage::wire::TaskReady>& task);  // not when a replacement loads
  void evaluated(const swage::process::EvaluationResult& result);
  // So much of the device is free now; 0 when that is not known, because the worker is being replaced.
  void roomMade(std::int64_t freeBytes);
  void replaced(const std::string& why);
  // By somebody else, while it worked or waited; replaced() or failed() follows.
  void killed();
  // The replacement has the task; `seconds` since the worker before it was lost.
  void readyAgain(double seconds);
  void stateChanged();
  void failed(const swage::Error& error);
  void stopped();

 private:
  [[nodiscard]] std::unique_ptr<ProcessChannel> makeChannel(const LaunchCommand& command,
                                                            ChannelOptions::Handshake handshake);
  void open();
  void openSpare();
  void handleSpareDeath(const ChannelEnd& end);
  void attach(ProcessChannel* channel);
  void setState(State state);
  void handleReady(const wire::Message& message);
  bool isSameDevice(const wire::WorkerReady& worker);
  void sendLoad();
  void sendJob();
  void sendAhead();
  void handleOutcome(const JobOutcome& outcome);
  void handleLoadOutcome(const JobOutcome& outcome);
  void handleRoom(const JobOutcome& outcome);
  void handleEvaluation(const JobOutcome& outcome);
  void reportLoss(const JobLost& lost);
  void report(const EvaluationResult& result);
  void releaseHeld(bool deviceWorks);
  void handleDeath(const ChannelEnd& end);
  [[nodiscard]] std::optional<Error> countDeath(const ChannelEnd& end);
  [[nodiscard]] std::optional<Error> countBlamed(const ChannelEnd& end);
  [[nodiscard]] Error givenUp(std::string_view why, const ChannelEnd& end) const;
  void giveUp(const Error& error);
  void endChannel(void (ProcessChannel::*how)());

  Options m_options;
  std::unique_ptr<ProcessChannel> m_channel;
  std::unique_ptr<ProcessChannel> m_spare;
  std::optional<EvaluationResult> m_held;  // until the next worker has shown whether the device works
  State m_state = State::Down;
  std::optional<wire::LoadTask> m_task;
  std::optional<wire::Evaluate> m_job;
  std::optional<wire::Evaluate> m_next;  // only while there is a job
  bool m_deviceKnown = false;
  std::string m_deviceUuid;
  bool m_loadReported = false;
  bool m_deviceLost = false;
  bool m_jobWasKilled = false;  // the worker was, once, while it had this job
  bool m_blamed = false;        // this life ended in an evaluation
  bool m_replacing = false;     // the worker announced that it exits
  bool m_afterFault = false;    // no worker has had the task since one ended in an evaluation
  int m_unusable = 0;           // workers since then that could not use the device
  int m_killedLoads = 0;        // of this task, before it was loaded once
  int m_spareDeaths = 0;
  int m_doneInLife = 0;
  int m_barrenLives = 0;
  int m_replacements = 0;
  std::int64_t m_done = 0;
  std::uint64_t m_nextRequest = 1;
  std::deque<std::chrono::steady_clock::time_point> m_blamelessDeaths;
  std::chrono::steady_clock::time_point m_lostAt;
};

}  // namespace swage::process
