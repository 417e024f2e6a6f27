// SPDX-License-Identifier: Apache-2.0
#include "core/device/cupti_loader.h"

#include <dlfcn.h>

#include <cstdlib>
#include <vector>

#include <fmt/format.h>

namespace swage::device {
namespace {

constexpr const char* kSoname = "libcupti.so.13";
constexpr const char* kCuptiHint =
    "Install the package nvidia-cuda-cupti of PyTorch's CUDA version, or a CUDA 13 toolkit.";

std::vector<std::string> candidates() {
  if (const char* chosen = std::getenv("SWAGE_CUPTI"); chosen != nullptr && *chosen != '\0') {
    return {chosen};
  }
  std::vector<std::string> files = {kSoname};
  const char* home = std::getenv("CUDA_HOME");
  for (const std::string& toolkit : {std::string(home != nullptr ? home : ""), std::string("/usr/local/cuda")}) {
    if (!toolkit.empty()) {
      files.push_back(toolkit + "/extras/CUPTI/lib64/" + kSoname);
      files.push_back(toolkit + "/lib64/" + kSoname);
    }
  }
  return files;
}

}  // namespace

Result<void*> loadCupti(const std::string& file) {
  std::string reasons;
  for (const std::string& candidate : file.empty() ? candidates() : std::vector<std::string>{file}) {
    if (void* handle = ::dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      return handle;
    }
    const char* reason = ::dlerror();
    reasons += (reasons.empty() ? "" : "; ") + std::string(reason != nullptr ? reason : candidate.c_str());
  }
  return Error(ErrorKind::Environment, fmt::format("cannot load CUPTI: {}", reasons), kCuptiHint);
}

}  // namespace swage::device
