// SPDX-License-Identifier: Apache-2.0
#include "app/cli/mcp_text.h"

#include <fmt/format.h>

#include "core/domain/origin.h"

namespace swage::cli {

std::string limited(std::string_view text, std::size_t mostBytes, std::string_view rest) {
  if (text.size() <= mostBytes) {
    return std::string(text);
  }
  constexpr auto isInside = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  std::size_t end = mostBytes;
  while (end > 0 && isInside(text[end])) {
    --end;
  }
  return fmt::format("{}\n[cut here: {} bytes more; {}]", text.substr(0, end), text.size() - end, rest);
}

domain::ProposerName submitterName(std::string_view client) {
  constexpr std::size_t kMost = domain::ProposerName::kMaxLength - 4;
  std::string name;
  for (const char c : client) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool isKept = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9') || lower == '.';
    if (isKept) {
      name += lower;
    } else if (!name.empty() && name.back() != ' ') {
      name += ' ';
    }
  }
  name = name.substr(0, kMost);
  name.erase(name.find_last_not_of(" .") + 1);
  const auto parsed = domain::ProposerName::parse(std::string(domain::kAgentName) + "/" + name);
  return name.empty() || !parsed ? *domain::ProposerName::parse(domain::kAgentName) : *parsed;
}

}  // namespace swage::cli
