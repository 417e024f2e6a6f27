// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "core/base/result.h"
#include "core/domain/candidate.h"

namespace swage::services {

// What can be asked about two candidates of the open project. Takes milliseconds and is answered at once.
class CompareService {
 public:
  virtual ~CompareService() = default;

  // The youngest candidate that both descend from; one of the two where it descends from the other. No value: they
  // have none.
  [[nodiscard]] virtual Result<std::optional<domain::CandidateId>> commonAncestor(domain::CandidateId first,
                                                                                  domain::CandidateId second) const = 0;
};

}  // namespace swage::services
