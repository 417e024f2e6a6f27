// SPDX-License-Identifier: Apache-2.0
#include "core/run/swarm_board.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace swage::run {
namespace {

using services::AdviceStanding;
using services::PairStanding;
using services::SwarmReport;
using services::Talk;
using services::TalkSummary;

constexpr double kCents = 100.0;

template <class Entry>
void keep(std::deque<Entry>& all, Entry one, std::size_t most) {
  all.push_back(std::move(one));
  if (all.size() > most) {
    all.pop_front();
  }
}

template <class Key, class Tally>
const Tally& tallyOf(const std::map<Key, Tally>& all, const Key& key) {
  static const Tally none{};
  const auto found = all.find(key);
  return found == all.end() ? none : found->second;
}

bool isAbout(const AdviceStanding& advice, const judge::ScoredAdvice& score) {
  return advice.pair == score.pair && advice.model == score.model && advice.about == score.about &&
         advice.rule == score.rule;
}

}  // namespace

void SwarmBoard::given(const judge::GivenAdvice& given) {
  AdviceStanding advice{.number = ++m_lastNumber,
                        .pair = given.pair,
                        .role = std::string(judge::name(given.role)),
                        .rule = given.advice.rule,
                        .isFunctional = given.advice.pass == domain::AdvicePass::Functional,
                        .about = given.about,
                        .bottleneck = given.advice.bottleneck,
                        .method = given.advice.method,
                        .plan = given.advice.plan,
                        .kernel = given.advice.kernel,
                        .expectedGain = given.advice.expectedGain,
                        .followed = 0,
                        .achievedGain = std::nullopt,
                        .candidate = {},
                        .model = given.model};
  keepLast(advice);
  keep(m_advice, std::move(advice), SwarmReport::kMostAdvice);
}

// The newest of that pair, rule and candidate. Of one that was given so long ago that it is forgotten, or by a version
// that did not write it down, the score alone is known.
AdviceStanding& SwarmBoard::advice(const judge::ScoredAdvice& score) {
  const auto found = std::find_if(m_advice.rbegin(), m_advice.rend(),
                                  [&score](const AdviceStanding& one) { return isAbout(one, score); });
  if (found != m_advice.rend()) {
    return *found;
  }
  keep(m_advice,
       AdviceStanding{.number = ++m_lastNumber,
                      .pair = score.pair,
                      .role = std::string(judge::name(score.role)),
                      .rule = score.rule,
                      .isFunctional = score.pass == domain::AdvicePass::Functional,
                      .about = score.about,
                      .bottleneck = {},
                      .method = {},
                      .plan = {},
                      .kernel = {},
                      .expectedGain = score.expectedGain,
                      .followed = 0,
                      .achievedGain = std::nullopt,
                      .candidate = {},
                      .model = score.model},
       SwarmReport::kMostAdvice);
  return m_advice.back();
}

void SwarmBoard::scored(const judge::ScoredAdvice& score) {
  AdviceStanding& followed = advice(score);
  ++followed.followed;
  if (score.achievedGain >= followed.achievedGain.value_or(0.0)) {
    followed.achievedGain = score.achievedGain;
    followed.candidate = score.candidate;
  }
  keepLast(followed);
  // What a model makes counts in ended(), advised or not.
  if (score.model.empty()) {
    count(m_pairs[score.pair], score.candidate, score.achievedGain, score.seconds);
  }
}

void SwarmBoard::keepLast(const AdviceStanding& advice) {
  if (advice.model.empty()) {
    m_last[advice.pair] = advice;
  } else {
    m_lastOfModel[advice.model] = advice;
  }
}

void SwarmBoard::count(Tally& tally, domain::CandidateId candidate, double gain, double seconds) {
  ++tally.offers;
  tally.seconds += seconds;
  if (gain > 0.0) {
    ++tally.correct;
    tally.gainPercent += kCents * std::max(0.0, gain - 1.0);
    tally.made.push_back(candidate.value());
  }
}

void SwarmBoard::ended(const std::string& model, domain::CandidateId candidate, double speedup, double parentSpeedup) {
  const double gain = speedup <= 0.0 ? 0.0 : parentSpeedup > 0.0 ? speedup / parentSpeedup : 1.0;
  count(m_models[model], candidate, gain, 0.0);
}

void SwarmBoard::talked(const TalkSummary& talk) {
  keep(m_talks, talk, SwarmReport::kMostTalks);
}

void SwarmBoard::called(const std::string& model, const models::ChatOutcome& outcome) {
  services::ModelSpending& spending = m_spending[model];
  spending.model = model;
  ++spending.calls;
  spending.failed += outcome.failure() != nullptr ? 1 : 0;
  spending.inputTokens += outcome.usage.input;
  spending.outputTokens += outcome.usage.output;
  spending.cents += kCents * outcome.usd;
  spending.isPriceKnown = spending.isPriceKnown && outcome.isPriceKnown;
  spending.seconds += outcome.seconds;
  spending.longestSeconds = std::max(spending.longestSeconds, outcome.seconds);
}

PairStanding SwarmBoard::standing(const Tally& tally, const std::set<std::int64_t>& holders) const {
  PairStanding standing;
  standing.offers = tally.offers;
  standing.correct = tally.correct;
  standing.gainPercent = tally.gainPercent;
  standing.seconds = tally.seconds;
  standing.elites =
      std::count_if(tally.made.begin(), tally.made.end(), [&holders](std::int64_t id) { return holders.contains(id); });
  return standing;
}

SwarmReport SwarmBoard::report(const std::set<std::int64_t>& holders) const {
  SwarmReport report;
  for (const auto& [pair, last] : m_last) {  // whoever scored was given something before
    PairStanding& one = report.pairs.emplace_back(standing(tallyOf(m_pairs, pair), holders));
    one.pair = pair;
    one.last = last;
    one.role = last.role;
    one.isFunctional = last.isFunctional;
  }
  std::set<std::string> models;
  for (const auto& [model, tally] : m_models) {
    models.insert(model);
  }
  for (const auto& [model, spending] : m_spending) {
    models.insert(model);
    report.spending.push_back(spending);
  }
  for (const auto& [model, last] : m_lastOfModel) {
    models.insert(model);
  }
  for (const std::string& model : models) {
    PairStanding& one = report.pairs.emplace_back(standing(tallyOf(m_models, model), holders));
    one.model = model;
    if (const auto last = m_lastOfModel.find(model); last != m_lastOfModel.end()) {
      one.last = last->second;
    }
    if (const auto spent = m_spending.find(model); spent != m_spending.end()) {
      one.cents = spent->second.cents;
      one.tokens = spent->second.inputTokens + spent->second.outputTokens;
      one.seconds += spent->second.seconds;
    }
  }
  report.advice.assign(m_advice.rbegin(), m_advice.rend());
  report.talks.assign(m_talks.rbegin(), m_talks.rend());
  return report;
}

TalkSummary talkSummaryOf(const models::Conversation& conversation) {
  TalkSummary talk;
  talk.model = conversation.endpoint;
  for (const models::ChatExchange& exchange : conversation.exchanges) {
    const models::ChatOutcome& outcome = exchange.outcome;
    ++talk.calls;
    talk.inputTokens += outcome.usage.input;
    talk.outputTokens += outcome.usage.output;
    talk.cents += kCents * outcome.usd;
    talk.isPriceKnown = talk.isPriceKnown && outcome.isPriceKnown;
    talk.seconds += outcome.seconds;
  }
  return talk;
}

Talk talkOf(const models::Conversation& conversation) {
  using Who = Talk::Turn::Who;
  Talk talk{.model = conversation.endpoint, .promptsHash = conversation.promptsHash, .turns = {}};
  const std::vector<models::Message>* before = nullptr;
  for (const models::ChatExchange& exchange : conversation.exchanges) {
    const std::vector<models::Message>& messages = exchange.request.messages;
    std::size_t known = 0;
    while (before != nullptr && known < std::min(before->size(), messages.size()) &&
           (*before)[known] == messages[known]) {
      ++known;
    }
    if (before == nullptr && !exchange.request.system.empty()) {
      talk.turns.push_back({Who::Rules, exchange.request.system});
    }
    for (; known < messages.size(); ++known) {
      const bool isReply = messages[known].role == models::Role::Assistant;
      const bool wasShown = isReply && !talk.turns.empty() && talk.turns.back().who == Who::Reply;
      if (!wasShown) {
        talk.turns.push_back({isReply ? Who::Reply : Who::Question, messages[known].text});
      }
    }
    if (const models::ChatReply* reply = exchange.outcome.reply()) {
      talk.turns.push_back({Who::Reply, reply->text});
    } else {
      const models::ChatFailure& failure = *exchange.outcome.failure();
      talk.turns.push_back({Who::Failure, fmt::format("{}: {}", models::name(failure.kind), failure.message)});
    }
    before = &messages;
  }
  return talk;
}

}  // namespace swage::run
