// SPDX-License-Identifier: Apache-2.0
#include "app/cli/unified_diff.h"

#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <dtl/dtl.hpp>

#include "app/cli/terminal.h"

namespace swage::cli {
namespace {

std::vector<std::string> linesOf(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

}  // namespace

std::string unifiedDiff(std::string_view left, std::string_view right, std::string_view leftName,
                        std::string_view rightName) {
  if (left == right) {
    return {};
  }
  dtl::Diff<std::string> diff(linesOf(left), linesOf(right));
  diff.onHuge();
  diff.compose();
  diff.composeUnifiedHunks();
  std::ostringstream hunks;
  diff.printUnifiedFormat(hunks);
  if (hunks.str().empty()) {
    return {};  // but for the end of the last line
  }
  return fmt::format("--- {}\n+++ {}\n{}", leftName, rightName, hunks.str());
}

std::string paintedDiff(std::string_view diff) {
  std::string result;
  while (!diff.empty()) {
    const std::size_t end = diff.find('\n');
    const std::string_view line = diff.substr(0, end);
    diff.remove_prefix(end == std::string_view::npos ? diff.size() : end + 1);
    if (line.starts_with("--- ") || line.starts_with("+++ ")) {
      result += painted(Tone::Heading, line);
    } else if (line.starts_with('-')) {
      result += painted(Tone::Removed, line);
    } else if (line.starts_with('+')) {
      result += painted(Tone::Added, line);
    } else if (line.starts_with("@@")) {
      result += painted(Tone::Dim, line);
    } else {
      result += line;
    }
    result += '\n';
  }
  return result;
}

}  // namespace swage::cli
