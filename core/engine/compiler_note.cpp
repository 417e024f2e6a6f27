// SPDX-License-Identifier: Apache-2.0
#include "core/engine/compiler_note.h"

#include <algorithm>
#include <array>

namespace swage::engine {
namespace {

constexpr std::array<std::string_view, 3> kNotes = {"Cuda compilation tools, release ", "GCC: (", "clang version "};
constexpr std::size_t kMaxNote = 120;
constexpr std::size_t kHead = 4096;  // of the PTX, where the note is

bool isText(char c) {
  return c >= ' ' && c <= '~';
}

std::string noteIn(std::string_view text) {
  for (const std::string_view start : kNotes) {
    const std::size_t begin = text.find(start);
    if (begin != std::string_view::npos) {
      const std::string_view note = text.substr(begin, kMaxNote);
      return std::string(note.begin(), std::find_if_not(note.begin(), note.end(), isText));
    }
  }
  return {};
}

}  // namespace

std::string compilerNote(std::string_view assembly, std::string_view binary) {
  std::string note = noteIn(assembly.substr(0, kHead));
  return note.empty() ? noteIn(binary) : note;
}

}  // namespace swage::engine
