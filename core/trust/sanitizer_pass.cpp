// SPDX-License-Identifier: Apache-2.0
#include "core/trust/sanitizer_pass.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/log.h"
#include "core/trust/first_blocks.h"

namespace swage::trust {
namespace {

using domain::Assurance;
using domain::AssuranceKind;
using domain::AssuranceVerdict;

// Of the device, beside the buffers: initcheck keeps a bit for each byte of them, and the process has a context of its
// own. Measured with CUDA 13.0 on an H200 and buffers of 18.0 GiB: 20.9 GiB under initcheck, 18.7 under the others.
constexpr double kNotesOfTool = 1.0 / 8.0;
constexpr double kBytesOfProcess = 1024.0 * 1024.0 * 1024.0;

// Racecheck keeps a note of every access to shared memory and reads all notes on the host: a product of 0.6 ms took it
// more than 30 s on 132 blocks. Blocks run the same code on different data, so of a long kernel a few must do.
constexpr double kLongNs = 100e3;
constexpr unsigned kRaceBlocks = 8;

unsigned blocksUnderRacecheck(const store::CandidateRecord& candidate) {
  const domain::Correct* correct = candidate.evaluation ? domain::asCorrect(*candidate.evaluation) : nullptr;
  const bool isLong = correct != nullptr && correct->timing.candidate.medianNs > kLongNs;
  return isLong && canBeCut(candidate.program.plan, candidate.kernels) ? kRaceBlocks : 0;
}

double bytesUnderTool(const domain::LaunchPlan& plan) {
  const std::vector<domain::ValueId> used = domain::buffersOfKernels(plan);
  const double buffers = std::accumulate(used.begin(), used.end(), 0.0, [&plan](double bytes, domain::ValueId id) {
    return bytes + static_cast<double>(plan.buffers[static_cast<std::size_t>(id.value())].byteCount());
  });
  return buffers * (1.0 + kNotesOfTool) + kBytesOfProcess;
}

}  // namespace

SanitizerPass::SanitizerPass(store::Record& record, search::Searcher& searcher, process::WorkerSupervisor& worker,
                             Options options, QObject* parent)
    : QObject(parent),
      m_record(record),
      m_searcher(searcher),
      m_worker(worker),
      m_options(std::move(options)),
      m_elites(search::contendersOf(searcher.archive())) {}

void SanitizerPass::start() {
  if (m_options.check.sanitizer.empty()) {
    QTimer::singleShot(0, this, [this] { handleRoom(0); });
    return;
  }
  connect(&m_worker, &process::WorkerSupervisor::roomMade, this, &SanitizerPass::handleRoom);
  m_worker.makeRoom();
}

void SanitizerPass::handleRoom(std::int64_t freeBytes) {
  m_freeBytes = freeBytes;
  m_elapsed.start();
  next();
}

void SanitizerPass::cancel() {
  m_stopped = true;
  QTimer::singleShot(0, this, &SanitizerPass::next);  // it may be the worker that is waited for
  for (const auto& job : m_jobs) {
    job->check->cancel();
  }
}

// Deals with one elite, and comes back for more while there may be room.
void SanitizerPass::next() {
  if (m_stopped || m_nextElite == m_elites.size()) {
    if (m_jobs.empty() && !std::exchange(m_finished, true)) {
      Q_EMIT finished(m_settled);
    }
    return;
  }
  if (static_cast<int>(m_jobs.size()) >= m_options.atOnce) {
    return;
  }
  const Result<bool> begun = begin(m_elites[m_nextElite].id);
  if (!begun) {
    m_settled = begun.error();
    cancel();
  } else if (!*begun) {
    return;
  } else {
    ++m_nextElite;
  }
  QTimer::singleShot(0, this, &SanitizerPass::next);
}

// Starts no check when there is nothing to check.
Result<bool> SanitizerPass::begin(domain::CandidateId id) {
  constexpr std::string_view kOver = "there was no time left for it";
  const bool isOver = static_cast<double>(m_elapsed.elapsed()) > m_options.budgetSeconds * 1e3;
  if (m_options.check.sanitizer.empty() || isOver) {
    SWAGE_TRY(excuse(id, std::string(m_options.check.sanitizer.empty() ? kNoSanitizer : kOver)));
    return true;
  }
  SWAGE_TRY_ASSIGN(store::CandidateRecord candidate, m_record.candidate(id));
  SWAGE_TRY_ASSIGN(const std::vector<Assurance> known, m_record.assurances(id));
  std::vector<AssuranceKind> tools(kSanitizerTools.begin(), kSanitizerTools.end());
  std::erase_if(tools, [&known](AssuranceKind kind) {
    return std::any_of(known.begin(), known.end(), [kind](const Assurance& assurance) {
      return assurance.kind == kind && assurance.verdict == AssuranceVerdict::Passed;
    });
  });
  if (tools.empty() || !candidate.program.plan.hasKernels()) {
    return true;
  }
  if (!m_jobs.empty() && !hasRoomFor(candidate)) {
    return false;
  }
  SWAGE_TRY_ASSIGN(const std::string binary, m_record.binary(candidate.binaryHash));
  SanitizerCheck::Options options = m_options.check;
  options.raceBlocks = blocksUnderRacecheck(candidate);
  options.toolLimit = std::min(options.toolLimit, remaining());
  auto job = std::make_unique<Job>(Job{std::move(candidate), std::make_unique<SanitizerCheck>(std::move(options))});
  connect(job->check.get(), &SanitizerCheck::found, this,
          [this, job = job.get()](const Assurance& assurance) { handleFound(*job, assurance); });
  connect(job->check.get(), &SanitizerCheck::finished, this, [this, job = job.get()] { handleChecked(*job); });
  SWAGE_TRY(job->check->start(job->candidate.program.plan, binary, tools));
  m_jobs.push_back(std::move(job));
  ++m_checked;
  return true;
}

// At least five seconds, in which a tool that was started gets through a small kernel.
std::chrono::milliseconds SanitizerPass::remaining() const {
  const auto budget = std::chrono::milliseconds(static_cast<std::int64_t>(m_options.budgetSeconds * 1e3));
  return std::max(budget - std::chrono::milliseconds(m_elapsed.elapsed()), std::chrono::milliseconds(5000));
}

bool SanitizerPass::hasRoomFor(const store::CandidateRecord& candidate) const {
  double bytes = bytesUnderTool(candidate.program.plan);
  for (const auto& job : m_jobs) {
    bytes += bytesUnderTool(job->candidate.program.plan);
  }
  return bytes <= static_cast<double>(m_freeBytes);
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

void SanitizerPass::handleFound(Job& job, const Assurance& assurance) {
  const domain::CandidateId id = job.candidate.id;
  log::debug("[{}] candidate {}: {} {}", sanitizerTool(assurance.kind), id.value(), domain::name(assurance.verdict),
             assurance.detail);
  Result<> settled = m_record.setAssurance(id, assurance);
  if (settled && assurance.verdict == AssuranceVerdict::Failed) {
    settled = reject(job, assurance);
  }
  if (!settled) {
    m_settled = settled;
    cancel();
  }
}

void SanitizerPass::handleChecked(Job& job) {
  job.check.release()->deleteLater();  // we are inside its signal
  std::erase_if(m_jobs, [&job](const auto& other) { return other.get() == &job; });
  next();
}

Result<> SanitizerPass::reject(Job& job, const Assurance& assurance) {
  job.candidate.evaluation = evaluationAfter(assurance);
  SWAGE_TRY(m_record.setEvaluation(job.candidate.id, *job.candidate.evaluation, job.candidate.elapsedSeconds));
  m_searcher.retract(job.candidate.id);
  Q_EMIT rejected(job.candidate);
  return {};
}

}  // namespace swage::trust
