// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/run/proposer_pool.h"

// What the record keeps of an offer as an event of its run, beside the candidate.
namespace swage::run {

struct OfferProvenance {
  domain::CandidateId candidate;  // invalid: none came of it
  domain::ProposerName madeBy = domain::OperatorKind::Synthesis;
  std::string note;
  search::Cost cost;
  std::optional<std::int64_t> conversation;  // store::Record::text() of it
};

// Of the note, the beginning.
[[nodiscard]] std::string provenanceJson(domain::CandidateId candidate, const Offer& offer,
                                         std::optional<std::int64_t> conversation = std::nullopt);
[[nodiscard]] Result<OfferProvenance> parseProvenance(std::string_view json);
// Writes down what nothing else of the record says; nothing where that is nothing, as of the search's own. An invalid
// candidate: none came of it, and what was spent counts all the same.
[[nodiscard]] Result<> keepOffer(store::Record& record, domain::RunId run, domain::CandidateId candidate,
                                 const Offer& offer);
// What was said with a model about a candidate, in JSON. No value: it was not made by a model.
[[nodiscard]] Result<std::optional<std::string>> recordedConversation(const store::Record& record, domain::RunId run,
                                                                      domain::CandidateId candidate);
// All conversations of a run, in the order of the record: of candidates, and of calls that none came of.
[[nodiscard]] Result<std::vector<std::string>> recordedConversations(const store::Record& record, domain::RunId run);
// What earlier sittings of the run spent.
[[nodiscard]] Result<> addRecordedCosts(const store::Record& record, domain::RunId run, ProposerPool& proposers);

}  // namespace swage::run
