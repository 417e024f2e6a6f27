// SPDX-License-Identifier: Apache-2.0
#include "core/synth/emit/code.h"

namespace swage::synth {
namespace {

constexpr std::size_t kWidth = 110;
constexpr std::string_view kCut = "...";

// One line of ASCII.
std::string plainText(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool isInside = byte >= 0x80 && byte < 0xC0;  // of a character of several bytes
    if (!isInside) {
      plain += byte >= 0x80 ? '?' : byte < 0x20 || byte == 0x7F ? ' ' : c;
    }
  }
  return plain;
}

// Without what would carry a comment on to the next line: a backslash, also where it is written as three characters.
std::string_view withoutSplice(std::string_view text) {
  constexpr std::string_view kTrigraph = "?\?/";
  while (text.ends_with(' ') || text.ends_with('\\') || text.ends_with(kTrigraph)) {
    text.remove_suffix(text.ends_with(kTrigraph) ? kTrigraph.size() : 1);
  }
  return text;
}

}  // namespace

void Code::put(std::string_view text) {
  m_text.append(static_cast<std::size_t>(m_depth) * 2, ' ');
  m_text += text;
  m_text += '\n';
}

void Code::openBlock() {
  put("{");
  ++m_depth;
}

void Code::close(std::string_view tail) {
  --m_depth;
  put(std::string("}") + std::string(tail));
}

void Code::otherwise() {
  close(" else {");
  ++m_depth;
}

void Code::pragma(std::string_view text) {
  m_text += text;
  m_text += '\n';
}

std::size_t Code::room() const {
  return kWidth - static_cast<std::size_t>(m_depth) * 2 - 3;
}

void Code::note(std::string_view text) {
  std::string plain(withoutSplice(plainText(text)));
  if (plain.size() > room()) {
    plain = std::string(withoutSplice(std::string_view(plain).substr(0, room() - kCut.size()))) + std::string(kCut);
  }
  put("// " + plain);
}

void Code::comment(std::string_view text) {
  const std::size_t room = this->room();
  while (text.size() > room) {
    std::size_t cut = text.rfind(' ', room);
    cut = cut == std::string_view::npos || cut == 0 ? room : cut;
    put("// " + std::string(text.substr(0, cut)));
    text.remove_prefix(cut);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
  put("// " + std::string(text));
}

void Code::blank() {
  if (!m_text.empty() && !m_text.ends_with("\n\n") && !m_text.ends_with("{\n")) {
    m_text += '\n';
  }
}

}  // namespace swage::synth
