// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/benchmark.h"

#include <unistd.h>

#include <QWidget>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>

#include <fmt/format.h>

#include "app/workbench/synthetic_services.h"
#include "app/workbench/synthetic_swarm.h"
#include "ui/shell/dock_layout.h"
#include "ui/shell/main_window.h"

namespace swage::workbench {
namespace {

using std::chrono_literals::operator""ms;

constexpr std::chrono::milliseconds kHeartbeat = 2ms;
constexpr std::chrono::milliseconds kSettle = 2000ms;

double residentMb() {
  std::ifstream file("/proc/self/statm");
  double total = 0.0;
  double resident = 0.0;
  file >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1024.0 * 1024.0);
}

// A timer that should fire every so often tells how long the loop was busy with something else.
class Heartbeat final {
 public:
  Heartbeat() {
    m_timer.setTimerType(Qt::PreciseTimer);
    m_timer.setInterval(kHeartbeat);
    m_clock.start();
    QObject::connect(&m_timer, &QTimer::timeout, &m_timer, [this] {
      const double since = static_cast<double>(m_clock.nsecsElapsed()) / 1e6;
      m_stalls.push_back(std::max(0.0, since - static_cast<double>(kHeartbeat.count())));
      m_clock.restart();
    });
    m_timer.start();
  }
  [[nodiscard]] const std::vector<double>& stalls() const { return m_stalls; }
  void clear() {
    m_stalls.clear();
    m_clock.restart();
  }

 private:
  QTimer m_timer;
  QElapsedTimer m_clock;
  std::vector<double> m_stalls;
};

}  // namespace

bool TimedApplication::notify(QObject* receiver, QEvent* event) {
  if (event->type() != QEvent::UpdateRequest) {
    return QApplication::notify(receiver, event);
  }
  QElapsedTimer clock;
  clock.start();
  const bool handled = QApplication::notify(receiver, event);
  m_frames.push_back(static_cast<double>(clock.nsecsElapsed()) / 1e6);
  return handled;
}

std::vector<double> TimedApplication::takeFrames() {
  return std::exchange(m_frames, {});
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) {
    return 0.0;
  }
  const auto index = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size()))) - 1;
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(std::min(index, values.size() - 1));
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

int runBenchmark(TimedApplication& application, const BenchmarkOptions& options) {
  SyntheticRecord record;
  SyntheticRun run(record, options.eventsPerSecond);
  const SyntheticExporter exporter;
  ui::RealDialogs dialogs;
  ui::ThemeController theme(application);
  SyntheticSwarm swarm;
  ui::MainWindow window({.run = run,
                         .record = record,
                         .exporter = exporter,
                         .dialogs = dialogs,
                         .theme = theme,
                         .swarm = options.swarm ? &swarm : nullptr},
                        {});
  Heartbeat heartbeat;
  BenchmarkResult result;
  window.show();
  services::RunSpec spec;
  spec.timeBudgetSeconds = options.seconds;
  // The first seconds, in which caches fill, are none of what is measured.
  QTimer::singleShot(kSettle, &window, [&] {
    window.session().start(spec);
    if (options.swarm) {
      window.docks().show(QStringLiteral("swarm"));
      swarm.start();
    }
    QTimer::singleShot(kSettle, &window, [&] {
      result.memoryStartMb = residentMb();
      static_cast<void>(application.takeFrames());
      heartbeat.clear();
    });
  });
  QObject::connect(&run, &services::RunService::finished, &application, [] { QApplication::exit(0); });
  QApplication::exec();
  const std::vector<double> frames = application.takeFrames();
  result.events = run.events();
  result.frames = frames.size();
  result.frameMedianMs = percentile(frames, 0.5);
  result.frame99Ms = percentile(frames, 0.99);
  result.frameMaxMs = percentile(frames, 1.0);
  result.stall99Ms = percentile(heartbeat.stalls(), 0.99);
  result.stallMaxMs = percentile(heartbeat.stalls(), 1.0);
  result.memoryEndMb = residentMb();
  for (const domain::Language language : {domain::Language::Cpp, domain::Language::CudaCpp}) {
    if (options.drafts) {
      result.drafts.push_back({language, options.drafts(language)});
    }
  }
  std::fputs((options.json ? toJson(result) : toText(result)).c_str(), stdout);
  return 0;
}

std::string toText(const BenchmarkResult& result) {
  std::string drafts;
  for (const BenchmarkResult::Drafts& one : result.drafts) {
    drafts +=
        one.times
            ? fmt::format("draft {:<8}{:.0f} ms median to {} ({} lines), longest {:.0f} ms, first {:.0f} ms\n",
                          domain::name(one.language), one.times->medianMs, domain::factsOf(one.language).listing,
                          one.times->assemblyLines, one.times->maxMs, one.times->firstMs)
            : fmt::format("draft {:<8}not measured: {}\n", domain::name(one.language), one.times.error().message());
  }
  return fmt::format(
      "events        {}\n"
      "frames        {}\n"
      "frame median  {:.2f} ms\n"
      "frame 99 %    {:.2f} ms\n"
      "frame longest {:.2f} ms\n"
      "stall 99 %    {:.2f} ms\n"
      "stall longest {:.2f} ms\n"
      "memory        {:.1f} MB at the start, {:.1f} MB at the end\n{}",
      result.events, result.frames, result.frameMedianMs, result.frame99Ms, result.frameMaxMs, result.stall99Ms,
      result.stallMaxMs, result.memoryStartMb, result.memoryEndMb, drafts);
}

std::string toJson(const BenchmarkResult& result) {
  std::string drafts;
  for (const BenchmarkResult::Drafts& one : result.drafts) {
    if (one.times) {
      drafts += fmt::format(
          ", \"draft_{0}_median_ms\": {1:.1f}, \"draft_{0}_max_ms\": {2:.1f}, "
          "\"draft_{0}_first_ms\": {3:.1f}, \"draft_{0}_assembly_lines\": {4}",
          domain::name(one.language), one.times->medianMs, one.times->maxMs, one.times->firstMs,
          one.times->assemblyLines);
    }
  }
  return fmt::format(
      "{{\"events\": {}, \"frames\": {}, \"frame_median_ms\": {:.3f}, \"frame_p99_ms\": {:.3f}, "
      "\"frame_max_ms\": {:.3f}, \"stall_p99_ms\": {:.3f}, \"stall_max_ms\": {:.3f}, \"memory_start_mb\": {:.1f}, "
      "\"memory_end_mb\": {:.1f}{}}}\n",
      result.events, result.frames, result.frameMedianMs, result.frame99Ms, result.frameMaxMs, result.stall99Ms,
      result.stallMaxMs, result.memoryStartMb, result.memoryEndMb, drafts);
}

}  // namespace swage::workbench
