// SPDX-License-Identifier: Apache-2.0
#include "app/cli/bench_command.h"

#include <fmt/format.h>

#include "app/cli/run_command.h"
#include "app/cli/views.h"

namespace swage::cli {
namespace {

using Report = engine::EngineBenchmark::Report;

constexpr const char* kTask = "rms_norm_residual";
// 6,400 rows of 1,024 floats, two read and two written: 105 MB.
constexpr const char* kTokens = "6400";

double perMinute(std::int64_t count, double seconds) {
  return seconds > 0.0 ? 60.0 * static_cast<double>(count) / seconds : 0.0;
}

double meanMs(double seconds, std::int64_t count) {
  return count > 0 ? 1e3 * seconds / static_cast<double>(count) : 0.0;
}

}  // namespace

BenchCommand::BenchCommand(Context context, BenchArguments arguments)
    : Command(std::move(context)),
      m_arguments(std::move(arguments)),
      m_progress(makeProgressLine(this->context().common)) {}

void BenchCommand::start() {
  if (const Result<> prepared = prepare(); !prepared) {
    fail(prepared.error());
    return;
  }
  engine::EngineBenchmark::Options options{m_arguments.spec, m_arguments.freshProcesses, {}};
  if (mayUseGpu()) {
    options.gpuMonitor = "nvidia-smi";
  }
  m_benchmark = std::make_unique<engine::EngineBenchmark>(context().parts, std::move(options));
  connect(m_benchmark.get(), &engine::EngineBenchmark::progressed, this,
          [this](const services::Progress& progress) { m_progress.show(progress); });
  connect(m_benchmark.get(), &engine::EngineBenchmark::finished, this, &BenchCommand::show);
  m_benchmark->start();
}

bool BenchCommand::mayUseGpu() const {
  return m_arguments.spec.target != "cpu" && context().parts.programs.driver() == process::DriverState::Loaded;
}

Result<> BenchCommand::prepare() {
  services::RunSpec& spec = m_arguments.spec;
  if (spec.task.empty()) {
    spec.task = kTask;
    if (spec.overrides.empty() && mayUseGpu()) {
      spec.overrides = {{"tokens", kTokens}};
    }
  }
  spec.task = process::resolveTask(spec.task, context().locations);
  spec.project = context().common.project;
  if (spec.project.empty()) {
    m_folder = std::make_unique<QTemporaryDir>();
    if (!m_folder->isValid()) {
      return Error(
          ErrorKind::Storage,
          fmt::format("cannot make a folder for the benchmark's record: {}", m_folder->errorString().toStdString()),
          "name a folder that you may write to with --project");
    }
    spec.project = m_folder->path().toStdString();
  }
  spec.project = std::filesystem::absolute(spec.project);
  return {};
}

void BenchCommand::interrupt(int signal, int count) {
  m_signal = signal;
  if (m_benchmark && count == 1) {
    m_benchmark->cancel();
  } else {
    Command::interrupt(signal, count);
  }
}

void BenchCommand::show(const Result<Report>& report) {
  m_progress.clear();
  if (m_signal != 0) {
    Q_EMIT done(exitCodeForSignal(m_signal));
    return;
  }
  if (!report) {
    fail(report.error());
    return;
  }
  if (form() == OutputForm::Text) {
    print(benchText(*report));
  } else {
    printJson(toJson(*report));
  }
  Q_EMIT done(wire::ExitCode::Ok);
}

domain::Json toJson(const Report& report) {
  const store::StageTotals& stages = report.stages;
  domain::Json json = {
      {"task", report.run.taskName},
      {"device", report.run.deviceName},
      {"search_seconds", report.searchSeconds},
      {"candidates", report.run.evaluations},
      {"correct", report.run.correct},
      {"candidates_per_minute", perMinute(report.run.evaluations, report.searchSeconds)},
      {"evaluated_per_minute", perMinute(stages.evaluated, report.searchSeconds)},
      {"stages",
       {{"compile", {{"count", stages.compiled}, {"mean_ms", meanMs(stages.compileSeconds, stages.compiled)}}},
        {"verify", {{"count", stages.evaluated}, {"mean_ms", meanMs(stages.verifySeconds, stages.evaluated)}}},
        {"time", {{"count", stages.evaluated}, {"mean_ms", meanMs(stages.timingSeconds, stages.evaluated)}}}}},
      {"worker_busy_share", report.workerBusyShare},
      {"gpu_busy_share", report.gpuBusyShare ? domain::Json(*report.gpuBusyShare) : domain::Json()},
      {"gpu_samples", report.gpuSamples},
      {"winner", report.winner.value()},
      {"fresh_processes",
       {{"medians_ns", report.freshMediansNs},
        {"spread", report.freshSpread},
        {"launches_ns", report.freshLaunchesNs},
        {"spread_beside_launch", report.freshSpreadBesideLaunch}}},
      {"baselines", domain::Json::array()}};
  for (const domain::Baseline& baseline : report.baselines) {
    json["baselines"].push_back(domain::toJson(baseline));
  }
  return json;
}

std::string benchText(const Report& report) {
  const store::StageTotals& stages = report.stages;
  std::string text =
      fmt::format("{} on {}, {:.0f} s of search\n", report.run.taskName, report.run.deviceName, report.searchSeconds);
  text += fmt::format("candidates        {:>8}   {:.0f} a minute\n", report.run.evaluations,
                      perMinute(report.run.evaluations, report.searchSeconds));
  text += fmt::format("in the worker     {:>8}   {:.0f} a minute\n", stages.evaluated,
                      perMinute(stages.evaluated, report.searchSeconds));
  text += fmt::format("compile           {:>8.1f} ms of one compiler for each candidate\n",
                      meanMs(stages.compileSeconds, stages.compiled));
  text += fmt::format("verify            {:>8.1f} ms\n", meanMs(stages.verifySeconds, stages.evaluated));
  text += fmt::format("time              {:>8.1f} ms\n", meanMs(stages.timingSeconds, stages.evaluated));
  text += fmt::format("worker busy       {:>8.0f} %\n", 100.0 * report.workerBusyShare);
  if (report.gpuBusyShare) {
    text += fmt::format("GPU busy          {:>8.0f} %   {} samples\n", 100.0 * *report.gpuBusyShare, report.gpuSamples);
  }
  if (!report.freshMediansNs.empty()) {
    text += fmt::format("fresh processes   {:>8}   medians within {:.2f} %\n", report.freshMediansNs.size(),
                        100.0 * report.freshSpread);
    text += fmt::format("{:28}{:.2f} % beside what launching an empty kernel takes there\n", "",
                        100.0 * report.freshSpreadBesideLaunch);
  }
  return text;
}

}  // namespace swage::cli
