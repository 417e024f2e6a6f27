// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/domain/advice.h"
#include "core/domain/json.h"

namespace swage::judge {

[[nodiscard]] domain::Json toJson(const domain::Advice& advice);
// Kind Storage: it is none.
[[nodiscard]] Result<domain::Advice> adviceFromJson(const domain::Json& json);

[[nodiscard]] std::string_view name(domain::AdvicePass pass);  // "functional", "optimisation"

}  // namespace swage::judge
