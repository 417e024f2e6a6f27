// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <QTemporaryDir>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/process/bridge_call.h"
#include "core/process/compiler_pool.h"
#include "core/process/programs.h"

namespace swage::engine {

// What a call of an exported module costs beside the launches that it makes: the export of a small pointwise kernel is
// written, loaded and called many times, warm, by the user's Python. Emits finished() exactly once. One thread only.
class ExportBenchmark : public QObject {
  Q_OBJECT

 public:
  // The most that the checks of one warm call may take.
  static constexpr double kLimitUs = 5.0;

  struct Options {
    std::string target = "auto";  // auto: the CPU, and the first GPU where there is one
    int calls = 20000;
  };

  // Medians; `guardUs` is that of the differences between a call and the launches inside it.
  struct Cost {
    double callUs = 0.0;
    double launchUs = 0.0;
    double guardUs = 0.0;
    [[nodiscard]] bool keepsLimit() const { return guardUs <= kLimitUs; }
  };

  struct DeviceReport {
    std::string device;  // "cpu", "cuda:0"
    int calls = 0;
    Cost eager;
    std::optional<Cost> compiled;  // the export under torch.compile beside the original module under it
    std::string compiledFailure;   // why there is none
    std::optional<Cost> graph;     // a CUDA graph of the call beside one of the launches
    [[nodiscard]] bool keepsLimit() const;
  };
  using Report = std::vector<DeviceReport>;

  ExportBenchmark(const process::Programs& programs, Options options, QObject* parent = nullptr);
  ~ExportBenchmark() override;

  void start();
  void cancel();

 Q_SIGNALS:
  void finished(const swage::Result<swage::engine::ExportBenchmark::Report>& report);

 private:
  [[nodiscard]] Result<> chooseDevices();
  void next();
  void probe();
  void handleProbe(const Result<nlohmann::json>& document);
  void handleCompiled(const domain::CompileOutcome& outcome);
  void measure(domain::DeviceKind target, const std::string& binary);
  void handleMeasured(const Result<nlohmann::json>& document);
  void call(std::vector<std::string> arguments, void (ExportBenchmark::*then)(const Result<nlohmann::json>&));
  void conclude(const std::optional<Error>& error);

  process::Programs m_programs;
  Options m_options;
  QTemporaryDir m_folder;
  std::deque<domain::DeviceKind> m_targets;
  std::unique_ptr<process::BridgeCall> m_call;
  std::unique_ptr<process::CompilerPool> m_compilers;
  int m_computeCapability = 0;
  Report m_report;
  bool m_ended = false;
};

// Of the bridge's command `bench-export`. Errors are of kind Protocol.
[[nodiscard]] Result<ExportBenchmark::DeviceReport> exportCostFrom(const nlohmann::json& document);

}  // namespace swage::engine
