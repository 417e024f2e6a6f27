// SPDX-License-Identifier: Apache-2.0
#include "core/engine/record_check_service_impl.h"

#include "core/store/record_upkeep.h"

namespace swage::engine {

RecordCheckServiceImpl::RecordCheckServiceImpl(QObject* parent) : RecordCheckService(parent) {
  connect(&m_check, &QFutureWatcherBase::finished, this, [this] { Q_EMIT finished(m_check.result()); });
}

void RecordCheckServiceImpl::start(const std::filesystem::path& project) {
  m_check.setFuture(m_thread.ask<void>([project](const AnswerThread::IsCancelled& isCancelled) -> Result<> {
    SWAGE_TRY_ASSIGN(const store::RecordCheck check, store::checkRecord(project, isCancelled));
    return store::verdictOf(check, project);
  }));
}

}  // namespace swage::engine
