// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QApplication>
#include <QElapsedTimer>
#include <QTimer>

#include <functional>
#include <string>
#include <vector>

#include "app/workbench/draft_benchmark.h"

namespace swage::workbench {

// Measures how long every frame of every window takes to be drawn. Made instead of QApplication.
class TimedApplication final : public QApplication {
  Q_OBJECT

 public:
  using QApplication::QApplication;
  bool notify(QObject* receiver, QEvent* event) override;
  // In milliseconds, in their order; cleared by this call.
  [[nodiscard]] std::vector<double> takeFrames();

 private:
  std::vector<double> m_frames;
};

struct BenchmarkOptions {
  double seconds = 30.0;
  int eventsPerSecond = 10000;
  bool json = false;
  bool swarm = false;  // the page of agents is in front, and many models write
  // How long drafts take for a target. Null: nobody compiles.
  std::function<Result<DraftTimes>(domain::Language)> drafts = nullptr;
};

struct BenchmarkResult {
  std::int64_t events = 0;
  std::size_t frames = 0;
  double frameMedianMs = 0.0;
  double frame99Ms = 0.0;  // the 99th percentile
  double frameMaxMs = 0.0;
  double stall99Ms = 0.0;  // how long the event loop did not come round
  double stallMaxMs = 0.0;
  double memoryStartMb = 0.0;  // resident, when the window has settled
  double memoryEndMb = 0.0;
  // From the last key to the assembly; an error says why that could not be measured here.
  struct Drafts {
    domain::Language language = domain::Language::Cpp;
    Result<DraftTimes> times;
  };
  std::vector<Drafts> drafts;
};

// Floods the window with the events of a search, through services that are made up, and prints how it bears that.
// The exit code of the program.
[[nodiscard]] int runBenchmark(TimedApplication& application, const BenchmarkOptions& options);

[[nodiscard]] std::string toText(const BenchmarkResult& result);
[[nodiscard]] std::string toJson(const BenchmarkResult& result);
// The value below which `share` of the values lie; 0 for none.
[[nodiscard]] double percentile(std::vector<double> values, double share);

}  // namespace swage::workbench
