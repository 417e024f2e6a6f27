// SPDX-License-Identifier: Apache-2.0
#include "core/engine/record_queue.h"

#include <utility>

#include "core/engine/recorded_activity.h"

namespace swage::engine {

RecordQueue::RecordQueue(std::filesystem::path project) : m_project(std::move(project)) {}

QFuture<Result<services::CandidateIds>> RecordQueue::candidateIds(const store::CandidateQuery& query) {
  return m_answers.ask<services::CandidateIds>(
      [this, query](const AnswerThread::IsCancelled& isCancelled) -> Result<services::CandidateIds> {
        SWAGE_TRY_ASSIGN(const store::Record* record, reader());
        SWAGE_TRY_ASSIGN(std::vector<domain::CandidateId> ids, record->candidateIds(query, isCancelled));
        return services::CandidateIds(std::make_shared<const std::vector<domain::CandidateId>>(std::move(ids)));
      });
}

QFuture<Result<services::RunActivity>> RecordQueue::activity(domain::RunId run) {
  return m_answers.ask<services::RunActivity>(
      [this, run](const AnswerThread::IsCancelled&) -> Result<services::RunActivity> {
        SWAGE_TRY_ASSIGN(const store::Record* record, reader());
        return recordedActivity(*record, run);
      });
}

QFuture<Result<domain::AnnotationEdit>> RecordQueue::annotate(const domain::AnnotationEdit& edit) {
  return m_answers.ask<domain::AnnotationEdit>(
      [this, edit](const AnswerThread::IsCancelled&) -> Result<domain::AnnotationEdit> {
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
