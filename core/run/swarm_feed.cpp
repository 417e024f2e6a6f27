// SPDX-License-Identifier: Apache-2.0
#include "core/run/swarm_feed.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace swage::run {
namespace {

using services::PairOrder;
using services::PairStanding;
using Kind = PairOrder::Kind;

std::string doingOf(const judge::PairState& state) {
  if (state.isPaused) {
    return "paused";
  }
  if (state.rule.empty()) {
    return "waits for a fast candidate";
  }
  std::string rule = state.rule;
  std::replace(rule.begin(), rule.end(), '_', ' ');
  return (state.pass == domain::AdvicePass::Functional ? "mends: " : "follows: ") + rule;
}

PairStanding& standingOf(std::vector<PairStanding>& all, int pair, const std::string& model) {
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const PairStanding& one) { return one.pair == pair && one.model == model; });
  if (found != all.end()) {
    return *found;
  }
  PairStanding& added = all.emplace_back();
  added.pair = pair;
  added.model = model;
  return added;
}

}  // namespace

SwarmFeed::SwarmFeed(Parts parts, QObject* parent) : QObject(parent), m_parts(std::move(parts)) {
  for (ModelProposer* model : m_parts.models) {
    connect(model, &ModelProposer::called, this,
            [this, name = model->name().text()](const auto& outcome) { m_board.called(name, outcome); });
    connect(model, &ModelProposer::talked, this, [this](const services::TalkSummary& talk) { m_board.talked(talk); });
  }
}

void SwarmFeed::take(const judge::SwarmNews& news) {
  if (news.scored) {
    m_board.scored(*news.scored);
  }
  for (const judge::GivenAdvice& given : news.given) {
    m_board.given(given);
  }
}

void SwarmFeed::keepSpeedup(const store::CandidateRecord& candidate) {
  const domain::Correct* correct = candidate.evaluation ? domain::asCorrect(*candidate.evaluation) : nullptr;
  if (correct != nullptr) {
    m_speedups[candidate.id.value()] = correct->timing.speedup;
  }
}

void SwarmFeed::ended(const store::CandidateRecord& candidate) {
  keepSpeedup(candidate);
  const std::string& maker = candidate.madeBy.text();
  if (modelNamed(maker) == nullptr) {
    return;
  }
  const auto speedup = [this](domain::CandidateId id) {
    const auto found = m_speedups.find(id.value());
    return found == m_speedups.end() ? 0.0 : found->second;
  };
  m_board.ended(maker, candidate.id, speedup(candidate.id),
                candidate.parents.empty() ? 0.0 : speedup(candidate.parents.front()));
}

ModelProposer* SwarmFeed::modelNamed(const std::string& name) const {
  const auto found = std::find_if(m_parts.models.begin(), m_parts.models.end(),
                                  [&name](const ModelProposer* one) { return one->name().text() == name; });
  return found == m_parts.models.end() ? nullptr : *found;
}

Result<> SwarmFeed::follow(const PairOrder& order) {
  if (order.model.empty()) {
    return followByPair(order);
  }
  ModelProposer* model = modelNamed(order.model);
  if (model == nullptr) {
    return Error(ErrorKind::NotFound, fmt::format("no model '{}' takes part in this run", order.model));
  }
  switch (order.kind) {
    case Kind::Pause:
    case Kind::Resume: m_parts.pool->hold(model->name(), order.kind == Kind::Pause); return {};
    case Kind::Say: model->say(order.text); return {};
    case Kind::TakeRole: break;
  }
  return Error(ErrorKind::InvalidInput, "a model has no role");
}

Result<> SwarmFeed::followByPair(const PairOrder& order) {
  const auto done = [&order](bool isThere) {
    return isThere ? Result<>() : Result<>(Error(ErrorKind::NotFound, fmt::format("there is no pair {}", order.pair)));
  };
  if (m_parts.swarm == nullptr) {
    return Error(ErrorKind::NotFound, "this run has no judge, and so no pairs");
  }
  switch (order.kind) {
    case Kind::Pause:
    case Kind::Resume: return done(m_parts.swarm->setPaused(order.pair, order.kind == Kind::Pause));
    case Kind::TakeRole:
      if (const auto role = judge::parseRole(order.text)) {
        return done(m_parts.swarm->setRole(order.pair, *role));
      }
      return Error(ErrorKind::InvalidInput, fmt::format("there is no role '{}'", order.text));
    case Kind::Say: break;
  }
  return Error(ErrorKind::InvalidInput, "built-in pairs follow rules and cannot read text; choose a role instead");
}

services::SwarmReport SwarmFeed::report() const {
  std::set<std::int64_t> holders;
  if (m_parts.searcher != nullptr) {
    for (const search::PlacedElite& placed : m_parts.searcher->archive().elites()) {
      holders.insert(placed.elite->candidate.value());
    }
  }
  services::SwarmReport report = m_board.report(holders);
  report.budgetCents = m_parts.budget.cents;
  report.budgetTokens = m_parts.budget.tokens;
  if (m_parts.swarm != nullptr) {
    report.guidedShare = m_parts.swarm->guidedShare();
  }
  addStates(report.pairs);
  addModels(report);
  std::stable_sort(report.pairs.begin(), report.pairs.end(), [](const PairStanding& a, const PairStanding& b) {
    return a.model.empty() == b.model.empty() ? a.pair < b.pair : !a.model.empty();
  });
  return report;
}

void SwarmFeed::addStates(std::vector<PairStanding>& pairs) const {
  if (m_parts.swarm == nullptr) {
    return;
  }
  for (const judge::PairState& state : m_parts.swarm->pairs()) {
    PairStanding& standing = standingOf(pairs, state.pair, {});
    standing.island = state.island;
    standing.role = judge::name(state.role);
    standing.isRoleGiven = state.isRoleGiven;
    standing.isFunctional = state.pass == domain::AdvicePass::Functional;
    standing.isPaused = state.isPaused;
    standing.about = state.about;
    standing.doing = doingOf(state);
  }
}

void SwarmFeed::addModels(services::SwarmReport& report) const {
  for (const ModelProposer* model : m_parts.models) {
    PairStanding& standing = standingOf(report.pairs, -1, model->name().text());
    standing.isPaused = m_parts.pool->isHeld(model->name());
    standing.doing = standing.isPaused ? "paused" : model->doing();
    standing.about = model->about();
    standing.isFunctional = model->isMending();
    standing.waitingWords = model->waitingWords();
    if (const search::ProposerCredit* credit = m_parts.pool->credits().find(model->name())) {
      standing.seconds += credit->trialSeconds;
    }
    const auto waiting = model->waitingPrompts();
    report.waiting.insert(report.waiting.end(), waiting.begin(), waiting.end());
  }
}

}  // namespace swage::run
