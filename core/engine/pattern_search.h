// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "core/base/result.h"
#include "core/process/locations.h"
#include "core/retrieval/finder.h"

namespace swage::engine {

// Where what can be found lies on this machine. What is empty or not there is left out.
struct PatternPlaces {
  std::filesystem::path index;  // a file of this user that may be deleted at any time
  std::filesystem::path catalogue;
  std::filesystem::path dataSheets;
  std::filesystem::path python;   // of an environment with PyTorch and Triton
  std::filesystem::path cutlass;  // a checkout
  std::vector<std::filesystem::path> projects;

  // With the projects under the data folder, and `project`, if there is one. The checkout of CUTLASS is the setting
  // locations.cutlass, which applyLocations() has put into the environment.
  [[nodiscard]] static PatternPlaces standard(const process::Locations& locations,
                                              const std::filesystem::path& project = {});
};

// Answers questions about how fast kernels are written, from what lies on this machine. One thread only.
class PatternSearch {
 public:
  // Brings the index up to date first: in a few milliseconds where nothing has changed, in seconds the first time.
  [[nodiscard]] static Result<PatternSearch> open(const PatternPlaces& places);

  [[nodiscard]] Result<std::vector<retrieval::Found>> find(const retrieval::Question& question) const {
    return m_finder.find(question);
  }
  [[nodiscard]] std::size_t size() const { return m_finder.size(); }

 private:
  PatternSearch(std::unique_ptr<store::PatternIndex> index, retrieval::Finder finder)
      : m_index(std::move(index)), m_finder(std::move(finder)) {}

  std::unique_ptr<store::PatternIndex> m_index;
  retrieval::Finder m_finder;  // over that
};

}  // namespace swage::engine
