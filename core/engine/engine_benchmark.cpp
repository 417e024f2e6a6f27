// SPDX-License-Identifier: Apache-2.0
#include "core/engine/engine_benchmark.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "core/engine/record_service_impl.h"
#include "core/stats/robust.h"

namespace swage::engine {
namespace {

// The driver itself averages over 1/6 s to 1 s, so a faster sampling says no more.
constexpr const char* kSamplingMs = "250";

double spreadOf(const std::vector<double>& times) {
  const auto [low, high] = std::minmax_element(times.begin(), times.end());
  return (*high - *low) / stats::median(times);
}

}  // namespace

EngineBenchmark::EngineBenchmark(const run::SessionParts& parts, Options options, QObject* parent)
    : QObject(parent), m_parts(parts), m_options(std::move(options)) {
  m_parts.profiledTargets.clear();  // the search is what is measured
  m_parts.profiledInSearch.clear();
}

EngineBenchmark::~EngineBenchmark() = default;

void EngineBenchmark::start() {
  m_run = std::make_unique<RunServiceImpl>(m_parts);
  connect(m_run.get(), &services::RunService::stateChanged, this, &EngineBenchmark::handleState);
  connect(m_run.get(), &services::RunService::progressed, this, &EngineBenchmark::handleProgress);
  connect(m_run.get(), &services::RunService::noticed, this, &EngineBenchmark::noticed);
  connect(m_run.get(), &services::RunService::finished, this, &EngineBenchmark::handleRun);
  m_run->start(m_options.spec);
}

void EngineBenchmark::cancel() {
  if (m_verification) {
    m_verification->cancel();
  } else if (m_run) {
    m_run->kill();
  }
}

// Only while candidates are searched: importing, baselines and finishing leave the device idle by design.
void EngineBenchmark::handleState(services::RunState state) {
  if (state == services::RunState::Running) {
    startSampling();
  } else {
    stopSampling();
  }
}

void EngineBenchmark::handleProgress(const services::Progress& progress) {
  if (progress.finishing) {
    stopSampling();
  }
  Q_EMIT progressed(progress);
}

void EngineBenchmark::startSampling() {
  if (m_sampler || m_options.gpuMonitor.empty()) {
    return;
  }
  m_sampler = std::make_unique<process::ChildProcess>("nvidia-smi");
  connect(m_sampler.get(), &process::ChildProcess::output, this, &EngineBenchmark::readSamples);
  m_sampler->start(
      {.program = m_options.gpuMonitor,
       .arguments = {"--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "--id=0", "-lms", kSamplingMs},
       .environment = {}});
}

void EngineBenchmark::stopSampling() {
  if (m_sampler) {
    m_sampler->disconnect(this);
    m_sampler->kill();
  }
}

void EngineBenchmark::readSamples(const QByteArray& bytes) {
  m_sampleText += bytes;
  for (qsizetype end = m_sampleText.indexOf('\n'); end >= 0; end = m_sampleText.indexOf('\n')) {
    bool isNumber = false;
    const double percent = m_sampleText.left(end).trimmed().toDouble(&isNumber);
    m_sampleText.remove(0, end + 1);
    if (isNumber) {
      m_sampleSum += percent / 100.0;
      ++m_report.gpuSamples;
    }
  }
}

void EngineBenchmark::handleRun(const services::RunOutcome& outcome) {
  if (outcome.error) {
    conclude(*outcome.error);
    return;
  }
  if (outcome.interrupted) {
    conclude(Error(ErrorKind::Cancelled, "the benchmark was interrupted"));
    return;
  }
  if (Result<> read = readRecord(outcome.run); !read) {
    conclude(read.error());
    return;
  }
  m_report.winner = outcome.best;
  verifyNext();
}

Result<> EngineBenchmark::readRecord(domain::RunId run) {
  RecordServiceImpl service;
  SWAGE_TRY(service.open(m_options.spec.project));
  SWAGE_TRY_ASSIGN(m_report.run, service.run(run));
  SWAGE_TRY_ASSIGN(m_report.baselines, service.baselines(run));
  SWAGE_TRY_ASSIGN(const store::Record record,
                   store::Record::open(m_options.spec.project, store::Record::Mode::ReadOnly));
  SWAGE_TRY_ASSIGN(m_report.stages, record.stageTotals(run));
  m_report.searchSeconds = m_report.run.elapsedSeconds;
  if (m_report.searchSeconds > 0.0) {
    m_report.workerBusyShare =
        std::min(1.0, (m_report.stages.verifySeconds + m_report.stages.timingSeconds) / m_report.searchSeconds);
  }
  if (m_report.gpuSamples > 0) {
    m_report.gpuBusyShare = m_sampleSum / m_report.gpuSamples;
  }
  return {};
}

void EngineBenchmark::verifyNext() {
  const bool isDone = static_cast<int>(m_report.freshMediansNs.size()) >= m_options.freshProcesses;
  if (isDone || !m_report.winner.isValid()) {
    conclude(std::nullopt);
    return;
  }
  m_verification = std::make_unique<trust::Verification>(m_parts.programs, m_options.spec.project, m_report.winner);
  connect(m_verification.get(), &trust::Verification::finished, this, &EngineBenchmark::handleVerified);
  m_verification->start();
}

void EngineBenchmark::handleVerified(const Result<domain::Evaluation>& evaluation) {
  m_verification.release()->deleteLater();  // we are inside its signal
  if (!evaluation) {
    conclude(evaluation.error());
    return;
  }
  const domain::Correct* correct = domain::asCorrect(*evaluation);
  if (correct == nullptr) {
    conclude(Error(ErrorKind::Internal, fmt::format("the winner was not confirmed by process {}: {}",
                                                    m_report.freshMediansNs.size() + 1, domain::summary(*evaluation))));
    return;
  }
  m_report.freshMediansNs.push_back(correct->timing.candidate.medianNs);
  m_report.freshLaunchesNs.push_back(correct->timing.launchNs);
  verifyNext();
}

void EngineBenchmark::conclude(std::optional<Error> error) {
  if (std::exchange(m_ended, true)) {
    return;
  }
  if (error) {
    Q_EMIT finished(std::move(*error));
    return;
  }
  if (const auto& medians = m_report.freshMediansNs; !medians.empty()) {
    const auto& launches = m_report.freshLaunchesNs;
    const double launch = stats::median(launches);
    std::vector<double> besideLaunch;
    std::transform(medians.begin(), medians.end(), launches.begin(), std::back_inserter(besideLaunch),
                   [launch](double whole, double own) { return whole - own + launch; });
    m_report.freshSpread = spreadOf(medians);
    m_report.freshSpreadBesideLaunch = spreadOf(besideLaunch);
  }
  Q_EMIT finished(m_report);
}

}  // namespace swage::engine
