// SPDX-License-Identifier: Apache-2.0
#include "core/domain/record/event.h"

#include <algorithm>
#include <array>
#include <utility>

namespace swage::domain {
namespace {

constexpr std::array<std::pair<EventKind, std::string_view>, 14> kEventNames = {{
    {EventKind::SelfTest, "self-test"},
    {EventKind::BaselinesReused, "baselines reused"},
    {EventKind::DeviceJoined, "device joined"},
    {EventKind::DeviceLost, "device lost"},
    {EventKind::WorkerReplaced, "worker replaced"},
    {EventKind::WorkerReady, "worker ready again"},
    {EventKind::EvaluatedOn, "evaluated on"},
    {EventKind::Proposers, "proposers"},
    {EventKind::Doubt, "task doubt"},
    {EventKind::FinishingPass, "finishing pass"},
    {EventKind::Offer, "offer"},
    {EventKind::Advice, "advice"},
    {EventKind::AdviceScore, "advice score"},
    {EventKind::Sandbox, "sandbox"},
}};

}  // namespace

std::string_view name(EventKind kind) {
  const auto found =
      std::find_if(kEventNames.begin(), kEventNames.end(), [kind](const auto& one) { return one.first == kind; });
  return found == kEventNames.end() ? "other" : found->second;
}

EventKind eventKindOf(std::string_view text) {
  const auto found =
      std::find_if(kEventNames.begin(), kEventNames.end(), [text](const auto& one) { return one.second == text; });
  return found == kEventNames.end() ? EventKind::Other : found->first;
}

}  // namespace swage::domain
