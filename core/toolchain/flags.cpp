// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/flags.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

namespace swage::toolchain {
namespace {

constexpr std::array<std::string_view, 12> kCpuFlags{
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

bool isAllowed(domain::Target target, std::string_view flag) {
  const auto in = [flag](std::span<const std::string_view> list) {
    return std::find(list.begin(), list.end(), flag) != list.end();
  };
  return target == domain::Target::Cpu ? in(kCpuFlags) : in(kCudaFlags) || isRegisterCount(flag);
}

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

std::vector<std::string> defaultFlags(domain::Target target, std::string_view architecture) {
  if (target == domain::Target::Cuda) {
    return {"-arch=" + std::string(architecture), "--std=c++20", "-lineinfo", "-default-device", "--ptxas-options=-v"};
  }
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

std::optional<std::string> refusedFlag(domain::Target target, const std::vector<std::string>& flags) {
  const auto refused =
      std::find_if(flags.begin(), flags.end(), [target](const std::string& flag) { return !isAllowed(target, flag); });
  return refused == flags.end() ? std::nullopt : std::optional(*refused);
}

bool isArchitectureName(domain::Target target, std::string_view architecture) {
  if (target == domain::Target::Cpu) {
    return architecture == "native" || architecture == "x86-64-v2" || architecture == "x86-64-v3" ||
           architecture == "x86-64-v4";
  }
  if (!architecture.starts_with("sm_")) {
    return false;
  }
  std::string_view digits = architecture.substr(3);
  if (digits.ends_with('a') || digits.ends_with('f')) {
    digits.remove_suffix(1);
  }
  return digits.size() >= 2 && digits.size() <= 3 && std::all_of(digits.begin(), digits.end(), isDigit);
}

}  // namespace swage::toolchain
