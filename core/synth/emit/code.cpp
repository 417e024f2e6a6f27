// SPDX-License-Identifier: Apache-2.0
#include "core/synth/emit/code.h"

namespace swage::synth {
namespace {

constexpr std::size_t kWidth = 110;

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

void Code::comment(std::string_view text) {
  const std::size_t room = kWidth - static_cast<std::size_t>(m_depth) * 2 - 3;
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
