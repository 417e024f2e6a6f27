// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/fd.h"
#include "core/base/result.h"

namespace swage::workbench {

// Leaves a note when this program crashes: which signal, where, which build, and the last lines of the log. The file is
// open and locked from the start, so that nothing has to be allocated when it is needed; at a clean end it is removed.
// One object in a process.
class CrashHandler {
 public:
  // `folder` is made when it is not there.
  [[nodiscard]] static Result<std::unique_ptr<CrashHandler>> install(const std::filesystem::path& folder);
  ~CrashHandler();
  CrashHandler(const CrashHandler&) = delete;
  CrashHandler& operator=(const CrashHandler&) = delete;

  // Adds a line to what a note ends with. Any thread.
  static void remember(std::string_view line);

 private:
  CrashHandler(std::filesystem::path file, Fd fd);

  std::filesystem::path m_file;
  Fd m_fd;
  std::vector<char> m_stack;  // for the handler: the program's own may be what overflowed
};

// What a process that did not end cleanly has left. `text` is empty where it was killed without a chance to write.
struct CrashNote {
  std::filesystem::path file;
  std::string text;
};

// The notes of processes that are gone, newest first; they are kept as reports and not found again. Only the newest
// reports stay.
[[nodiscard]] std::vector<CrashNote> takeCrashNotes(const std::filesystem::path& folder);

}  // namespace swage::workbench
