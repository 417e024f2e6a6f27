// SPDX-License-Identifier: Apache-2.0
#include "core/domain/cubins.h"

#include <algorithm>
#include <string>

#include "core/base/elf_image.h"

namespace swage::domain {

std::vector<std::string_view> cubinsIn(std::string_view binary) {
  std::vector<std::string_view> found;
  while (!binary.empty()) {
    const auto image = parseElf(binary);
    found.push_back(binary.substr(0, image ? image->size : binary.size()));
    binary.remove_prefix(found.back().size());
  }
  return found;
}

std::string_view cubinOf(std::string_view binary, std::string_view entry) {
  const std::vector<std::string_view> all = cubinsIn(binary);
  const auto hasCode = [section = ".text." + std::string(entry)](std::string_view cubin) {
    const auto image = parseElf(cubin);
    return image && image->find(section) != nullptr;
  };
  const auto found = std::find_if(all.begin(), all.end(), hasCode);
  return found != all.end() ? *found : all.empty() ? binary : all.front();
}

}  // namespace swage::domain
