// SPDX-License-Identifier: Apache-2.0
#include "core/domain/tensor_map.h"

#include <gmock/gmock.h>

#include <ostream>

namespace swage::domain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const TensorType kMatrix = contiguousTensor(ScalarType::Float16, {100, 64});

TensorMap matrixMap() {
  TensorMap map = tensorMapOf(ValueId(0), kMatrix, {64, 128});
  map.swizzle = MapSwizzle::Bytes128;
  return map;
}

TEST(TensorMap, OfATensorBeginsWithTheInnermostDimension) {
  const TensorMap map = matrixMap();
  EXPECT_THAT(map.sizes, ElementsAre(64, 100));
  EXPECT_THAT(map.strides, ElementsAre(128));
  EXPECT_THAT(map.elementStrides, ElementsAre(1, 1));
  EXPECT_EQ(map.element, MapElement::Float16);
  EXPECT_EQ(findDefect(map, kMatrix), "");
}

TEST(TensorMap, ReadsNamesOfElementsBack) {
  for (int i = 0; i <= static_cast<int>(MapElement::TFloat32Flushed); ++i) {
    const auto element = static_cast<MapElement>(i);
    EXPECT_EQ(parseMapElement(name(element)), element);
  }
  EXPECT_EQ(parseMapElement("float8"), std::nullopt);
}

TEST(TensorMap, MayBeginInsideOfItsBufferAndEndWithIt) {
  TensorMap map = matrixMap();
  map.offset = std::int64_t{40} * 64;
  map.sizes = {64, 60};
  EXPECT_EQ(findDefect(map, kMatrix), "");
  map.sizes = {64, 61};
  EXPECT_THAT(findDefect(map, kMatrix), HasSubstr("reaches beyond the 12800 bytes"));
}

TEST(TensorMap, OfOverlappingRowsIsAllowed) {
  TensorMap map = matrixMap();
  map.strides = {16};
  map.sizes = {64, 793};
  EXPECT_EQ(findDefect(map, kMatrix), "");
  map.strides = {0};
  map.sizes = {64, std::int64_t{1} << 32};
  EXPECT_EQ(findDefect(map, kMatrix), "");
}

struct BrokenMap {
  const char* expected;
  void (*damage)(TensorMap&);
  friend void PrintTo(const BrokenMap& self, std::ostream* out) { *out << self.expected; }
};

class TensorMapDefects : public ::testing::TestWithParam<BrokenMap> {};

TEST_P(TensorMapDefects, AreNamed) {
  TensorMap map = matrixMap();
  GetParam().damage(map);
  EXPECT_THAT(findDefect(map, kMatrix), HasSubstr(GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    All, TensorMapDefects,
    ::testing::Values(BrokenMap{"has 0 dimensions", [](TensorMap& map) { map.sizes.clear(); }},
                      BrokenMap{"has 6 dimensions", [](TensorMap& map) { map.sizes.assign(6, 1); }},
                      BrokenMap{"2 sizes, 2 strides", [](TensorMap& map) { map.strides.push_back(16); }},
                      BrokenMap{"1 box sizes", [](TensorMap& map) { map.box.pop_back(); }},
                      BrokenMap{"3 element strides", [](TensorMap& map) { map.elementStrides.push_back(1); }},
                      BrokenMap{"size of 0", [](TensorMap& map) { map.sizes[1] = 0; }},
                      BrokenMap{"not 1 to 2^32", [](TensorMap& map) { map.sizes[0] = (std::int64_t{1} << 32) + 1; }},
                      BrokenMap{"box size of 257", [](TensorMap& map) { map.box[1] = 257; }},
                      BrokenMap{"box size of 0", [](TensorMap& map) { map.box[1] = 0; }},
                      BrokenMap{"element stride of 9", [](TensorMap& map) { map.elementStrides[1] = 9; }},
                      BrokenMap{"stride of 136 bytes", [](TensorMap& map) { map.strides[0] = 136; }},
                      BrokenMap{"stride of -128 bytes", [](TensorMap& map) { map.strides[0] = -128; }},
                      BrokenMap{"below 2^40", [](TensorMap& map) { map.strides[0] = std::int64_t{1} << 40; }},
                      BrokenMap{"takes 24 bytes, not a multiple of 16", [](TensorMap& map) { map.box[0] = 12; }},
                      BrokenMap{"more than its swizzle of 64",
                                [](TensorMap& map) { map.swizzle = MapSwizzle::Bytes64; }},
                      BrokenMap{"fills uint16 with NaN",
                                [](TensorMap& map) {
                                  map.element = MapElement::UInt16;
                                  map.fill = MapFill::NotANumber;
                                }},
                      BrokenMap{"begins at element 4", [](TensorMap& map) { map.offset = 4; }},
                      BrokenMap{"begins at element -8", [](TensorMap& map) { map.offset = -8; }},
                      BrokenMap{"begins at element 6408", [](TensorMap& map) { map.offset = 6408; }},
                      BrokenMap{"begins at element", [](TensorMap& map) { map.offset = std::int64_t{1} << 62; }},
                      BrokenMap{"reaches beyond", [](TensorMap& map) { map.sizes[1] = std::int64_t{1} << 32; }},
                      BrokenMap{"reaches beyond", [](TensorMap& map) { map.sizes[0] = std::int64_t{1} << 32; }},
                      BrokenMap{"reaches beyond", [](TensorMap& map) { map.offset = 8; }}));

}  // namespace
}  // namespace swage::domain
