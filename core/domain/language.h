// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/domain/device_kind.h"

namespace swage::domain {

struct DeviceInfo;

// What a program is written in. A further one is an enumerator here, a row in language.cpp and a backend in
// core/toolchain/backends.cpp, which compiles and classifies it.
enum class Language : std::uint8_t { Cpp, CudaCpp };

// How a worker gives a kernel its arguments and its geometry.
enum class LaunchConvention : std::uint8_t {
  ArgumentArray,  // a function of a shared object, called with an array of pointers to the arguments
  DriverLaunch,   // an entry of a cubin, launched by cuLaunchKernelEx
};

// What is known of a language without its compiler.
struct LanguageFacts {
  Language language = Language::Cpp;
  std::string_view name;         // in the record and in messages: "cpp", "cuda"
  std::string_view displayName;  // to people: "CUDA C++"
  DeviceKind device = DeviceKind::Cpu;
  LaunchConvention launch = LaunchConvention::ArgumentArray;
  std::string_view architecture;   // what it is compiled for; empty: what the device says it is
  std::string_view patternFolder;  // of its patterns, in patterns/
  std::string_view sourceSuffix;   // ".cu"
  std::string_view headerSuffix;   // ".cuh"
  std::string_view lexer;          // what colours its source: a name of ui/editor/lexers.h
  std::string_view listing;        // what its compiler's listing is called: "PTX"
  std::string_view listingLexer;   // and what colours it
  bool hasMachineListing = false;  // whether the device's own instructions are a listing beside that one
  bool hasParts = false;           // whether a binary may be several, one behind the other (core/domain/cubins.h)
};

// Those of this build and those that were registered, in the order of their enumerators. A device's first one is the
// one that it is searched in.
[[nodiscard]] const std::vector<LanguageFacts>& languages();
// The language must be one of those.
[[nodiscard]] const LanguageFacts& factsOf(Language language);
// Adds one that core does not know. Before anything else uses languages, since others read them without a lock.
void registerLanguage(const LanguageFacts& facts);

[[nodiscard]] std::string_view name(Language language);  // "cpp", "cuda"
[[nodiscard]] std::optional<Language> parseLanguage(std::string_view text);

// What programs for a device are written in unless somebody says otherwise.
[[nodiscard]] Language standardLanguage(DeviceKind kind);
// "sm_90a", "native": what a program in the language is compiled for, to run on the device.
[[nodiscard]] std::string architectureFor(Language language, const DeviceInfo& device);

}  // namespace swage::domain
