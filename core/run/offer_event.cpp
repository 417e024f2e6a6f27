// SPDX-License-Identifier: Apache-2.0
#include "core/run/offer_event.h"

#include <fmt/format.h>

#include "core/domain/json.h"

namespace swage::run {
namespace {

constexpr std::size_t kLongestNote = 16384;

}  // namespace

std::string provenanceJson(domain::CandidateId candidate, const Offer& offer) {
  return domain::dumpJson({{"candidate", candidate.value()},
                           {"operator", offer.madeBy.text()},
                           {"note", offer.note.substr(0, kLongestNote)},
                           {"seconds", offer.cost.seconds},
                           {"cents", offer.cost.cents},
                           {"tokens", offer.cost.tokens}});
}

Result<OfferProvenance> parseProvenance(std::string_view json) {
  SWAGE_TRY_ASSIGN(const domain::Json parsed, domain::parseJson(json));
  try {
    const auto madeBy = domain::ProposerName::parse(parsed.at("operator").get<std::string>());
    if (!madeBy) {
      return Error(ErrorKind::Storage, "the record has an offer of somebody without a name");
    }
    return OfferProvenance{.candidate = domain::CandidateId(parsed.at("candidate").get<std::int64_t>()),
                           .madeBy = *madeBy,
                           .note = parsed.at("note").get<std::string>(),
                           .cost = {.seconds = parsed.at("seconds").get<double>(),
                                    .cents = parsed.at("cents").get<double>(),
                                    .tokens = parsed.at("tokens").get<std::int64_t>()}};
  } catch (const domain::Json::exception& error) {
    return Error(ErrorKind::Storage, fmt::format("the record has an event that cannot be read: {}", error.what()));
  }
}

Result<> addRecordedCosts(const store::Record& record, domain::RunId run, ProposerPool& proposers) {
  SWAGE_TRY_ASSIGN(const std::vector<domain::RunEvent> events, record.events(run));
  for (const domain::RunEvent& event : events) {
    if (event.kind == domain::EventKind::Offer) {
      SWAGE_TRY_ASSIGN(const OfferProvenance offer, parseProvenance(event.json));
      proposers.addCost(offer.madeBy, offer.cost);
    }
  }
  return {};
}

}  // namespace swage::run
