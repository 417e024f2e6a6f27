// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace swage::device {

// A metric that profiles have, with what newer chips have in its place, best first.
struct MetricChoice {
  std::string_view name;
  std::vector<std::string_view> successors;
};

// The hardware metrics of a profile: those of CudaForge and KernelAgent that a device counts (launch__ metrics follow
// from the launch and are computed), all stall reasons, and what a roofline needs.
[[nodiscard]] const std::vector<MetricChoice>& profileMetrics();

struct ChosenMetrics {
  std::vector<std::string> names;
  std::vector<std::string> unknown;  // neither the metric nor a successor
};
[[nodiscard]] ChosenMetrics chooseMetrics(const std::function<bool(const std::string&)>& isKnown);

}  // namespace swage::device
