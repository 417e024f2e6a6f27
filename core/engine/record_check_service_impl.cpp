// SPDX-License-Identifier: Apache-2.0
#include "core/engine/record_check_service_impl.h"

#include <QPromise>
#include <QThreadPool>

#include <memory>

#include "core/store/database.h"

namespace swage::engine {
namespace {

Result<> check(const std::filesystem::path& file) {
  SWAGE_TRY_ASSIGN(const auto database,
                   store::Database::open(file, {.access = store::Access::ReadOnly, .check = store::Check::Quick}));
  static_cast<void>(database);  // opening it was the question
  return {};
}

}  // namespace

RecordCheckServiceImpl::RecordCheckServiceImpl(QObject* parent) : RecordCheckService(parent) {
  connect(&m_check, &QFutureWatcherBase::finished, this, [this] { Q_EMIT finished(m_check.result()); });
}

RecordCheckServiceImpl::~RecordCheckServiceImpl() {
  m_check.waitForFinished();
}

void RecordCheckServiceImpl::start(const std::filesystem::path& project) {
  auto promise = std::make_shared<QPromise<Result<>>>();
  m_check.setFuture(promise->future());
  QThreadPool::globalInstance()->start([promise, file = project / "runs.sqlite"] {
    promise->start();
    promise->addResult(check(file));
    promise->finish();
  });
}

}  // namespace swage::engine
