// SPDX-License-Identifier: Apache-2.0
#include "core/domain/listing.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <set>

#include "core/domain/source_map.h"

namespace swage::domain {
namespace {

constexpr std::string_view kSpace = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpace);
  return begin == std::string_view::npos ? std::string_view()
                                         : text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::string_view takeLine(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}
bool isHexDigit(char c) {
  return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool isOfAName(char c) {
  return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '.';
}

// "/in/source.cpp:12 (discriminator 3)", "k():", ".loc 1 4 0", "//## File "/in/source.cu", line 6".
bool isPlace(std::string_view line) {
  const std::string_view text = trimmed(line);
  if (text.starts_with(".loc") || text.starts_with("//## File ")) {
    return true;
  }
  if (text.empty() || line.front() == ' ' || line.front() == '\t') {
    return false;
  }
  if (text.ends_with("):")) {
    return true;
  }
  const std::size_t places = text.find(" (discriminator");
  const std::string_view path = text.substr(0, places);
  const std::size_t colon = path.rfind(':');
  return colon != std::string_view::npos && colon > 0 && colon + 1 < path.size() &&
         (std::all_of(path.begin() + static_cast<std::ptrdiff_t>(colon) + 1, path.end(), isDigit) ||
          path.substr(colon + 1) == "?");
}

// Directives that say nothing about what runs. Those of PTX that declare registers, parameters and kernels do.
bool isDirective(std::string_view line) {
  constexpr std::array<std::string_view, 14> kIgnored{".file",        ".section", ".b8",   ".b32",        ".b64",
                                                      ".headerflags", ".elftype", ".type", ".size",       ".align",
                                                      ".cfi_",        ".ident",   ".byte", ".sectioninfo"};
  std::string_view text = trimmed(line);
  const bool isIgnored =
      std::any_of(kIgnored.begin(), kIgnored.end(), [text](std::string_view word) { return text.starts_with(word); });
  return isIgnored && text.find('%') == std::string_view::npos;  // ".b32 %r<5>" declares registers
}

// What stands before the instruction of an x86 listing: "    1120:\t". 0: this line has none.
std::size_t addressLength(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(' ');
  const std::size_t colon = line.find(":\t");
  if (begin == std::string_view::npos || colon == std::string_view::npos || colon <= begin) {
    return 0;
  }
  const std::string_view digits = line.substr(begin, colon - begin);
  return std::all_of(digits.begin(), digits.end(), isHexDigit) ? colon + 2 : 0;
}

// "jne    1120 <k+0x10>" becomes "jne    <k>", "[rip+0x123]        # 2000 <x>" becomes "[rip]        # <x>".
std::string withoutTargets(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t open = text.find(" <");
    const std::size_t close = open == std::string_view::npos ? open : text.find('>', open);
    if (close == std::string_view::npos) {
      result += text;
      break;
    }
    std::string_view before = text.substr(0, open);
    while (!before.empty() && isHexDigit(before.back())) {
      before.remove_suffix(1);
    }
    const std::string_view inside = text.substr(open + 2, close - open - 2);
    result +=
        before.empty() || kSpace.find(before.back()) == std::string_view::npos ? text.substr(0, open + 1) : before;
    result += '<';
    result += inside.substr(0, inside.find("+0x"));
    result += '>';
    text.remove_prefix(close + 1);
  }
  if (const std::size_t rip = result.find("[rip"); rip != std::string::npos) {
    if (const std::size_t end = result.find(']', rip); end != std::string::npos) {
      result.erase(rip + 4, end - rip - 4);
    }
  }
  return result;
}

std::string withoutAddresses(std::string_view line) {
  if (const std::size_t length = addressLength(line); length > 0) {
    return "    " + withoutTargets(line.substr(length));
  }
  // SASS: "        /*0010*/                   EXIT ;", and the encoding behind it.
  const std::string_view text = trimmed(line);
  if (text.starts_with("/*") && text.find("*/") != std::string_view::npos) {
    const std::string_view instruction = trimmed(text.substr(text.find("*/") + 2));
    const std::size_t encoding = instruction.find("/* 0x");
    return instruction.empty() ? std::string() : "    " + std::string(trimmed(instruction.substr(0, encoding)));
  }
  // "0000000000001120 <k>:"
  const std::size_t open = line.find(" <");
  if (line.ends_with(">:") && open != std::string_view::npos && open > 0 &&
      std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(open), isHexDigit)) {
    return std::string(line.substr(open + 1));
  }
  return std::string(line);
}

// The label that a line is: "$L__BB0_2:", ".L_x_1:". Empty: it is none.
std::string_view labelOf(std::string_view line) {
  const std::string_view text = trimmed(line);
  const bool isLabel = (text.starts_with("$L") || text.starts_with(".L")) && text.ends_with(':') &&
                       std::all_of(text.begin(), text.end() - 1, isOfAName);
  return isLabel ? text.substr(0, text.size() - 1) : std::string_view();
}

// Every label that a line which is none mentions.
std::set<std::string_view> mentionedLabels(std::string_view listing) {
  std::set<std::string_view> labels;
  while (!listing.empty()) {
    const std::string_view line = takeLine(listing);
    if (!labelOf(line).empty()) {
      continue;
    }
    for (std::size_t at = line.find('L'); at != std::string_view::npos; at = line.find('L', at + 1)) {
      const bool begins = at > 0 && (line[at - 1] == '$' || line[at - 1] == '.');
      if (begins && (at == 1 || !isOfAName(line[at - 2]))) {
        const auto end = std::find_if_not(line.begin() + static_cast<std::ptrdiff_t>(at), line.end(), isOfAName);
        labels.insert(line.substr(at - 1, static_cast<std::size_t>(end - line.begin()) - at + 1));
      }
    }
  }
  return labels;
}

// The function that begins on this line, as it stands there; empty: none.
std::string_view functionBegun(std::string_view line) {
  const std::string_view text = trimmed(line);
  if (line.ends_with(">:") && line.find(" <") != std::string_view::npos) {
    const std::size_t open = line.find('<');
    return line.substr(open + 1, line.size() - open - 3);
  }
  for (const std::string_view word : {".entry ", ".func "}) {
    if (const std::size_t at = text.find(word); at != std::string_view::npos && text.starts_with('.')) {
      std::string_view rest = trimmed(text.substr(at + word.size()));
      if (rest.starts_with('(')) {  // what a function returns
        rest = trimmed(rest.substr(std::min(rest.find(')') + 1, rest.size())));
      }
      const auto end = std::find_if_not(rest.begin(), rest.end(), isOfAName);
      return rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
    }
  }
  if (text.starts_with(".text.") && text.ends_with(':')) {
    return text.substr(6, text.size() - 7);
  }
  return {};
}

// By line: whether it stands in a function that has no line of the source, while another one has.
std::vector<bool> libraryLines(std::string_view listing) {
  const SourceMap map = mapListing(listing);
  std::vector<bool> isLibrary(map.lineOf.size(), false);
  std::size_t begin = isLibrary.size();  // of the function that is read
  bool ownsLine = false;
  const auto close = [&](std::size_t end) {
    for (std::size_t i = begin; !ownsLine && i < end; ++i) {
      isLibrary[i] = true;
    }
  };
  for (std::size_t number = 0; !listing.empty() && number < isLibrary.size(); ++number) {
    if (!functionBegun(takeLine(listing)).empty()) {
      close(number);
      begin = number;
      ownsLine = false;
    }
    ownsLine = ownsLine || map.lineOf[number] > 0;
  }
  close(isLibrary.size());
  return map.isEmpty() ? std::vector<bool>(isLibrary.size(), false) : isLibrary;
}

// Which lines of a listing are left out, one after another.
class ListingFilter {
 public:
  ListingFilter(std::string_view listing, const ListingOptions& options) : m_options(options) {
    if (!options.unusedLabels) {
      m_mentioned = mentionedLabels(listing);
    }
    if (!options.library) {
      m_library = libraryLines(listing);
    }
  }

  [[nodiscard]] bool isHidden(std::string_view line, int number) {
    const std::string_view text = trimmed(line);
    const bool isOfSection = m_inSection;
    m_inSection = m_inSection ? text != "}" : text.starts_with(".section") && !text.ends_with('"');
    if ((!m_options.places && isPlace(line)) || (!m_options.directives && (isOfSection || isDirective(line)))) {
      return true;
    }
    const auto at = static_cast<std::size_t>(number);
    if (!m_options.library && at < m_library.size() && m_library[at]) {
      return true;
    }
    if (!m_options.unusedLabels && !labelOf(line).empty() && !m_mentioned.contains(labelOf(line))) {
      return true;
    }
    return !m_options.comments && (text.starts_with("//") || text.starts_with('#'));
  }

 private:
  const ListingOptions& m_options;
  std::set<std::string_view> m_mentioned;
  std::vector<bool> m_library;
  bool m_inSection = false;  // of debug information in PTX, from its brace to the other
};

}  // namespace

std::string demangled(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t at = text.find("_Z");
    const bool begins = at == 0 || (at != std::string_view::npos && !isOfAName(text[at - 1]));
    if (at == std::string_view::npos) {
      return result += text;
    }
    const auto last = std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), isOfAName);
    const std::string name(text.begin() + static_cast<std::ptrdiff_t>(at), last);
    result += text.substr(0, at);
    text.remove_prefix(at + name.size());
    // What the compiler added behind a dot, such as ._omp_fn.0, is no part of the name.
    const std::size_t dot = std::min(name.find('.'), name.size());
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> plain(
        begins ? abi::__cxa_demangle(name.substr(0, dot).c_str(), nullptr, nullptr, &status) : nullptr, &std::free);
    result += plain ? plain.get() + name.substr(dot) : name;
  }
  return result;
}

Listing readableListing(std::string_view listing, const ListingOptions& options) {
  Listing result;
  result.text.reserve(listing.size());
  bool wasBlank = true;
  ListingFilter filter(listing, options);
  for (int number = 0; !listing.empty(); ++number) {
    const std::string_view line = takeLine(listing);
    const bool isBlank = trimmed(line).empty();
    if (filter.isHidden(line, number) || (isBlank && wasBlank)) {
      continue;
    }
    const std::string shown = options.addresses ? std::string(line) : withoutAddresses(line);
    if (shown.empty() && !isBlank) {
      continue;  // nothing but an encoding
    }
    wasBlank = isBlank;
    result.text += options.demangle ? demangled(shown) : shown;
    result.text += '\n';
    result.lineOf.push_back(number);
  }
  return result;
}

std::vector<std::string> functionsOf(std::string_view listing) {
  std::vector<std::string> names;
  while (!listing.empty()) {
    if (const std::string_view name = functionBegun(takeLine(listing)); !name.empty()) {
      names.emplace_back(name);
    }
  }
  return names;
}

std::string functionListing(std::string_view listing, std::string_view name) {
  std::string text;
  bool inside = false;
  while (!listing.empty()) {
    const std::string_view line = takeLine(listing);
    if (const std::string_view begun = functionBegun(line); !begun.empty()) {
      inside = begun == name || demangled(begun) == name || begun.substr(0, begun.find('.')) == name;
    }
    if (inside) {
      text.append(line).push_back('\n');
    }
  }
  return text;
}

}  // namespace swage::domain
