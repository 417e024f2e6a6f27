// SPDX-License-Identifier: Apache-2.0
#include "core/engine/self_test_service_impl.h"

#include "core/base/assert.h"
#include "core/base/log.h"
#include "core/trust/self_test_gate.h"

namespace swage::engine {

SelfTestServiceImpl::SelfTestServiceImpl(run::SessionParts parts, std::filesystem::path corpus, QObject* parent)
    : SelfTestService(parent), m_parts(std::move(parts)), m_corpus(std::move(corpus)) {}

SelfTestServiceImpl::~SelfTestServiceImpl() = default;

void SelfTestServiceImpl::start() {
  SWAGE_ASSERT(!m_choice);
  m_choice = std::make_unique<process::TargetChoice>(m_parts.programs.bridge, "auto", m_parts.programs.driver());
  connect(m_choice.get(), &process::TargetChoice::finished, this, &SelfTestServiceImpl::run);
  m_choice->start();
}

void SelfTestServiceImpl::cancel() {
  if (m_test) {
    m_test->cancel();
  } else if (m_choice) {
    m_choice->cancel();
  }
}

std::vector<services::StoredVerdict> SelfTestServiceImpl::storedVerdicts() const {
  if (!m_parts.selfTest) {
    return {};
  }
  const trust::SelfTest::Options options =
      trust::selfTestOptions(m_parts.programs, domain::DeviceKind::Cpu);  // the programs are the same
  return trust::storedVerdicts(m_parts.selfTest->verdicts,
                               trust::buildOf(options.worker.program, options.compiler.program));
}

void SelfTestServiceImpl::run(const Result<domain::DeviceKind>& target) {
  if (!target) {
    finish(target.error());
    return;
  }
  auto corpus = trust::SelfTestCorpus::load(m_corpus, *target);
  if (!corpus) {
    finish(corpus.error());
    return;
  }
  m_corpusHash = corpus->hash;
  m_test = std::make_unique<trust::SelfTest>(std::move(*corpus), trust::selfTestOptions(m_parts.programs, *target));
  connect(m_test.get(), &trust::SelfTest::caseEnded, this, &SelfTestServiceImpl::caseEnded);
  connect(m_test.get(), &trust::SelfTest::finished, this, &SelfTestServiceImpl::handleReport);
  m_test->start();
}

void SelfTestServiceImpl::handleReport(const Result<services::SelfTestReport>& report) {
  if (report && m_parts.selfTest) {
    const trust::SelfTest::Options options = trust::selfTestOptions(m_parts.programs, report->device.kind);
    const trust::SelfTestKey key{report->device, report->torchVersion,
                                 trust::buildOf(options.worker.program, options.compiler.program), m_corpusHash};
    const Result<> kept =
        trust::keepVerdict(m_parts.selfTest->verdicts, key, report->hasPassed(), report->cases.size());
    if (!kept) {
      log::warn("cannot keep the verdict of the self-test: {}", kept.error().message());
    }
  }
  finish(report);
}

void SelfTestServiceImpl::finish(const Result<services::SelfTestReport>& report) {
  // What is emitting right now may not be destroyed before it has returned.
  if (m_test) {
    m_test.release()->deleteLater();
  }
  m_choice.release()->deleteLater();
  Q_EMIT finished(report);
}

}  // namespace swage::engine
