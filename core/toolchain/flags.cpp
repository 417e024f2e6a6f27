// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/flags.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

namespace swage::toolchain {
namespace {

constexpr std::array<std::string_view, 12> kCppFlags{
    "-O2",
    "-O3",
    "-funroll-loops",
    "-fno-tree-vectorize",
    "-fno-tree-slp-vectorize",
    "-fno-unroll-loops",
    "-ffp-contract=off",
    "-ffp-contract=fast",
    "-mprefer-vector-width=128",
    "-mprefer-vector-width=256",
    "-mprefer-vector-width=512",
    "-fno-math-errno",
};

constexpr std::array<std::string_view, 12> kCudaFlags{
    "--fmad=true", "--fmad=false",    "-fmad=true",       "-fmad=false", "--extra-device-vectorization",
    "--restrict",  "--prec-div=true", "--prec-sqrt=true", "--ftz=false", "-ftz=false",
    "--ftz=true",  "-ftz=true",
};

// "-maxrregcount=64" and its long form, with a count the hardware can have.
bool isRegisterCount(std::string_view flag) {
  for (const std::string_view prefix : {"-maxrregcount=", "--maxrregcount="}) {
    if (!flag.starts_with(prefix)) {
      continue;
    }
    const std::string_view digits = flag.substr(prefix.size());
    int count = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    return error == std::errc{} && end == digits.data() + digits.size() && count >= 16 && count <= 255;
  }
  return false;
}

template <std::size_t Size>
bool isIn(const std::array<std::string_view, Size>& list, std::string_view flag) {
  return std::find(list.begin(), list.end(), flag) != list.end();
}

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

std::vector<std::string> cppDefaults(std::string_view architecture) {
  return {"-std=c++20",
          "-O3",
          "-march=" + std::string(architecture),
          "-fopenmp",
          "-fno-math-errno",
          "-fno-trapping-math",
          "-fno-jump-tables",  // so that a jump to a computed address is a call out of the kernel
          "-fno-exceptions",   // an outlined OpenMP region would else need the C++ runtime to terminate
          "-g1",               // line numbers for the listing: the code is the same with them
          "-shared",
          "-fPIC",
          "-pipe",
          "-fdiagnostics-color=never",
          "-fmax-errors=50",
          "-Wl,--as-needed,-z,now,--build-id=none"};
}

bool isX86Level(std::string_view name) {
  return name == "native" || name == "x86-64-v2" || name == "x86-64-v3" || name == "x86-64-v4";
}

std::vector<std::string> cudaDefaults(std::string_view architecture) {
  return {"-arch=" + std::string(architecture), "--std=c++20", "-lineinfo", "-default-device", "--ptxas-options=-v"};
}

bool isComputeCapability(std::string_view name) {
  if (!name.starts_with("sm_")) {
    return false;
  }
  std::string_view digits = name.substr(3);
  if (digits.ends_with('a') || digits.ends_with('f')) {
    digits.remove_suffix(1);
  }
  return digits.size() >= 2 && digits.size() <= 3 && std::all_of(digits.begin(), digits.end(), isDigit);
}

}  // namespace

const FlagRules& cppFlags() {
  static const FlagRules rules{.defaults = cppDefaults,
                               .isAllowed = [](std::string_view flag) { return isIn(kCppFlags, flag); },
                               .isArchitecture = isX86Level};
  return rules;
}

const FlagRules& cudaFlags() {
  static const FlagRules rules{
      .defaults = cudaDefaults,
      .isAllowed = [](std::string_view flag) { return isIn(kCudaFlags, flag) || isRegisterCount(flag); },
      .isArchitecture = isComputeCapability};
  return rules;
}

std::optional<std::string> findFlagDefect(const FlagRules& rules, const domain::CompileRequest& request) {
  const std::string_view language = domain::factsOf(request.language).displayName;
  if (!rules.isArchitecture(request.architecture)) {
    return fmt::format("'{}' is not an architecture that {} is compiled for", request.architecture, language);
  }
  const auto refused = std::find_if(request.flags.begin(), request.flags.end(),
                                    [&rules](const std::string& flag) { return !rules.isAllowed(flag); });
  if (refused != request.flags.end()) {
    return fmt::format("the flag '{}' is not allowed for {}", *refused, language);
  }
  return std::nullopt;
}

}  // namespace swage::toolchain
