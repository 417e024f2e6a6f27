// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/device.h"

namespace swage::device {

// A metric that profiles have, with what newer chips have in its place, best first.
struct MetricChoice {
  std::string_view name;
  std::vector<std::string_view> successors;
  bool isOptional = false;  // a chip that lacks it is not worth a word, and no profile fails for it
};

// The hardware metrics of a profile: those of CudaForge and KernelAgent that a device counts (launch__ metrics follow
// from the launch and are computed), all stall reasons, what a roofline needs, and, optional, bank conflicts.
[[nodiscard]] const std::vector<MetricChoice>& profileMetrics();

struct ChosenMetrics {
  std::vector<std::string> names;
  std::vector<std::string> unknown;  // neither the metric nor a successor; without optional ones

  // False: there are none.
  bool leaveOutOptional();
};
[[nodiscard]] ChosenMetrics chooseMetrics(const std::function<bool(const std::string&)>& isKnown);

// The launch__ metrics: facts of the launch, not counters, under Nsight Compute's names and by its rules. It counts
// registers as the launch gets them, of which there are more than the compiler used in a kernel that needs very few.
[[nodiscard]] std::vector<domain::ProfileMetric> launchMetrics(const KernelResources& resources);

}  // namespace swage::device
