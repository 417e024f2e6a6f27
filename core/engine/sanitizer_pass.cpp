// SPDX-License-Identifier: Apache-2.0
#include "core/engine/sanitizer_pass.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "core/base/files.h"
#include "core/base/log.h"
#include "core/domain/json.h"

namespace swage::engine {
namespace {

using domain::Assurance;
using domain::AssuranceKind;
using domain::AssuranceVerdict;

constexpr std::size_t kMaxOutput = std::size_t{256} << 10U;
constexpr std::array kTools = {AssuranceKind::Memcheck, AssuranceKind::Racecheck, AssuranceKind::Initcheck};

domain::Evaluation evaluationFor(const Assurance& failed) {
  if (failed.kind == AssuranceKind::Racecheck) {
    return domain::Unstable{"racecheck: " + failed.detail};
  }
  domain::Wrong wrong;
  wrong.rule = sanitizerTool(failed.kind);
  wrong.detail = failed.detail;
  return wrong;
}

}  // namespace

SanitizerPass::SanitizerPass(store::Record& record, search::Searcher& searcher, Options options, QObject* parent)
    : QObject(parent),
      m_record(record),
      m_searcher(searcher),
      m_options(std::move(options)),
      m_elites(contendersOf(searcher.archive())) {
  m_limit.setSingleShot(true);
  connect(&m_limit, &QTimer::timeout, this, [this] {
    m_run.overdue = true;
    m_child->kill();
  });
}

void SanitizerPass::start() {
  m_elapsed.start();
  QTimer::singleShot(0, this, &SanitizerPass::next);
}

void SanitizerPass::cancel() {
  m_cancelled = true;
  if (m_child) {
    m_child->kill();
  }
}

void SanitizerPass::next() {
  if (m_cancelled || m_nextElite == m_elites.size()) {
    conclude({});
    return;
  }
  const domain::CandidateId id = m_elites[m_nextElite++].id;
  Result<> prepared;
  if (m_options.sanitizer.empty()) {
    prepared = excuse(id, "compute-sanitizer is not installed; the CUDA toolkit brings it");
  } else if (static_cast<double>(m_elapsed.elapsed()) > m_options.budgetSeconds * 1e3) {
    prepared = excuse(id, "the time for it was over");
  } else {
    prepared = prepare(id);
  }
  if (!prepared) {
    conclude(prepared);
  } else if (m_current) {
    runTool();
  } else {
    QTimer::singleShot(0, this, &SanitizerPass::next);
  }
}

// Leaves no current candidate when there is nothing to check.
Result<> SanitizerPass::prepare(domain::CandidateId id) {
  SWAGE_TRY_ASSIGN(store::CandidateRecord candidate, m_record.candidate(id));
  SWAGE_TRY_ASSIGN(const std::vector<Assurance> known, m_record.assurances(id));
  m_tools.assign(kTools.begin(), kTools.end());
  std::erase_if(m_tools, [&known](AssuranceKind kind) {
    return std::any_of(known.begin(), known.end(), [kind](const Assurance& assurance) {
      return assurance.kind == kind && assurance.verdict == AssuranceVerdict::Passed;
    });
  });
  if (m_tools.empty() || !candidate.program.plan.hasKernels()) {
    return {};
  }
  SWAGE_TRY_ASSIGN(const std::string binary, m_record.binary(candidate.binaryHash));
  m_folder = std::make_unique<QTemporaryDir>();
  const std::filesystem::path folder = m_folder->path().toStdString();
  SWAGE_TRY(writeFileAtomically(folder / "plan.json", domain::toJson(candidate.program.plan).dump()));
  SWAGE_TRY(writeFileAtomically(folder / "kernel.cubin", binary));
  m_current = std::move(candidate);
  ++m_checked;
  return {};
}

Result<> SanitizerPass::excuse(domain::CandidateId id, const std::string& why) {
  SWAGE_TRY_ASSIGN(const std::vector<Assurance> known, m_record.assurances(id));
  for (const AssuranceKind kind : kTools) {
    const bool isKnown =
        std::any_of(known.begin(), known.end(), [kind](const Assurance& assurance) { return assurance.kind == kind; });
    if (!isKnown) {
      SWAGE_TRY(m_record.setAssurance(id, {.kind = kind, .verdict = AssuranceVerdict::Unavailable, .detail = why}));
    }
  }
  return {};
}

void SanitizerPass::runTool() {
  const std::string folder = m_folder->path().toStdString();
  LaunchCommand command;
  command.program = m_options.sanitizer;
  // Calls that fail are no errors of the candidate: the replay asks the driver things that it may refuse.
  command.arguments = {"--tool",
                       std::string(sanitizerTool(m_tools.front())),
                       "--report-api-errors",
                       "no",
                       "--print-limit",
                       "3",
                       m_options.replay,
                       std::to_string(m_options.ordinal),
                       folder + "/plan.json",
                       folder + "/kernel.cubin"};
  command.environment = {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}};
  m_run = {};
  m_run.limitSeconds = std::chrono::duration<double>(m_options.toolLimit).count();
  m_child = std::make_unique<ChildProcess>(std::string(sanitizerTool(m_tools.front())));
  connect(m_child.get(), &ChildProcess::output, this, [this](const QByteArray& bytes) {
    const std::size_t room = kMaxOutput - std::min(kMaxOutput, m_run.output.size());
    m_run.output.append(bytes.constData(), std::min(room, static_cast<std::size_t>(bytes.size())));
  });
  connect(m_child.get(), &ChildProcess::ended, this, &SanitizerPass::handleEnd);
  m_toolElapsed.start();
  m_limit.start(m_options.toolLimit);
  m_child->start(command);
}

void SanitizerPass::handleEnd(const ChildEnd& end) {
  m_limit.stop();
  m_child.release()->deleteLater();  // we are inside its signal
  if (m_cancelled) {
    conclude({});
    return;
  }
  m_run.exitCode = end.exitCode;
  m_run.crashed = end.kind != ChildEnd::Kind::Exited;
  m_run.output += end.kind == ChildEnd::Kind::FailedToStart ? end.detail : end.lastLines;
  Assurance assurance = readSanitizerRun(m_tools.front(), m_run);
  assurance.seconds = static_cast<double>(m_toolElapsed.elapsed()) * 1e-3;
  log::debug("[{}] candidate {}: {} {}", sanitizerTool(assurance.kind), m_current->id.value(),
             domain::name(assurance.verdict), assurance.detail);
  if (const Result<> settled = settle(assurance); !settled) {
    conclude(settled);
    return;
  }
  if (m_tools.empty()) {
    m_current.reset();
    m_folder.reset();
    next();
  } else {
    runTool();
  }
}

Result<> SanitizerPass::settle(const Assurance& assurance) {
  m_tools.erase(m_tools.begin());
  SWAGE_TRY(m_record.setAssurance(m_current->id, assurance));
  if (assurance.verdict == AssuranceVerdict::Failed) {
    m_tools.clear();
    return reject(assurance);
  }
  return {};
}

Result<> SanitizerPass::reject(const Assurance& assurance) {
  m_current->evaluation = evaluationFor(assurance);
  SWAGE_TRY(m_record.setEvaluation(m_current->id, *m_current->evaluation, m_current->elapsedSeconds));
  m_searcher.retract(m_current->id);
  Q_EMIT rejected(*m_current);
  return {};
}

void SanitizerPass::conclude(const Result<>& done) {
  if (!std::exchange(m_finished, true)) {
    m_current.reset();
    Q_EMIT finished(done);
  }
}

}  // namespace swage::engine
