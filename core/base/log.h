// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace swage::log {

// info: a milestone the user would like to see. warn: we coped. error: someone must look.
enum class Level { Debug, Info, Warn, Error };

// Writes to standard error, because standard output belongs to data (and, in the worker, to frames). Thread-safe.
void write(Level level, std::string_view message);
void setLevel(Level level);
[[nodiscard]] Level level();

// Called after each message at or above `level()`, on the thread that logged. Tests use it to fail on warnings.
void setObserver(std::function<void(Level, std::string_view)> observer);

template <class... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  if (level() <= Level::Debug) {
    write(Level::Debug, fmt::format(format, std::forward<Args>(args)...));
  }
}
template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::Info, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::Warn, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::Error, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace swage::log
