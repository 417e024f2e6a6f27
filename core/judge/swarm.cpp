// SPDX-License-Identifier: Apache-2.0
#include "core/judge/swarm.h"

#include <algorithm>
#include <cmath>
#include <iterator>
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

// How far it is ahead of all before it.
double rewardOf(double speedup, double best) {
  return speedup > 0.0 && best > 0.0 ? std::clamp(std::log(speedup / best) / kWholeReward, 0.0, 1.0) : 0.0;
}

// As if the rewards of an earlier run had come one by one, and each had been the mean; of many only the last count, so
// that a run can learn otherwise.
double creditAfter(double rewards, std::int64_t followed) {
  constexpr std::int64_t kMostRemembered = 20;
  const auto count = static_cast<double>(std::min(followed, kMostRemembered));
  const double mean = std::clamp(rewards / static_cast<double>(followed), 0.0, 1.0);
  return mean + (kFirstCredit - mean) * std::pow(1.0 - kRate, count);
}

bool hasRule(const std::vector<Advice>& advice, const std::string& rule) {
  return std::any_of(advice.begin(), advice.end(), [&rule](const Advice& one) { return one.rule == rule; });
}

}  // namespace

bool hasPaid(const ScoredAdvice& scored) {
  return scored.pass == AdvicePass::Functional ? scored.achievedGain > 0.0 : scored.achievedGain >= kPaid;
}

ScoredAdvice scoreOf(const GivenAdvice& given, const AdviceResult& result) {
  const bool isFunctional = given.advice.pass == AdvicePass::Functional;
  // What repairs something has earned its part by being right.
  const double gain = isFunctional          ? (result.speedup > 0.0 ? 1.0 : 0.0)
                      : result.before > 0.0 ? result.speedup / result.before
                                            : 0.0;
  return {.pair = given.pair,
          .role = given.role,
          .rule = given.advice.rule,
          .pass = given.advice.pass,
          .about = given.about,
          .candidate = result.candidate,
          .expectedGain = given.advice.expectedGain,
          .achievedGain = gain,
          .reward = result.counts ? rewardOf(result.speedup, result.best) : 0.0,
          .seconds = result.seconds,
          .model = given.model};
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
  if (pending && pending->isGuided) {
    news.scored = scoreOf(pending->advice, {.candidate = end.outcome.candidate,
                                            .speedup = speedup,
                                            .before = pending->speedup,
                                            .best = m_best,
                                            .counts = counts,
                                            .seconds = end.trialSeconds});
    credit(*news.scored);
  } else if (pending && m_best > 0.0) {
    m_own.add(counts ? rewardOf(speedup, m_best) : 0.0);
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

void Swarm::credit(const ScoredAdvice& scored) {
  const bool isOfPair = scored.pair >= 0 && static_cast<std::size_t>(scored.pair) < m_pairs.size();
  if (!isOfPair && scored.model.empty()) {
    return;  // of a run with more pairs
  }
  move(m_roleCredit[scored.role], scored.reward);
  move(m_ruleCredit.try_emplace(scored.rule, kFirstCredit).first->second, scored.reward);
  if (!isOfPair) {
    return;  // how a model follows advice says nothing of pairs, and of how much of the search they should guide
  }
  Pair& pair = m_pairs[static_cast<std::size_t>(scored.pair)];
  ++pair.state.followed;
  ++pair.sinceReview;
  pair.state.paid += hasPaid(scored) ? 1 : 0;
  move(pair.state.quality, scored.reward);
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

bool Swarm::isFast(int island, double speedup) const {
  const auto best = m_bestOfIsland.find(island);
  return speedup > 0.0 && best != m_bestOfIsland.end() && speedup * kNear >= best->second;
}

// Only what is fast for its island is worth a judge's time; what failed is its maker's business.
void Swarm::takeUp(const SwarmEnd& end, const std::optional<Pending>& pending, SwarmNews& news) {
  const double speedup = speedupOf(end.outcome);
  const bool isRepair = !(speedup > 0.0) && pending && pending->isGuided;
  if (!isFast(end.island, speedup) && !isRepair) {
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

// Pairs of one role on one island begin with different advice.
std::vector<Advice> Swarm::inOrderOf(const Pair& pair, const std::vector<Advice>& advice) const {
  std::vector<Advice> mine = forRole(advice, pair.state.role);
  if (!mine.empty()) {
    const auto rank = static_cast<std::size_t>(pair.state.pair / (m_options.islands * kRoleCount));
    std::rotate(mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(rank % mine.size()), mine.end());
  }
  return mine;
}

void Swarm::offerTo(Pair& pair, const SwarmEnd& end, const std::vector<Advice>& advice, SwarmNews& news) {
  const double speedup = speedupOf(end.outcome);
  if (pair.subject && pair.subject->speedup >= speedup) {
    return;
  }
  std::vector<Advice> mine = inOrderOf(pair, advice);
  if (mine.empty()) {
    return;
  }
  news.given.push_back({pair.state.pair, pair.state.role, end.outcome.candidate, mine.front()});
  pair.subject = Subject{end.outcome.candidate, *end.genome, speedup, std::move(mine), 0};
}

SwarmNews Swarm::profiled(const SwarmEnd& end) {
  SwarmNews news;
  if (end.genome == nullptr) {
    return news;
  }
  const bool isWorthIt = isFast(end.island, speedupOf(end.outcome));
  Case before = end.what;
  before.profile = nullptr;
  const std::vector<Advice> known = judge(m_rules, before);
  const std::vector<Advice> said = judge(m_rules, end.what);
  std::vector<Advice> found;
  std::copy_if(said.begin(), said.end(), std::back_inserter(found),
               [&known](const Advice& one) { return !hasRule(known, one.rule); });
  for (Pair& pair : m_pairs) {
    if (pair.state.island != end.island) {
      continue;
    }
    if (pair.subject && pair.subject->candidate == end.outcome.candidate) {
      renew(pair, said, found, news);
    } else if (isWorthIt) {
      offerTo(pair, end, found, news);  // what was known before it has had, or did not want
    }
  }
  return news;
}

// What it has begun with it follows to the end, where that still holds.
void Swarm::renew(Pair& pair, const std::vector<Advice>& said, const std::vector<Advice>& found, SwarmNews& news) {
  Subject& subject = *pair.subject;
  std::vector<Advice> left = inOrderOf(pair, said);
  std::erase_if(left,
                [&](const Advice& one) { return !hasRule(subject.advice, one.rule) && !hasRule(found, one.rule); });
  if (left.empty()) {
    pair.subject.reset();
    return;
  }
  const std::string first = subject.advice.front().rule;
  const auto begun = std::find_if(left.begin(), left.end(), [&first](const Advice& one) { return one.rule == first; });
  if (subject.follows > 0 && begun != left.end()) {
    std::rotate(left.begin(), begun, begun + 1);
  } else {
    subject.follows = 0;
  }
  subject.advice = std::move(left);
  if (subject.advice.front().rule != first && !pair.repair) {
    news.given.push_back({pair.state.pair, pair.state.role, subject.candidate, subject.advice.front()});
  }
}

std::optional<GivenAdvice> Swarm::adviceFor(const Case& what, domain::CandidateId about) {
  std::vector<Advice> advice = judge(m_rules, what);
  if (advice.empty()) {
    return std::nullopt;
  }
  auto best = advice.begin();
  if (best->pass == AdvicePass::Optimisation) {
    const auto end = std::stable_partition(advice.begin(), advice.end(), [this, about](const Advice& one) {
      const auto named = m_named.find({about, one.rule});
      return named == m_named.end() || named->second < kFollows;
    });
    best = std::max_element(advice.begin(), end == advice.begin() ? advice.end() : end,
                            [this](const Advice& a, const Advice& b) { return worth(a) < worth(b); });
  }
  ++m_named[{about, best->rule}];
  const Rule* rule = m_rules.find(best->rule);
  return GivenAdvice{-1, rule != nullptr ? rule->role : Role::Parameters, about, *best};
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
