// SPDX-License-Identifier: Apache-2.0
// From a sampled instruction back to the candidate's source, through what the compiler really makes. Needs no GPU.
#include <gmock/gmock.h>

#include <set>
#include <string>
#include <vector>

#include "core/device/cupti_library.h"
#include "core/device/cupti_sampler.h"
#include "core/device/sass_listing.h"
#include "core/domain/cubins.h"
#include "tests/compiler/test_toolchain.h"

namespace swage::device {
namespace {

using ::testing::IsSupersetOf;

constexpr const char* kSource = R"(extern "C" __global__ void kernel(const float* in, float* out) {
  const unsigned i = blockIdx.x * 256u + threadIdx.x;
  const float x = in[i];
  out[i] = x * 2.0f;
}
extern "C" __global__ void other(float* out) {
  out[threadIdx.x] = 1.0f;
}
)";
constexpr std::int64_t kInstructionBytes = 16;

class SourceLines : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!toolchain::hasNvrtc()) {
      GTEST_SKIP() << "there is no NVRTC (configure with SWAGE_VENV)";
    }
    const auto library = CuptiLibrary::load();
    if (!library) {
      GTEST_SKIP() << library.error().message();
    }
    m_library = *library;
    auto request = toolchain::cudaRequest(kSource);
    request.entries = {"kernel", "other"};
    m_cubin = toolchain::compiled(request).bytes;
  }

  // By offset.
  [[nodiscard]] std::vector<domain::InstructionSamples> linesOf(const std::string& entry, int instructions) const {
    std::vector<domain::InstructionSamples> found(static_cast<std::size_t>(instructions));
    for (std::size_t i = 0; i < found.size(); ++i) {
      found[i].offset = static_cast<std::int64_t>(i) * kInstructionBytes;
    }
    addSourceLines(*m_library, m_cubin, entry, found);
    return found;
  }

  const CuptiLibrary* m_library = nullptr;
  std::string m_cubin;
};

TEST_F(SourceLines, AreThoseOfTheCandidate) {
  std::set<int> lines;
  for (const domain::InstructionSamples& at : linesOf("kernel", 8)) {
    lines.insert(at.line);
    EXPECT_LE(at.line, 5) << at.offset;
  }
  EXPECT_THAT(lines, IsSupersetOf({2, 3}));
  for (const domain::InstructionSamples& at : linesOf("other", 2)) {
    EXPECT_GE(at.line, 6) << at.offset;
    EXPECT_LE(at.line, 8) << at.offset;
  }
}

TEST_F(SourceLines, AreThoseOfEachInstruction) {
  std::string program = SWAGE_TEST_NVDISASM;
  if (program.empty()) {
    program = findDisassembler(m_library->path);
  }
  if (program.empty()) {
    GTEST_SKIP() << "there is no nvdisasm";
  }
  const auto listing = disassemble(program, m_cubin);
  ASSERT_TRUE(listing);
  const SassListing sass = parseSass(*listing, "kernel");
  ASSERT_FALSE(sass.empty());
  const auto lines = linesOf("kernel", static_cast<int>(sass.size()));
  int memory = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    ASSERT_TRUE(sass.contains(lines[i].offset)) << "an instruction takes 16 bytes";
    const std::string& text = sass.at(lines[i].offset).text;
    EXPECT_TRUE(sass.at(lines[i].offset).control) << text;
    if (text.starts_with("LDG")) {
      EXPECT_EQ(lines[i].line, 3) << text;
      ++memory;
    } else if (text.starts_with("STG")) {
      EXPECT_EQ(lines[i].line, 4) << text;
      ++memory;
    }
  }
  EXPECT_EQ(memory, 2) << *listing;
}

TEST_F(SourceLines, AreUnknownOfAnUnknownKernel) {
  for (const domain::InstructionSamples& at : linesOf("nowhere", 2)) {
    EXPECT_EQ(at.line, 0);
  }
}

// A program of two cubins, as parts of a source are compiled.
TEST_F(SourceLines, AreThoseOfTheCubinThatHasTheKernel) {
  auto request =
      toolchain::cudaRequest("\n\n\nextern \"C\" __global__ void third(float* out) {\n  out[threadIdx.x] = 3.0f;\n}\n");
  request.entries = {"third"};
  const std::string second = toolchain::compiled(request).bytes;
  const std::string both = m_cubin + second;
  ASSERT_THAT(domain::cubinsIn(both), ::testing::ElementsAre(m_cubin, second));
  EXPECT_EQ(domain::cubinOf(both, "other"), m_cubin);
  m_cubin = std::string(domain::cubinOf(both, "third"));
  EXPECT_EQ(m_cubin, second);
  std::set<int> lines;
  for (const domain::InstructionSamples& instruction : linesOf("third", 4)) {
    lines.insert(instruction.line);
  }
  EXPECT_THAT(lines, IsSupersetOf({5}));
}

}  // namespace
}  // namespace swage::device
