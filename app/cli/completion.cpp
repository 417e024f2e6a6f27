// SPDX-License-Identifier: Apache-2.0
#include "app/cli/completion.h"

#include <algorithm>
#include <utility>

namespace swage::cli {
namespace {

using Takes = OptionFact::Takes;

const OptionFact* optionNamed(const CommandFact& command, const std::string& name) {
  const auto found = std::find_if(command.options.begin(), command.options.end(), [&name](const OptionFact& option) {
    return std::find(option.names.begin(), option.names.end(), name) != option.names.end();
  });
  return found == command.options.end() ? nullptr : &*found;
}

const CommandFact* commandNamed(const CommandFact& command, const std::string& name) {
  const auto found = std::find_if(command.commands.begin(), command.commands.end(),
                                  [&name](const CommandFact& one) { return one.lastWord() == name; });
  return found == command.commands.end() ? nullptr : &*found;
}

struct Typing {
  const CommandFact* command = nullptr;
  const OptionFact* valueOf = nullptr;  // whose value comes next
  std::size_t positionals = 0;          // typed already
  std::string project;
};

// What has been typed before the last word.
Typing readTyped(const CommandFact& program, const std::vector<std::string>& words) {
  Typing typing{.command = &program, .project = {}};
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "=") {
      continue;  // bash cuts --target=cpu into three words
    }
    if (const OptionFact* option = std::exchange(typing.valueOf, nullptr)) {
      typing.project = option->names.back() == "--project" ? word : typing.project;
    } else if (const OptionFact* named = optionNamed(*typing.command, word)) {
      typing.valueOf = named->value.empty() ? nullptr : named;
    } else if (const CommandFact* below = commandNamed(*typing.command, word)) {
      typing.command = below;
    } else if (!word.starts_with('-')) {
      ++typing.positionals;
    }
  }
  return typing;
}

void offerValue(Completion& completion, const OptionFact& option, const std::string& project, const KnownIds& known) {
  for (const std::string& choice : option.choices) {
    completion.words.push_back({choice, {}});
  }
  if (option.takes == Takes::File || option.takes == Takes::Folder) {
    completion.paths = option.takes;
  } else if (option.takes == Takes::Candidate || option.takes == Takes::Run) {
    const auto ids = known(option.takes, project);
    completion.words.insert(completion.words.end(), ids.begin(), ids.end());
  }
}

}  // namespace

Completion complete(const CommandFact& program, const std::vector<std::string>& words, const KnownIds& known) {
  const Typing typing = readTyped(program, words);
  const std::string current = words.empty() || words.back() == "=" ? std::string() : words.back();
  Completion completion;
  if (typing.valueOf != nullptr) {
    offerValue(completion, *typing.valueOf, typing.project, known);
  } else if (current.starts_with('-')) {
    for (const OptionFact& option : typing.command->options) {
      completion.words.push_back({option.names.back(), option.description});
    }
  } else {
    for (const CommandFact& one : typing.command->commands) {
      completion.words.push_back({std::string(one.lastWord()), one.description});
    }
    const auto& positionals = typing.command->positionals;
    if (!positionals.empty()) {
      const std::size_t at = std::min(typing.positionals, positionals.size() - 1);
      if (at == typing.positionals || positionals[at].isRepeatable) {
        offerValue(completion, positionals[at], typing.project, known);
      }
    }
  }
  std::erase_if(completion.words, [&current](const auto& word) { return !word.word.starts_with(current); });
  return completion;
}

std::string completionText(const Completion& completion) {
  std::string text;
  for (const Completion::Word& word : completion.words) {
    text += word.description.empty() ? word.word + '\n' : word.word + '\t' + word.description + '\n';
  }
  if (completion.paths == Takes::File) {
    text += ":files\n";
  } else if (completion.paths == Takes::Folder) {
    text += ":folders\n";
  }
  return text;
}

std::string completionScript(Shell shell) {
  constexpr const char* kBash = R"(# bash completion for swage, made by `swage completion bash`
_swage() {
  local line current=${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files) compopt -o filenames; mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current") ;;
      :folders) compopt -o filenames; mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$current") ;;
      *) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _swage swage
)";
  constexpr const char* kZsh = R"(#compdef swage
# zsh completion for swage, made by `swage completion zsh`
_swage() {
  local line
  local -a offered
  while IFS= read -r line; do
    case $line in
      :files) _files ;;
      :folders) _files -/ ;;
      *$'\t'*) offered+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
      *) offered+=("${line//:/\\:}") ;;
    esac
  done < <("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)
  (( $#offered )) && _describe 'swage' offered
}
if [ "${funcstack[1]}" = "_swage" ]; then
  _swage "$@"
else
  compdef _swage swage
fi
)";
  constexpr const char* kFish = R"(# fish completion for swage, made by `swage completion fish`
function __swage_complete
    set -l typed (commandline -opc)
    set -l current (commandline -ct)
    for line in (command $typed[1] __complete $typed[2..-1] "$current" 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path "$current"
            case ':folders'
                __fish_complete_directories "$current" ''
            case '*'
                echo $line
        end
    end
end
complete -c swage -f -a '(__swage_complete)'
)";
  switch (shell) {
    case Shell::Bash: return kBash;
    case Shell::Zsh: return kZsh;
    case Shell::Fish: return kFish;
  }
  return {};
}

}  // namespace swage::cli
