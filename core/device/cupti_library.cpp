// SPDX-License-Identifier: Apache-2.0
#include "core/device/cupti_library.h"

#include <dlfcn.h>

#include <string>

#include "core/device/cupti_errors.h"
#include "core/device/cupti_loader.h"

namespace swage::device {
namespace {

std::string pathOf(const void* symbol) {
  Dl_info info{};
  return ::dladdr(symbol, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

}  // namespace

Result<CuptiLibrary> CuptiLibrary::open(const std::string& file) {
  SWAGE_TRY_ASSIGN(void* const handle, loadCupti(file));
  CuptiLibrary library;
#define SWAGE_CUPTI_FIND(function)                                                             \
  library.function = reinterpret_cast<decltype(library.function)>(::dlsym(handle, #function)); \
  if (library.function == nullptr) {                                                           \
    return Error(ErrorKind::Environment, "this CUPTI lacks the function " #function);          \
  }
  SWAGE_CUPTI_FUNCTIONS(SWAGE_CUPTI_FIND)
#undef SWAGE_CUPTI_FIND
  library.path = pathOf(reinterpret_cast<const void*>(library.cuptiGetResultString));
  return library;
}

Result<const CuptiLibrary*> CuptiLibrary::load() {
  static const Result<CuptiLibrary> library = open({});
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
