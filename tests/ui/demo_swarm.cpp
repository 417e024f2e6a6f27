// SPDX-License-Identifier: Apache-2.0
#include "tests/ui/demo_swarm.h"

#include <algorithm>
#include <array>

namespace swage::testing {
namespace {

using services::AdviceStanding;
using services::EndpointSettings;
using services::PairStanding;
using services::SwarmReport;
using services::TalkSummary;

struct DemoRule {
  const char* role;
  const char* rule;
  const char* bottleneck;
  const char* method;
  double expected;
};

constexpr std::array<DemoRule, 4> kRules = {{
    {"fusion", "intermediate_traffic", "The 2 kernels write and read 64 MB that one kernel would keep in registers.",
     "Compute both reductions in one pass over the rows.", 1.6},
    {"memory", "narrow_loads",
     "Each thread of softmax_rows loads 4 bytes at a time; 16 would need a quarter of the "
     "instructions.",
     "Load four neighbouring elements at once.", 1.3},
    {"parameters", "occupancy_by_registers", "96 registers for each thread leave 5 of 16 blocks on a multiprocessor.",
     "Use fewer registers: smaller tiles, or a launch bound.", 1.15},
    {"arithmetic", "low_issue_rate", "The warp schedulers issue in 38 % of their cycles.",
     "Give each thread independent sums.", 1.2},
}};

AdviceStanding adviceOf(int number) {
  const DemoRule& rule = kRules[static_cast<std::size_t>(number) % kRules.size()];
  AdviceStanding advice;
  advice.number = number;
  advice.pair = (number * 7) % 32;
  advice.role = rule.role;
  advice.rule = rule.rule;
  advice.about = domain::CandidateId(100 + number * 3);
  advice.bottleneck = rule.bottleneck;
  advice.method = rule.method;
  advice.plan = "Keep the launch plan; change the inner loop alone.";
  advice.expectedGain = rule.expected;
  if (number % 3 != 0) {
    advice.followed = 1 + number % 3;
    advice.achievedGain = number % 5 == 0 ? 0.0 : 0.9 + 0.07 * (number % 9);
    advice.candidate = domain::CandidateId(101 + number * 3);
  }
  return advice;
}

PairStanding pairOf(int number, double seconds) {
  const DemoRule& rule = kRules[static_cast<std::size_t>(number / 4) % kRules.size()];
  PairStanding pair;
  pair.pair = number;
  pair.island = number % 4;
  pair.role = rule.role;
  pair.isFunctional = number % 9 == 4;
  pair.isPaused = number == 6;
  pair.isRoleGiven = number == 9;
  pair.about = domain::CandidateId(200 + number * 11);
  pair.doing = pair.isPaused ? "paused" : pair.isFunctional ? "mends: failed launch" : "follows: narrow loads";
  pair.offers = static_cast<std::int64_t>(seconds / 4.0) + number % 5;
  pair.correct = pair.offers * 2 / 3;
  pair.elites = number % 4 == 0 ? 1 : 0;
  pair.gainPercent = 8.0 + 3.0 * (number % 7);
  pair.seconds = seconds * 0.4 + number;
  pair.last = adviceOf(number + 1);
  return pair;
}

PairStanding modelOf(const std::string& name, double seconds) {
  PairStanding pair;
  pair.model = name;
  pair.about = domain::CandidateId(412);
  pair.doing = "waits for 2 replies";
  pair.offers = static_cast<std::int64_t>(seconds / 9.0);
  pair.correct = pair.offers / 2;
  pair.elites = 2;
  pair.gainPercent = 44.0;
  pair.seconds = seconds;
  pair.cents = seconds * 0.11;
  pair.tokens = static_cast<std::int64_t>(seconds * 900.0);
  return pair;
}

TalkSummary talkOf(int number) {
  TalkSummary talk;
  talk.candidate = domain::CandidateId(400 + number);
  talk.model = number % 3 == 0 ? "local" : "fast";
  talk.intent = number % 2 == 0 ? "one block for each row, sums in registers" : "four rows to a block, vector loads";
  talk.result = number % 4 == 1 ? "wrong" : number % 4 == 3 ? "compile error" : "correct";
  talk.calls = 1 + number % 2;
  talk.inputTokens = 5200 + number * 37;
  talk.outputTokens = 900 + number * 13;
  talk.cents = number % 3 == 0 ? 0.0 : 1.9 + 0.01 * number;
  talk.seconds = 6.0 + 0.3 * number;
  return talk;
}

}  // namespace

Result<> FakeEndpointService::check(const EndpointSettings& endpoint) const {
  if (endpoint.name.empty()) {
    return Error(ErrorKind::Config, "a model needs a name");
  }
  if (!endpoint.baseUrl.starts_with("http")) {
    return Error(ErrorKind::Config, "'" + endpoint.baseUrl + "' is no address");
  }
  return {};
}

Result<> FakeEndpointService::save(const std::string& before, const EndpointSettings& endpoint) {
  if (const Result<> possible = check(endpoint); !possible) {
    return possible;
  }
  std::erase_if(rows, [&before](const EndpointSettings& one) { return !before.empty() && one.name == before; });
  rows.push_back(endpoint);
  return {};
}

Result<> FakeEndpointService::remove(const std::string& name) {
  std::erase_if(rows, [&name](const EndpointSettings& one) { return one.name == name; });
  return {};
}

SwarmReport demoSwarm(double seconds) {
  SwarmReport report;
  report.pairs = {modelOf("fast", seconds), modelOf("local", seconds)};
  report.pairs[1].cents = 0.0;
  report.pairs[1].isFunctional = true;
  report.pairs[1].doing = "waits for its program to be tried";
  for (int i = 0; i < 32; ++i) {
    report.pairs.push_back(pairOf(i, seconds));
  }
  const int advice = static_cast<int>(seconds / 2.0);
  for (int i = advice; i > 0; --i) {
    report.advice.push_back(adviceOf(i));
  }
  const int talks = static_cast<int>(seconds / 5.0);
  for (int i = talks; i > 0; --i) {
    report.talks.push_back(talkOf(i));
  }
  report.spending = {{.model = "fast",
                      .calls = 14,
                      .failed = 1,
                      .inputTokens = 74100,
                      .outputTokens = 13820,
                      .cents = 28.6,
                      .seconds = 96.0,
                      .longestSeconds = 17.4},
                     {.model = "local",
                      .calls = 6,
                      .failed = 0,
                      .inputTokens = 31200,
                      .outputTokens = 6900,
                      .cents = 0.0,
                      .seconds = 121.0,
                      .longestSeconds = 40.2}};
  report.budgetCents = 100.0;
  report.guidedShare = 0.34;
  return report;
}

services::Talk demoTalk() {
  using Who = services::Talk::Turn::Who;
  services::Talk talk{.model = "fast", .promptsHash = "4be1f02c9a77", .turns = {}};
  talk.turns = {
      {Who::Rules, "You write kernels. Answer with one block of source and one with a launch plan."},
      {Who::Question,
       "## Task\n\nsoftmax over rows of float32[4096, 1024]\n\n## The program to make faster\n\n```cuda\n__global__ "
       "void "
       "softmax_rows(const float* x, float* y) {\n  // one thread for each row\n}\n```\n\nIt takes 62.1 us, 1.31 times "
       "as fast as eager.\n\nAdvice of the profiler's rules: Each thread loads 4 bytes at a time.\nDo this: Load four "
       "neighbouring elements at once."},
      {Who::Reply,
       "One block for each row.\n\n```cuda\n__global__ void softmax_rows(const float4* x, float4* y) {\n  const float4 "
       "v "
       "= x[blockIdx.x * 256 + threadIdx.x];\n  // …\n}\n```\n\n```json\n{\"intent\": \"one block for each row, sums "
       "in "
       "registers\", \"steps\": [{\"kernel\": \"softmax_rows\"}]}\n```\n"}};
  return talk;
}

std::vector<EndpointSettings> demoEndpoints() {
  EndpointSettings fast;
  fast.name = "fast";
  fast.baseUrl = "https://api.example.com/v1";
  fast.model = "coder-large-2";
  fast.key = EndpointSettings::Key::Keychain;
  fast.keyWhere = "example";
  fast.inputPrice = 2.0;
  fast.outputPrice = 10.0;
  EndpointSettings local;
  local.name = "local";
  local.kind = "ollama";
  local.baseUrl = "http://localhost:11434";
  local.model = "coder:32b";
  return {fast, local};
}

}  // namespace swage::testing
