// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/process/compiler_pool.h"
#include "core/process/launch_command.h"
#include "core/process/programs.h"
#include "core/process/worker_supervisor.h"
#include "core/services/self_test_service.h"
#include "core/trust/self_test_corpus.h"

namespace swage::trust {

// Compiles, loads and evaluates the cases of a corpus one after another, each as the search would, and compares the
// verdicts with what was planted. One thread only; nothing here waits.
class SelfTest final : public services::SelfTestService {
  Q_OBJECT

 public:
  struct Options {
    process::LaunchCommand worker;
    process::LaunchCommand compiler;
    int compilers = 2;
    std::chrono::milliseconds stopGrace{2000};
    double timingBudgetSeconds = 0.05;  // of one case: enough calls to reach what comes late
    int maxSamples = 12;
    double limitSeconds = 60.0;  // a machine that others use too is slow
  };

  SelfTest(SelfTestCorpus corpus, Options options, QObject* parent = nullptr);
  ~SelfTest() override;

  void start() override;
  void cancel() override;

 private:
  void handleDevice(const wire::WorkerReady& ready);
  void compileAll();
  void handleCompiled(std::uint64_t index, const domain::CompileOutcome& outcome);
  void next();
  void loadTask(const std::string& name);
  void evaluate(const std::string& binary);
  void finishCase(const domain::Evaluation& evaluation, double seconds);
  [[nodiscard]] const PlantedCase& current() const { return m_corpus.cases[m_next]; }
  void conclude(Result<services::SelfTestReport> outcome);
  void finishWhenQuiet();

  SelfTestCorpus m_corpus;
  Options m_options;
  std::chrono::steady_clock::time_point m_start;
  services::SelfTestReport m_report;
  std::unique_ptr<process::WorkerSupervisor> m_worker;
  std::unique_ptr<process::CompilerPool> m_compilers;
  std::map<std::uint64_t, domain::CompileOutcome> m_compiled;  // by index of the case
  std::size_t m_next = 0;
  std::string m_loadedTask;
  bool m_ready = false;    // the worker is
  bool m_waiting = false;  // for the worker's answer
  std::optional<Result<services::SelfTestReport>> m_outcome;
  bool m_workerGone = false;
  bool m_compilersGone = false;
};

// With the programs as they are started for a search.
[[nodiscard]] SelfTest::Options selfTestOptions(const process::Programs& programs, domain::DeviceKind target);

}  // namespace swage::trust
