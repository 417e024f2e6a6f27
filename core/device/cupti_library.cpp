// SPDX-License-Identifier: Apache-2.0
#include "core/device/cupti_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "core/device/cupti_errors.h"

namespace swage::device {
namespace {

constexpr const char* kSoname = "libcupti.so.13";
constexpr const char* kHint = "Install the package nvidia-cuda-cupti of PyTorch's CUDA version, or a CUDA 13 toolkit.";

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

std::string pathOf(const void* symbol) {
  Dl_info info{};
  return ::dladdr(symbol, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

Result<CuptiLibrary> openFirst() {
  std::string reasons;
  for (const std::string& file : candidates()) {
    auto opened = CuptiLibrary::open(file);
    if (opened) {
      return opened;
    }
    reasons += (reasons.empty() ? "" : "; ") + opened.error().message();
  }
  return Error(ErrorKind::Environment, std::move(reasons), kHint);
}

}  // namespace

Result<CuptiLibrary> CuptiLibrary::open(const std::string& file) {
  void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = ::dlerror();
    return Error(ErrorKind::Environment, fmt::format("cannot load CUPTI: {}", reason != nullptr ? reason : file),
                 kHint);
  }
  CuptiLibrary library;
#define SWAGE_CUPTI_FIND(function)                                                                        \
  library.function = reinterpret_cast<decltype(library.function)>(::dlsym(handle, #function));            \
  if (library.function == nullptr) {                                                                      \
    return Error(ErrorKind::Environment, fmt::format("'{}' lacks the function " #function, file), kHint); \
  }
  SWAGE_CUPTI_FUNCTIONS(SWAGE_CUPTI_FIND)
#undef SWAGE_CUPTI_FIND
  library.path = pathOf(reinterpret_cast<const void*>(library.cuptiGetResultString));
  return library;
}

Result<const CuptiLibrary*> CuptiLibrary::load() {
  static const Result<CuptiLibrary> library = openFirst();
  if (!library) {
    return library.error();
  }
  return &*library;
}

std::string CuptiLibrary::nameOf(CUptiResult code) const {
  const char* text = nullptr;
  return cuptiGetResultString(code, &text) == CUPTI_SUCCESS && text != nullptr ? std::string(text)
                                                                               : std::to_string(code);
}

ProfilerFailure CuptiLibrary::failure(CUptiResult code, std::string_view attempted) const {
  return explainCupti(code, nameOf(code), attempted);
}

}  // namespace swage::device
