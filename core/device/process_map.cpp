// SPDX-License-Identifier: Apache-2.0
#include "core/device/process_map.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "core/base/files.h"

namespace swage::device {

ProcessMap ProcessMap::of(pid_t process) {
  return ProcessMap(readTextFile(fmt::format("/proc/{}/maps", process)).value_or(""));
}

// "begin-end permissions offset device inode   file", with spaces in the file's name as they are.
ProcessMap::ProcessMap(std::string_view text) {
  constexpr int kFieldsBeforeFile = 5;
  std::map<std::string, std::uint64_t> bases;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    Range range;
    const auto begin = std::from_chars(line.data(), line.data() + line.size(), range.begin, 16);
    if (begin.ec != std::errc{} || begin.ptr == line.data() + line.size()) {
      continue;
    }
    std::from_chars(begin.ptr + 1, line.data() + line.size(), range.end, 16);
    std::size_t at = 0;
    for (int field = 0; field < kFieldsBeforeFile && at != std::string::npos; ++field) {
      at = line.find(' ', line.find_first_not_of(' ', at));
    }
    at = at == std::string::npos ? at : line.find_first_not_of(' ', at);
    if (at == std::string::npos) {
      continue;
    }
    range.file = line.substr(at);
    range.base = bases.emplace(range.file, range.begin).first->second;
    m_ranges.push_back(std::move(range));
  }
}

std::optional<ProcessMap::Location> ProcessMap::find(std::uint64_t address) const {
  const auto found = std::find_if(m_ranges.begin(), m_ranges.end(), [address](const Range& range) {
    return address >= range.begin && address < range.end;
  });
  if (found == m_ranges.end()) {
    return std::nullopt;
  }
  return Location{found->file, static_cast<std::int64_t>(address - found->base)};
}

}  // namespace swage::device
