// SPDX-License-Identifier: Apache-2.0
#include "core/judge/swarm.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/search/weighted_choice.h"

namespace swage::judge {
namespace {

using domain::Advice;
using domain::AdvicePass;

constexpr double kRate = 0.1;
constexpr double kFirstCredit = 0.5;
constexpr double kCreditFloor = 0.05;
constexpr double kFirstProposals = 5.0;  // that both kinds are taken to have had, with kFirstReward each
constexpr double kFirstReward = 0.05;
constexpr double kFading = 0.99;
constexpr double kWholeReward = 0.1;  // of the logarithm: a tenth faster than all before is all that can be earned
constexpr double kNear = 1.5;         // times slower than the best of its island, which is still worth working at
constexpr double kPaid = 1.01;        // less is noise
constexpr double kUnknownGain = 1.05;

void move(double& credit, double reward) {
  credit += kRate * (reward - credit);
}

double speedupOf(const search::Outcome& outcome) {
  return search::isTimed(outcome) ? outcome.overEager.value : 0.0;
}

// As if the rewards of an earlier run had come one by one, and each had been the mean; of many only the last count, so
// that a run can learn otherwise.
double creditAfter(double rewards, std::int64_t followed) {
  constexpr std::int64_t kMostRemembered = 20;
  const auto count = static_cast<double>(std::min(followed, kMostRemembered));
  const double mean = std::clamp(rewards / static_cast<double>(followed), 0.0, 1.0);
  return mean + (kFirstCredit - mean) * std::pow(1.0 - kRate, count);
}

}  // namespace

bool hasPaid(const ScoredAdvice& scored) {
  return scored.pass == AdvicePass::Functional ? scored.achievedGain > 0.0 : scored.achievedGain >= kPaid;
}

Swarm::Swarm(const RuleBook& rules, SwarmOptions options) : m_rules(rules), m_options(std::move(options)) {
  m_options.pairs = std::max(m_options.pairs, 1);
  m_options.islands = std::max(m_options.islands, 1);
  for (int i = 0; i < m_options.pairs; ++i) {
    Pair& pair = m_pairs.emplace_back();
    pair.state.pair = i;
    pair.state.island = i % m_options.islands;
    pair.state.role = static_cast<Role>(i / m_options.islands % kRoleCount);
  }
  for (int i = 0; i < kRoleCount; ++i) {
    m_roleCredit[static_cast<Role>(i)] = kFirstCredit;
  }
}

void Swarm::Earnings::add(double reward) {
  rewards = kFading * rewards + reward;
  proposals = kFading * proposals + 1.0;
}

double Swarm::Earnings::mean() const {
  return (rewards + kFirstProposals * kFirstReward) / (proposals + kFirstProposals);
}

double Swarm::guidedShare() const {
  const double guided = m_guided.mean();
  return std::max(kLeast, kMost * guided / (guided + m_own.mean()));
}

double Swarm::worth(const Advice& advice) const {
  const auto known = m_ruleCredit.find(advice.rule);
  const double credit = known == m_ruleCredit.end() ? kFirstCredit : std::max(known->second, kCreditFloor);
  return std::log(std::max(advice.expectedGain.value_or(kUnknownGain), 1.0)) * credit;
}

Swarm::Turn Swarm::next() {
  Random random(Random(m_options.seed ^ Random(m_turn + 0x5a17).next()).next());
  Turn turn;
  turn.pair = static_cast<int>(m_turn % m_pairs.size());
  ++m_turn;
  std::vector<std::size_t> ready;
  std::vector<double> weights;
  for (std::size_t i = 0; i < m_pairs.size(); ++i) {
    if (m_pairs[i].current() != nullptr && !m_pairs[i].state.isPaused) {
      ready.push_back(i);
      weights.push_back(std::max(m_pairs[i].state.quality, kCreditFloor));
    }
  }
  if (ready.empty() || !random.chance(guidedShare())) {
    return turn;
  }
  Pair& pair = m_pairs[ready[search::pickWeighted(weights, random)]];
  const Subject& subject = *pair.current();
  turn.pair = pair.state.pair;
  turn.guidance = guidanceOf(pair, subject);
  turn.advice = GivenAdvice{pair.state.pair, pair.state.role, subject.candidate, subject.advice.front()};
  turn.speedup = subject.speedup;
  useUp(pair);
  return turn;
}

search::Guidance Swarm::guidanceOf(const Pair& pair, const Subject& subject) const {
  search::Guidance guidance;
  guidance.base = subject.candidate;
  guidance.genome = subject.genome;
  guidance.island = pair.state.island;
  if (const Rule* rule = m_rules.find(subject.advice.front().rule)) {
    guidance.operators = rule->steering.operators;
    guidance.parameters = rule->steering.parameters;
    guidance.patterns = rule->steering.patterns;
  }
  return guidance;
}

void Swarm::useUp(Pair& pair) {
  std::optional<Subject>& used = pair.repair ? pair.repair : pair.subject;
  const int most = pair.repair ? kRepairs : kFollows;
  if (++used->follows >= most) {
    used->advice.erase(used->advice.begin());
    used->follows = 0;
    // Of repairs only the first advice counts: it is about the first mistake.
    if (used->advice.empty() || pair.repair) {
      used.reset();
    }
  }
}

void Swarm::proposed(const Turn& turn, const search::Proposal& proposal) {
  Pending pending{.pair = turn.pair, .isGuided = proposal.isGuided && turn.advice, .speedup = 0.0, .advice = {}};
  if (pending.isGuided) {
    pending.advice = *turn.advice;
    pending.speedup = turn.speedup;
  }
  m_pending.insert_or_assign(proposal.id, std::move(pending));
}

SwarmNews Swarm::ended(const SwarmEnd& end) {
  SwarmNews news;
  std::optional<Pending> pending;
  if (auto node = m_pending.extract(end.proposal); !node.empty()) {
    pending = std::move(node.mapped());
  }
  const double speedup = speedupOf(end.outcome);
  const bool counts = end.outcome.kind == search::Outcome::Kind::Correct && speedup > 0.0;
  const double reward = counts && m_best > 0.0 ? std::clamp(std::log(speedup / m_best) / kWholeReward, 0.0, 1.0) : 0.0;
  if (pending && pending->isGuided) {
    news.scored = score(*pending, end, reward);
    credit(*news.scored);
  } else if (pending && m_best > 0.0) {
    m_own.add(reward);
  }
  if (counts) {
    m_best = std::max(m_best, speedup);
    double& best = m_bestOfIsland[end.island];
    best = std::max(best, speedup);
  }
  if (end.genome != nullptr && end.outcome.kind != search::Outcome::Kind::Duplicate) {
    takeUp(end, pending, news);
  }
  return news;
}

ScoredAdvice Swarm::score(const Pending& pending, const SwarmEnd& end, double reward) {
  const double speedup = speedupOf(end.outcome);
  const bool isFunctional = pending.advice.advice.pass == AdvicePass::Functional;
  // What repairs something has earned its part by being right.
  const double gain = isFunctional            ? (speedup > 0.0 ? 1.0 : 0.0)
                      : pending.speedup > 0.0 ? speedup / pending.speedup
                                              : 0.0;
  return {.pair = pending.pair,
          .role = pending.advice.role,
          .rule = pending.advice.advice.rule,
          .pass = pending.advice.advice.pass,
          .about = pending.advice.about,
          .candidate = end.outcome.candidate,
          .expectedGain = pending.advice.advice.expectedGain,
          .achievedGain = gain,
          .reward = reward,
          .seconds = end.trialSeconds};
}

void Swarm::credit(const ScoredAdvice& scored) {
  if (scored.pair < 0 || static_cast<std::size_t>(scored.pair) >= m_pairs.size()) {
    return;  // of a run with more pairs
  }
  Pair& pair = m_pairs[static_cast<std::size_t>(scored.pair)];
  ++pair.state.followed;
  ++pair.sinceReview;
  pair.state.paid += hasPaid(scored) ? 1 : 0;
  move(pair.state.quality, scored.reward);
  move(m_roleCredit[scored.role], scored.reward);
  move(m_ruleCredit.try_emplace(scored.rule, kFirstCredit).first->second, scored.reward);
  m_guided.add(scored.reward);
  review(pair);
}

void Swarm::restore(const ScoredAdvice& scored) {
  credit(scored);
}

void Swarm::learn(const std::vector<domain::AdviceExperience>& earlier) {
  struct Sum {
    double rewards = 0.0;
    std::int64_t followed = 0;
  };
  std::map<std::string, Sum> ofRules;
  std::map<Role, Sum> ofRoles;
  const auto add = [](Sum& sum, const domain::AdviceExperience& one) {
    sum.rewards += one.rewards;
    sum.followed += one.followed;
  };
  for (const domain::AdviceExperience& one : earlier) {
    const std::optional<Role> role = parseRole(one.role);
    if (one.followed > 0 && role && m_rules.find(one.rule) != nullptr) {
      add(ofRules[one.rule], one);
      add(ofRoles[*role], one);
    }
  }
  for (const auto& [rule, sum] : ofRules) {
    m_ruleCredit[rule] = creditAfter(sum.rewards, sum.followed);
  }
  for (const auto& [role, sum] : ofRoles) {
    m_roleCredit[role] = creditAfter(sum.rewards, sum.followed);
  }
}

bool Swarm::setPaused(int pair, bool isPaused) {
  const bool isThere = pair >= 0 && static_cast<std::size_t>(pair) < m_pairs.size();
  if (isThere) {
    m_pairs[static_cast<std::size_t>(pair)].state.isPaused = isPaused;
  }
  return isThere;
}

bool Swarm::setRole(int pair, Role role) {
  if (pair < 0 || static_cast<std::size_t>(pair) >= m_pairs.size()) {
    return false;
  }
  Pair& chosen = m_pairs[static_cast<std::size_t>(pair)];
  chosen.state.isRoleGiven = true;
  take(chosen, role);
  return true;
}

void Swarm::take(Pair& pair, Role role) {
  pair.state.role = role;
  pair.state.quality = m_roleCredit[role];
  pair.subject.reset();
  pair.repair.reset();
}

// A pair that earns little takes the role that earns most.
void Swarm::review(Pair& pair) {
  if (pair.sinceReview < kReview) {
    return;
  }
  pair.sinceReview = 0;
  double sum = 0.0;
  std::map<Role, int> holders;
  for (const Pair& one : m_pairs) {
    sum += one.state.quality;
    ++holders[one.state.role];
  }
  const auto best = std::max_element(m_roleCredit.begin(), m_roleCredit.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (pair.state.isRoleGiven) {
    return;
  }
  const bool earnsLittle = pair.state.quality < 0.5 * sum / static_cast<double>(m_pairs.size());
  if (earnsLittle && holders[pair.state.role] > 1 && best->first != pair.state.role) {
    take(pair, best->first);
  }
}

// Only what is fast for its island is worth a judge's time; what failed is its maker's business.
void Swarm::takeUp(const SwarmEnd& end, const std::optional<Pending>& pending, SwarmNews& news) {
  const double speedup = speedupOf(end.outcome);
  const auto best = m_bestOfIsland.find(end.island);
  const bool isFast = speedup > 0.0 && best != m_bestOfIsland.end() && speedup * kNear >= best->second;
  const bool isRepair = !(speedup > 0.0) && pending && pending->isGuided;
  if (!isFast && !isRepair) {
    return;
  }
  const std::vector<Advice> advice = judge(m_rules, end.what);
  if (isRepair) {
    Pair& pair = m_pairs[static_cast<std::size_t>(pending->pair)];
    if (!advice.empty() && !pair.repair && pending->advice.advice.pass != AdvicePass::Functional) {
      pair.repair = Subject{end.outcome.candidate, *end.genome, 0.0, advice, 0};
      news.given.push_back({pair.state.pair, pair.state.role, end.outcome.candidate, advice.front()});
    }
    return;
  }
  for (Pair& pair : m_pairs) {
    if (pair.state.island == end.island) {
      offerTo(pair, end, advice, news);
    }
  }
}

std::vector<Advice> Swarm::forRole(const std::vector<Advice>& advice, Role role) const {
  std::vector<Advice> chosen;
  std::copy_if(advice.begin(), advice.end(), std::back_inserter(chosen), [&](const Advice& one) {
    const Rule* rule = m_rules.find(one.rule);
    return rule != nullptr && rule->role == role && !rule->steering.operators.empty();
  });
  std::stable_sort(chosen.begin(), chosen.end(),
                   [this](const Advice& a, const Advice& b) { return worth(a) > worth(b); });
  return chosen;
}

void Swarm::offerTo(Pair& pair, const SwarmEnd& end, const std::vector<Advice>& advice, SwarmNews& news) {
  const double speedup = speedupOf(end.outcome);
  if (pair.subject && pair.subject->speedup >= speedup) {
    return;
  }
  std::vector<Advice> mine = forRole(advice, pair.state.role);
  if (mine.empty()) {
    return;
  }
  // Pairs of one role on one island begin with different advice.
  const auto rank = static_cast<std::size_t>(pair.state.pair / (m_options.islands * kRoleCount));
  std::rotate(mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(rank % mine.size()), mine.end());
  news.given.push_back({pair.state.pair, pair.state.role, end.outcome.candidate, mine.front()});
  pair.subject = Subject{end.outcome.candidate, *end.genome, speedup, std::move(mine), 0};
}

std::vector<PairState> Swarm::pairs() const {
  std::vector<PairState> states;
  states.reserve(m_pairs.size());
  for (const Pair& pair : m_pairs) {
    PairState state = pair.state;
    if (const Subject* subject = pair.current()) {
      state.pass = pair.repair ? AdvicePass::Functional : AdvicePass::Optimisation;
      state.about = subject->candidate;
      state.rule = subject->advice.front().rule;
    }
    states.push_back(std::move(state));
  }
  return states;
}

}  // namespace swage::judge
