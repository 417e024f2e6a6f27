// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/services/endpoint_service.h"
#include "core/services/swarm_service.h"

namespace swage::testing {

// Keeps orders and replies, and answers with what the test says.
class FakeSwarmService final : public services::SwarmService {
 public:
  void order(const services::PairOrder& order) override { orders.push_back(order); }
  [[nodiscard]] QFuture<Result<services::ReplyCheck>> checkReply(const std::string& text) override {
    checked.push_back(text);
    return QtFuture::makeReadyFuture(check);
  }
  [[nodiscard]] Result<std::string> promptText(const services::WaitingPrompt& prompt) const override {
    return "The question of " + prompt.prompt.filename().string();
  }
  [[nodiscard]] Result<> sendReply(const services::WaitingPrompt& prompt, const std::string& text) override {
    replies[prompt.reply.string()] = text;
    return {};
  }
  [[nodiscard]] QFuture<Result<services::SwarmSnapshot>> recorded(const std::filesystem::path&,
                                                                  domain::RunId run) const override {
    const auto found = records.find(run.value());
    return QtFuture::makeReadyFuture(Result<services::SwarmSnapshot>(
        found == records.end() ? std::make_shared<const services::SwarmReport>() : found->second));
  }
  [[nodiscard]] QFuture<Result<services::Talk>> talk(const std::filesystem::path&, domain::RunId,
                                                     domain::CandidateId candidate) const override {
    const auto found = talks.find(candidate.value());
    return QtFuture::makeReadyFuture(found == talks.end()
                                         ? Result<services::Talk>(Error(ErrorKind::NotFound, "no model made it"))
                                         : Result<services::Talk>(found->second));
  }
  // What an engine would do on its own.
  void tell(const services::SwarmReport& report) {
    Q_EMIT changed(std::make_shared<const services::SwarmReport>(report));
  }

  std::vector<services::PairOrder> orders;
  std::vector<std::string> checked;
  std::map<std::string, std::string> replies;  // by the file they belong into
  Result<services::ReplyCheck> check = services::ReplyCheck{"two passes", {"row_max", "row_sum"}, 42};
  std::map<std::int64_t, services::SwarmSnapshot> records;
  std::map<std::int64_t, services::Talk> talks;
};

class FakeEndpointService final : public services::EndpointService {
 public:
  [[nodiscard]] Result<std::vector<services::EndpointSettings>> load() const override { return rows; }
  [[nodiscard]] Result<> check(const services::EndpointSettings& endpoint) const override;
  [[nodiscard]] Result<> save(const std::string& before, const services::EndpointSettings& endpoint) override;
  [[nodiscard]] Result<> remove(const std::string& name) override;
  void test(const services::EndpointSettings& endpoint) override { asked.push_back(endpoint); }
  [[nodiscard]] std::filesystem::path file() const override { return "/home/user/.config/swage/config.toml"; }

  std::vector<services::EndpointSettings> rows;
  std::vector<services::EndpointSettings> asked;
};

// 32 built-in pairs and two models, so many seconds into a search.
[[nodiscard]] services::SwarmReport demoSwarm(double seconds);
[[nodiscard]] services::Talk demoTalk();
[[nodiscard]] std::vector<services::EndpointSettings> demoEndpoints();

}  // namespace swage::testing
