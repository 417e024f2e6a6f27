// SPDX-License-Identifier: Apache-2.0
#include "core/services/overrides.h"

#include <fmt/format.h>

namespace swage::services {

Result<std::pair<std::string, std::string>> parseOverride(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) {
    return Error(ErrorKind::Usage, fmt::format("'--set {}' is not NAME=VALUE", text),
                 "for example --set batch_size=16");
  }
  return std::pair(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
}

}  // namespace swage::services
