// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <string>
#include <unordered_map>
#include <vector>

#include "core/run/model_proposer.h"
#include "core/run/proposer_pool.h"
#include "core/run/swarm_board.h"
#include "core/search/searcher.h"

namespace swage::run {

// The pairs of a run in progress as a person sees them, and what a person tells them. One thread only.
class SwarmFeed : public QObject {
 public:
  // All of them outlive this.
  struct Parts {
    judge::Swarm* swarm = nullptr;  // null: a run without a judge
    ProposerPool* pool = nullptr;
    const search::Searcher* searcher = nullptr;  // null: no archive
    std::vector<ModelProposer*> models;
    search::Cost budget;  // 0: no limit
  };
  explicit SwarmFeed(Parts parts, QObject* parent = nullptr);

  // What earlier sittings did.
  void takeUp(SwarmBoard board) { m_board = std::move(board); }
  void takeUp(const store::CandidateRecord& candidate) { keepSpeedup(candidate); }
  void take(const judge::SwarmNews& news);
  void ended(const store::CandidateRecord& candidate);
  // NotFound, InvalidInput: nobody can follow it.
  [[nodiscard]] Result<> follow(const services::PairOrder& order);
  [[nodiscard]] services::SwarmReport report() const;

 private:
  void keepSpeedup(const store::CandidateRecord& candidate);
  [[nodiscard]] Result<> followByPair(const services::PairOrder& order);
  [[nodiscard]] ModelProposer* modelNamed(const std::string& name) const;
  void addStates(std::vector<services::PairStanding>& pairs) const;
  void addModels(services::SwarmReport& report) const;

  Parts m_parts;
  SwarmBoard m_board;
  std::unordered_map<std::int64_t, double> m_speedups;  // over eager, of the correct ones
};

}  // namespace swage::run
