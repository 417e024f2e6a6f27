// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/nvrtc_library.h"

#include <dlfcn.h>

#include <cstddef>

#include <fmt/format.h>

// The prototypes are those of nvrtc.h, which is not there when Swage is built without CUDA. nvrtcResult is an int and
// nvrtcProgram a pointer; both are part of the library's stable interface.
namespace swage::toolchain {
namespace {

using Program = void*;
constexpr int kSuccess = 0;

std::string withoutTerminator(std::string text) {
  while (!text.empty() && text.back() == '\0') {
    text.pop_back();
  }
  return text;
}

}  // namespace

struct NvrtcLibrary::Functions {
  int (*version)(int*, int*) = nullptr;
  const char* (*errorString)(int) = nullptr;
  int (*createProgram)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*destroyProgram)(Program*) = nullptr;
  int (*compileProgram)(Program, int, const char* const*) = nullptr;
  int (*logSize)(Program, std::size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*cubinSize)(Program, std::size_t*) = nullptr;
  int (*cubin)(Program, char*) = nullptr;
  int (*ptxSize)(Program, std::size_t*) = nullptr;
  int (*ptx)(Program, char*) = nullptr;
};

namespace {

template <class Function>
Result<> findSymbol(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr) {
    return Error(ErrorKind::Environment, fmt::format("the NVRTC library has no function '{}'", name),
                 "use NVRTC of CUDA 12 or later");
  }
  return {};
}

std::string readOut(Program program, int (*size)(Program, std::size_t*), int (*get)(Program, char*)) {
  std::size_t bytes = 0;
  if (size(program, &bytes) != kSuccess || bytes == 0) {
    return {};
  }
  std::string text(bytes, '\0');
  return get(program, text.data()) == kSuccess ? text : std::string();
}

}  // namespace

NvrtcLibrary::NvrtcLibrary(std::unique_ptr<Functions> functions) : m_functions(std::move(functions)) {}
NvrtcLibrary::NvrtcLibrary(NvrtcLibrary&&) noexcept = default;
// The library stays loaded: it registers handlers that run at exit.
NvrtcLibrary::~NvrtcLibrary() = default;

Result<NvrtcLibrary> NvrtcLibrary::load(const std::string& path) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Error(ErrorKind::Environment, fmt::format("cannot load NVRTC: {}", ::dlerror()));
  }
  auto functions = std::make_unique<Functions>();
  SWAGE_TRY(findSymbol(library, "nvrtcVersion", functions->version));
  SWAGE_TRY(findSymbol(library, "nvrtcGetErrorString", functions->errorString));
  SWAGE_TRY(findSymbol(library, "nvrtcCreateProgram", functions->createProgram));
  SWAGE_TRY(findSymbol(library, "nvrtcDestroyProgram", functions->destroyProgram));
  SWAGE_TRY(findSymbol(library, "nvrtcCompileProgram", functions->compileProgram));
  SWAGE_TRY(findSymbol(library, "nvrtcGetProgramLogSize", functions->logSize));
  SWAGE_TRY(findSymbol(library, "nvrtcGetProgramLog", functions->log));
  SWAGE_TRY(findSymbol(library, "nvrtcGetCUBINSize", functions->cubinSize));
  SWAGE_TRY(findSymbol(library, "nvrtcGetCUBIN", functions->cubin));
  SWAGE_TRY(findSymbol(library, "nvrtcGetPTXSize", functions->ptxSize));
  SWAGE_TRY(findSymbol(library, "nvrtcGetPTX", functions->ptx));
  return NvrtcLibrary(std::move(functions));
}

std::string NvrtcLibrary::version() const {
  int major = 0;
  int minor = 0;
  m_functions->version(&major, &minor);
  return fmt::format("{}.{}", major, minor);
}

NvrtcOutput NvrtcLibrary::compile(const std::string& source, const std::vector<std::string>& options) const {
  NvrtcOutput output;
  Program program = nullptr;
  const int created = m_functions->createProgram(&program, source.c_str(), "source.cu", 0, nullptr, nullptr);
  if (created != kSuccess) {
    output.log = fmt::format("NVRTC refused the source: {}", m_functions->errorString(created));
    return output;
  }
  std::vector<const char*> arguments;
  arguments.reserve(options.size());
  for (const std::string& option : options) {
    arguments.push_back(option.c_str());
  }
  const int result = m_functions->compileProgram(program, static_cast<int>(arguments.size()), arguments.data());
  output.succeeded = result == kSuccess;
  output.log = withoutTerminator(readOut(program, m_functions->logSize, m_functions->log));
  if (output.succeeded) {
    output.cubin = readOut(program, m_functions->cubinSize, m_functions->cubin);
    output.ptx = withoutTerminator(readOut(program, m_functions->ptxSize, m_functions->ptx));
  } else if (output.log.empty()) {
    output.log = m_functions->errorString(result);
  }
  m_functions->destroyProgram(&program);
  return output;
}

}  // namespace swage::toolchain
