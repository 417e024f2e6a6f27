// SPDX-License-Identifier: Apache-2.0
// One source for --help, man pages and completions: what all commands are.
#include "app/cli/command_facts.h"

#include <gmock/gmock.h>

#include "app/cli/arguments.h"
#include "app/cli/completion.h"
#include "app/cli/exit_codes.h"
#include "app/cli/terminal.h"
#include "core/base/files.h"
#include "tests/support/result_matchers.h"

namespace swage::cli {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const CommandFact& program() {
  static const CommandFact facts = describeProgram();
  return facts;
}

Completion completed(const std::vector<std::string>& words) {
  return complete(program(), words, [](OptionFact::Takes what, const std::string& project) {
    return std::vector<Completion::Word>{{what == OptionFact::Takes::Run ? "r1" : "17", project}};
  });
}

std::vector<std::string> wordsOf(const Completion& completion) {
  std::vector<std::string> words;
  for (const Completion::Word& word : completion.words) {
    words.push_back(word.word);
  }
  return words;
}

TEST(CommandFacts, EveryCommandSaysWhatItDoesAndShowsAnExample) {
  for (const CommandFact* command : withCommandsBelow(program())) {
    EXPECT_THAT(command->description, Not(IsEmpty())) << command->name;
    EXPECT_FALSE(command->description.ends_with('.')) << command->name;
    if (command->commands.empty()) {
      EXPECT_THAT(command->examples, Not(IsEmpty())) << command->name;
    }
    for (const std::string& example : command->examples) {
      EXPECT_THAT(example, HasSubstr("swage ")) << command->name;
    }
    for (const OptionFact& option : command->options) {
      EXPECT_THAT(option.description, Not(IsEmpty())) << command->name << ' ' << option.names.back();
    }
  }
}

TEST(CommandFacts, ExamplesAreUnderstoodByTheParser) {
  for (const CommandFact* command : withCommandsBelow(program())) {
    for (const std::string& example : command->examples) {
      if (!example.starts_with("swage ")) {
        continue;
      }
      // Words as a shell cuts them, as far as examples need it.
      std::vector<std::string> words(1);
      bool quoted = false;
      for (const char c : example.substr(
               6, example.find_first_of("|>", example.find('"') == std::string::npos ? 0 : example.rfind('"')) - 6)) {
        if (c == '"') {
          quoted = !quoted;
        } else if (c == ' ' && !quoted) {
          words.emplace_back();
        } else {
          words.back() += c;
        }
      }
      std::erase(words, "");
      EXPECT_THAT(parseArguments(words), testing::IsOk()) << example;
    }
  }
}

TEST(HelpText, FitsIntoALineOfATerminal) {
  for (const CommandFact* command : withCommandsBelow(program())) {
    std::istringstream text(helpText(*command));
    for (std::string line; std::getline(text, line);) {
      EXPECT_LE(columnsOf(line), 100U) << command->name << ": " << line;
    }
  }
}

TEST(ManPage, HasTheOptionsExamplesAndExitCodes) {
  const std::string page = manPage(program(), "1.2");
  EXPECT_THAT(page, HasSubstr(".TH \"SWAGE\" 1"));
  for (const ExitCodeFact& code : exitCodeFacts()) {
    EXPECT_THAT(page, HasSubstr("\\fB" + std::string(code.code) + "\\fR"));
  }
  const auto all = withCommandsBelow(program());
  const auto list = std::find_if(all.begin(), all.end(), [](const auto* one) { return one->name == "swage list"; });
  ASSERT_NE(list, all.end());
  EXPECT_EQ(manPageName(**list), "swage-list.1");
  EXPECT_THAT(manPage(**list, "1.2"), HasSubstr("\\fB\\-\\-sort\\fR \\fICOLUMN\\fR"));
  EXPECT_THAT(manPage(**list, "1.2"), HasSubstr("swage list r3 \\-\\-sort speedup"));
}

TEST(Readme, NamesEveryCommandAndEveryExitCode) {
  const auto readme = readTextFile(SWAGE_README);
  ASSERT_THAT(readme, testing::IsOk());
  for (const CommandFact& command : program().commands) {
    EXPECT_THAT(*readme, HasSubstr("swage " + std::string(command.lastWord()))) << command.name;
  }
  for (const ExitCodeFact& code : exitCodeFacts()) {
    EXPECT_THAT(*readme, HasSubstr("\n| " + std::string(code.code) + " | "));
  }
}

TEST(Complete, OffersCommandsAndWhatTheyAreAbout) {
  EXPECT_THAT(wordsOf(completed({"opt"})), ElementsAre("optimize"));
  EXPECT_THAT(completed({""}).words, SizeIs(program().commands.size()));
  EXPECT_THAT(completed({"opt"}).words.front().description, HasSubstr("fastest"));
  EXPECT_THAT(wordsOf(completed({"bench", ""})), Contains("engine"));
}

TEST(Complete, OffersOptionsAndTheirChoices) {
  EXPECT_THAT(wordsOf(completed({"optimize", "--targ"})), Contains("--target"));
  EXPECT_THAT(wordsOf(completed({"optimize", "--target", "c"})), ElementsAre("cpu", "cuda"));
  EXPECT_THAT(wordsOf(completed({"optimize", "--target", "=", "cu"})), ElementsAre("cuda"));
  EXPECT_THAT(wordsOf(completed({"completion", ""})), ElementsAre("bash", "zsh", "fish"));
  EXPECT_THAT(wordsOf(completed({"config", "set", "search.se"})), ElementsAre("search.seed"));
}

TEST(Complete, OffersRunsCandidatesAndPathsWhereTheyAreMeant) {
  EXPECT_THAT(wordsOf(completed({"list", ""})), ElementsAre("r1"));
  EXPECT_THAT(wordsOf(completed({"show", ""})), ElementsAre("17"));
  EXPECT_EQ(completed({"show", "--project", "p", ""}).words.front().description, "p");
  EXPECT_EQ(completed({"optimize", ""}).paths, OptionFact::Takes::File);
  EXPECT_EQ(completed({"list", "--project", ""}).paths, OptionFact::Takes::Folder);
  EXPECT_EQ(completionText(completed({"list", "--project", ""})), ":folders\n");
  EXPECT_THAT(wordsOf(completed({"show", "17", ""})), IsEmpty());
}

}  // namespace
}  // namespace swage::cli
