// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/stats/diagnose.h"

namespace swage::stats {

// What bounds a kernel on a CPU, from what there is: the counters of the processor, samples of its threads, what was
// compiled, and the task's bytes and operations against the bandwidth of a copy. The kernel's time and share are set.
void diagnoseOnCpu(const domain::KernelProfile& profile, const DiagnosisContext& context, bool isOnlyKernel,
                   domain::KernelDiagnosis& kernel);

// What such a kernel loses; its diagnosis is complete.
void findOnCpu(const domain::KernelDiagnosis& kernel, const DiagnosisContext& context,
               std::vector<domain::Finding>& findings);

}  // namespace swage::stats
