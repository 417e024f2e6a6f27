// SPDX-License-Identifier: Apache-2.0
#include "core/engine/pattern_ranking.h"

#include <gmock/gmock.h>

#include <fstream>

#include "core/domain/json.h"
#include "tests/core/models/loopback_server.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::engine {
namespace {

using ::testing::ElementsAre;
using testing::errorReply;
using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;
using testing::LoopbackServer;
using testing::ServedRequest;

std::vector<retrieval::Found> threeFound() {
  std::vector<retrieval::Found> found(3);
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i].entry.key = std::string(1, static_cast<char>('a' + i));
    found[i].entry.title = "piece " + found[i].entry.key;
    found[i].score = 1.0 / static_cast<double>(i + 1);
  }
  return found;
}

class PatternRanking : public ::testing::Test {
 protected:
  // The settings of somebody whose endpoint `near` is the server, and who has named this one.
  void name(const std::string& model) const {
    std::ofstream(m_file) << "[swarm]\nembeddings = \"" << model
                          << "\"\n\n[models.near]\nkind = \"openai\"\nbase_url = \"" << m_server.url()
                          << "\"\nmodel = \"points\"\n";
  }
  Result<> rank(const std::function<bool()>& isCancelled = [] { return false; }) {
    return rankByChosenModel(m_file, std::make_shared<models::KeyRing>(), "softmax", m_found, isCancelled);
  }
  [[nodiscard]] std::vector<std::string> keys() const {
    std::vector<std::string> all;
    for (const retrieval::Found& one : m_found) {
      all.push_back(one.entry.key);
    }
    return all;
  }

  testing::TempDir m_folder;
  std::filesystem::path m_file = m_folder / "config.toml";
  LoopbackServer m_server{[](const ServedRequest&) { return errorReply(500, "{}"); }};
  std::vector<retrieval::Found> m_found = threeFound();
};

TEST_F(PatternRanking, NothingIsAskedWhereTheSettingsNameNoModel) {
  ASSERT_THAT(chosenEmbeddings(m_file), IsOk());
  EXPECT_FALSE(chosenEmbeddings(m_file)->has_value()) << "there is no file";
  name("");
  EXPECT_FALSE(chosenEmbeddings(m_file)->has_value());
  EXPECT_THAT(rank(), IsOk());
  EXPECT_TRUE(m_server.served().empty());
  name("near");
  ASSERT_TRUE(chosenEmbeddings(m_file)->has_value());
  EXPECT_EQ(chosenEmbeddings(m_file).value()->name, "near");
  name("nere");
  EXPECT_THAT(chosenEmbeddings(m_file), IsError(ErrorKind::NotFound, HasSubstr("the setting 'swarm.embeddings'")));
}

TEST_F(PatternRanking, TheModelMovesUpWhatIsNearTheQuestion) {
  name("near");
  m_server.setScript([](const ServedRequest& request) {
    const domain::Json asked = domain::Json::parse(request.body);
    EXPECT_EQ(asked["input"].size(), 4U);
    EXPECT_EQ(asked["input"][0], "softmax");
    EXPECT_THAT(asked["input"][3].get<std::string>(), HasSubstr("piece c"));
    return errorReply(200, R"({"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[0,1]},
                                       {"index":2,"embedding":[0.6,0.8]},{"index":3,"embedding":[1,0]}]})");
  });
  ASSERT_THAT(rank(), IsOk());
  for (const retrieval::Found& one : m_found) {
    EXPECT_EQ(one.rankByModel, one.entry.key == "c" ? 1 : one.entry.key == "b" ? 2 : 3) << one.entry.key;
  }
}

TEST_F(PatternRanking, AnEndpointThatFailsChangesNothing) {
  name("near");
  EXPECT_THAT(rank(), IsError(ErrorKind::Environment, HasSubstr("the embedding model 'near' failed")));
  EXPECT_THAT(keys(), ElementsAre("a", "b", "c"));
}

TEST_F(PatternRanking, WhoeverTakesTheQuestionBackDoesNotWait) {
  name("near");
  m_server.setScript([](const ServedRequest&) {
    testing::ScriptedReply reply;
    reply.end = testing::ScriptedReply::End::Silent;
    return reply;
  });
  EXPECT_THAT(rank([] { return true; }), IsError(ErrorKind::Cancelled, HasSubstr("taken back")));
  EXPECT_THAT(keys(), ElementsAre("a", "b", "c"));
}

}  // namespace
}  // namespace swage::engine
