// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QTimer>

#include "core/services/swarm_service.h"

namespace swage::workbench {

// 32 pairs and eight models that write 250,000 tokens a second together: reports as often as an engine makes them, each
// with as many new conversations and advice as came meanwhile. Nobody listens to orders.
class SyntheticSwarm final : public services::SwarmService {
  Q_OBJECT

 public:
  static constexpr double kTokensPerSecond = 250'000.0;
  static constexpr int kTokensPerReply = 1000;

  explicit SyntheticSwarm(QObject* parent = nullptr);
  void start();

  void order(const services::PairOrder&) override {}
  [[nodiscard]] QFuture<Result<services::ReplyCheck>> checkReply(const std::string& text) override;
  [[nodiscard]] Result<std::string> promptText(const services::WaitingPrompt& prompt) const override;
  [[nodiscard]] Result<> sendReply(const services::WaitingPrompt& prompt, const std::string& text) override;
  [[nodiscard]] QFuture<Result<services::SwarmSnapshot>> recorded(const std::filesystem::path& project,
                                                                  domain::RunId run) const override;
  [[nodiscard]] QFuture<Result<services::Talk>> talk(const std::filesystem::path& project, domain::RunId run,
                                                     domain::CandidateId candidate) const override;

 private:
  [[nodiscard]] services::SwarmSnapshot report() const;

  QTimer m_tick;
  QElapsedTimer m_clock;
};

}  // namespace swage::workbench
