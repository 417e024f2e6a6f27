// SPDX-License-Identifier: Apache-2.0
#include "core/device/cupti_errors.h"

#include <fmt/format.h>

namespace swage::device {
namespace {

struct Explanation {
  int code;
  const char* cause;
  const char* fix;
};

constexpr const char* kPhysical = "Run where the GPU is not virtualised, or ask the administrator of the host.";

// The codes after which trying again in the same way is pointless, from the documentation of cupti_result.h.
constexpr Explanation kExplanations[] = {
    {26, "another profiler uses the counters of this GPU",
     "End the other profiler (Nsight, DCGM's profiling metrics) and profile again."},
    {27, "this GPU or driver does not support it", "Update the NVIDIA driver."},
    {33, "the GPU is virtualised and does not support profiling", kPhysical},
    {35, "the driver lets only administrators read the GPU's counters",
     "Set the module option NVreg_RestrictProfilingToAdminUsers=0 of the NVIDIA driver (a file in /etc/modprobe.d with "
     "\"options nvidia NVreg_RestrictProfilingToAdminUsers=0\", then restart), or give the process CAP_SYS_ADMIN."},
    {36, "older profiling functions are in use in this process", "Profile in a process of its own."},
    {39, "another tool has attached to this process", "Run it outside Nsight Systems, Nsight Compute and cuda-gdb."},
    {40, "the hypervisor does not allow profiling on this virtual GPU", kPhysical},
    {41, "the GPU is in confidential computing mode, which forbids profiling",
     "Profile on a GPU outside confidential computing mode."},
    {42, "mining GPUs cannot be profiled", "Profile on another GPU."},
    {43, "this part of a GPU (MIG) cannot be profiled", "Profile on a whole GPU, outside multi-instance mode."},
    {44, "GPUs in SLI cannot be profiled", "Turn SLI off."},
    {45, "the GPU cannot be profiled from this version of WSL", "Update WSL and the driver on its host."},
    {46, "the profiling library does not know this chip", "Install a newer libcupti."},
};

}  // namespace

ProfilerFailure explainCupti(int code, std::string_view name, std::string_view attempted) {
  for (const Explanation& known : kExplanations) {
    if (known.code == code) {
      return {fmt::format("cannot {}: {} ({})", attempted, known.cause, name), known.fix};
    }
  }
  return {fmt::format("cannot {}: {} ({})", attempted, name, code), "Run `swage doctor`."};
}

}  // namespace swage::device
