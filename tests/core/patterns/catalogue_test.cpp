// SPDX-License-Identifier: Apache-2.0
#include "core/patterns/catalogue.h"

#include <gmock/gmock.h>

#include <set>

#include "core/base/files.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::patterns {
namespace {

namespace fs = std::filesystem;
using swage::testing::IsError;
using swage::testing::IsOk;
using ::testing::AllOf;
using ::testing::HasSubstr;

const Catalogue& realCatalogue() {
  static const Result<Catalogue> loaded = Catalogue::load(SWAGE_TEST_PATTERNS);
  EXPECT_THAT(loaded, IsOk());
  return *loaded;
}

TEST(Catalogue, HoldsThePatternsOfBothTargets) {
  const Catalogue& catalogue = realCatalogue();
  for (const char* id : {"map", "row", "split", "column"}) {
    EXPECT_NE(catalogue.find(domain::Language::Cpp, id), nullptr) << id;
  }
  for (const char* id : {"map", "column", "row_warp", "row_block", "row_shared", "row_registers", "row_cluster",
                         "row_gang", "row_resident", "row_split"}) {
    EXPECT_NE(catalogue.find(domain::Language::CudaCpp, id), nullptr) << id;
  }
  EXPECT_EQ(catalogue.find(domain::Language::Cpp, "row_warp"), nullptr);
  EXPECT_THAT(catalogue.helpers(domain::Language::Cpp), HasSubstr("fastExp"));
  EXPECT_THAT(catalogue.helpers(domain::Language::CudaCpp), HasSubstr("reduceBlock"));
}

TEST(Catalogue, NamesEachPatternOnceForATarget) {
  std::set<std::pair<domain::Language, std::string>> seen;
  for (const Pattern& pattern : realCatalogue().all()) {
    EXPECT_TRUE(seen.emplace(pattern.language, pattern.id).second) << pattern.id;
  }
}

TEST(Catalogue, DescribesEveryPatternAndEveryParameter) {
  const std::set<std::string> families{"map",  "row",    "column",      "contract",  "window",    "gather",
                                       "scan", "turned", "convolution", "attention", "recurrence"};
  for (const Pattern& pattern : realCatalogue().all()) {
    EXPECT_FALSE(pattern.description.empty()) << pattern.id;
    EXPECT_EQ(families.count(pattern.family), 1U) << pattern.id << ": " << pattern.family;
    for (const Parameter& parameter : pattern.parameters) {
      EXPECT_FALSE(parameter.description.empty()) << pattern.id << ": " << parameter.name;
      EXPECT_EQ(pattern.parameter(parameter.name), &parameter);
      EXPECT_EQ(std::set<std::int64_t>(parameter.values.begin(), parameter.values.end()).size(),
                parameter.values.size())
          << pattern.id << ": " << parameter.name << " has a value twice";
    }
  }
}

// A folder with one pattern, `cpu/broken`.
class BrokenPattern : public ::testing::Test {
 protected:
  BrokenPattern() {
    fs::create_directories(m_folder / "cpu" / "broken");
    fs::create_directories(m_folder / "cuda");
  }

  void write(const char* name, const std::string& text) {
    ASSERT_THAT(writeFileAtomically(m_folder / "cpu" / "broken" / name, text), IsOk());
  }
  Result<Catalogue> load(const std::string& manifest) {
    write("pattern.toml", manifest);
    return Catalogue::load(m_folder.path());
  }
  // An error that names the manifest and this line.
  static auto atLine(int line, const std::string& what) {
    return IsError(ErrorKind::InvalidInput, AllOf(HasSubstr("cpu/broken/pattern.toml"),
                                                  HasSubstr("line " + std::to_string(line) + ":"), HasSubstr(what)));
  }

  swage::testing::TempDir m_folder;
};

constexpr const char* kHead = "family = \"map\"\ndescription = \"a map\"\n";

TEST_F(BrokenPattern, LoadsWhenNothingIsBroken) {
  const auto loaded = load(std::string(kHead) + "[parameters.tile]\nvalues = [1, 2]\n[facts]\nmovement = \"A1\"\n");
  ASSERT_THAT(loaded, IsOk());
  ASSERT_EQ(loaded->all().size(), 1U);
  const Pattern& pattern = loaded->all().front();
  EXPECT_EQ(pattern.id, "broken");
  EXPECT_EQ(pattern.parameter("tile")->standard, 1);
  EXPECT_EQ(pattern.parameter("roll"), nullptr);
  EXPECT_EQ(pattern.facts.at("movement"), "A1");
  EXPECT_EQ(loaded->helpers(domain::Language::Cpp), "");
}

TEST_F(BrokenPattern, NeedsAFamily) {
  EXPECT_THAT(load("description = \"a map\"\n"), atLine(1, "'family'"));
}

TEST_F(BrokenPattern, NeedsToml) {
  EXPECT_THAT(load("family = \"map\"\nsource = \n"), atLine(2, ""));
}

TEST_F(BrokenPattern, NeedsValuesOfAParameter) {
  EXPECT_THAT(load(std::string(kHead) + "[parameters.tile]\nstandard = 1\n"), atLine(3, "'tile'"));
  EXPECT_THAT(load(std::string(kHead) + "[parameters.tile]\nvalues = []\n"), atLine(3, "'tile'"));
}

TEST_F(BrokenPattern, NeedsWholeNumbersAsValues) {
  EXPECT_THAT(load(std::string(kHead) + "[parameters.tile]\nvalues = [1, 2.5]\n"), atLine(4, "integers"));
  EXPECT_THAT(load(std::string(kHead) + "[parameters.tile]\nvalues = [1,\n\"two\"]\n"), atLine(5, "integers"));
}

TEST_F(BrokenPattern, NeedsAscendingValues) {
  EXPECT_THAT(load(std::string(kHead) + "[parameters.tile]\nvalues = [2, 1]\n"), atLine(4, "ascend"));
}

TEST_F(BrokenPattern, NeedsAStandardAmongTheValues) {
  EXPECT_THAT(load(std::string(kHead) + "[parameters.tile]\nvalues = [1, 2]\nstandard = 3\n"),
              atLine(3, "not among its values"));
}

TEST(CatalogueFolder, ThatIsMissingIsAnError) {
  const swage::testing::TempDir folder;
  EXPECT_THAT(Catalogue::load(folder / "nowhere"), IsError(ErrorKind::Environment, HasSubstr("nowhere")));
}

}  // namespace
}  // namespace swage::patterns
