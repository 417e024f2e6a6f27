// SPDX-License-Identifier: Apache-2.0
#include "core/run/proposer_board.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/domain/json.h"

namespace swage::run {
namespace {

// One beside the search, of which the searcher may have heard.
void place(std::vector<services::ProposerStanding>& proposers, const search::ProposerCredit& credit) {
  auto found = std::find_if(proposers.begin(), proposers.end(), [&credit](const services::ProposerStanding& one) {
    return one.name == credit.name.text();
  });
  if (found == proposers.end()) {
    found = proposers.insert(found, {.name = credit.name.text()});
  }
  found->credit = credit.quality;
  found->share = credit.share;
  found->improved = credit.improved;
  found->seconds = credit.cost.seconds + credit.trialSeconds;
  found->cents = credit.cost.cents;
  found->tokens = credit.cost.tokens;
}

}  // namespace

void ProposerBoard::countProposed(const store::CandidateRecord& candidate) {
  services::ProposerTally& tally = m_tallies[{candidate.madeBy, candidate.island}];
  tally.proposer = domain::name(candidate.madeBy);
  tally.island = candidate.island;
  ++tally.proposed;
  tally.last = candidate.id;
  tally.lastStatus = domain::name(domain::CandidateStatus::Pending);
}

void ProposerBoard::countEnded(const store::CandidateRecord& candidate, double trialSeconds,
                               const search::Archive& archive) {
  services::ProposerTally& tally = m_tallies[{candidate.madeBy, candidate.island}];
  m_trialSeconds[candidate.madeBy] += trialSeconds;
  if (candidate.id == tally.last && candidate.evaluation) {
    tally.lastStatus = domain::statusName(*candidate.evaluation);
  }
  if (!candidate.evaluation || domain::asCorrect(*candidate.evaluation) == nullptr) {
    return;
  }
  ++tally.correct;
  if (holdsItsCell(candidate, archive)) {
    ++tally.improved;
    m_makers.emplace(candidate.id.value(), candidate.madeBy);
  }
}

void ProposerBoard::takeUp(const store::CandidateRecord& candidate, const search::Archive& archive) {
  countProposed(candidate);
  if (candidate.evaluation) {
    countEnded(candidate, candidate.compileSeconds, archive);
  }
}

services::ProposerReport ProposerBoard::report(const search::Searcher& searcher,
                                               const search::ProposerCredits& proposers,
                                               const domain::ProposerName& searchName, double elapsedSeconds) const {
  services::ProposerReport report;
  report.elapsedSeconds = elapsedSeconds;
  report.filledCells = searcher.archive().filledCells();
  const search::Exchange exchange = searcher.exchange();
  report.exchange = {exchange.migrations, exchange.adopted, exchange.reportsSinceImprovement};
  for (const search::OperatorCredit& credit : searcher.credits()) {
    const auto spent = m_trialSeconds.find(credit.name);
    report.proposers.push_back({.name = credit.name.text(),
                                .credit = credit.quality,
                                .share = credit.weight * proposers.share(searchName),
                                .improved = credit.improved,
                                .seconds = spent == m_trialSeconds.end() ? 0.0 : spent->second});
    report.improvements += credit.improved;
  }
  for (const search::ProposerCredit& credit : proposers.list()) {
    if (credit.name != searchName) {
      place(report.proposers, credit);
    }
  }
  std::map<Key, services::ProposerTally> tallies = m_tallies;
  for (const search::PlacedElite& placed : searcher.archive().elites()) {
    const auto maker = m_makers.find(placed.elite->candidate.value());
    if (maker == m_makers.end()) {
      continue;
    }
    // What migrated here may come from an operator that has not proposed anything here.
    services::ProposerTally& tally = tallies[{maker->second, placed.island}];
    tally.proposer = domain::name(maker->second);
    tally.island = placed.island;
    ++tally.elites;
  }
  for (auto& [key, tally] : tallies) {
    report.tallies.push_back(std::move(tally));
  }
  return report;
}

bool holdsItsCell(const store::CandidateRecord& candidate, const search::Archive& archive) {
  if (!candidate.cell) {
    return false;
  }
  const auto& elite = archive.at(candidate.island % archive.islandCount(), *candidate.cell).elite;
  return elite && elite->candidate == candidate.id;
}

std::string sampleJson(const services::ActivitySample& sample) {
  domain::Json proposers = domain::Json::array();
  for (const services::ProposerStanding& proposer : sample.proposers) {
    proposers.push_back({{"name", proposer.name},
                         {"credit", proposer.credit},
                         {"share", proposer.share},
                         {"improved", proposer.improved},
                         {"seconds", proposer.seconds},
                         {"cents", proposer.cents},
                         {"tokens", proposer.tokens}});
  }
  return domain::dumpJson({{"elapsed_s", sample.elapsedSeconds},
                           {"cells", sample.filledCells},
                           {"improvements", sample.improvements},
                           {"migrations", sample.exchange.migrations},
                           {"adopted", sample.exchange.adopted},
                           {"since_improvement", sample.exchange.sinceImprovement},
                           {"proposers", std::move(proposers)}});
}

Result<services::ActivitySample> parseSample(std::string_view json) {
  SWAGE_TRY_ASSIGN(const domain::Json parsed, domain::parseJson(json));
  try {
    services::ActivitySample sample{.elapsedSeconds = parsed.at("elapsed_s").get<double>(),
                                    .filledCells = parsed.at("cells").get<int>(),
                                    .improvements = parsed.at("improvements").get<std::int64_t>(),
                                    .proposers = {}};
    if (parsed.contains("migrations")) {  // not in a record of an earlier version
      sample.exchange = {parsed.at("migrations").get<std::int64_t>(), parsed.at("adopted").get<std::int64_t>(),
                         parsed.at("since_improvement").get<std::int64_t>()};
    }
    for (const domain::Json& proposer : parsed.at("proposers")) {
      sample.proposers.push_back({.name = proposer.at("name").get<std::string>(),
                                  .credit = proposer.at("credit").get<double>(),
                                  .share = proposer.at("share").get<double>(),
                                  // An earlier version kept none of these.
                                  .improved = proposer.value("improved", std::int64_t{0}),
                                  .seconds = proposer.value("seconds", 0.0),
                                  .cents = proposer.value("cents", 0.0),
                                  .tokens = proposer.value("tokens", std::int64_t{0})});
    }
    return sample;
  } catch (const domain::Json::exception& error) {
    return Error(ErrorKind::Storage, fmt::format("the record has an event that cannot be read: {}", error.what()));
  }
}

}  // namespace swage::run
