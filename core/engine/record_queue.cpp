// SPDX-License-Identifier: Apache-2.0
#include "core/engine/record_queue.h"

#include <QPromise>

#include <utility>

#include "core/engine/recorded_activity.h"

namespace swage::engine {

RecordQueue::RecordQueue(std::filesystem::path project) : m_project(std::move(project)) {
  m_thread.setMaxThreadCount(1);
  m_thread.setExpiryTimeout(-1);  // the connections stay with one thread
}

RecordQueue::~RecordQueue() {
  m_closing = true;
  m_thread.waitForDone();
}

template <class T>
QFuture<Result<T>> RecordQueue::enqueue(std::function<Result<T>(const std::function<bool()>& isCancelled)> work) {
  auto promise = std::make_shared<QPromise<Result<T>>>();
  QFuture<Result<T>> future = promise->future();
  promise->start();
  m_thread.start([this, promise, work = std::move(work)] {
    const auto isCancelled = [this, &promise] { return m_closing || promise->isCanceled(); };
    promise->addResult(promise->isCanceled() ? Result<T>(Error(ErrorKind::Cancelled, "the question was taken back"))
                                             : work(isCancelled));
    promise->finish();
  });
  return future;
}

QFuture<Result<services::CandidateIds>> RecordQueue::candidateIds(const store::CandidateQuery& query) {
  return enqueue<services::CandidateIds>(
      [this, query](const std::function<bool()>& isCancelled) -> Result<services::CandidateIds> {
        SWAGE_TRY_ASSIGN(const store::Record* record, reader());
        SWAGE_TRY_ASSIGN(std::vector<domain::CandidateId> ids, record->candidateIds(query, isCancelled));
        return services::CandidateIds(std::make_shared<const std::vector<domain::CandidateId>>(std::move(ids)));
      });
}

QFuture<Result<services::RunActivity>> RecordQueue::activity(domain::RunId run) {
  return enqueue<services::RunActivity>([this, run](const std::function<bool()>&) -> Result<services::RunActivity> {
    SWAGE_TRY_ASSIGN(const store::Record* record, reader());
    return recordedActivity(*record, run);
  });
}

QFuture<Result<domain::AnnotationEdit>> RecordQueue::annotate(const domain::AnnotationEdit& edit) {
  return enqueue<domain::AnnotationEdit>([this, edit](const std::function<bool()>&) -> Result<domain::AnnotationEdit> {
    SWAGE_TRY_ASSIGN(const store::Annotations* annotations, writer());
    return annotations->apply(edit);
  });
}

Result<const store::Record*> RecordQueue::reader() {
  if (!m_reader) {
    SWAGE_TRY_ASSIGN(store::Record record, store::Record::open(m_project, store::Record::Mode::ReadOnly));
    m_reader.emplace(std::move(record));
  }
  return &*m_reader;
}

Result<const store::Annotations*> RecordQueue::writer() {
  if (!m_writer) {
    SWAGE_TRY_ASSIGN(store::Annotations annotations, store::Annotations::open(m_project));
    m_writer.emplace(std::move(annotations));
  }
  return &*m_writer;
}

}  // namespace swage::engine
