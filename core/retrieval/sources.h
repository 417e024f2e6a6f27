// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/domain/pattern_entry.h"

// What can be indexed. Nothing is read before it is asked for.
namespace swage::retrieval {

struct Unit {
  std::string name;   // of all units: where it is
  std::string stamp;  // another one: read it again
  std::function<Result<std::vector<domain::PatternEntry>>()> read;
};

// patterns/ of Swage: one unit.
[[nodiscard]] std::vector<Unit> catalogueUnits(const std::filesystem::path& folder);
// Facts about GPUs: a file each, as resources/devices has them.
[[nodiscard]] std::vector<Unit> dataSheetUnits(const std::filesystem::path& folder);
// The compiler of PyTorch and Triton in a Python environment, as far as they are installed: templates and functions.
// Their sources are read where they lie and only the index on this machine has parts of them.
[[nodiscard]] std::vector<Unit> pythonUnits(const std::filesystem::path& python);
// Headers and examples of a checkout of CUTLASS.
[[nodiscard]] std::vector<Unit> cutlassUnits(const std::filesystem::path& checkout);
// The winners of the finished runs of each project.
[[nodiscard]] std::vector<Unit> recordUnits(const std::vector<std::filesystem::path>& projects);

// The functions, classes and templates of a Python file, each with its comments; a piece for the head of the file, too.
// Pure.
[[nodiscard]] std::vector<domain::PatternEntry> piecesOfPython(std::string_view text, domain::PatternOrigin origin,
                                                               const std::string& shownName, const std::string& place);

}  // namespace swage::retrieval
