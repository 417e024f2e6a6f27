// SPDX-License-Identifier: Apache-2.0
#include "core/synth/emit/helpers.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

namespace swage::synth {
namespace {

constexpr std::string_view kMark = "//! swage:helper ";
constexpr std::string_view kIf = " if ";
constexpr std::string_view kUnless = " unless ";

using Words = std::set<std::string_view>;

struct Helper {
  Words names;
  std::string_view text;
  std::string_view condition = {};  // a word on which the choice between two of the same name depends
  bool wantsCondition = true;
  bool isUsed = false;
};

bool isWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

Words wordsOf(std::string_view text) {
  Words words;
  for (std::size_t at = 0; at < text.size();) {
    if (!isWordCharacter(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && isWordCharacter(text[end])) {
      ++end;
    }
    words.insert(text.substr(at, end - at));
    at = end;
  }
  return words;
}

// Without those of comments, which may be of the model.
Words wordsOfCode(std::string_view source) {
  Words words;
  while (!source.empty()) {
    const std::size_t end = std::min(source.find('\n'), source.size() - 1) + 1;
    words.merge(wordsOf(source.substr(0, std::min(end, source.find("//")))));
    source.remove_prefix(end);
  }
  return words;
}

std::vector<Helper> parse(std::string_view helpers) {
  std::vector<Helper> found;
  for (std::size_t at = helpers.find(kMark); at != std::string_view::npos;) {
    const std::size_t lineEnd = helpers.find('\n', at);
    const std::size_t next = helpers.find(kMark, at + kMark.size());
    const std::size_t end = next == std::string_view::npos ? helpers.size() : next;
    std::string_view head = helpers.substr(at + kMark.size(), lineEnd - at - kMark.size());
    Helper helper;
    helper.text = helpers.substr(lineEnd + 1, end - lineEnd - 1);
    for (const std::string_view kind : {kIf, kUnless}) {
      if (const std::size_t where = head.find(kind); where != std::string_view::npos) {
        helper.condition = head.substr(where + kind.size());
        helper.wantsCondition = kind == kIf;
        head = head.substr(0, where);
      }
    }
    helper.names = wordsOf(head);
    found.push_back(std::move(helper));
    at = next;
  }
  return found;
}

// Those of `all` that `source` needs. Where two have the same name, `written` decides: the words of all kernels.
std::vector<Helper> usedBy(std::vector<Helper> all, std::string_view source, const Words& written) {
  Words wanted = wordsOfCode(source);
  std::erase_if(all, [&](const Helper& helper) {
    return !helper.condition.empty() && (written.count(helper.condition) != 0) != helper.wantsCondition;
  });
  for (bool grew = true; grew;) {
    grew = false;
    for (Helper& helper : all) {
      const bool isWanted = std::any_of(helper.names.begin(), helper.names.end(),
                                        [&](std::string_view name) { return wanted.count(name) != 0; });
      if (isWanted && !helper.isUsed) {
        helper.isUsed = grew = true;
        wanted.merge(wordsOfCode(helper.text));
      }
    }
  }
  std::erase_if(all, [](const Helper& helper) { return !helper.isUsed; });
  return all;
}

// The lines of a text.
class Lines {
 public:
  explicit Lines(std::string_view text) {
    for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
      m_ends.push_back(at);
    }
  }
  // That of the character at `place`, from 1.
  [[nodiscard]] int at(std::size_t place) const {
    return 1 + static_cast<int>(std::lower_bound(m_ends.begin(), m_ends.end(), place) - m_ends.begin());
  }

 private:
  std::vector<std::size_t> m_ends;
};

int linesIn(std::string_view text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

std::string helpersFor(std::string_view helpers, std::string_view source) {
  std::string text;
  bool afterInclude = false;
  for (const Helper& helper : usedBy(parse(helpers), source, wordsOfCode(source))) {
    const bool isInclude = helper.text.starts_with("#include");
    text += afterInclude && !isInclude ? "\n" : "";
    text += helper.text;
    afterInclude = isInclude;
  }
  if (!text.empty() && !text.ends_with("\n\n")) {
    text += '\n';  // helpers that belong together have no empty line between them
  }
  return text;
}

std::vector<domain::SourcePart> partsOf(std::string_view helpers, const std::vector<std::string>& sources,
                                        std::string_view kernels, std::string_view program) {
  const std::vector<Helper> all = parse(helpers);
  const Words written = wordsOfCode(kernels);
  const Lines lines(program);
  std::vector<domain::SourcePart> parts;
  std::size_t behind = program.size() - kernels.size();
  for (const std::string& source : sources) {
    domain::SourcePart& part = parts.emplace_back();
    int line = 1;
    const auto append = [&](std::string_view text, std::size_t place) {
      const int count = linesIn(text);
      if (place != std::string_view::npos) {
        part.lines.push_back({line, count, lines.at(place)});
      }
      part.source += text;
      line += count;
    };
    std::size_t behindHelper = 0;
    for (const Helper& helper : usedBy(all, source, written)) {
      const std::size_t place = program.find(helper.text, behindHelper);
      append(helper.text, place);
      behindHelper = place == std::string_view::npos ? behindHelper : place + helper.text.size();
    }
    append("\n", std::string_view::npos);
    const std::size_t place = program.find(source, behind);
    append(source, place);
    behind = place == std::string_view::npos ? behind : place + source.size();
  }
  return parts;
}

std::set<std::string> helperNames(std::string_view helpers) {
  std::set<std::string> names;
  for (const Helper& helper : parse(helpers)) {
    names.insert(helper.names.begin(), helper.names.end());
  }
  return names;
}

}  // namespace swage::synth
