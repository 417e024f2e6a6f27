// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/synthetic_swarm.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include <fmt/format.h>

namespace swage::workbench {
namespace {

using services::AdviceStanding;
using services::PairStanding;
using services::SwarmReport;
using services::TalkSummary;

constexpr std::chrono::milliseconds kSwarmTick{300};  // as a run tells the window
constexpr int kPairs = 32;
constexpr int kModels = 8;

Error nothingHere() {
  return Error(ErrorKind::Unsupported, "the made-up search has nothing of the kind");
}

AdviceStanding adviceOf(std::int64_t number) {
  AdviceStanding advice;
  advice.number = number;
  advice.pair = static_cast<int>(number % kPairs);
  advice.role = "memory";
  advice.rule = "narrow_loads";
  advice.about = domain::CandidateId(number * 2 + 1);
  advice.bottleneck = fmt::format("kernel {} loads 4 bytes at a time", number);
  advice.method = "Load four neighbouring elements at once.";
  advice.expectedGain = 1.3;
  return advice;
}

TalkSummary talkOf(std::int64_t number) {
  TalkSummary talk;
  talk.candidate = domain::CandidateId(number + 1);
  talk.model = fmt::format("model{}", number % kModels + 1);
  talk.intent = "one pass over both inputs";
  talk.result = number % 3 == 0 ? "wrong" : "correct";
  talk.calls = 1;
  talk.inputTokens = 4000;
  talk.outputTokens = SyntheticSwarm::kTokensPerReply;
  talk.cents = 0.4;
  talk.seconds = 3.1;
  return talk;
}

PairStanding pairOf(int number, std::int64_t replies) {
  PairStanding pair;
  if (number < kModels) {
    pair.model = fmt::format("model{}", number + 1);
    pair.doing = "waits for 4 replies";
    pair.cents = static_cast<double>(replies) * 0.05;
  } else {
    pair.pair = number - kModels;
    pair.island = pair.pair % 4;
    pair.role = "memory";
    pair.doing = "follows: narrow loads";
  }
  pair.about = domain::CandidateId(replies + number + 1);
  pair.offers = replies / kModels;
  pair.correct = pair.offers * 2 / 3;
  pair.elites = number % 3;
  pair.gainPercent = static_cast<double>(pair.offers) * 0.2;
  pair.seconds = static_cast<double>(pair.offers) * 0.5;
  pair.last = adviceOf(replies + number);
  return pair;
}

}  // namespace

SyntheticSwarm::SyntheticSwarm(QObject* parent) : services::SwarmService(parent) {
  m_tick.setInterval(kSwarmTick);
  connect(&m_tick, &QTimer::timeout, this, [this] { Q_EMIT changed(report()); });
}

void SyntheticSwarm::start() {
  m_clock.start();
  m_tick.start();
}

services::SwarmSnapshot SyntheticSwarm::report() const {
  auto report = std::make_shared<SwarmReport>();
  const double seconds = static_cast<double>(m_clock.elapsed()) / 1000.0;
  const auto replies = static_cast<std::int64_t>(seconds * kTokensPerSecond / kTokensPerReply);
  for (int i = 0; i < kModels + kPairs; ++i) {
    report->pairs.push_back(pairOf(i, replies));
  }
  const auto most = static_cast<std::int64_t>(SwarmReport::kMostTalks);
  for (std::int64_t i = replies; i > std::max<std::int64_t>(0, replies - most); --i) {
    report->talks.push_back(talkOf(i));
    report->advice.push_back(adviceOf(i));
  }
  for (int i = 0; i < kModels; ++i) {
    report->spending.push_back({.model = fmt::format("model{}", i + 1),
                                .calls = replies / kModels,
                                .inputTokens = replies * 4000 / kModels,
                                .outputTokens = replies * kTokensPerReply / kModels,
                                .cents = static_cast<double>(replies) * 0.05,
                                .seconds = static_cast<double>(replies) * 3.0 / kModels,
                                .longestSeconds = 5.0});
  }
  report->guidedShare = 0.3;
  return report;
}

QFuture<Result<services::ReplyCheck>> SyntheticSwarm::checkReply(const std::string& /*text*/) {
  return QtFuture::makeReadyFuture(Result<services::ReplyCheck>(nothingHere()));
}

Result<std::string> SyntheticSwarm::promptText(const services::WaitingPrompt& /*prompt*/) const {
  return nothingHere();
}

Result<> SyntheticSwarm::sendReply(const services::WaitingPrompt& /*prompt*/, const std::string& /*text*/) {
  return nothingHere();
}

QFuture<Result<services::SwarmSnapshot>> SyntheticSwarm::recorded(const std::filesystem::path& /*project*/,
                                                                  domain::RunId /*run*/) const {
  return QtFuture::makeReadyFuture(Result<services::SwarmSnapshot>(report()));
}

QFuture<Result<services::Talk>> SyntheticSwarm::talk(const std::filesystem::path& /*project*/, domain::RunId /*run*/,
                                                     domain::CandidateId /*candidate*/) const {
  return QtFuture::makeReadyFuture(Result<services::Talk>(nothingHere()));
}

}  // namespace swage::workbench
