// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace swage::synth {

// Source text of a language with braces, written line by line with the right indentation.
class Code {
 public:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    put(fmt::format(format, std::forward<Args>(args)...));
  }
  // Opens a block: "for (…) {".
  template <class... Args>
  void open(fmt::format_string<Args...> format, Args&&... args) {
    put(fmt::format(format, std::forward<Args>(args)...) + " {");
    ++m_depth;
  }
  // A block of its own.
  void openBlock();
  void close(std::string_view tail = {});
  // "} else {"
  void otherwise();
  // A line that starts in the first column, such as a pragma.
  void pragma(std::string_view text);
  // A // comment, on as many lines as it needs.
  void comment(std::string_view text);
  // The same on one line, cut where it is longer: for text that is not ours, such as a line of the model.
  void note(std::string_view text);
  // One empty line; none at the beginning of a block or after another.
  void blank();

  [[nodiscard]] std::string take() { return std::move(m_text); }

 private:
  void put(std::string_view text);
  // Characters of a comment that a line has room for.
  [[nodiscard]] std::size_t room() const;

  std::string m_text;
  int m_depth = 0;
};

}  // namespace swage::synth
