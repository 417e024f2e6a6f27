// SPDX-License-Identifier: Apache-2.0
#include "core/engine/safetensors.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <fstream>

#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::engine {
namespace {

using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;

class SafetensorsTest : public ::testing::Test {
 protected:
  [[nodiscard]] Result<std::map<std::string, std::string>> read(const std::string& header, const std::string& data,
                                                                std::int64_t lengthChange = 0) {
    const auto file = m_folder / "w.safetensors";
    std::ofstream stream(file, std::ios::binary);
    const auto length = static_cast<std::uint64_t>(static_cast<std::int64_t>(header.size()) + lengthChange);
    for (unsigned i = 0; i < 8; ++i) {
      stream.put(static_cast<char>((length >> (8U * i)) & 0xFFU));
    }
    stream << header << data;
    stream.close();
    return readSafetensors(file, {"a"});
  }
  testing::TempDir m_folder;
};

TEST_F(SafetensorsTest, ReadsTheBytesOfATensor) {
  const auto tensors = read(R"({"z":{"data_offsets":[0,2]},"a":{"data_offsets":[2,5]}})", "zzabc");
  ASSERT_THAT(tensors, IsOk());
  EXPECT_EQ(tensors->at("a"), "abc");
}

TEST_F(SafetensorsTest, RefusesOffsetsOutsideTheFile) {
  EXPECT_THAT(read(R"({"a":{"data_offsets":[2,6]}})", "zzabc"), IsError(ErrorKind::InvalidInput, HasSubstr("outside")));
  EXPECT_THAT(read(R"({"a":{"data_offsets":[3,2]}})", "zzabc"), IsError(ErrorKind::InvalidInput, HasSubstr("outside")));
  EXPECT_THAT(read(R"({"a":{"data_offsets":[-1,2]}})", "zzabc"),
              IsError(ErrorKind::InvalidInput, HasSubstr("offsets")));
}

TEST_F(SafetensorsTest, RefusesAHeaderThatIsCutOffOrNoJson) {
  EXPECT_THAT(read("{}", "", 1000), IsError(ErrorKind::InvalidInput, HasSubstr("cut off")));
  EXPECT_THAT(read("{}", "x", -100), IsError(ErrorKind::InvalidInput, HasSubstr("cut off")));
  EXPECT_THAT(read("{}", "x"), IsError(ErrorKind::InvalidInput, HasSubstr("no tensor 'a'")));
  EXPECT_FALSE(read("nonsense", "x"));
}

}  // namespace
}  // namespace swage::engine
