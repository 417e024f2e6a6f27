// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <memory>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/process/compiler_pool.h"
#include "core/run/candidate_pipeline.h"
#include "core/run/finishing_pass.h"
#include "core/run/proposer_pool.h"
#include "core/run/session_parts.h"
#include "core/services/edit_service.h"
#include "core/store/record.h"
#include "core/store/task_bundle.h"
#include "core/trust/rig.h"
#include "core/trust/sanitizer_pass.h"

namespace swage::run {

// Takes one edit of a recorded candidate the way of every candidate, on the device of its run: the device's self-test,
// the checks of the source, compiler, duplicates, verification, timing, record, cell. A source is compiled while the
// worker starts, and what does not compile ends without waiting for it. What then looks faster than the
// winner of a finished run is measured again beside it, longer, and takes its place if it is surely faster; on a GPU
// compute-sanitizer comes before. Locks the project meanwhile. Emits finished() exactly once, when every process it
// started is gone and the record is closed. One thread only; nothing here waits but for the record.
class EditEvaluation : public QObject {
  Q_OBJECT

 public:
  EditEvaluation(SessionParts parts, services::EditSpec spec, QObject* parent = nullptr);
  ~EditEvaluation() override;

  void start();
  void cancel();

 Q_SIGNALS:
  void stageChanged(const std::string& stage);  // a handler may cancel
  void finished(const swage::Result<swage::services::EditOutcome>& outcome);

 private:
  [[nodiscard]] Result<> prepare();
  [[nodiscard]] Result<> compileEarly();
  void startRig();
  [[nodiscard]] Result<> admit(const domain::DeviceInfo& device) const;
  void handleReady(const wire::TaskReady& task);
  void submitWhenPossible();
  [[nodiscard]] Result<> submit();
  void startCompilers();
  [[nodiscard]] Result<Offer> edited() const;
  [[nodiscard]] const domain::DeviceInfo& device() const;
  [[nodiscard]] CandidatePipeline::Options pipelineOptions() const;
  void handleEnded(const store::CandidateRecord& candidate);
  void handleDrained();
  void sanitise();
  void challengeWinner();
  void handleWinner(const Result<domain::CandidateId>& winner);
  [[nodiscard]] bool isElite() const;
  [[nodiscard]] bool mayWin() const;
  [[nodiscard]] Result<services::EditOutcome> outcome();
  void fail(const Error& error) { conclude(error); }
  void conclude(Result<services::EditOutcome> outcome);
  void finishWhenQuiet();

  SessionParts m_parts;
  services::EditSpec m_spec;
  std::optional<store::Record> m_record;
  store::CandidateRecord m_parent;
  store::RunRow m_run;
  std::optional<store::TaskBundle> m_bundle;
  std::optional<wire::TaskReady> m_task;  // once the worker has it
  bool m_compilesEarly = false;
  std::optional<domain::CompileOutcome> m_compiled;  // once that is done
  std::optional<store::CandidateRecord> m_edit;      // once it has ended

  // In this order: a pipeline borrows from all the others.
  std::unique_ptr<synth::Synthesizer> m_synthesizer;
  std::unique_ptr<search::Searcher> m_searcher;
  std::unique_ptr<search::Searcher> m_onlyEdit;  // whose one elite is the edit
  ProposerPool m_proposers{ProposerPool::Options(), this};
  std::unique_ptr<trust::Rig> m_rig;
  std::unique_ptr<process::CompilerPool> m_compilers;
  std::unique_ptr<CandidatePipeline> m_pipeline;
  std::unique_ptr<trust::SanitizerPass> m_sanitizing;
  std::unique_ptr<FinishingPass> m_finishing;

  std::optional<Result<services::EditOutcome>> m_outcome;
  bool m_compilersGone = true;
  bool m_finishedEmitted = false;
};

}  // namespace swage::run
