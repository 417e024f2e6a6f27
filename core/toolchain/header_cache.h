// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace swage::toolchain {

// Precompiled headers on disk. What every generated kernel includes is most of what its compiler reads: a draft that
// finds it here is compiled in a third of the time, to the same code. Each entry is a folder with "headers.h" and its
// precompiled form; few are kept. Processes may share a cache.
class HeaderCache {
 public:
  // Not there: it is made with the first entry.
  explicit HeaderCache(std::filesystem::path folder) : m_folder(std::move(folder)) {}

  [[nodiscard]] static std::string_view headers();
  // Whether a source includes headers, and none but these: then having all of them changes nothing of what it means
  // (one that forgets a header is compiled nevertheless).
  [[nodiscard]] static bool suits(std::string_view source);
  // Names what a compiler makes with these flags; the compiler counts by its path, size and age.
  [[nodiscard]] static std::string keyOf(const std::string& compiler, const std::vector<std::string>& flags);

  // The folder of an entry; no value: there is none. An entry that could not be made is there with an empty path.
  [[nodiscard]] std::optional<std::filesystem::path> find(const std::string& key) const;
  // Keeps what a compiler has made of headers(); empty `precompiled`: it could not. The folder of the entry, empty
  // where nothing could be kept.
  [[nodiscard]] std::filesystem::path keep(const std::string& key, std::string_view precompiled) const;

 private:
  void removeOldest() const;

  std::filesystem::path m_folder;
};

}  // namespace swage::toolchain
