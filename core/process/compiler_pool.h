// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/error.h"
#include "core/domain/compilation.h"
#include "core/process/lane_clock.h"
#include "core/process/process_channel.h"
#include "core/process/separate_compilation.h"
#include "core/services/activity.h"

namespace swage::process {

// Several swage-compiler processes and the queue before them. A program of several parts is compiled part by part, each
// by the next idle process, and parts that earlier programs had are not compiled again. If a part does not compile, the
// whole program is compiled, so that the messages have its lines. Every compile() ends with exactly one compiled(),
// unless failed() or stopped() comes first: those end all jobs. A compiler that dies is replaced; a source during which
// one crashed gets a second try on another. failed() means that nothing can be compiled here. One thread only.
class CompilerPool : public QObject {
  Q_OBJECT

 public:
  struct Options {
    LaunchCommand command;
    int size = 2;
    double limitSeconds = 20.0;
    std::int64_t memoryLimitBytes = std::int64_t{2} << 30;
    std::chrono::milliseconds overdue{3000};  // the compiler enforces its limit itself; later than this it is killed
    std::chrono::milliseconds startLimit{20000};
    std::chrono::milliseconds stopGrace{1000};
    MonotonicNow now = [] { return std::chrono::steady_clock::now(); };
  };

  explicit CompilerPool(Options options, QObject* parent = nullptr);
  ~CompilerPool() override;

  // Processes start with the first job. `token` comes back in compiled().
  void compile(std::uint64_t token, domain::CompileRequest request);
  // Forgets queued jobs and ends every process; then stopped().
  void stop();
  void kill();

  [[nodiscard]] int size() const { return m_options.size; }
  [[nodiscard]] int pending() const;  // queued and in work
  [[nodiscard]] int busy() const;
  [[nodiscard]] std::int64_t done() const { return m_done; }
  // One for each process; its candidate is the token it compiles.
  [[nodiscard]] std::vector<services::LaneStatus> lanes() const;

 Q_SIGNALS:
  void compiled(std::uint64_t token, const swage::domain::CompileOutcome& outcome);
  void failed(const swage::Error& error);
  void stopped();

 private:
  struct Job {
    std::uint64_t number = 0;  // of all jobs
    std::uint64_t token = 0;
    std::string part = {};  // its key; empty: the whole program
    domain::CompileRequest request;
    int attempts = 0;
  };
  struct Slot {
    std::unique_ptr<ProcessChannel> channel{};
    std::optional<Job> job{};
    LaneClock clock;
    std::int64_t done = 0;
    int replaced = 0;
    std::string lastEnd{};
  };

  void enqueue(Job job);
  void dispatch();
  void conclude(Job job, domain::CompileOutcome outcome);
  void emitFinished();
  static void note(Slot& slot);
  void open(Slot& slot);
  void give(Slot& slot) const;
  void handleJob(Slot& slot, const JobOutcome& outcome);
  void handleLoss(Job job, const JobLost& lost);
  void handleDeath(Slot& slot, const ChannelEnd& end);
  void endAll(void (ProcessChannel::*how)());
  void retire(Slot& slot);

  Options m_options;
  std::vector<Slot> m_slots;
  std::deque<Job> m_queue;
  SeparateCompilation m_separate;
  std::uint64_t m_jobs = 0;
  std::int64_t m_done = 0;
  int m_failedStarts = 0;  // in a row
  int m_started = 0;
  bool m_stopping = false;
};

}  // namespace swage::process
