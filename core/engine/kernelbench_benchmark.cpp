// SPDX-License-Identifier: Apache-2.0
#include "core/engine/kernelbench_benchmark.h"

#include <QTimer>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/domain/baseline.h"
#include "core/domain/record/winner.h"
#include "core/engine/export_files.h"
#include "core/engine/kernelbench_facts.h"
#include "core/engine/record_service_impl.h"
#include "core/store/task_bundle.h"

namespace swage::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kImportLimit{10};
constexpr std::chrono::minutes kCheckLimit{10};
// One problem may bring down its own processes; several in a row have not all done so.
constexpr int kMostSurroundings = 3;
constexpr const char* kNotRun = "not run";

// What makes every further problem pointless.
bool endsAll(const Error& error) {
  constexpr std::array kKinds{ErrorKind::Storage, ErrorKind::Locked, ErrorKind::Config};
  return std::find(kKinds.begin(), kKinds.end(), error.kind()) != kKinds.end();
}

std::string textIn(const nlohmann::json& document, const char* key) {
  const auto found = document.find(key);
  return found != document.end() && found->is_string() ? found->get<std::string>() : std::string();
}

exporting::KernelBenchSettings settingsOf(const KernelBenchBenchmark::Options& options) {
  const services::RunSpec& spec = options.spec;
  return {spec.target, spec.timeBudgetSeconds,     spec.maxEvaluations,
          spec.seed,   options.largestTensorBytes, spec.baselines};
}

}  // namespace

KernelBenchBenchmark::KernelBenchBenchmark(const run::SessionParts& parts, Options options, QObject* parent)
    : QObject(parent), m_parts(parts), m_options(std::move(options)) {
  m_parts.profiledTargets.clear();  // nobody looks at the profiles of a hundred runs
}

KernelBenchBenchmark::~KernelBenchBenchmark() = default;

void KernelBenchBenchmark::start() {
  QTimer::singleShot(0, this, [this] {
    auto opened = KernelBenchFile::open(m_options.file, settingsOf(m_options));
    if (!opened) {
      conclude(opened.error());
      return;
    }
    m_file = std::move(*opened);
    std::error_code error;
    fs::create_directories(folder(), error);
    if (error) {
      conclude(Error(ErrorKind::Storage, fmt::format("cannot create '{}': {}", folder().string(), error.message())));
      return;
    }
    next();
  });
}

void KernelBenchBenchmark::stop() {
  m_isStopping = true;
  if (m_run) {
    m_run->stop();
  } else if (m_call) {
    m_call->cancel();
  }
}

void KernelBenchBenchmark::kill() {
  m_isStopping = true;
  if (m_run) {
    m_run->kill();
  } else if (m_call) {
    m_call->cancel();
  }
}

std::string KernelBenchBenchmark::taskName() const {
  return fmt::format("level{}_{}", m_row.level, m_row.name);
}

void KernelBenchBenchmark::next() {
  m_call.reset();
  m_run.reset();
  if (m_isStopping) {
    conclude(Error(ErrorKind::Cancelled, "the benchmark was stopped", "the same command goes on"));
    return;
  }
  const std::vector<KernelBenchProblem>& problems = m_options.problems;
  while (m_current < problems.size() && m_file->isDone(problems[m_current].level, problems[m_current].number)) {
    ++m_current;
  }
  if (m_current < problems.size()) {
    begin(problems[m_current++]);
  } else {
    conclude(std::nullopt);
  }
}

void KernelBenchBenchmark::begin(const KernelBenchProblem& problem) {
  m_row = {};
  m_row.level = problem.level;
  m_row.problem = problem.number;
  m_row.name = problem.name;
  m_row.check.verdict = kNotRun;
  m_elapsed.start();
  Q_EMIT taskStarted(problem, static_cast<int>(m_current), static_cast<int>(m_options.problems.size()));
  m_bundle = folder() / (taskName() + ".swage");
  std::vector<std::string> arguments = {"import", problem.file.string(), "-o", m_bundle.string()};
  if (m_options.largestTensorBytes > 0) {
    arguments.insert(arguments.end(), {"--largest-tensor", std::to_string(m_options.largestTensorBytes)});
  }
  call(std::move(arguments), kImportLimit, &KernelBenchBenchmark::handleImported);
}

void KernelBenchBenchmark::call(std::vector<std::string> arguments, std::chrono::minutes limit,
                                void (KernelBenchBenchmark::*then)(const Result<nlohmann::json>&)) {
  m_call = std::make_unique<process::BridgeCall>(m_parts.programs.bridge, std::move(arguments), limit);
  connect(m_call.get(), &process::BridgeCall::finished, this, then);
  m_call->start();
}

void KernelBenchBenchmark::handleImported(const Result<nlohmann::json>& document) {
  m_call.release()->deleteLater();  // we are inside its signal
  if (!document) {
    fail("import", document.error());
    return;
  }
  const Result<store::TaskBundle> bundle = store::readTaskBundle(m_bundle);
  if (!bundle) {
    fail("import", bundle.error());
    return;
  }
  addTaskFacts(m_row, bundle->task);
  m_file->setTorchVersion(bundle->task.torchVersion);
  search();
}

void KernelBenchBenchmark::search() {
  m_run = std::make_unique<RunServiceImpl>(m_parts);
  connect(m_run.get(), &services::RunService::progressed, this, &KernelBenchBenchmark::progressed);
  connect(m_run.get(), &services::RunService::noticed, this, &KernelBenchBenchmark::noticed);
  connect(m_run.get(), &services::RunService::finished, this, &KernelBenchBenchmark::handleRun);
  services::RunSpec spec = m_options.spec;
  spec.task = m_bundle.string();
  m_run->start(spec);
}

void KernelBenchBenchmark::handleRun(const services::RunOutcome& outcome) {
  m_run.release()->deleteLater();  // we are inside its signal
  m_row.run = outcome.run;
  if (outcome.interrupted || m_isStopping) {
    next();
    return;
  }
  if (outcome.error) {
    fail("search", *outcome.error);
    return;
  }
  if (const Result<> added = addRunFacts(m_row, m_options.spec.project); !added) {
    fail("search", added.error());
    return;
  }
  if (const Result<> written = writeWinner(); !written) {
    fail("export", written.error());
    return;
  }
  check();
}

Result<> KernelBenchBenchmark::writeWinner() {
  RecordServiceImpl service;
  SWAGE_TRY(service.open(m_options.spec.project));
  SWAGE_TRY_ASSIGN(const services::RunSummary run, service.run(m_row.run));
  const domain::CandidateId winner = domain::winnerOf(run);
  if (!winner.isValid()) {
    return Error(ErrorKind::NotFound, "nothing is correct, PyTorch's own operators included");
  }
  return writeExport(winner);
}

Result<> KernelBenchBenchmark::writeExport(domain::CandidateId id) {
  SWAGE_TRY_ASSIGN(const store::Record record,
                   store::Record::open(m_options.spec.project, store::Record::Mode::ReadOnly));
  SWAGE_TRY_ASSIGN(const store::RunRow row, record.run(m_row.run));
  m_device = row.device.kind == domain::DeviceKind::Cuda ? fmt::format("cuda:{}", row.device.ordinal) : "cpu";
  SWAGE_TRY_ASSIGN(const services::ExportFiles files, makeExportFiles(record, id, services::ExportFormat::ModelNew));
  const fs::path target = folder() / (taskName() + "_new.py");
  SWAGE_TRY(writeExportFiles(files, target, services::ExistingFiles::Replace));
  SWAGE_TRY_ASSIGN(const store::CandidateRecord candidate, record.candidate(id));
  m_row.exported = candidate.program.plan.hasKernels()                  ? exporting::kKernelExport
                   : candidate.madeBy != domain::OperatorKind::Baseline ? exporting::kGraphExport
                   : m_row.baselineMode.empty()                         ? "eager"
                                                                        : m_row.baselineMode;
  m_row.exportFile = target.string();
  return {};
}

void KernelBenchBenchmark::check() {
  call({"kernelbench-check", m_row.exportFile, "--bundle", m_bundle.string(), "--checkout",
        fs::absolute(m_options.checkout).string(), "--device", m_device},
       kCheckLimit, &KernelBenchBenchmark::handleChecked);
}

void KernelBenchBenchmark::handleChecked(const Result<nlohmann::json>& document) {
  m_call.release()->deleteLater();  // we are inside its signal
  if (document) {
    m_row.check = {textIn(*document, "verdict"), textIn(*document, "trials"), textIn(*document, "problem"),
                   textIn(*document, "note"), m_row.check.rejectedWay};
  } else {
    m_row.check.problem = document.error().message();
  }
  if (m_row.check.verdict == "rejected" && hasKernelInstead()) {
    exportKernelInstead();
    return;
  }
  endTask();
}

void KernelBenchBenchmark::exportKernelInstead() {
  exporting::KernelBenchCheck check;
  check.verdict = kNotRun;
  check.rejectedWay = fmt::format("{} is faster, but KernelBench rejects it: {}", domain::pytorchWay(m_row.exported),
                                  m_row.check.problem);
  m_row.check = std::move(check);
  if (const Result<> written = writeExport(m_row.kernel->candidate); !written) {
    fail("export", written.error());
    return;
  }
  this->check();
}

// Whether a kernel that is faster than eager stands behind a way of PyTorch that was exported.
bool KernelBenchBenchmark::hasKernelInstead() const {
  const auto eager = std::find_if(m_row.baselines.begin(), m_row.baselines.end(),
                                  [](const exporting::KernelBenchWay& way) { return way.mode == "eager"; });
  return !exporting::isOwnExport(m_row.exported) && m_row.kernel && eager != m_row.baselines.end() &&
         m_row.kernel->timeNs < eager->timeNs;
}

void KernelBenchBenchmark::fail(std::string_view stage, const Error& error) {
  if (error.kind() == ErrorKind::Cancelled || m_isStopping) {
    next();
    return;
  }
  if (endsAll(error)) {
    conclude(error);
    return;
  }
  m_row.failedStage = stage;
  m_row.failureKind = name(error.kind());
  m_row.failure = error.message();
  if (error.kind() == ErrorKind::Environment && ++m_surroundings == kMostSurroundings) {
    conclude(error);
    return;
  }
  endTask();
}

void KernelBenchBenchmark::endTask() {
  if (m_isStopping) {
    next();
    return;
  }
  m_surroundings = m_row.failureKind == name(ErrorKind::Environment) ? m_surroundings : 0;
  m_row.seconds = static_cast<double>(m_elapsed.elapsed()) / 1e3;
  if (const Result<> kept = m_file->put(m_row); !kept) {
    conclude(kept.error());
    return;
  }
  Q_EMIT taskEnded(m_row);
  QTimer::singleShot(0, this, &KernelBenchBenchmark::next);
}

void KernelBenchBenchmark::conclude(std::optional<Error> error) {
  if (!std::exchange(m_ended, true)) {
    Q_EMIT finished(error ? Result<exporting::KernelBenchDocument>(std::move(*error))
                          : Result<exporting::KernelBenchDocument>(m_file->document()));
  }
}

}  // namespace swage::engine
