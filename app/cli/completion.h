// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/cli/command_facts.h"

// What a shell offers after Tab. The scripts of completionScript() ask `swage __complete`, so that the answer is always
// that of the program they complete. Pure.
namespace swage::cli {

struct Completion {
  struct Word {
    std::string word;
    std::string description;
    friend bool operator==(const Word&, const Word&) = default;
  };
  std::vector<Word> words;
  OptionFact::Takes paths = OptionFact::Takes::Nothing;  // File or Folder: the shell's own, too
};

// Ids of runs or candidates of a project; an empty project is the one that commands take.
using KnownIds = std::function<std::vector<Completion::Word>(OptionFact::Takes what, const std::string& project)>;

// `words` are those behind the name of the program up to the caret; the last is being typed and may be empty.
[[nodiscard]] Completion complete(const CommandFact& program, const std::vector<std::string>& words,
                                  const KnownIds& known);
// One word on a line, a tab and its description behind it; then ":files" or ":folders".
[[nodiscard]] std::string completionText(const Completion& completion);

}  // namespace swage::cli
