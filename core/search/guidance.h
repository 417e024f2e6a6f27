// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "core/domain/candidate.h"

namespace swage::search {

// What somebody who has looked at a candidate wants to have changed about it: weights, not orders. A searcher that
// finds nothing new this way goes its own.
struct Guidance {
  domain::CandidateId base;
  domain::Genome genome;  // of `base`
  int island = 0;
  std::map<domain::OperatorKind, double> operators;  // by which to change it, with weights; none: nothing is guided
  std::map<std::string, int> parameters;             // 1: larger, -1: smaller; none: any step will do
  std::map<std::string, double> patterns;            // weights of patterns to swap to; others have 1
};

}  // namespace swage::search
