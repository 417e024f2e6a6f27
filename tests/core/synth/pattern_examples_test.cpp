// SPDX-License-Identifier: Apache-2.0
#include "tests/core/synth/pattern_examples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <regex>

#include "core/base/files.h"
#include "tests/core/synth/lab.h"
#include "tests/support/result_matchers.h"

namespace swage::synth {
namespace {

using patterns::Pattern;
using swage::testing::IsOk;

std::filesystem::path fileOf(const Pattern& pattern) {
  return patternsFolder() / domain::factsOf(pattern.language).patternFolder / pattern.id / pattern.sourceFile;
}

std::string constantName(const std::string& parameter) {
  std::string name = "k";
  for (std::size_t i = 0; i < parameter.size(); ++i) {
    if (parameter[i] != '_') {
      const bool first = i == 0 || parameter[i - 1] == '_';
      name += first ? static_cast<char>(std::toupper(static_cast<unsigned char>(parameter[i]))) : parameter[i];
    }
  }
  return name;
}

// The constants of the section 'parameters'.
std::map<std::string, std::int64_t> constantsOf(const Pattern& pattern) {
  const std::size_t begin = pattern.source.find("//! swage:begin parameters\n");
  const std::size_t end = pattern.source.find("//! swage:end parameters\n");
  EXPECT_NE(begin, std::string::npos) << pattern.id;
  EXPECT_NE(end, std::string::npos) << pattern.id;
  const std::string section = pattern.source.substr(begin, end - begin);
  std::map<std::string, std::int64_t> constants;
  const std::regex line(R"(constexpr int (k\w+) = (\d+);)");
  for (std::sregex_iterator match(section.begin(), section.end(), line), none; match != none; ++match) {
    constants[(*match)[1].str()] = std::stoll((*match)[2].str());
  }
  return constants;
}

// The patterns that are source files; the others are written by their strategies.
std::vector<Pattern> withSources() {
  std::vector<Pattern> found;
  std::copy_if(catalogue().all().begin(), catalogue().all().end(), std::back_inserter(found),
               [](const Pattern& pattern) { return !pattern.sourceFile.empty(); });
  return found;
}

// With SWAGE_UPDATE_EXAMPLES=1 this writes what it otherwise compares.
TEST(PatternExamples, AreWhatTheEmitterWrites) {
  const char* update = std::getenv("SWAGE_UPDATE_EXAMPLES");
  for (const Pattern& pattern : withSources()) {
    const std::string section = exampleSection(pattern);
    ASSERT_FALSE(section.empty());
    if (update != nullptr && std::string_view(update) == "1") {
      ASSERT_THAT(writeFileAtomically(fileOf(pattern), withRegionSection(pattern.source, section)), IsOk());
    } else {
      EXPECT_EQ(regionSection(pattern.source), section)
          << fileOf(pattern) << " is out of date: run this test once with SWAGE_UPDATE_EXAMPLES=1";
    }
  }
}

TEST(PatternExamples, UseOnlyConstantsThatTheComposerGives) {
  for (const Pattern& pattern : withSources()) {
    std::map<std::string, const patterns::Parameter*> known;
    for (const patterns::Parameter& parameter : pattern.parameters) {
      known[constantName(parameter.name)] = &parameter;
    }
    const auto constants = constantsOf(pattern);
    EXPECT_FALSE(constants.empty()) << pattern.id;
    for (const auto& [name, value] : constants) {
      ASSERT_EQ(known.count(name), 1U) << pattern.id << " uses " << name << ", which no parameter gives";
      const auto& values = known[name]->values;
      EXPECT_NE(std::find(values.begin(), values.end(), value), values.end()) << pattern.id << ": " << name;
    }
  }
}

}  // namespace
}  // namespace swage::synth
