// SPDX-License-Identifier: Apache-2.0
// swage-replay ORDINAL PLAN BINARY [--if-shared-memory]: runs the kernels of one candidate once on a GPU, for
// compute-sanitizer to watch; with the option only where one of them uses shared memory, beside which racecheck sees
// nothing.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/files.h"
#include "core/device/replay.h"
#include "core/domain/assurance.h"
#include "core/domain/json.h"

namespace {

using namespace swage;

// Of wire::ExitCode; this program speaks to nobody but a person and a tool.
constexpr int kUsage = 2;
constexpr int kInvalidInput = 4;
constexpr int kEnvironment = 5;

Result<domain::LaunchPlan> readPlan(const std::filesystem::path& file) {
  SWAGE_TRY_ASSIGN(const std::string text, readTextFile(file));
  SWAGE_TRY_ASSIGN(const domain::Json json, domain::parseJson(text));
  SWAGE_TRY_ASSIGN(domain::LaunchPlan plan, domain::launchPlanFromJson(json));
  if (const std::string defect = domain::findDefect(plan); !defect.empty()) {
    return Error(ErrorKind::InvalidInput, "the plan is broken: " + defect);
  }
  return plan;
}

Result<int> replay(int ordinal, const std::filesystem::path& planFile, const std::filesystem::path& binaryFile,
                   device::ReplayIf condition) {
  SWAGE_TRY_ASSIGN(const domain::LaunchPlan plan, readPlan(planFile));
  SWAGE_TRY_ASSIGN(const std::string binary, readTextFile(binaryFile));
  return device::replayKernels(plan, binary, ordinal, condition);
}

}  // namespace

int main(int argc, char** argv) {
  int ordinal = 0;
  const bool isConditional = argc == 5 && std::string_view(argv[4]) == "--if-shared-memory";
  if ((argc != 4 && !isConditional) ||
      std::from_chars(argv[1], argv[1] + std::strlen(argv[1]), ordinal).ec != std::errc()) {
    std::fputs("usage: swage-replay ORDINAL PLAN.json BINARY [--if-shared-memory]\n", stderr);
    return kUsage;
  }
  const Result<int> launched =
      replay(ordinal, argv[2], argv[3], isConditional ? device::ReplayIf::UsesSharedMemory : device::ReplayIf::Always);
  if (!launched) {
    std::fprintf(stderr, "%s\n", launched.error().message().c_str());
    return launched.error().kind() == ErrorKind::Environment ? kEnvironment : kInvalidInput;
  }
  if (*launched == 0 && isConditional) {
    std::puts(domain::kNoSharedMemory.data());
  } else {
    std::printf("%d kernels replayed\n", *launched);
  }
  return 0;
}
