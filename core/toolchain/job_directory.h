// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/fd.h"
#include "core/base/result.h"

namespace swage::toolchain {

// A private directory with `in` and `out`, removed with everything in it at the end of the scope.
class JobDirectory {
 public:
  [[nodiscard]] static Result<JobDirectory> create();
  // Removes what processes that were killed have left of theirs, in the folder for temporary files.
  static void removeAbandoned();
  ~JobDirectory();
  JobDirectory(JobDirectory&& other) noexcept;
  JobDirectory& operator=(JobDirectory&&) = delete;
  JobDirectory(const JobDirectory&) = delete;
  JobDirectory& operator=(const JobDirectory&) = delete;

  [[nodiscard]] std::filesystem::path root() const { return m_root; }
  [[nodiscard]] std::filesystem::path in() const { return m_root / "in"; }
  [[nodiscard]] std::filesystem::path out() const { return m_root / "out"; }

 private:
  explicit JobDirectory(std::filesystem::path root) : m_root(std::move(root)) {}

  std::filesystem::path m_root;
  Fd m_lock;  // held as long as the directory is in use, also by what cannot be seen from here
};

// Reads a file that a sandboxed program has left behind. Follows no link and opens nothing but a regular file: a
// symbolic link in `out` would otherwise make us read a file of the host.
[[nodiscard]] Result<std::string> readUntrustedFile(const std::filesystem::path& path, std::size_t maxBytes);

}  // namespace swage::toolchain
