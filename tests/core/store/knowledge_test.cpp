// SPDX-License-Identifier: Apache-2.0
#include "core/store/knowledge.h"

#include <gmock/gmock.h>

#include <fstream>

#include <fmt/format.h>

#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::IsError;
using testing::IsOk;
using ::testing::SizeIs;

domain::AdviceExperience experience(const std::string& rule, std::int64_t followed, double rewards = 0.0) {
  return {.rule = rule, .role = "memory", .followed = followed, .paid = 1, .rewards = rewards, .logGain = 0.5};
}

class KnowledgeTest : public ::testing::Test {
 protected:
  void keep(const std::string& name, const std::string& device, const std::string& architecture,
            std::vector<domain::AdviceExperience> advice) {
    auto opened = Knowledge::open(m_file);
    ASSERT_THAT(opened, IsOk());
    ASSERT_THAT(opened->keep({name, device, architecture, std::move(advice)}), IsOk());
  }
  [[nodiscard]] std::vector<domain::AdviceExperience> about(const std::string& device, const std::string& architecture,
                                                            const std::string& except = {}) const {
    const auto opened = Knowledge::openToRead(m_file);
    EXPECT_THAT(opened, IsOk());
    return opened->about(device, architecture, except).value();
  }

  testing::TempDir m_folder;
  std::filesystem::path m_file = m_folder / "data" / "knowledge.sqlite";
};

TEST_F(KnowledgeTest, AddsUpWhatRunsOnOneDeviceTaught) {
  keep("a", "H100", "sm_90", {experience("narrow", 3, 0.5), experience("spills", 1)});
  keep("b", "H100", "sm_90", {experience("narrow", 2, 0.25)});
  keep("c", "H200", "sm_90", {experience("narrow", 50)});
  const auto found = about("H100", "sm_90");
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].rule, "narrow");
  EXPECT_EQ(found[0].followed, 5);
  EXPECT_EQ(found[0].paid, 2);
  EXPECT_DOUBLE_EQ(found[0].rewards, 0.75);
  EXPECT_DOUBLE_EQ(found[0].logGain, 1.0);
}

TEST_F(KnowledgeTest, OfADeviceThatIsNewItAsksItsArchitecture) {
  keep("a", "H100", "sm_90", {experience("narrow", 3)});
  EXPECT_THAT(about("H200", "sm_90"), ElementsAre(experience("narrow", 3)));
  EXPECT_THAT(about("A100", "sm_80"), IsEmpty());
}

TEST_F(KnowledgeTest, ARunTakesThePlaceOfItsEarlierSitting) {
  keep("a", "H100", "sm_90", {experience("narrow", 3), experience("spills", 1)});
  keep("a", "H100", "sm_90", {experience("narrow", 7)});
  EXPECT_THAT(about("H100", "sm_90"), ElementsAre(experience("narrow", 7)));
  EXPECT_THAT(about("H100", "sm_90", "a"), IsEmpty()) << "a run does not learn from itself";
}

TEST_F(KnowledgeTest, OldRunsFade) {
  for (int i = 0; i < Knowledge::kMostRuns + 5; ++i) {
    keep(fmt::format("run {}", i), "H100", "sm_90", {experience("narrow", 1)});
  }
  keep("other", "H200", "sm_90", {experience("narrow", 2)});
  EXPECT_EQ(about("H100", "sm_90").front().followed, Knowledge::kMostRuns);
  const auto everywhere = Knowledge::openToRead(m_file)->ofRule("narrow").value();
  ASSERT_THAT(everywhere, SizeIs(2));
  EXPECT_EQ(everywhere[0].first, "H100");
  EXPECT_EQ(everywhere[1].second.followed, 2);
}

TEST_F(KnowledgeTest, AFileThatIsNotThereOrDamagedIsAnError) {
  EXPECT_THAT(Knowledge::openToRead(m_file), IsError(ErrorKind::NotFound, ::testing::_));
  std::filesystem::create_directories(m_file.parent_path());
  std::ofstream(m_file) << "this is no database";
  EXPECT_THAT(Knowledge::openToRead(m_file), IsError(ErrorKind::Storage, ::testing::_));
  EXPECT_THAT(Knowledge::open(m_file), IsError(ErrorKind::Storage, ::testing::_));
}

}  // namespace
}  // namespace swage::store
