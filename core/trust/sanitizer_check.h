// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTemporaryDir>
#include <QTimer>

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/domain/launch_plan.h"
#include "core/process/child_process.h"
#include "core/trust/sanitizer_report.h"

namespace swage::trust {

// Runs the kernels of one plan under compute-sanitizer, tool after tool, until one finds something. Emits found() for
// each tool that ran to its end and finished() exactly once after start() succeeded. One thread only; nothing here
// waits.
class SanitizerCheck : public QObject {
  Q_OBJECT

 public:
  struct Options {
    std::string sanitizer;  // the program
    std::string replay;     // swage-replay
    int ordinal = 0;        // of the device
    std::chrono::milliseconds toolLimit{30000};
    unsigned raceBlocks = 0;  // of each launch under racecheck; 0: all
  };

  explicit SanitizerCheck(Options options, QObject* parent = nullptr);

  // Once. The plan has kernels, and `binary` is theirs. Fails when the files for the tools cannot be written.
  [[nodiscard]] Result<> start(const domain::LaunchPlan& plan, const std::string& binary,
                               const std::vector<domain::AssuranceKind>& tools);
  // finished() follows soon.
  void cancel();

 Q_SIGNALS:
  void found(const swage::domain::Assurance& assurance);
  void finished();

 private:
  void next();
  void handleEnd(const process::ChildEnd& end);

  Options m_options;
  std::deque<domain::AssuranceKind> m_tools;  // that are still to run
  QTemporaryDir m_folder;
  std::unique_ptr<process::ChildProcess> m_child;
  SanitizerRun m_run;
  QTimer m_limit;
  QElapsedTimer m_elapsed;
};

}  // namespace swage::trust
