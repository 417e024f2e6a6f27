// SPDX-License-Identifier: Apache-2.0
#include "core/wire/safetensors.h"

#include <gmock/gmock.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>

#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::wire {
namespace {

using ::testing::HasSubstr;

class Safetensors : public ::testing::Test {
 protected:
  // Opens a file with this header and `dataBytes` zero bytes behind it.
  Result<SafetensorsFile> openWith(const std::string& header, std::size_t dataBytes) {
    return openWith(header, dataBytes, header.size());
  }
  Result<SafetensorsFile> openWith(const std::string& header, std::size_t dataBytes, std::uint64_t claimedLength) {
    return openWith(header, std::string(dataBytes, '\0'), claimedLength);
  }
  Result<SafetensorsFile> openWith(const std::string& header, const std::string& data, std::uint64_t claimedLength) {
    std::ofstream file(path(), std::ios::binary);
    file.write(reinterpret_cast<const char*>(&claimedLength), sizeof claimedLength);
    file << header << data;
    file.close();
    return SafetensorsFile::open(path());
  }
  [[nodiscard]] std::filesystem::path path() const { return m_directory / "weights.safetensors"; }

 private:
  testing::TempDir m_directory;
};

TEST_F(Safetensors, GivesTensorsByName) {
  const std::array<float, 6> values = {1, 2, 3, 4, 5, 6};
  const std::string header = R"({"other":{"dtype":"U8","shape":[2],"data_offsets":[24,26]},)"
                             R"("conv.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})";
  const std::string data = std::string(reinterpret_cast<const char*>(values.data()), sizeof values) + "zz";
  const auto file = openWith(header, data, header.size());
  ASSERT_THAT(file, testing::IsOk());
  const auto* tensor = file->find("conv.weight");
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor->type, domain::contiguousTensor(domain::ScalarType::Float32, {2, 3}));
  ASSERT_EQ(tensor->bytes.size(), sizeof values);
  EXPECT_EQ(std::memcmp(tensor->bytes.data(), values.data(), sizeof values), 0);
  EXPECT_EQ(file->find("conv.bias"), nullptr);
}

TEST_F(Safetensors, SkipsMetadata) {
  const auto file = openWith(R"({"__metadata__":{"format":"pt"}})", 0);
  ASSERT_THAT(file, testing::IsOk());
  EXPECT_EQ(file->size(), 0U);
}

TEST_F(Safetensors, RefusesAHeaderLongerThanTheFile) {
  EXPECT_THAT(openWith("{}", 0, 1000), testing::IsError(ErrorKind::InvalidInput, HasSubstr("claims 1000 bytes")));
  EXPECT_THAT(openWith("{}", 0, ~std::uint64_t{0}), testing::IsError(ErrorKind::InvalidInput, HasSubstr("claims")));
}

TEST_F(Safetensors, RefusesDataOutsideTheFile) {
  EXPECT_THAT(openWith(R"({"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})", 15),
              testing::IsError(ErrorKind::InvalidInput, HasSubstr("tensor 'w': its data [0, 16) is outside")));
  EXPECT_THAT(openWith(R"({"w":{"dtype":"F32","shape":[4],"data_offsets":[16,0]}})", 16),
              testing::IsError(ErrorKind::InvalidInput, HasSubstr("outside")));
}

TEST_F(Safetensors, RefusesTensorsThatOverlapOrBeginInTheMiddleOfANumber) {
  EXPECT_THAT(openWith(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                       R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
                       12),
              testing::IsError(ErrorKind::InvalidInput, HasSubstr("'a' and 'b' overlap")));
  EXPECT_THAT(openWith(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})", 6),
              testing::IsError(ErrorKind::InvalidInput, HasSubstr("'a' is not aligned")));
  EXPECT_THAT(openWith(R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[4,4]},)"
                       R"("b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
                       8),
              testing::IsOk());
}

TEST_F(Safetensors, RefusesAShapeThatDoesNotFitItsData) {
  EXPECT_THAT(openWith(R"({"w":{"dtype":"F32","shape":[5],"data_offsets":[0,16]}})", 16),
              testing::IsError(ErrorKind::InvalidInput, HasSubstr("needs 20 bytes, but it has 16")));
}

TEST_F(Safetensors, RefusesShapesWhoseProductOverflows) {
  for (const char* shape : {"[4294967296,4294967296]", "[0,4294967296,4294967296]", "[-1]", "[1.5]", "7"}) {
    const std::string header = std::string(R"({"w":{"dtype":"F32","shape":)") + shape + R"(,"data_offsets":[0,0]}})";
    EXPECT_THAT(openWith(header, 0), testing::IsError(ErrorKind::InvalidInput, HasSubstr("its shape"))) << shape;
  }
}

TEST_F(Safetensors, RefusesAnUnknownType) {
  EXPECT_THAT(openWith(R"({"w":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}})", 1),
              testing::IsError(ErrorKind::InvalidInput, HasSubstr("'F8_E4M3' is not supported")));
}

TEST_F(Safetensors, RefusesHeadersThatAreNoObject) {
  EXPECT_THAT(openWith("[1]", 0), testing::IsError(ErrorKind::InvalidInput, HasSubstr("no JSON object")));
  EXPECT_FALSE(openWith(R"({"w")", 0).has_value());
  EXPECT_THAT(openWith(R"({"w":3})", 0), testing::IsError(ErrorKind::InvalidInput, HasSubstr("lacks dtype")));
}

TEST_F(Safetensors, RefusesATooShortFile) {
  std::ofstream(path()) << "abc";
  EXPECT_THAT(SafetensorsFile::open(path()), testing::IsError(ErrorKind::InvalidInput, HasSubstr("too short")));
}

TEST_F(Safetensors, NamesTheFileThatIsNotThere) {
  EXPECT_THAT(SafetensorsFile::open("/nowhere/w.safetensors"),
              testing::IsError(ErrorKind::NotFound, HasSubstr("/nowhere/w.safetensors")));
}

}  // namespace
}  // namespace swage::wire
