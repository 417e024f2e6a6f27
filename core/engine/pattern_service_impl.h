// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <utility>

#include "core/services/pattern_service.h"

namespace swage::engine {

// Reads the catalogue anew each time, so that an edited manifest shows.
class PatternServiceImpl final : public services::PatternService {
 public:
  explicit PatternServiceImpl(std::filesystem::path folder) : m_folder(std::move(folder)) {}
  [[nodiscard]] Result<std::vector<services::PatternInfo>> patterns() const override;

 private:
  std::filesystem::path m_folder;
};

}  // namespace swage::engine
