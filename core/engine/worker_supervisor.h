// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <QTimer>

#include <chrono>
#include <deque>
#include <memory>
#include <optional>

#include "core/base/result.h"
#include "core/engine/process_channel.h"

namespace swage::engine {

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
// Every load() ends with one loaded(), every evaluate() with one evaluated(), unless failed() ends everything: workers
// that die without a candidate to blame more than `maxRestarts` times a minute. One thread only; nothing here waits.
class WorkerSupervisor : public QObject {
  Q_OBJECT

 public:
  struct Options {
    LaunchCommand command;
    std::string name = "worker";
    std::chrono::milliseconds startLimit{120000};  // PyTorch from a cold disk, then the CUDA context
    std::chrono::milliseconds loadLimit{600000};
    std::chrono::milliseconds overdue{2000};  // how late after its own limit an evaluation may be
    std::chrono::milliseconds stopGrace{2000};
    int maxRestarts = 3;
    int maxBarrenLives = 10;  // workers in a row that end in their first evaluation
  };
  enum class State : std::uint8_t { Down, Starting, Loading, Idle, Evaluating, Stopping };

  explicit WorkerSupervisor(Options options, QObject* parent = nullptr);
  ~WorkerSupervisor() override;

  void start();
  // After deviceReady(), and again when nothing is being evaluated: another task takes the place of the first.
  void load(wire::LoadTask task);
  // After loaded(); one at a time. `message.request` is chosen here.
  void evaluate(wire::Evaluate message);
  void stop();
  void kill();

  [[nodiscard]] State state() const { return m_state; }
  [[nodiscard]] bool isBusy() const { return m_job.has_value(); }
  [[nodiscard]] int replacements() const { return m_replacements; }
  [[nodiscard]] std::int64_t done() const { return m_done; }
  [[nodiscard]] std::string stateText() const;

 Q_SIGNALS:
  void deviceReady(const swage::wire::WorkerReady& ready);         // first worker only
  void loaded(const swage::Result<swage::wire::TaskReady>& task);  // not when a replacement loads
  void evaluated(const swage::engine::EvaluationResult& result);
  void replaced(const std::string& why);
  void stateChanged();
  void failed(const swage::Error& error);
  void stopped();

 private:
  void open();
  void setState(State state);
  void handleReady(const wire::Message& message);
  void sendLoad();
  void sendJob();
  void handleOutcome(const JobOutcome& outcome);
  void handleLoadOutcome(const JobOutcome& outcome);
  void handleEvaluation(const JobOutcome& outcome);
  void reportLoss(const JobLost& lost);
  void report(const EvaluationResult& result);
  void handleDeath(const ChannelEnd& end);
  [[nodiscard]] std::optional<Error> countDeath(const ChannelEnd& end);
  void giveUp(const Error& error);
  void endChannel(void (ProcessChannel::*how)());

  Options m_options;
  std::unique_ptr<ProcessChannel> m_channel;
  State m_state = State::Down;
  std::optional<wire::LoadTask> m_task;
  std::optional<wire::Evaluate> m_job;
  bool m_jobSent = false;
  bool m_deviceKnown = false;
  bool m_loadReported = false;
  bool m_blamed = false;     // this life ended in an evaluation
  bool m_replacing = false;  // the worker announced that it exits
  int m_doneInLife = 0;
  int m_barrenLives = 0;
  int m_replacements = 0;
  std::int64_t m_done = 0;
  std::uint64_t m_nextRequest = 1;
  std::deque<std::chrono::steady_clock::time_point> m_blamelessDeaths;
};

}  // namespace swage::engine
