// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/run/proposer.h"

namespace swage::testing {

[[nodiscard]] inline domain::ProposerName proposerName(std::string_view text) {
  return domain::ProposerName::parse(text).value();
}

// A proposer that does at each question what its test says, and keeps what it is told.
class ScriptedProposer final : public run::Proposer {
 public:
  using Script = std::function<void(ScriptedProposer&)>;

  ScriptedProposer(std::string_view name, Script onAsk) : Proposer(proposerName(name)), m_onAsk(std::move(onAsk)) {}

  [[nodiscard]] int width() const override { return mayOwe; }
  [[nodiscard]] search::Cost mostCost() const override { return most; }
  [[nodiscard]] std::chrono::milliseconds patience() const override { return std::chrono::seconds(30); }
  [[nodiscard]] bool isResting() const override { return rests; }
  [[nodiscard]] std::optional<Error> trouble() const override { return failedLast; }
  void ask() override {
    ++asked;
    m_onAsk(*this);
  }
  void hear(const run::CandidateEnd& end) override {
    heard.push_back(end.candidate);
    if (end.isElite) {
      ++elites;
    }
  }
  void observe(const run::CandidateEnd& end) override { observed.push_back(end.candidate); }
  void pause() override { ++pauses; }
  void resume() override { ++resumed; }
  void stop() override { isStopped = true; }

  int mayOwe = 1;
  search::Cost most;
  bool rests = false;
  std::optional<Error> failedLast;
  int asked = 0;
  int elites = 0;
  int pauses = 0;
  int resumed = 0;
  bool isStopped = false;
  std::vector<store::CandidateRecord> heard;
  std::vector<store::CandidateRecord> observed;

 private:
  Script m_onAsk;
};

}  // namespace swage::testing
