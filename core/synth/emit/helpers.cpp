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

}  // namespace

std::string helpersFor(std::string_view helpers, std::string_view source) {
  std::vector<Helper> all = parse(helpers);
  Words wanted = wordsOfCode(source);
  const Words written = wanted;
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
  std::string text;
  bool afterInclude = false;
  for (const Helper& helper : all) {
    if (!helper.isUsed) {
      continue;
    }
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

std::set<std::string> helperNames(std::string_view helpers) {
  std::set<std::string> names;
  for (const Helper& helper : parse(helpers)) {
    names.insert(helper.names.begin(), helper.names.end());
  }
  return names;
}

}  // namespace swage::synth
