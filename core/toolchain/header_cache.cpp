// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/header_cache.h"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include "core/base/files.h"
#include "core/base/sha256.h"

namespace swage::toolchain {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostEntries = 4;  // of 50 MB each
constexpr const char* kText = "headers.h";
constexpr const char* kPrecompiled = "headers.h.gch";
constexpr const char* kFailed = "failed";

}  // namespace

// Those of patterns/cpu/helpers.h, and what people add to them.
std::string_view HeaderCache::headers() {
  return "#include <algorithm>\n#include <cmath>\n#include <cstdint>\n#include <cstring>\n#include <immintrin.h>\n"
         "#include <omp.h>\n";
}

bool HeaderCache::suits(std::string_view source) {
  bool hasAny = false;
  for (std::size_t at = source.find("#include"); at != std::string_view::npos; at = source.find("#include", at + 1)) {
    const std::string_view line = source.substr(at, source.find('\n', at) - at);
    if (headers().find(line) == std::string_view::npos) {
      return false;
    }
    hasAny = true;
  }
  return hasAny;
}

std::string HeaderCache::keyOf(const std::string& compiler, const std::vector<std::string>& flags) {
  std::error_code ignored;
  const fs::path real = fs::canonical(compiler, ignored);
  std::string text = fmt::format("{}\n{}\n{}\n{}\n", real.string(), fs::file_size(real, ignored),
                                 fs::last_write_time(real, ignored).time_since_epoch().count(), headers());
  for (const std::string& flag : flags) {
    text += flag + '\n';
  }
  return sha256Hex(text).substr(0, 16);
}

std::optional<fs::path> HeaderCache::find(const std::string& key) const {
  std::error_code ignored;
  const fs::path entry = m_folder / key;
  if (fs::exists(entry / kPrecompiled, ignored)) {
    return entry;
  }
  return fs::exists(entry / kFailed, ignored) ? std::optional(fs::path()) : std::nullopt;
}

fs::path HeaderCache::keep(const std::string& key, std::string_view precompiled) const {
  std::error_code error;
  const fs::path entry = m_folder / key;
  fs::create_directories(entry, error);
  if (error) {
    return {};
  }
  if (precompiled.empty()) {
    static_cast<void>(writeFileAtomically(entry / kFailed, {}));
    return {};
  }
  // The text first: an entry counts when its precompiled form is there.
  if (!writeFileAtomically(entry / kText, headers()) || !writeFileAtomically(entry / kPrecompiled, precompiled)) {
    return {};
  }
  removeOldest();
  return entry;
}

void HeaderCache::removeOldest() const {
  std::error_code ignored;
  std::vector<std::pair<fs::file_time_type, fs::path>> entries;
  for (const fs::directory_entry& entry : fs::directory_iterator(m_folder, ignored)) {
    entries.emplace_back(entry.last_write_time(ignored), entry.path());
  }
  std::sort(entries.rbegin(), entries.rend());
  for (std::size_t i = kMostEntries; i < entries.size(); ++i) {
    fs::remove_all(entries[i].second, ignored);
  }
}

}  // namespace swage::toolchain
