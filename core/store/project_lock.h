// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/base/fd.h"
#include "core/base/result.h"

namespace swage::store {

// Holds `<project>/runs.lock`, so that one process writes a project. The file says the holder's pid while it is held
// and is emptied by release(): a pid found in a file that nobody holds means that the last writer was killed.
// The lock goes with the process, however it ends. The file itself stays.
class ProjectLock {
 public:
  enum class LastWriter : std::uint8_t { Closed, Killed };

  // ErrorKind::Locked, with the holder's pid, when another process (or another lock of this one) holds it.
  [[nodiscard]] static Result<ProjectLock> take(const std::filesystem::path& file);
  ProjectLock(ProjectLock&&) noexcept = default;
  ProjectLock& operator=(ProjectLock&&) noexcept = default;

  [[nodiscard]] LastWriter lastWriter() const { return m_lastWriter; }
  // Says that everything was written and closed in order. Without this the next writer checks the database.
  void release();

 private:
  ProjectLock(Fd fd, LastWriter lastWriter) : m_fd(std::move(fd)), m_lastWriter(lastWriter) {}

  Fd m_fd;
  LastWriter m_lastWriter = LastWriter::Closed;
};

}  // namespace swage::store
