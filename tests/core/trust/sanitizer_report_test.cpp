// SPDX-License-Identifier: Apache-2.0
#include "core/trust/sanitizer_report.h"

#include <gmock/gmock.h>

namespace swage::trust {
namespace {

using domain::Assurance;
using domain::AssuranceKind;
using domain::AssuranceVerdict;
using ::testing::HasSubstr;
using ::testing::Not;

// In the form that the tools print, shortened.
constexpr const char* kMemcheck = R"(========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at scale_rows+0x110
=========     by thread (31,0,0) in block (7,0,0)
=========     Access at 0x7f3c2a000400 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7f3c2a000000 of size 1024 bytes
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: replay [0x1234]
=========
========= Program hit an error
========= ERROR SUMMARY: 33 errors
)";
constexpr const char* kClean = R"(========= COMPUTE-SANITIZER
2 kernels replayed
========= ERROR SUMMARY: 0 errors
)";
constexpr const char* kRace = R"(========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at reduce+0x2b0
=========     and Read access at reduce+0x350 [2048 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
)";
constexpr const char* kRaceWarning = R"(========= COMPUTE-SANITIZER
========= Warning: Race reported between Read access at reduce+0x2b0
=========     and Write access at reduce+0x350 [8 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)
)";
constexpr const char* kInit = R"(========= COMPUTE-SANITIZER
========= Uninitialized __global__ memory read of size 4 bytes
=========     at scale_rows+0x90
=========     by thread (0,0,0) in block (0,0,0)
=========     Address 0x7f3c2a000000
=========
========= ERROR SUMMARY: 1 error
)";

Assurance read(AssuranceKind tool, std::string output, int exitCode = 0) {
  return readSanitizerRun(tool, {.exitCode = exitCode, .output = std::move(output)});
}

TEST(SanitizerReport, AnErrorIsAFailureWithItsPlace) {
  const Assurance assurance = read(AssuranceKind::Memcheck, kMemcheck, 4);
  EXPECT_EQ(assurance.verdict, AssuranceVerdict::Failed);
  EXPECT_EQ(assurance.kind, AssuranceKind::Memcheck);
  EXPECT_THAT(assurance.detail, HasSubstr("33 errors; the first: Invalid __global__ write of size 4 bytes; at "
                                          "scale_rows+0x110; by thread (31,0,0) in block (7,0,0)"));
  EXPECT_THAT(assurance.detail, Not(HasSubstr("Host")));
}

TEST(SanitizerReport, NoErrorIsAPass) {
  EXPECT_EQ(read(AssuranceKind::Memcheck, kClean).verdict, AssuranceVerdict::Passed);
}

TEST(SanitizerReport, ARaceIsAFailureAndAWarningIsNone) {
  const Assurance race = read(AssuranceKind::Racecheck, kRace);
  EXPECT_EQ(race.verdict, AssuranceVerdict::Failed);
  EXPECT_THAT(race.detail, HasSubstr("1 error; the first: Error: Race reported between Write access at reduce+0x2b0"));
  EXPECT_EQ(read(AssuranceKind::Racecheck, kRaceWarning).verdict, AssuranceVerdict::Passed);
}

TEST(SanitizerReport, SaysWhyThereWasNothingToRaceOn) {
  const Assurance assurance = read(AssuranceKind::Racecheck,
                                   "========= COMPUTE-SANITIZER\nno kernel uses shared memory\n"
                                   "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n");
  EXPECT_EQ(assurance.verdict, AssuranceVerdict::Passed);
  EXPECT_EQ(assurance.detail, domain::kNoSharedMemory);
}

TEST(SanitizerReport, AReadOfWhatNobodyWroteIsAFailure) {
  const Assurance assurance = read(AssuranceKind::Initcheck, kInit);
  EXPECT_EQ(assurance.verdict, AssuranceVerdict::Failed);
  EXPECT_THAT(assurance.detail, HasSubstr("Uninitialized __global__ memory read"));
}

TEST(SanitizerReport, WithoutASummaryNothingIsKnown) {
  const Assurance assurance =
      read(AssuranceKind::Memcheck, "========= COMPUTE-SANITIZER\n========= Error: No CUDA device was found\n", 1);
  EXPECT_EQ(assurance.verdict, AssuranceVerdict::Unavailable);
  EXPECT_THAT(assurance.detail, HasSubstr("No CUDA device was found"));
  EXPECT_EQ(read(AssuranceKind::Memcheck, "").verdict, AssuranceVerdict::Unavailable);
}

TEST(SanitizerReport, AReplayThatCouldNotWorkSaysNothingOfTheCandidate) {
  const Assurance assurance = read(AssuranceKind::Memcheck,
                                   "========= COMPUTE-SANITIZER\n========= Target application returned an error\n"
                                   "========= ERROR SUMMARY: 0 errors\ncannot allocate buffer 2: out of memory\n",
                                   5);
  EXPECT_EQ(assurance.verdict, AssuranceVerdict::Unavailable);
  EXPECT_EQ(assurance.detail,
            "the kernels could not be run under compute-sanitizer: cannot allocate buffer 2: out of memory");
}

TEST(SanitizerReport, AnOverdueToolIsUnavailableUnlessItHadFoundSomething) {
  const Assurance overdue =
      readSanitizerRun(AssuranceKind::Racecheck, {.overdue = true, .limitSeconds = 30.0, .output = "=========\n"});
  EXPECT_EQ(overdue.verdict, AssuranceVerdict::Unavailable);
  EXPECT_EQ(overdue.detail, "took longer than 30 s");
}

TEST(SanitizerReport, SummariesThatAreNoneAreNotBelieved) {
  for (const char* text :
       {"========= ERROR SUMMARY:", "========= ERROR SUMMARY: errors", "========= ERROR SUMMARY: x errors",
        "ERROR SUMMARY: 0 errors", "========= ERROR SUMMARY: 99999999999999999999999 errors"}) {
    EXPECT_EQ(read(AssuranceKind::Memcheck, text).verdict, AssuranceVerdict::Unavailable) << text;
  }
}

}  // namespace
}  // namespace swage::trust
