// SPDX-License-Identifier: Apache-2.0
#include "core/engine/endpoint_service_impl.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <functional>
#include <optional>
#include <thread>

#include "core/base/files.h"
#include "core/engine/chosen_models.h"
#include "core/engine/model_endpoints.h"
#include "tests/core/models/loopback_server.h"
#include "tests/core/models/row_sum_task.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_for.h"

namespace swage::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsError;
using testing::IsOk;
using ::testing::Not;
using ::testing::SizeIs;
using testing::waitFor;
using Key = services::EndpointSettings::Key;

class EndpointService : public ::testing::Test {
 protected:
  EndpointService() {
    QObject::connect(&m_service, &services::EndpointService::tested, &m_service,
                     [this](const services::EndpointFinding& finding) { m_found = finding; });
  }
  [[nodiscard]] static services::EndpointSettings fast() {
    services::EndpointSettings endpoint;
    endpoint.name = "fast";
    endpoint.baseUrl = "https://api.example.com/v1";
    endpoint.model = "big";
    endpoint.key = Key::Environment;
    endpoint.keyWhere = "FAST_KEY";
    endpoint.inputPrice = 2.0;
    endpoint.outputPrice = 8.0;
    return endpoint;
  }
  void write(const std::string& text) const { std::ofstream(m_file) << text; }

  testing::TempDir m_folder;
  std::filesystem::path m_file = m_folder / "config.toml";
  std::shared_ptr<const models::KeyRing> m_keys = std::make_shared<models::KeyRing>();
  EndpointServiceImpl m_service{m_file, m_keys};
  std::optional<services::EndpointFinding> m_found;
  std::function<PatternPlaces()> m_places = [this] {
    PatternPlaces places;
    places.index = m_folder / "cache/patterns.sqlite";
    places.catalogue = SWAGE_TEST_PATTERNS;
    return places;
  };
};

TEST_F(EndpointService, SavesChangesAndRemoves) {
  EXPECT_THAT(*m_service.load(), IsEmpty());
  ASSERT_THAT(m_service.save({}, fast()), IsOk());
  ASSERT_THAT(*m_service.load(), SizeIs(1));
  EXPECT_EQ(m_service.load()->front(), fast());
  services::EndpointSettings renamed = fast();
  renamed.name = "faster";
  renamed.key = Key::None;
  renamed.keyWhere.clear();
  renamed.inputPrice.reset();
  renamed.outputPrice.reset();
  ASSERT_THAT(m_service.save("fast", renamed), IsOk());
  ASSERT_THAT(*m_service.load(), SizeIs(1));
  EXPECT_EQ(m_service.load()->front(), renamed);
  ASSERT_THAT(m_service.remove("faster"), IsOk());
  EXPECT_THAT(*m_service.load(), IsEmpty());
}

TEST_F(EndpointService, WhatItDoesNotShowStaysWhenOneIsChanged) {
  write(
      "[models.fast]\nkind = \"openai\"\nbase_url = \"https://a.example\"\nmodel = \"m\"\nno_temperature = true\n"
      "timeout_total = \"5 min\"\n");
  services::EndpointSettings changed = m_service.load()->front();
  changed.model = "other";
  ASSERT_THAT(m_service.save("fast", changed), IsOk());
  const models::Endpoint kept = readEndpoints(m_file)->front();
  EXPECT_EQ(kept.model, "other");
  EXPECT_TRUE(kept.quirks.noTemperature);
  EXPECT_EQ(kept.timeouts.total, std::chrono::minutes(5));
}

TEST_F(EndpointService, SaysWhatCannotBeSaved) {
  services::EndpointSettings endpoint = fast();
  endpoint.keyWhere.clear();
  EXPECT_THAT(m_service.check(endpoint), IsError(ErrorKind::Config, HasSubstr("where the key is")));
  EXPECT_THAT(m_service.save({}, endpoint), IsError(ErrorKind::Config, HasSubstr("where the key is")));
  endpoint = fast();
  endpoint.outputPrice.reset();
  EXPECT_THAT(m_service.check(endpoint), IsError(ErrorKind::Config, HasSubstr("two parts")));
  endpoint = fast();
  endpoint.baseUrl = "http://far.example.com";
  EXPECT_THAT(m_service.check(endpoint), Not(IsOk()));
  endpoint.allowPlain = true;
  EXPECT_THAT(m_service.check(endpoint), IsOk());
  endpoint.name = "Has Blanks";
  EXPECT_THAT(m_service.check(endpoint), Not(IsOk()));
  EXPECT_THAT(*m_service.load(), IsEmpty());
}

TEST_F(EndpointService, TestsWhatIsTypedBeforeItIsSaved) {
  testing::LoopbackServer server([](const testing::ServedRequest& request) {
    if (request.method == "GET") {
      testing::ScriptedReply list;
      list.contentType = "application/json";
      list.chunks = {R"({"data":[{"id":"other"}]})"};
      return list;
    }
    return testing::openAiReply("ready", 10, 2);
  });
  services::EndpointSettings endpoint = fast();
  endpoint.baseUrl = testing::endpointOf(server).baseUrl;
  endpoint.key = Key::None;
  m_service.test(endpoint);
  ASSERT_TRUE(waitFor([this] { return m_found.has_value(); }));
  EXPECT_TRUE(m_found->works) << m_found->error;
  EXPECT_TRUE(m_found->canList);
  EXPECT_FALSE(m_found->hasModel);
  EXPECT_EQ(m_found->name, "fast");
}

TEST_F(EndpointService, ATestOfWhatCannotBeSavedSaysSo) {
  services::EndpointSettings endpoint = fast();
  endpoint.baseUrl = "not an address";
  m_service.test(endpoint);
  ASSERT_TRUE(waitFor([this] { return m_found.has_value(); }));
  EXPECT_FALSE(m_found->works);
  EXPECT_FALSE(m_found->error.empty());
}

TEST_F(EndpointService, TheSettingsSayWhoTakesPartInASearch) {
  services::RunSpec spec;
  spec.project = m_folder.path();
  EXPECT_THAT(*chosenModels(m_file, m_keys, spec, m_places), IsEmpty());
  ASSERT_THAT(m_service.save({}, fast()), IsOk());
  write(*readTextFile(m_file) +
        "\n[swarm]\nmodels = \"fast\"\nby_hand = true\nbudget_cents = 250\nbudget_tokens = 9\n");
  EXPECT_THAT(*chosenModels(m_file, m_keys, spec, m_places), SizeIs(2)) << "the model, and the person";
  EXPECT_DOUBLE_EQ(spec.budgetUsd, 2.5);
  EXPECT_EQ(spec.budgetTokens, 9);
  spec.budgetUsd = 1.0;
  ASSERT_THAT(chosenModels(m_file, m_keys, spec, m_places), IsOk());
  EXPECT_DOUBLE_EQ(spec.budgetUsd, 1.0) << "what was asked for counts more";
  write("[swarm]\nmodels = \"fsat\"\n");
  EXPECT_THAT(chosenModels(m_file, m_keys, spec, m_places), IsError(ErrorKind::NotFound, HasSubstr("no model 'fsat'")));
}

TEST_F(EndpointService, ModelsOfTheWindowAreToldOfPatternsThatAnotherThreadHasOpened) {
  testing::LoopbackServer server([](const testing::ServedRequest&) { return testing::openAiReply("no", 1, 1); });
  services::EndpointSettings endpoint = fast();
  endpoint.baseUrl = testing::endpointOf(server).baseUrl;
  endpoint.key = Key::None;
  ASSERT_THAT(m_service.save({}, endpoint), IsOk());
  write(*readTextFile(m_file) + "\n[swarm]\nmodels = \"fast\"\n");
  services::RunSpec spec;
  std::atomic<bool> isHere = false;
  const auto made = chosenModels(m_file, m_keys, spec, [this, &isHere, here = std::this_thread::get_id()] {
    isHere = isHere || std::this_thread::get_id() == here;
    return m_places();
  });
  ASSERT_THAT(made, IsOk());
  const domain::Task task = testing::rowSumTask();
  const domain::DeviceInfo device = testing::smallCpu();
  const auto model = made->front()({.task = task, .device = device, .run = domain::RunId(1)});
  QObject::connect(model.get(), &run::Proposer::offered, model.get(), &run::Proposer::ask);
  model->ask();
  EXPECT_TRUE(waitFor([&server] {
    return std::any_of(server.served().begin(), server.served().end(), [](const testing::ServedRequest& request) {
      return request.body.find("Patterns and kernels that may help") != std::string::npos;
    });
  })) << "the first prompts go out while the index is being opened";
  EXPECT_FALSE(isHere);
}

}  // namespace
}  // namespace swage::engine
