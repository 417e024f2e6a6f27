// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace swage::domain {

// What a run writes down besides its candidates.
enum class EventKind : std::uint8_t {
  Other,            // of another version of Swage
  SelfTest,         // why the device is trusted
  BaselinesReused,  // which, and from which runs
  DeviceJoined,
  DeviceLost,
  WorkerReplaced,
  WorkerReady,  // again
  EvaluatedOn,  // which device a candidate ran on, where there are several
  Proposers,    // how the search stands
  Doubt,        // why a speedup on this task may say little
  FinishingPass,
  Offer,        // what a candidate cost to think of, and its note
  Advice,       // of a judge, about a candidate, to whom it was given
  AdviceScore,  // what came of following one
  Sandbox,      // compilers had none from now on
};
// The word that is stored.
[[nodiscard]] std::string_view name(EventKind kind);
[[nodiscard]] EventKind eventKindOf(std::string_view text);

struct RunEvent {
  std::int64_t atMs = 0;  // UTC
  EventKind kind = EventKind::Other;
  std::string json;  // an object; its members depend on the kind
};

}  // namespace swage::domain
