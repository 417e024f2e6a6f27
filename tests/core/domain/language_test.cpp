// SPDX-License-Identifier: Apache-2.0
#include "core/domain/language.h"

#include <set>

#include <gmock/gmock.h>

#include "core/domain/compilation.h"
#include "tests/core/domain/samples.h"

namespace swage::domain {
namespace {

TEST(Languages, CanBeReadBackByTheirNames) {
  std::set<std::string_view> suffixes;
  for (const LanguageFacts& facts : languages()) {
    EXPECT_EQ(parseLanguage(name(facts.language)), facts.language);
    EXPECT_EQ(factsOf(facts.language).displayName, facts.displayName);
    EXPECT_TRUE(suffixes.insert(facts.sourceSuffix).second) << facts.sourceSuffix;
  }
  EXPECT_EQ(parseLanguage("cpp"), Language::Cpp);
  EXPECT_EQ(parseLanguage("cuda"), Language::CudaCpp);
  EXPECT_EQ(parseLanguage("cpu"), std::nullopt) << "that is a kind of device";
}

TEST(Languages, EveryKindOfDeviceHasOneThatItIsSearchedIn) {
  for (const DeviceKind kind : kDeviceKinds) {
    EXPECT_EQ(factsOf(standardLanguage(kind)).device, kind);
  }
}

TEST(Languages, AProgramIsCompiledForTheDeviceOrForWhatItsLanguageSays) {
  Program program = testing::sampleProgram();
  program.language = Language::CudaCpp;
  DeviceInfo device;
  device.architecture = "sm_90a";
  const CompileRequest cuda = compileRequest(program, device);
  EXPECT_EQ(cuda.language, Language::CudaCpp);
  EXPECT_EQ(cuda.architecture, "sm_90a");
  EXPECT_EQ(cuda.source, program.source);
  EXPECT_EQ(cuda.entries, program.entries());
  EXPECT_EQ(cuda.flags, program.compileFlags);
  program.language = Language::Cpp;
  EXPECT_EQ(compileRequest(program, device).architecture, "native");
}

}  // namespace
}  // namespace swage::domain
