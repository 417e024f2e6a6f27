// SPDX-License-Identifier: Apache-2.0
#include "core/run/pair_order.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/domain/json.h"

namespace swage::run {
namespace {

using domain::Json;
using services::PairOrder;
using Kind = PairOrder::Kind;

constexpr std::array<std::pair<Kind, std::string_view>, 4> kNames = {
    {{Kind::Pause, "pause"}, {Kind::Resume, "resume"}, {Kind::Say, "say"}, {Kind::TakeRole, "role"}}};

}  // namespace

std::string orderJson(const PairOrder& order) {
  Json json{{"by", "person"}};
  for (const auto& [kind, name] : kNames) {
    if (kind == order.kind) {
      json["order"] = name;
    }
  }
  if (order.model.empty()) {
    json["pair"] = order.pair;
  } else {
    json["model"] = order.model;
  }
  if (!order.text.empty()) {
    json["text"] = order.text;
  }
  return domain::dumpJson(json);
}

Result<PairOrder> parseOrder(std::string_view json) {
  SWAGE_TRY_ASSIGN(const Json parsed, domain::parseJson(json));
  try {
    PairOrder order;
    const auto wanted = parsed.at("order").get<std::string>();
    for (const auto& [kind, name] : kNames) {
      order.kind = name == wanted ? kind : order.kind;
    }
    order.pair = parsed.value("pair", -1);
    order.model = parsed.value("model", std::string());
    order.text = parsed.value("text", std::string());
    return order;
  } catch (const Json::exception& error) {
    return Error(ErrorKind::Storage, fmt::format("the record has an event that cannot be read: {}", error.what()));
  }
}

bool isOrder(std::string_view json) {
  const auto parsed = domain::parseJson(json);
  return parsed && parsed->is_object() && parsed->contains("order");
}

Result<> keepOrder(store::Record& record, domain::RunId run, const PairOrder& order) {
  return record.addEvent(run, domain::EventKind::Advice, orderJson(order));
}

}  // namespace swage::run
