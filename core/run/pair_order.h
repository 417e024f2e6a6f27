// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/services/swarm_service.h"
#include "core/store/record.h"

// What a person ordered of a pair, as an event of the run: of kind Advice, because it is one, with the person as its
// giver.
namespace swage::run {

[[nodiscard]] std::string orderJson(const services::PairOrder& order);
[[nodiscard]] Result<services::PairOrder> parseOrder(std::string_view json);
// Whether an event of kind Advice is an order of a person, and none of a judge.
[[nodiscard]] bool isOrder(std::string_view json);
[[nodiscard]] Result<> keepOrder(store::Record& record, domain::RunId run, const services::PairOrder& order);

}  // namespace swage::run
