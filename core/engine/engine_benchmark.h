// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/run_service_impl.h"
#include "core/process/child_process.h"
#include "core/services/types.h"
#include "core/store/record.h"
#include "core/trust/verification.h"

namespace swage::engine {

// How fast the engine works and how far its figures can be trusted, measured on this machine: one real search, then the
// winner again in fresh processes. Emits finished() exactly once. One thread only.
class EngineBenchmark : public QObject {
  Q_OBJECT

 public:
  struct Options {
    services::RunSpec spec;  // its project must not exist yet: a resumed run would not be a measurement
    int freshProcesses = 10;
    std::string gpuMonitor;  // "nvidia-smi" or its path; empty: GPU use is not sampled
  };

  struct Report {
    services::RunSummary run;
    std::vector<domain::Baseline> baselines;
    double searchSeconds = 0.0;
    store::StageTotals stages;
    double workerBusyShare = 0.0;        // of the search, with a candidate in the worker
    std::optional<double> gpuBusyShare;  // of the search, with a kernel running; by nvidia-smi
    int gpuSamples = 0;
    domain::CandidateId winner;
    std::vector<double> freshMediansNs;   // one for each process
    double freshSpread = 0.0;             // (largest - smallest) / median of them
    std::vector<double> freshLaunchesNs;  // of an empty kernel in each process; 0: not measured
    // The spread when each median is less its process's launch and plus the median of all launches.
    double freshSpreadBesideLaunch = 0.0;
  };

  EngineBenchmark(const run::SessionParts& parts, Options options, QObject* parent = nullptr);
  ~EngineBenchmark() override;

  void start();
  void cancel();

 Q_SIGNALS:
  void noticed(const swage::services::Notice& notice);
  void progressed(const swage::services::Progress& progress);
  void finished(const swage::Result<swage::engine::EngineBenchmark::Report>& report);

 private:
  void handleState(services::RunState state);
  void handleProgress(const services::Progress& progress);
  void handleRun(const services::RunOutcome& outcome);
  [[nodiscard]] Result<> readRecord(domain::RunId run);
  void verifyNext();
  void handleVerified(const Result<domain::Evaluation>& evaluation);
  void startSampling();
  void stopSampling();
  void readSamples(const QByteArray& bytes);
  void conclude(std::optional<Error> error);

  run::SessionParts m_parts;
  Options m_options;
  std::unique_ptr<RunServiceImpl> m_run;
  std::unique_ptr<trust::Verification> m_verification;
  std::unique_ptr<process::ChildProcess> m_sampler;
  QByteArray m_sampleText;
  double m_sampleSum = 0.0;
  Report m_report;
  bool m_ended = false;
};

}  // namespace swage::engine
