// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/run/proposer_pool.h"

// What the record keeps of an offer as an event of its run, beside the candidate.
namespace swage::run {

struct OfferProvenance {
  domain::CandidateId candidate;
  domain::ProposerName madeBy = domain::OperatorKind::Synthesis;
  std::string note;
  search::Cost cost;
};

// Of the note, the beginning.
[[nodiscard]] std::string provenanceJson(domain::CandidateId candidate, const Offer& offer);
[[nodiscard]] Result<OfferProvenance> parseProvenance(std::string_view json);
// What earlier sittings of the run spent.
[[nodiscard]] Result<> addRecordedCosts(const store::Record& record, domain::RunId run, ProposerPool& proposers);

}  // namespace swage::run
