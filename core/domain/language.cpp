// SPDX-License-Identifier: Apache-2.0
#include "core/domain/language.h"

#include <algorithm>

#include "core/base/assert.h"
#include "core/domain/device_info.h"

namespace swage::domain {
namespace {

std::vector<LanguageFacts> builtIn() {
  return {{.language = Language::Cpp,
           .name = "cpp",
           .displayName = "C++",
           .device = DeviceKind::Cpu,
           .launch = LaunchConvention::ArgumentArray,
           .architecture = "native",
           .patternFolder = "cpu",
           .sourceSuffix = ".cpp",
           .headerSuffix = ".h",
           .lexer = "cpp",
           .listing = "Assembly",
           .listingLexer = "x86"},
          {.language = Language::CudaCpp,
           .name = "cuda",
           .displayName = "CUDA C++",
           .device = DeviceKind::Cuda,
           .launch = LaunchConvention::DriverLaunch,
           .architecture = {},
           .patternFolder = "cuda",
           .sourceSuffix = ".cu",
           .headerSuffix = ".cuh",
           .lexer = "cuda",
           .listing = "PTX",
           .listingLexer = "ptx",
           .hasMachineListing = true,
           .hasParts = true}};
}

std::vector<LanguageFacts>& table() {
  static std::vector<LanguageFacts> facts = builtIn();
  return facts;
}

const LanguageFacts* find(Language language) {
  const auto found = std::find_if(table().begin(), table().end(),
                                  [language](const LanguageFacts& facts) { return facts.language == language; });
  return found == table().end() ? nullptr : &*found;
}

}  // namespace

const std::vector<LanguageFacts>& languages() {
  return table();
}

const LanguageFacts& factsOf(Language language) {
  const LanguageFacts* facts = find(language);
  SWAGE_ASSERT(facts != nullptr);
  return *facts;
}

void registerLanguage(const LanguageFacts& facts) {
  SWAGE_ASSERT(find(facts.language) == nullptr && !parseLanguage(facts.name));
  table().push_back(facts);
}

std::string_view name(Language language) {
  const LanguageFacts* facts = find(language);
  return facts == nullptr ? "unknown" : facts->name;
}

std::optional<Language> parseLanguage(std::string_view text) {
  const auto found =
      std::find_if(table().begin(), table().end(), [text](const LanguageFacts& facts) { return facts.name == text; });
  return found == table().end() ? std::nullopt : std::optional(found->language);
}

Language standardLanguage(DeviceKind kind) {
  const auto found =
      std::find_if(table().begin(), table().end(), [kind](const LanguageFacts& facts) { return facts.device == kind; });
  SWAGE_ASSERT(found != table().end());
  return found->language;
}

std::string architectureFor(Language language, const DeviceInfo& device) {
  const std::string_view fixed = factsOf(language).architecture;
  return fixed.empty() ? device.architecture : std::string(fixed);
}

}  // namespace swage::domain
