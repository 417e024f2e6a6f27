// SPDX-License-Identifier: Apache-2.0
#include "core/run/recorded_swarm.h"

#include <limits>
#include <unordered_map>

#include "core/domain/json.h"
#include "core/run/advice_event.h"
#include "core/run/offer_event.h"
#include "core/run/pair_order.h"
#include "core/search/searcher.h"

namespace swage::run {
namespace {

using domain::EventKind;

// The rows of a run by their ids.
using Rows = std::unordered_map<std::int64_t, domain::CandidateRow>;

Result<Rows> rowsOf(const store::Record& record, domain::RunId run) {
  domain::CandidateQuery query;
  query.run = run;
  query.limit = std::numeric_limits<std::int64_t>::max();
  SWAGE_TRY_ASSIGN(std::vector<domain::CandidateRow> all, record.candidates(query));
  Rows rows;
  for (domain::CandidateRow& row : all) {
    const std::int64_t id = row.id.value();
    rows.emplace(id, std::move(row));
  }
  return rows;
}

double speedupIn(const Rows& rows, domain::CandidateId id) {
  const auto found = rows.find(id.value());
  return found == rows.end() ? 0.0 : found->second.speedup.value;
}

Result<> takeOffer(const store::Record& record, const OfferProvenance& offer, const Rows& rows, SwarmBoard& board) {
  SWAGE_TRY_ASSIGN(const std::string text, record.text(*offer.conversation));
  SWAGE_TRY_ASSIGN(const models::Conversation conversation, models::parseConversation(text));
  for (const models::ChatExchange& exchange : conversation.exchanges) {
    board.called(offer.madeBy.text(), exchange.outcome);
  }
  if (!offer.candidate.isValid()) {
    return {};
  }
  services::TalkSummary talk = talkSummaryOf(conversation);
  talk.model = offer.madeBy.text();
  talk.candidate = offer.candidate;
  talk.intent = offer.note;
  if (const auto row = rows.find(offer.candidate.value()); row != rows.end()) {
    const domain::CandidateId parent =
        row->second.parents.empty() ? domain::CandidateId() : row->second.parents.front();
    talk.result = domain::name(row->second.status);
    if (domain::isEvaluated(row->second.status)) {
      board.ended(talk.model, offer.candidate, row->second.speedup.value, speedupIn(rows, parent));
    }
  }
  board.talked(talk);
  return {};
}

// Orders of a person say nothing about what came of anything.
Result<> take(const store::Record& record, const domain::RunEvent& event, const Rows& rows, SwarmBoard& board) {
  if (event.kind == EventKind::Advice && !isOrder(event.json)) {
    SWAGE_TRY_ASSIGN(const judge::GivenAdvice given, parseGivenAdvice(event.json));
    board.given(given);
  } else if (event.kind == EventKind::AdviceScore) {
    SWAGE_TRY_ASSIGN(const judge::ScoredAdvice scored, parseScoredAdvice(event.json));
    board.scored(scored);
  } else if (event.kind == EventKind::Offer) {
    SWAGE_TRY_ASSIGN(const OfferProvenance offer, parseProvenance(event.json));
    if (offer.conversation) {
      return takeOffer(record, offer, rows, board);
    }
  }
  return {};
}

Result<std::set<std::int64_t>> holdersIn(const store::Record& record, domain::RunId run) {
  std::set<std::int64_t> holders;
  SWAGE_TRY_ASSIGN(const int islands, record.islandCount(run));
  for (int island = 0; island < islands; ++island) {
    SWAGE_TRY_ASSIGN(const std::vector<domain::CellSummary> cells, record.cells(run, island));
    for (const domain::CellSummary& cell : cells) {
      if (cell.best.isValid()) {
        holders.insert(cell.best.value());
      }
    }
  }
  return holders;
}

// What the options of a run say about its budgets and pairs.
void addOptions(const store::RunRow& run, services::SwarmReport& report) {
  constexpr double kCents = 100.0;
  const auto options = domain::parseJson(run.optionsJson);
  if (options && options->is_object()) {
    report.budgetCents = kCents * options->value("budget_usd", 0.0);
    report.budgetTokens = options->value("budget_tokens", std::int64_t{0});
  }
}

}  // namespace

Result<SwarmBoard> recordedBoard(const store::Record& record, domain::RunId run) {
  SWAGE_TRY_ASSIGN(const Rows rows, rowsOf(record, run));
  SWAGE_TRY_ASSIGN(const std::vector<domain::RunEvent> events, record.events(run));
  SwarmBoard board;
  for (const domain::RunEvent& event : events) {
    SWAGE_TRY(take(record, event, rows, board));
  }
  return board;
}

Result<services::SwarmReport> recordedSwarm(const store::Record& record, domain::RunId run) {
  SWAGE_TRY_ASSIGN(const SwarmBoard board, recordedBoard(record, run));
  SWAGE_TRY_ASSIGN(const std::set<std::int64_t> holders, holdersIn(record, run));
  SWAGE_TRY_ASSIGN(const store::RunRow row, record.run(run));
  services::SwarmReport report = board.report(holders);
  addOptions(row, report);
  const int islands = search::SearchOptions().islands;  // of which a short run has not seen all
  for (services::PairStanding& pair : report.pairs) {
    pair.island = pair.pair >= 0 ? pair.pair % islands : -1;  // as judge::Swarm spreads them
  }
  return report;
}

}  // namespace swage::run
