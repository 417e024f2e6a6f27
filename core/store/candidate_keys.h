// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/store/record.h"

// By what two candidates of a task are the same: before one is compiled, and after.
namespace swage::store {

[[nodiscard]] std::string sourceHash(const domain::Program& program);
// Of what it launches: the binary and the plan. Empty before it is compiled.
[[nodiscard]] std::string binaryKey(const CandidateRecord& record);

}  // namespace swage::store
