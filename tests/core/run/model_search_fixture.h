// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/run/model_proposer.h"
#include "core/run/offer_event.h"
#include "tests/core/models/loopback_server.h"
#include "tests/core/run/session_fixture.h"
#include "tests/support/result_matchers.h"

namespace swage::testing {

// A program that the fake worker needs so many microseconds for; 13 is wrong.
inline std::string answerWith(int number, const std::string& source = "kernel") {
  return fmt::format(
      "Here it is.\n```cpp\n{} {}\n```\n```json\n"
      "{{\"intent\": \"attempt {}\", \"steps\": [{{\"kernel\": \"tiny_kernel\", \"arguments\": [{{\"i32\": {}}}, 0, "
      "1]}}]}}\n"
      "```\n",
      source, number, number, number);
}

inline bool isAbout(const ServedRequest& request, std::string_view words) {
  return request.body.find(words) != std::string::npos;
}

// Whole searches with a language model, which a server on this machine plays.
class ModelSearchFixture : public SessionFixture {
 protected:
  ModelSearchFixture() {
    m_spaceSize = 100000;
    m_spec.maxEvaluations = 0;
    m_endpoint.concurrency = 1;
    m_use.keys = std::make_shared<models::KeyRing>();
  }

  // The model takes part in every run from now on.
  void enlist() {
    m_use.endpoints = {m_endpoint};
    auto made = run::modelProposers(m_use);
    ASSERT_THAT(made, IsOk());
    m_parts.proposers = std::move(*made);
  }
  [[nodiscard]] std::vector<store::CandidateRecord> madeByModel() const {
    const auto name = *models::proposerNameOf(m_endpoint.name);
    std::vector<store::CandidateRecord> found = history();
    std::erase_if(found, [&name](const auto& candidate) { return candidate.madeBy != name; });
    return found;
  }
  [[nodiscard]] int rowsOfModel() const {
    const auto name = *models::proposerNameOf(m_endpoint.name);
    return static_cast<int>(
        std::count_if(m_rows.begin(), m_rows.end(), [&name](const auto& row) { return row.madeBy == name; }));
  }
  // A search until this holds.
  void searchUntil(const std::function<bool()>& condition) {
    forgetSignals();
    start(m_session);
    EXPECT_TRUE(waitFor(condition));
    m_session->stop();
    ASSERT_TRUE(waitUntilFinished());
    ASSERT_FALSE(m_outcomes[0].error) << m_outcomes[0].error->message();
  }
  [[nodiscard]] bool isSaid(const std::string& words) const {
    return std::any_of(m_notices.begin(), m_notices.end(),
                       [&words](const auto& notice) { return notice.text.find(words) != std::string::npos; });
  }
  [[nodiscard]] std::vector<run::OfferProvenance> offers() const {
    std::vector<run::OfferProvenance> found;
    const auto events = record().events(onlyRun().id);
    for (const domain::RunEvent& event : *events) {
      if (event.kind == domain::EventKind::Offer) {
        found.push_back(*run::parseProvenance(event.json));
      }
    }
    return found;
  }

  // Of calls that no candidate came of.
  [[nodiscard]] std::vector<models::ChatFailure> failures() const {
    std::vector<models::ChatFailure> found;
    for (const run::OfferProvenance& offer : offers()) {
      if (!offer.candidate.isValid()) {
        const auto read = models::parseConversation(*record().text(offer.conversation.value()));
        EXPECT_THAT(read, IsOk());
        found.push_back(*read->exchanges.back().outcome.failure());
      }
    }
    return found;
  }

  LoopbackServer m_server{[](const ServedRequest& request) {
    return openAiReply(answerWith(isAbout(request, "did not pass") ? 2 : 13), 100, 50, "stop", 1000);
  }};
  models::Endpoint m_endpoint = endpointOf(m_server);
  run::ModelUse m_use;
};

}  // namespace swage::testing
