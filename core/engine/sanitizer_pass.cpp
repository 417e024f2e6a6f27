// SPDX-License-Identifier: Apache-2.0
#include "core/engine/sanitizer_pass.h"

#include <algorithm>
#include <utility>

#include "core/base/log.h"

namespace swage::engine {
namespace {

using domain::Assurance;
using domain::AssuranceKind;
using domain::AssuranceVerdict;

}  // namespace

SanitizerPass::SanitizerPass(store::Record& record, search::Searcher& searcher, Options options, QObject* parent)
    : QObject(parent),
      m_record(record),
      m_searcher(searcher),
      m_options(std::move(options)),
      m_elites(contendersOf(searcher.archive())) {}

void SanitizerPass::start() {
  m_elapsed.start();
  QTimer::singleShot(0, this, &SanitizerPass::next);
}

void SanitizerPass::cancel() {
  m_cancelled = true;
  if (m_check) {
    m_check->cancel();
  }
}

void SanitizerPass::next() {
  if (m_cancelled || m_nextElite == m_elites.size()) {
    conclude({});
    return;
  }
  const domain::CandidateId id = m_elites[m_nextElite++].id;
  Result<> prepared;
  if (m_options.check.sanitizer.empty()) {
    prepared = excuse(id, std::string(kNoSanitizer));
  } else if (static_cast<double>(m_elapsed.elapsed()) > m_options.budgetSeconds * 1e3) {
    prepared = excuse(id, "the time for it was over");
  } else {
    prepared = prepare(id);
  }
  if (!prepared) {
    conclude(prepared);
  } else if (!m_check) {
    QTimer::singleShot(0, this, &SanitizerPass::next);
  }
}

// Starts no check when there is nothing to check.
Result<> SanitizerPass::prepare(domain::CandidateId id) {
  SWAGE_TRY_ASSIGN(store::CandidateRecord candidate, m_record.candidate(id));
  SWAGE_TRY_ASSIGN(const std::vector<Assurance> known, m_record.assurances(id));
  std::vector<AssuranceKind> tools(kSanitizerTools.begin(), kSanitizerTools.end());
  std::erase_if(tools, [&known](AssuranceKind kind) {
    return std::any_of(known.begin(), known.end(), [kind](const Assurance& assurance) {
      return assurance.kind == kind && assurance.verdict == AssuranceVerdict::Passed;
    });
  });
  if (tools.empty() || !candidate.program.plan.hasKernels()) {
    return {};
  }
  SWAGE_TRY_ASSIGN(const std::string binary, m_record.binary(candidate.binaryHash));
  auto check = std::make_unique<SanitizerCheck>(m_options.check);
  connect(check.get(), &SanitizerCheck::found, this, &SanitizerPass::handleFound);
  connect(check.get(), &SanitizerCheck::finished, this, &SanitizerPass::handleChecked);
  SWAGE_TRY(check->start(candidate.program.plan, binary, tools));
  m_check = std::move(check);
  m_current = std::move(candidate);
  ++m_checked;
  return {};
}

Result<> SanitizerPass::excuse(domain::CandidateId id, const std::string& why) {
  SWAGE_TRY_ASSIGN(const std::vector<Assurance> known, m_record.assurances(id));
  for (const AssuranceKind kind : kSanitizerTools) {
    const bool isKnown =
        std::any_of(known.begin(), known.end(), [kind](const Assurance& assurance) { return assurance.kind == kind; });
    if (!isKnown) {
      SWAGE_TRY(m_record.setAssurance(id, {.kind = kind, .verdict = AssuranceVerdict::Unavailable, .detail = why}));
    }
  }
  return {};
}

void SanitizerPass::handleFound(const Assurance& assurance) {
  log::debug("[{}] candidate {}: {} {}", sanitizerTool(assurance.kind), m_current->id.value(),
             domain::name(assurance.verdict), assurance.detail);
  m_settled = m_record.setAssurance(m_current->id, assurance);
  if (m_settled && assurance.verdict == AssuranceVerdict::Failed) {
    m_settled = reject(assurance);
  }
  if (!m_settled) {
    m_check->cancel();
  }
}

void SanitizerPass::handleChecked() {
  m_check.release()->deleteLater();  // we are inside its signal
  m_current.reset();
  if (!m_settled) {
    conclude(m_settled);
  } else {
    next();
  }
}

Result<> SanitizerPass::reject(const Assurance& assurance) {
  m_current->evaluation = evaluationAfter(assurance);
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
