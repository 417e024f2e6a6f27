// SPDX-License-Identifier: Apache-2.0
#include "core/models/prompt_templates.h"

#include <span>

#include "core/base/sha256.h"

namespace swage::models {
namespace {

std::span<const detail::PromptFile> files() {
  std::size_t count = 0;
  const detail::PromptFile* first = detail::promptFiles(count);
  return {first, count};
}

}  // namespace

std::string_view promptTemplate(std::string_view name) {
  for (const detail::PromptFile& file : files()) {
    if (file.name == name) {
      std::string_view text = file.text.substr(file.text.find('\n') + 1);
      while (text.ends_with('\n')) {
        text.remove_suffix(1);
      }
      return text;
    }
  }
  return {};
}

const std::string& promptTemplatesHash() {
  static const std::string hash = [] {
    std::string all;
    for (const detail::PromptFile& file : files()) {
      all.append(file.name).append("\n").append(file.text);
    }
    return sha256Hex(all);
  }();
  return hash;
}

std::string filledIn(std::string_view text, const std::map<std::string, std::string, std::less<>>& values) {
  std::string result;
  for (;;) {
    const std::size_t open = text.find("{{");
    const std::size_t close = open == std::string_view::npos ? open : text.find("}}", open);
    if (close == std::string_view::npos) {
      return result.append(text);
    }
    result.append(text.substr(0, open));
    if (const auto value = values.find(text.substr(open + 2, close - open - 2)); value != values.end()) {
      result.append(value->second);
    }
    text.remove_prefix(close + 2);
  }
}

}  // namespace swage::models
