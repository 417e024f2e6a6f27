// SPDX-License-Identifier: Apache-2.0
#include "core/device/cpu_info.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <span>
#include <sstream>

#include "core/base/files.h"

namespace swage::device {
namespace {

std::string_view trimmedField(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// The value of the first line `key : value`.
std::string_view field(std::string_view cpuinfo, std::string_view key) {
  while (!cpuinfo.empty()) {
    const auto end = cpuinfo.find('\n');
    const std::string_view line = cpuinfo.substr(0, end);
    const auto colon = line.find(':');
    if (colon != std::string_view::npos && trimmedField(line.substr(0, colon)) == key) {
      return trimmedField(line.substr(colon + 1));
    }
    cpuinfo = end == std::string_view::npos ? std::string_view() : cpuinfo.substr(end + 1);
  }
  return {};
}

using Flags = std::set<std::string, std::less<>>;

bool hasAll(const Flags& flags, std::span<const std::string_view> wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](std::string_view flag) { return flags.contains(flag); });
}

// The levels of the x86-64 psABI, in the kernel's names for the features.
std::string levelOf(const Flags& flags) {
  static constexpr std::array<std::string_view, 6> kLevel2 = {"cx16", "lahf_lm", "popcnt", "pni", "sse4_2", "ssse3"};
  static constexpr std::array<std::string_view, 7> kLevel3 = {"avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"};
  static constexpr std::array<std::string_view, 5> kLevel4 = {"avx512f", "avx512bw", "avx512cd", "avx512dq",
                                                              "avx512vl"};
  if (!hasAll(flags, kLevel2)) {
    return "x86-64";
  }
  if (!hasAll(flags, kLevel3)) {
    return "x86-64-v2";
  }
  return hasAll(flags, kLevel4) ? "x86-64-v4" : "x86-64-v3";
}

// One figure of /proc/meminfo, which is in kB.
std::int64_t memoryFigure(std::string_view key) {
  const auto text = readTextFile("/proc/meminfo");
  if (!text) {
    return 0;
  }
  const std::string_view value = field(*text, key);
  std::int64_t kilobytes = 0;
  std::from_chars(value.data(), value.data() + value.size(), kilobytes);
  return kilobytes * 1024;
}

}  // namespace

CpuDescription describeCpu(std::string_view cpuinfo, std::string_view machine) {
  CpuDescription result{std::string(field(cpuinfo, "model name")), std::string(machine)};
  if (result.name.empty()) {
    result.name = machine;
  }
  std::istringstream words{std::string(field(cpuinfo, "flags"))};
  Flags flags;
  for (std::string word; words >> word;) {
    flags.insert(word);
  }
  if (!flags.empty() && machine == "x86_64") {
    result.architecture = levelOf(flags) + (flags.contains("amx_tile") ? "+amx" : "");
  }
  return result;
}

std::int64_t parseCacheSize(std::string_view text) {
  text = trimmedField(text);
  std::int64_t number = 0;
  const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || number < 0 || number > (std::int64_t{1} << 42)) {
    return 0;
  }
  const std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  if (unit.empty()) {
    return number;
  }
  return unit == "K" ? number * 1024 : unit == "M" ? number * 1024 * 1024 : 0;
}

std::int64_t lastLevelCacheBytes() {
  std::int64_t largest = 0;
  for (int index = 0; index < 8; ++index) {
    const auto text = readTextFile("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
    if (text) {
      largest = std::max(largest, parseCacheSize(*text));
    }
  }
  return largest;
}

std::int64_t availableMemoryBytes() {
  const std::int64_t machine = memoryFigure("MemAvailable");
  // A container may be allowed less than the machine has; "max" parses as 0, which is no limit.
  const auto limit = readTextFile("/sys/fs/cgroup/memory.max");
  const auto used = readTextFile("/sys/fs/cgroup/memory.current");
  const std::int64_t allowed = limit ? parseCacheSize(*limit) : 0;
  return allowed > 0 && used ? std::clamp<std::int64_t>(allowed - parseCacheSize(*used), 0, machine) : machine;
}

std::int64_t totalMemoryBytes() {
  return memoryFigure("MemTotal");
}

}  // namespace swage::device
