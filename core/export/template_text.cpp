// SPDX-License-Identifier: Apache-2.0
#include "core/export/template_text.h"

#include <algorithm>

namespace swage::exporting {

std::string filled(std::string_view text, const TemplateValues& values) {
  std::string result;
  for (std::size_t at = text.find('@'); at != std::string_view::npos; at = text.find('@')) {
    result += text.substr(0, at);
    text.remove_prefix(at + 1);
    const auto found = std::find_if(values.begin(), values.end(), [&](const auto& value) {
      return text.starts_with(value.first) && text.substr(value.first.size()).starts_with('@');
    });
    if (found == values.end()) {
      result += '@';  // a decorator
    } else {
      result += found->second;
      text.remove_prefix(found->first.size() + 1);
    }
  }
  result += text;
  return result;
}

}  // namespace swage::exporting
