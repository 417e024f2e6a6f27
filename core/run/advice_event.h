// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/judge/swarm.h"
#include "core/store/record.h"

// What the record keeps of pairs as events of their run: the advice that they took up, and what came of it.
namespace swage::run {

[[nodiscard]] std::string adviceJson(const judge::GivenAdvice& given);
[[nodiscard]] Result<judge::GivenAdvice> parseGivenAdvice(std::string_view json);
[[nodiscard]] std::string scoreJson(const judge::ScoredAdvice& scored);
[[nodiscard]] Result<judge::ScoredAdvice> parseScoredAdvice(std::string_view json);

[[nodiscard]] Result<> keepNews(store::Record& record, domain::RunId run, const judge::SwarmNews& news);
// The credit of earlier sittings of the run.
[[nodiscard]] Result<> restoreCredit(const store::Record& record, domain::RunId run, judge::Swarm& swarm);

}  // namespace swage::run
