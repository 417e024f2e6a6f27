// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/domain/launch_plan.h"

// What lies between Python and the kernels of an exported plan. On a CPU: one function for each kernel step, with the
// step's arguments by value, which makes a call from Python one foreign call without shared state. With CUDA the
// exported file calls the driver itself.
namespace swage::exporting {

[[nodiscard]] std::vector<const domain::KernelStep*> kernelSteps(const domain::LaunchPlan& plan);

// `extern "C" void swage_step0(void* a0, long long a1) { … }`, to be compiled behind the kernels.
[[nodiscard]] std::string cpuLaunchers(const domain::LaunchPlan& plan);

// The tables of the steps for Python: foreign types on a CPU, geometry and types for CUDA.
[[nodiscard]] std::string cpuStepTable(const domain::LaunchPlan& plan);
[[nodiscard]] std::string cudaStepTable(const domain::LaunchPlan& plan);

// Whether a step is launched as a cluster or cooperatively.
[[nodiscard]] bool hasLaunchAttributes(const domain::LaunchPlan& plan);

// Statements that tell the driver what kernels of the plan need beyond its defaults; most need nothing.
[[nodiscard]] std::string cudaPreparation(const domain::LaunchPlan& plan);

}  // namespace swage::exporting
