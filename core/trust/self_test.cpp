// SPDX-License-Identifier: Apache-2.0
#include "core/trust/self_test.h"

#include <QTimer>

#include <fmt/format.h>

namespace swage::trust {
namespace {

using services::SelfTestCase;

constexpr std::uint64_t kSeed = 20231;  // of the inputs; any will do
constexpr int kHeldBackSeeds = 3;

SelfTestCase::Verdict verdictOn(const PlantedCase& planted, const domain::Evaluation& evaluation) {
  if (isExpected(planted, evaluation)) {
    return SelfTestCase::Verdict::AsExpected;
  }
  const bool wentThrough = domain::asCorrect(evaluation) != nullptr;
  return wentThrough && !planted.needs.empty() ? SelfTestCase::Verdict::Unchecked : SelfTestCase::Verdict::Wrong;
}

}  // namespace

SelfTest::SelfTest(SelfTestCorpus corpus, Options options, QObject* parent)
    : services::SelfTestService(parent), m_corpus(std::move(corpus)), m_options(std::move(options)) {}

SelfTest::~SelfTest() = default;

void SelfTest::start() {
  m_start = std::chrono::steady_clock::now();
  process::WorkerSupervisor::Options worker;
  worker.command = m_options.worker;
  worker.name = "self-test worker";
  worker.stopGrace = m_options.stopGrace;
  m_worker = std::make_unique<process::WorkerSupervisor>(std::move(worker));
  connect(m_worker.get(), &process::WorkerSupervisor::deviceReady, this, &SelfTest::handleDevice);
  connect(m_worker.get(), &process::WorkerSupervisor::failed, this, [this](const Error& error) { conclude(error); });
  connect(m_worker.get(), &process::WorkerSupervisor::loaded, this, [this](const Result<wire::TaskReady>& task) {
    m_waiting = false;
    if (!task) {
      conclude(Error(task.error()).withContext(fmt::format("the self-test's task '{}'", m_loadedTask)));
    } else {
      next();
    }
  });
  connect(m_worker.get(), &process::WorkerSupervisor::evaluated, this, [this](const process::EvaluationResult& result) {
    m_waiting = false;
    if (!result.interrupted && !m_outcome) {
      finishCase(result.evaluation, result.verifySeconds + result.timingSeconds);
    }
  });
  connect(m_worker.get(), &process::WorkerSupervisor::stopped, this, [this] {
    m_workerGone = true;
    finishWhenQuiet();
  });
  process::CompilerPool::Options pool;
  pool.command = m_options.compiler;
  pool.size = m_options.compilers;
  pool.stopGrace = m_options.stopGrace;
  m_compilers = std::make_unique<process::CompilerPool>(std::move(pool));
  connect(m_compilers.get(), &process::CompilerPool::compiled, this, &SelfTest::handleCompiled);
  connect(m_compilers.get(), &process::CompilerPool::failed, this, [this](const Error& error) { conclude(error); });
  connect(m_compilers.get(), &process::CompilerPool::stopped, this, [this] {
    m_compilersGone = true;
    finishWhenQuiet();
  });
  if (m_corpus.cases.empty()) {
    QTimer::singleShot(0, this, [this] { conclude(Error(ErrorKind::InvalidInput, "the self-test has no cases")); });
  }
  m_worker->start();
}

void SelfTest::cancel() {
  conclude(Error(ErrorKind::Cancelled, "the self-test was cancelled"));
}

void SelfTest::handleDevice(const wire::WorkerReady& ready) {
  m_report.device = ready.device;
  m_report.torchVersion = ready.torchVersion;
  m_ready = true;
  compileAll();
  next();
}

void SelfTest::compileAll() {
  for (std::size_t i = 0; i < m_corpus.cases.size() && !m_outcome; ++i) {
    const domain::Program& program = m_corpus.cases[i].program;
    if (!program.plan.hasKernels() || !m_corpus.cases[i].binary.empty()) {
      domain::CompiledBinary compiled;
      compiled.bytes = m_corpus.cases[i].binary;
      m_compiled.emplace(i, std::move(compiled));
      continue;
    }
    m_compilers->compile(i, domain::compileRequest(program, m_report.device));
  }
}

void SelfTest::handleCompiled(std::uint64_t index, const domain::CompileOutcome& outcome) {
  m_compiled.emplace(index, outcome);
  next();
}

// The next case, as soon as it is compiled and the worker is free.
void SelfTest::next() {
  if (m_outcome || !m_ready || m_waiting) {
    return;
  }
  if (m_next == m_corpus.cases.size()) {
    m_report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
    conclude(m_report);
    return;
  }
  const auto compiled = m_compiled.find(m_next);
  if (compiled == m_compiled.end()) {
    return;
  }
  if (const auto* failure = std::get_if<domain::CompileFailed>(&compiled->second)) {
    if (failure->reason == domain::CompileFailureReason::Environment) {
      conclude(Error(ErrorKind::Environment, failure->log, "run `swage doctor`"));
    } else {
      finishCase(domain::evaluationOf(*failure), 0.0);
    }
  } else if (m_loadedTask != current().task) {
    loadTask(current().task);
  } else {
    evaluate(std::get<domain::CompiledBinary>(compiled->second).bytes);
  }
}

void SelfTest::loadTask(const std::string& name) {
  wire::LoadTask load;
  load.task = m_corpus.tasks.at(name);
  load.baseSeed = kSeed;
  load.timingBudgetSeconds = m_options.timingBudgetSeconds;
  load.adversarial = true;
  load.heldBackSeeds = kHeldBackSeeds;
  m_loadedTask = name;
  m_waiting = true;
  m_worker->load(std::move(load));
}

void SelfTest::evaluate(const std::string& binary) {
  wire::Evaluate message;
  message.plan = current().program.plan;
  message.binary = binary;
  message.timingBudgetSeconds = m_options.timingBudgetSeconds;
  message.maxSamples = m_options.maxSamples;
  message.limitSeconds = current().limitSeconds > 0.0 ? current().limitSeconds : m_options.limitSeconds;
  message.heldBack = true;
  m_waiting = true;
  m_worker->evaluate(std::move(message));
}

void SelfTest::finishCase(const domain::Evaluation& evaluation, double seconds) {
  const PlantedCase& planted = current();
  m_report.cases.push_back({.name = planted.name,
                            .family = planted.family,
                            .expected = verdictText(planted.expected),
                            .got = verdictText(evaluation),
                            .detail = domain::summary(evaluation),
                            .verdict = verdictOn(planted, evaluation),
                            .seconds = seconds});
  m_compiled.erase(m_next++);
  Q_EMIT caseEnded(m_report.cases.back(), static_cast<int>(m_next), static_cast<int>(m_corpus.cases.size()));
  QTimer::singleShot(0, this, &SelfTest::next);
}

void SelfTest::conclude(Result<services::SelfTestReport> outcome) {
  if (m_outcome) {
    return;
  }
  m_outcome = std::move(outcome);
  if (!m_worker) {
    m_workerGone = m_compilersGone = true;
    QTimer::singleShot(0, this, &SelfTest::finishWhenQuiet);
    return;
  }
  m_worker->stop();
  m_compilers->stop();
}

void SelfTest::finishWhenQuiet() {
  if (m_workerGone && m_compilersGone && m_outcome) {
    Q_EMIT finished(*m_outcome);
  }
}

SelfTest::Options selfTestOptions(const process::Programs& programs, domain::DeviceKind target) {
  SelfTest::Options options;
  options.worker = programs.workerCommand(target);
  options.compiler = programs.compilerCommand;
  options.compilers = programs.compilersFor(target);
  options.stopGrace = programs.stopGrace;
  return options;
}

}  // namespace swage::trust
