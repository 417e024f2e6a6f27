// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/draft_compiler.h"

namespace swage::ui {

DraftCompiler::DraftCompiler(services::CompileService* service, QObject* parent) : QObject(parent), m_service(service) {
  m_rest.setSingleShot(true);
  m_rest.setInterval(kRest);
  connect(&m_rest, &QTimer::timeout, this, &DraftCompiler::compileNow);
  if (m_service != nullptr) {
    connect(m_service, &services::CompileService::compiled, this, &DraftCompiler::handleCompiled);
  }
}

DraftCompiler::~DraftCompiler() = default;

void DraftCompiler::setDraft(const services::DraftSource& draft) {
  if (m_service == nullptr || m_draft == draft) {
    return;
  }
  m_draft = draft;
  m_outcome.reset();
  m_number = 0;  // whatever is on its way belongs to an older text
  m_rest.start();
  Q_EMIT changed();
}

void DraftCompiler::compileNow() {
  m_rest.stop();
  if (m_draft && !m_outcome && m_number == 0) {
    m_number = m_service->compile(*m_draft);
    Q_EMIT changed();
  }
}

void DraftCompiler::clear() {
  if (!m_draft) {
    return;
  }
  m_rest.stop();
  m_draft.reset();
  m_outcome.reset();
  m_number = 0;
  m_service->cancel();
  Q_EMIT changed();
}

void DraftCompiler::handleCompiled(std::uint64_t number, const Result<domain::CompileOutcome>& outcome) {
  if (number == m_number && number != 0) {
    m_number = 0;
    m_outcome = outcome;
    Q_EMIT changed();
  }
}

}  // namespace swage::ui
