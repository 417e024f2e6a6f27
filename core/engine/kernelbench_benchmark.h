// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QElapsedTimer>
#include <QObject>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/kernelbench_file.h"
#include "core/engine/kernelbench_problems.h"
#include "core/engine/run_service_impl.h"
#include "core/process/bridge_call.h"

namespace swage::engine {

// Problems of KernelBench, one after the other: imported, searched, the winner exported, and the export put before
// KernelBench's own checker, which runs in a process of its own. A problem that fails is a row with its reason. Each
// finished one is kept in a file at once, and a benchmark with the same file goes on behind it, also after it was
// killed; a problem that was not finished begins anew. Emits finished() exactly once. One thread only.
class KernelBenchBenchmark : public QObject {
  Q_OBJECT

 public:
  struct Options {
    std::filesystem::path checkout;
    std::vector<KernelBenchProblem> problems;
    services::RunSpec spec;               // of every search, without the task; its project keeps them all
    std::int64_t largestTensorBytes = 0;  // constants are made smaller until no tensor is larger; 0: as they are
    std::filesystem::path file;           // the document
  };

  KernelBenchBenchmark(const run::SessionParts& parts, Options options, QObject* parent = nullptr);
  ~KernelBenchBenchmark() override;

  void start();
  void stop();  // after the evaluation in progress; the problem in progress is not kept
  void kill();  // now

 Q_SIGNALS:
  // `index` counts from 1, those that the file had before included.
  void taskStarted(const swage::engine::KernelBenchProblem& problem, int index, int count);
  void taskEnded(const swage::exporting::KernelBenchRow& row);
  void progressed(const swage::services::Progress& progress);
  void noticed(const swage::services::Notice& notice);
  // An Error: it was stopped, the file or the record cannot be written, or what surrounds the problems is at fault.
  void finished(const swage::Result<swage::exporting::KernelBenchDocument>& document);

 private:
  void next();
  void begin(const KernelBenchProblem& problem);
  void call(std::vector<std::string> arguments, std::chrono::minutes limit,
            void (KernelBenchBenchmark::*then)(const Result<nlohmann::json>&));
  void handleImported(const Result<nlohmann::json>& document);
  void search();
  void handleRun(const services::RunOutcome& outcome);
  [[nodiscard]] Result<> writeWinner();
  [[nodiscard]] Result<> writeExport(domain::CandidateId candidate);
  [[nodiscard]] bool hasKernelInstead() const;
  void exportKernelInstead();
  void check();
  void handleChecked(const Result<nlohmann::json>& document);
  void fail(std::string_view stage, const Error& error);
  void endTask();
  void conclude(std::optional<Error> error);
  [[nodiscard]] std::filesystem::path folder() const { return m_options.spec.project / "kernelbench"; }
  [[nodiscard]] std::string taskName() const;

  run::SessionParts m_parts;
  Options m_options;
  std::optional<KernelBenchFile> m_file;
  std::size_t m_current = 0;
  int m_surroundings = 0;  // problems in a row that failed because of them
  exporting::KernelBenchRow m_row;
  std::filesystem::path m_bundle;
  std::string m_device;  // that the run in progress used, as PyTorch names it: "cpu", "cuda:1"
  std::unique_ptr<process::BridgeCall> m_call;
  std::unique_ptr<RunServiceImpl> m_run;
  QElapsedTimer m_elapsed;
  bool m_isStopping = false;
  bool m_ended = false;
};

}  // namespace swage::engine
