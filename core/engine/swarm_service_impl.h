// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/answer_thread.h"
#include "core/engine/run_service_impl.h"
#include "core/services/swarm_service.h"

namespace swage::engine {

// The pairs of the run in progress, by its session; of others, by their record, which is read on a thread of its own.
class SwarmServiceImpl final : public services::SwarmService {
  Q_OBJECT

 public:
  // `run` outlives this.
  explicit SwarmServiceImpl(RunServiceImpl& run, QObject* parent = nullptr);

  void order(const services::PairOrder& order) override;
  [[nodiscard]] QFuture<Result<services::ReplyCheck>> checkReply(const std::string& text) override;
  [[nodiscard]] Result<std::string> promptText(const services::WaitingPrompt& prompt) const override;
  [[nodiscard]] Result<> sendReply(const services::WaitingPrompt& prompt, const std::string& text) override;
  [[nodiscard]] QFuture<Result<services::SwarmSnapshot>> recorded(const std::filesystem::path& project,
                                                                  domain::RunId run) const override;
  [[nodiscard]] QFuture<Result<services::Talk>> talk(const std::filesystem::path& project, domain::RunId run,
                                                     domain::CandidateId candidate) const override;

 private:
  RunServiceImpl& m_run;
  mutable AnswerThread m_thread;
};

}  // namespace swage::engine
