// SPDX-License-Identifier: Apache-2.0
#include "core/export/launchers.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/export/python_text.h"

namespace swage::exporting {

namespace {

struct CppType {
  std::string operator()(domain::ValueId) const { return "void*"; }
  std::string operator()(const domain::TensorMap&) const { return "const void*"; }
  std::string operator()(domain::Int32) const { return "int"; }
  std::string operator()(std::int64_t) const { return "long long"; }
  std::string operator()(float) const { return "float"; }
  std::string operator()(double) const { return "double"; }
};

struct ForeignType {
  std::string operator()(domain::ValueId) const { return "_ctypes.c_void_p"; }
  std::string operator()(const domain::TensorMap&) const { return "_ctypes.c_void_p"; }  // no CPU kernel has one
  std::string operator()(domain::Int32) const { return "_ctypes.c_int32"; }
  std::string operator()(std::int64_t) const { return "_ctypes.c_int64"; }
  std::string operator()(float) const { return "_ctypes.c_float"; }
  std::string operator()(double) const { return "_ctypes.c_double"; }
};

std::string foreignTypes(const domain::KernelStep& step) {
  std::string text;
  for (const domain::KernelArgument& argument : step.arguments) {
    text += std::visit(ForeignType{}, argument) + ", ";
  }
  return fmt::format("({})", text.empty() ? text : text.substr(0, text.size() - (step.arguments.size() > 1 ? 2 : 1)));
}

// Type letters of Python's `struct`, whose native mode lays arguments out as the driver expects them: each aligned to
// its own size. Tensor maps are bytes to it; the exported file asks the driver where they lie (_swage_packing).
struct PackedType {
  std::string_view operator()(domain::ValueId) const { return "P"; }
  std::string_view operator()(domain::Int32) const { return "i"; }
  std::string_view operator()(std::int64_t) const { return "q"; }
  std::string_view operator()(float) const { return "f"; }
  std::string_view operator()(double) const { return "d"; }
  std::string_view operator()(const domain::TensorMap&) const { return "128s"; }
};
static_assert(domain::kTensorMapBytes == 128);

std::string packedTypes(const domain::KernelStep& step) {
  std::string letters;
  for (const domain::KernelArgument& argument : step.arguments) {
    letters += std::visit(PackedType{}, argument);
  }
  return letters;
}

std::string addresses(std::size_t count) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < count; ++i) {
    parts.push_back(fmt::format("&a{}", i));
  }
  return parts.empty() ? "nullptr" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string geometry(const domain::Dim3& value) {
  return fmt::format("({}, {}, {})", value.x, value.y, value.z);
}

// CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION and CU_LAUNCH_ATTRIBUTE_COOPERATIVE of cuda.h: the number, then the value.
std::string launchAttributes(const domain::KernelStep& step) {
  std::string text;
  if (step.cluster != domain::Dim3()) {
    text += fmt::format("(4, 0, {}, {}, {}), ", step.cluster.x, step.cluster.y, step.cluster.z);
  }
  return fmt::format("({}{})", text, step.cooperative ? "(2, 0, 1, 0, 0), " : "");
}

}  // namespace

std::vector<const domain::KernelStep*> kernelSteps(const domain::LaunchPlan& plan) {
  std::vector<const domain::KernelStep*> steps;
  for (const domain::PlanStep& step : plan.steps) {
    if (const auto* kernel = std::get_if<domain::KernelStep>(&step)) {
      steps.push_back(kernel);
    }
  }
  return steps;
}

std::string cpuLaunchers(const domain::LaunchPlan& plan) {
  std::string text;
  std::size_t index = 0;
  for (const domain::KernelStep* step : kernelSteps(plan)) {
    std::vector<std::string> parameters;
    for (std::size_t i = 0; i < step->arguments.size(); ++i) {
      parameters.push_back(fmt::format("{} a{}", std::visit(CppType{}, step->arguments[i]), i));
    }
    text += fmt::format(
        "\nextern \"C\" __attribute__((visibility(\"default\"))) void swage_step{}({}) {{\n"
        "  void* arguments[] = {{{}}};\n  {}(arguments);\n}}\n",
        index++, fmt::join(parameters, ", "), addresses(parameters.size()), step->entry);
  }
  return text;
}

std::string cpuStepTable(const domain::LaunchPlan& plan) {
  std::string text = "(\n";
  std::size_t index = 0;
  for (const domain::KernelStep* step : kernelSteps(plan)) {
    text += fmt::format("    (\"swage_step{}\", {}),\n", index++, foreignTypes(*step));
  }
  return text + ")";
}

bool hasLaunchAttributes(const domain::LaunchPlan& plan) {
  const auto steps = kernelSteps(plan);
  return std::any_of(steps.begin(), steps.end(),
                     [](const auto* step) { return step->cluster != domain::Dim3() || step->cooperative; });
}

std::string cudaStepTable(const domain::LaunchPlan& plan) {
  const bool hasAttributes = hasLaunchAttributes(plan);
  std::string text = "(\n";
  for (const domain::KernelStep* step : kernelSteps(plan)) {
    const std::string head =
        fmt::format("    dict(entry={}, types={},", pythonString(step->entry), pythonString(packedTypes(*step)));
    const std::string tail = fmt::format(
        "grid={}, block={}, shared={}{}{}),", geometry(step->grid), geometry(step->block), step->dynamicSharedBytes,
        hasAttributes ? ", attributes=" : "", hasAttributes ? launchAttributes(*step) : "");
    text += fmt::format("{}{}{}\n", head, head.size() + tail.size() < 120 ? " " : "\n         ", tail);
  }
  return text + ")";
}

std::string cudaPreparation(const domain::LaunchPlan& plan) {
  constexpr std::uint32_t kPortableCluster = 8;
  bool hasShared = false;
  std::string large;
  for (const domain::KernelStep* step : kernelSteps(plan)) {
    hasShared = hasShared || step->dynamicSharedBytes > 0;
    if (step->cluster.x * step->cluster.y * step->cluster.z > kPortableCluster) {
      large += pythonString(step->entry) + ", ";
    }
  }
  std::string text;
  if (hasShared) {
    text +=
        "            if step[\"shared\"] > 0:  # 8: largest dynamic shared memory\n"
        "                _swage_check(driver.cuFuncSetAttribute(function, 8, step[\"shared\"]))\n";
  }
  if (!large.empty()) {
    text += fmt::format(
        "            if step[\"entry\"] in ({}):  # 14: clusters larger than the portable size\n"
        "                _swage_check(driver.cuFuncSetAttribute(function, 14, 1))\n",
        large);
  }
  return text;
}

}  // namespace swage::exporting
