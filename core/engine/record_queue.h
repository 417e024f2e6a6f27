// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QFuture>

#include <filesystem>
#include <optional>

#include "core/engine/answer_thread.h"
#include "core/services/record_service.h"
#include "core/store/annotations.h"
#include "core/store/record.h"

namespace swage::engine {

// What of a record may take longer than a frame, one after the other on a thread of its own with connections of its
// own. Its futures are finished on that thread; a cancelled one is not begun, or is given up within milliseconds.
// Destroying the queue gives up what it searches, and waits until what it was given to write is written.
class RecordQueue {
 public:
  explicit RecordQueue(std::filesystem::path project);

  [[nodiscard]] QFuture<Result<services::CandidateIds>> candidateIds(const store::CandidateQuery& query);
  [[nodiscard]] QFuture<Result<services::RunActivity>> activity(domain::RunId run);
  [[nodiscard]] QFuture<Result<domain::AnnotationEdit>> annotate(const domain::AnnotationEdit& edit);

 private:
  [[nodiscard]] Result<const store::Record*> reader();
  [[nodiscard]] Result<const store::Annotations*> writer();

  std::filesystem::path m_project;
  std::optional<store::Record> m_reader;       // of the queue's thread
  std::optional<store::Annotations> m_writer;  // of the queue's thread
  AnswerThread m_answers;                      // goes first
};

}  // namespace swage::engine
