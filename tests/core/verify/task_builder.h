// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/domain/launch_plan.h"
#include "core/domain/task.h"

// Small tasks written down as text.
namespace swage::testing {

// GRAPH of core/wire/TASK_FORMAT.md. Ends the test program when it is none.
[[nodiscard]] domain::Graph graphFromText(std::string_view text);

// x of the given shape, drawn from a normal distribution; `nodes` compute value 1, the only output, from value 0.
[[nodiscard]] domain::Task pointwiseTask(const domain::Shape& shape, std::string_view op);

// The same input; `nodes` is the text of the graph's nodes, whose values are all float32: value 0 is x, value 1 the
// only output, `shapes` those of value 1 and on. With a name, the last value is a parameter.
[[nodiscard]] domain::Task taskOf(const domain::Shape& shape, std::string_view nodes,
                                  const std::vector<domain::Shape>& shapes, std::string_view parameter = {});
// One float32 parameter more, as the next value.
void addParameter(domain::Task& task, const std::string& name, const domain::Shape& shape);

// The plan that calls one kernel with value 0, value 1 and their element count.
[[nodiscard]] domain::LaunchPlan oneKernelPlan(const domain::Task& task, const std::string& entry);

// The plan in which every node of the task is an ATen step.
[[nodiscard]] domain::LaunchPlan atenPlan(const domain::Task& task);

// One float32 tensor in a safetensors file.
void writeSafetensors(const std::filesystem::path& path, const std::string& name, const domain::Shape& shape,
                      std::span<const float> values);

}  // namespace swage::testing
