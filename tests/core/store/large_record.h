// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/domain/candidate.h"

namespace swage::testing {

// Writes a project with one finished run of `candidates` made-up candidates, the same ones each time: two thirds
// correct in 20 µs to 2 ms, the others failed in every way, each with one or two earlier ones as parents, a few hundred
// tagged, pinned, noted and in the trash. They share one source, so each of them can be opened.
domain::RunId makeLargeRecord(const std::filesystem::path& project, std::int64_t candidates);

}  // namespace swage::testing
