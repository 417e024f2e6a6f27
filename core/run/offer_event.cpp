// SPDX-License-Identifier: Apache-2.0
#include "core/run/offer_event.h"

#include <fmt/format.h>

#include "core/domain/json.h"

namespace swage::run {
namespace {

constexpr std::size_t kLongestNote = 16384;

}  // namespace

std::string provenanceJson(domain::CandidateId candidate, const Offer& offer,
                           std::optional<std::int64_t> conversation) {
  domain::Json json{
      {"candidate", candidate.value()}, {"operator", offer.madeBy.text()}, {"note", offer.note.substr(0, kLongestNote)},
      {"seconds", offer.cost.seconds},  {"cents", offer.cost.cents},       {"tokens", offer.cost.tokens}};
  if (conversation) {
    json["conversation"] = *conversation;
  }
  return domain::dumpJson(json);
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
                                    .tokens = parsed.at("tokens").get<std::int64_t>()},
                           .conversation = parsed.contains("conversation")
                                               ? std::optional(parsed.at("conversation").get<std::int64_t>())
                                               : std::nullopt};
  } catch (const domain::Json::exception& error) {
    return Error(ErrorKind::Storage, fmt::format("the record has an event that cannot be read: {}", error.what()));
  }
}

Result<> keepOffer(store::Record& record, domain::RunId run, domain::CandidateId candidate, const Offer& offer) {
  if (offer.note.empty() && offer.cost.isNothing() && offer.conversation.empty()) {
    return {};
  }
  std::optional<std::int64_t> conversation;
  if (!offer.conversation.empty()) {
    SWAGE_TRY_ASSIGN(conversation, record.addText(offer.conversation));
  }
  return record.addEvent(run, domain::EventKind::Offer, provenanceJson(candidate, offer, conversation));
}

namespace {

// Those with a conversation, in the order of the record.
Result<std::vector<OfferProvenance>> conversations(const store::Record& record, domain::RunId run) {
  SWAGE_TRY_ASSIGN(const std::vector<domain::RunEvent> events, record.events(run));
  std::vector<OfferProvenance> found;
  for (const domain::RunEvent& event : events) {
    if (event.kind == domain::EventKind::Offer) {
      SWAGE_TRY_ASSIGN(OfferProvenance offer, parseProvenance(event.json));
      if (offer.conversation) {
        found.push_back(std::move(offer));
      }
    }
  }
  return found;
}

}  // namespace

Result<std::optional<std::string>> recordedConversation(const store::Record& record, domain::RunId run,
                                                        domain::CandidateId candidate) {
  SWAGE_TRY_ASSIGN(const std::vector<OfferProvenance> offers, conversations(record, run));
  for (const OfferProvenance& offer : offers) {
    if (offer.candidate == candidate) {
      SWAGE_TRY_ASSIGN(std::string text, record.text(*offer.conversation));
      return std::optional(std::move(text));
    }
  }
  return std::optional<std::string>();
}

Result<std::vector<std::string>> recordedConversations(const store::Record& record, domain::RunId run) {
  SWAGE_TRY_ASSIGN(const std::vector<OfferProvenance> offers, conversations(record, run));
  std::vector<std::string> texts;
  for (const OfferProvenance& offer : offers) {
    SWAGE_TRY_ASSIGN(std::string text, record.text(*offer.conversation));
    texts.push_back(std::move(text));
  }
  return texts;
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
