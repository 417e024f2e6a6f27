// SPDX-License-Identifier: Apache-2.0
#include "core/domain/source_map.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace swage::domain {
namespace {

bool isSourceName(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view file = slash == std::string_view::npos ? path : path.substr(slash + 1);
  return file == "source.cu" || file == "source.cpp";  // as core/toolchain calls them
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  return begin == std::string_view::npos ? std::string_view()
                                         : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::optional<int> takeNumber(std::string_view& text) {
  text = trimmed(text);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::string_view quoted(std::string_view text) {
  const std::size_t open = text.find('"');
  const std::size_t close = open == std::string_view::npos ? open : text.find('"', open + 1);
  return close == std::string_view::npos ? std::string_view() : text.substr(open + 1, close - open - 1);
}

std::vector<std::string_view> linesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

// The numbers that .loc calls the source by: the .file directives stand at the end of the PTX.
std::set<int> sourceFiles(const std::vector<std::string_view>& lines) {
  std::set<int> numbers;
  for (std::string_view line : lines) {
    line = trimmed(line);
    if (line.starts_with(".file") && isSourceName(quoted(line))) {
      line.remove_prefix(5);
      numbers.insert(takeNumber(line).value_or(-1));
    }
  }
  return numbers;
}

// "/in/source.cpp:12 (discriminator 3)"; nothing for a line that is no place.
std::optional<int> objdumpPlace(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0 || line.front() == ' ' || line.front() == '\t') {
    return std::nullopt;
  }
  std::string_view rest = line.substr(colon + 1);
  if (rest.empty() || rest.front() < '0' || rest.front() > '9') {
    return std::nullopt;
  }
  const std::optional<int> number = takeNumber(rest);
  if (!number || !(rest.empty() || rest.starts_with(" (discriminator"))) {
    return std::nullopt;
  }
  return isSourceName(line.substr(0, colon)) ? *number : 0;
}

// The source line from here on; nothing when the line does not say.
std::optional<int> placeIn(std::string_view line, const std::set<int>& files) {
  std::string_view text = trimmed(line);
  if (text.starts_with(".loc")) {
    text.remove_prefix(4);
    const std::optional<int> file = takeNumber(text);
    const std::optional<int> number = takeNumber(text);
    return file && files.contains(*file) ? number.value_or(0) : 0;
  }
  if (text.starts_with("//## File ")) {
    const std::size_t at = text.rfind("line ");
    std::string_view rest = at == std::string_view::npos ? std::string_view() : text.substr(at + 5);
    return isSourceName(quoted(text)) ? takeNumber(rest).value_or(0) : 0;
  }
  return objdumpPlace(line);
}

bool isInstruction(std::string_view line) {
  const std::string_view text = trimmed(line);
  return !text.empty() && !text.starts_with('.') && !text.starts_with("//") && !text.ends_with(':') && text != "{" &&
         text != "}" && text != ")" && text != "(";
}

// Where a kernel begins nothing of the one before it holds.
bool beginsFunction(std::string_view line) {
  const std::string_view text = trimmed(line);
  return text.ends_with(">:") || text.find(".entry ") != std::string_view::npos ||
         text.find(".func ") != std::string_view::npos;
}

// "    1139:\tvaddps ymm0,ymm1,ymm2": the address, and the text behind it.
std::optional<std::pair<std::int64_t, std::string_view>> addressedText(std::string_view line) {
  const std::string_view text = trimmed(line);
  const std::size_t colon = text.find(':');
  std::int64_t address = 0;
  if (colon == std::string_view::npos || colon + 1 >= text.size() || text[colon + 1] != '\t') {
    return std::nullopt;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + colon, address, 16);
  if (error != std::errc{} || end != text.data() + colon) {
    return std::nullopt;
  }
  return std::pair(address, trimmed(text.substr(colon + 1)));
}

}  // namespace

bool SourceMap::isEmpty() const {
  return std::none_of(lineOf.begin(), lineOf.end(), [](int line) { return line > 0; });
}

std::string withProgramLines(std::string_view ptx, const std::vector<ProgramLines>& lines) {
  // A listing may have megabytes, of which few lines are places: the others are copied as they stand.
  const auto nextPlace = [ptx](std::size_t from) {
    for (std::size_t at = ptx.find("\t.", from); at != std::string_view::npos; at = ptx.find("\t.", at + 1)) {
      const std::string_view text = ptx.substr(at + 1);
      if ((at == 0 || ptx[at - 1] == '\n') && (text.starts_with(".loc\t") || text.starts_with(".file\t"))) {
        return at;
      }
    }
    return ptx.size();
  };
  const auto lineAt = [ptx](std::size_t place) { return ptx.substr(place, ptx.find('\n', place) - place); };
  std::vector<std::string_view> places;
  for (std::size_t at = nextPlace(0); at < ptx.size(); at = nextPlace(at + 1)) {
    places.push_back(lineAt(at));
  }
  const std::set<int> files = sourceFiles(places);
  std::string text;
  text.reserve(ptx.size());
  std::size_t copied = 0;
  for (const std::string_view place : places) {
    const auto begin = static_cast<std::size_t>(place.data() - ptx.data());
    text += ptx.substr(copied, begin - copied);
    copied = std::min(ptx.size(), begin + place.size() + 1);
    if (place.starts_with("\t.loc")) {
      const int line = programLine(lines, placeIn(place, files).value_or(0));
      text += line > 0 ? fmt::format("\t.loc\t1 {} 0\n", line) : "\t.loc\t2 0 0\n";
    }
  }
  text += ptx.substr(copied);
  return text;
}

std::vector<int> SourceMap::listingLines(int sourceLine) const {
  std::vector<int> lines;
  for (std::size_t i = 0; sourceLine > 0 && i < lineOf.size(); ++i) {
    if (lineOf[i] == sourceLine) {
      lines.push_back(static_cast<int>(i));
    }
  }
  return lines;
}

SourceMap mapListing(std::string_view listing) {
  const std::vector<std::string_view> lines = linesOf(listing);
  const std::set<int> files = sourceFiles(lines);
  SourceMap map;
  map.lineOf.reserve(lines.size());
  int current = 0;
  for (const std::string_view line : lines) {
    const std::optional<int> place = placeIn(line, files);
    if (place) {
      current = *place;
    } else if (beginsFunction(line)) {
      current = 0;
    }
    map.lineOf.push_back(!place && isInstruction(line) ? current : 0);
  }
  return map;
}

std::map<std::int64_t, ListedInstruction> listedInstructions(std::string_view listing) {
  const SourceMap map = mapListing(listing);
  const std::vector<std::string_view> lines = linesOf(listing);
  std::map<std::int64_t, ListedInstruction> instructions;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (const auto found = addressedText(lines[i])) {
      instructions[found->first] = {found->second, map.lineOf[i]};
    }
  }
  return instructions;
}

}  // namespace swage::domain
