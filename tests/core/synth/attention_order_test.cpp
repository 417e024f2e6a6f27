// SPDX-License-Identifier: Apache-2.0
// What is tried first of the ways to attend on a device with wgmma, and whether that is what was measured to be fast.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/core/synth/graph_builder.h"
#include "tests/core/synth/lab.h"

namespace swage::synth {
namespace {

using domain::Genome;
using enum domain::ScalarType;

domain::Graph attentionOf(const domain::Shape& shape, domain::ScalarType type, bool isCausal, bool hasBias = false) {
  GraphBuilder b;
  const auto q = b.input(shape, type);
  const auto k = b.input(shape, type);
  const auto v = b.input(shape, type);
  const auto bias = hasBias ? arg(b.input({shape[2], shape[2]}, type)) : noArg();
  b.output(b.call("aten.scaled_dot_product_attention.default", {arg(q), arg(k), arg(v), bias, arg(0.0), arg(isCausal)},
                  shape, type));
  return b.graph();
}

// --- patterns --------------------------------------------------------------------------------------------------------

struct FirstPattern {
  const char* name;
  domain::Shape shape;
  domain::ScalarType type = Float16;
  bool isCausal = false;
  bool hasBias = false;
  int capability = 90;
  const char* first = "attention_wgmma";
  friend void PrintTo(const FirstPattern& self, std::ostream* out) { *out << self.name; }
};

class AttentionOrder : public ::testing::TestWithParam<FirstPattern> {};

TEST_P(AttentionOrder, BeginsWithTheFastest) {
  const FirstPattern& order = GetParam();
  domain::DeviceInfo device = cudaDevice();
  device.computeCapability = order.capability;
  const auto synthesizer = makeSynthesizer(attentionOf(order.shape, order.type, order.isCausal, order.hasBias), device);
  const std::vector<Genome> seeds = synthesizer->seeds();
  ASSERT_FALSE(seeds.empty());
  ASSERT_EQ(seeds[0].regions.size(), 1U);
  EXPECT_EQ(seeds[0].regions[0].pattern, order.first);
  const double first = synthesizer->estimate(seeds[0]).value_or(0.0);
  for (const Genome& seed : seeds) {
    if (order.type == Float32) {
      break;  // what is less exact stands behind, fast as it may be
    }
    EXPECT_LE(first, synthesizer->estimate(seed).value_or(first)) << domain::canonicalText(seed);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, AttentionOrder,
    ::testing::Values(FirstPattern{"Heads64", {2, 8, 4096, 64}}, FirstPattern{"Heads128", {2, 8, 4096, 128}, BFloat16},
                      FirstPattern{"Heads256", {4, 16, 1024, 256}}, FirstPattern{"Heads96", {8, 16, 1000, 96}},
                      FirstPattern{"SmallCausal", {32, 16, 512, 64}, Float16, true},
                      FirstPattern{"Biased", {8, 16, 1024, 64}, Float16, false, true},
                      FirstPattern{"Floats", {2, 8, 4096, 64}, Float32, false, false, 90, "attention_mma"},
                      FirstPattern{"OlderDevice", {2, 8, 4096, 64}, Float16, false, false, 80, "attention_mma"},
                      FirstPattern{"NewerDevice", {2, 8, 4096, 64}, Float16, false, false, 100, "attention_mma"}),
    [](const auto& each) { return each.param.name; });

// --- parameters ------------------------------------------------------------------------------------------------------

struct TimedKernel {
  std::int64_t groups;
  std::int64_t keys;
  std::int64_t overlap;
  double microseconds;  // on an H100, by measure_attention.py
};

struct MeasuredHeads {
  const char* name;
  domain::Shape shape;
  domain::ScalarType type;
  std::vector<TimedKernel> kernels;
  friend void PrintTo(const MeasuredHeads& self, std::ostream* out) { *out << self.name; }
};

class MeasuredAttention : public ::testing::TestWithParam<MeasuredHeads> {};

TEST_P(MeasuredAttention, IsOrderedByItsEstimates) {
  domain::DeviceInfo device = cudaDevice();
  device.copyBytesPerSecond = 2.9e12;
  device.cacheBytes = std::int64_t{50} << 20;
  const auto synthesizer = makeSynthesizer(attentionOf(GetParam().shape, GetParam().type, false), device);
  double fastest = 1e9;
  double first = 0.0;
  double least = 1e9;
  for (const TimedKernel& kernel : GetParam().kernels) {
    const Genome genome{{{{0},
                          "attention_wgmma",
                          {{"groups", kernel.groups},
                           {"tile_keys", kernel.keys},
                           {"overlap", kernel.overlap},
                           {"turns", kernel.overlap},
                           {"slots", 2}}}}};
    const double estimate = synthesizer->estimate(genome).value_or(0.0) * 1e6;
    EXPECT_NEAR(estimate, kernel.microseconds, 0.15 * kernel.microseconds) << domain::canonicalText(genome);
    fastest = std::min(fastest, kernel.microseconds);
    first = estimate < least ? kernel.microseconds : first;
    least = std::min(least, estimate);
  }
  EXPECT_LE(first, 1.05 * fastest);
}

INSTANTIATE_TEST_SUITE_P(
    All, MeasuredAttention,
    ::testing::Values(
        MeasuredHeads{"Heads64",
                      {4, 32, 4096, 64},
                      BFloat16,
                      {{2, 64, 1, 1419},
                       {2, 128, 1, 1111},
                       {2, 192, 1, 1159},
                       {3, 64, 1, 1295},
                       {3, 96, 1, 1130},
                       {3, 128, 1, 1082}}},
        MeasuredHeads{"Heads96", {8, 16, 1000, 96}, Float16, {{2, 128, 1, 113}, {2, 176, 1, 114}, {3, 64, 1, 123}}},
        MeasuredHeads{"Heads128", {4, 32, 2048, 128}, Float16, {{2, 128, 1, 417}, {2, 176, 1, 435}, {3, 64, 1, 447}}},
        MeasuredHeads{"LongHeads128",
                      {1, 16, 16384, 128},
                      BFloat16,
                      {{2, 80, 1, 3229},
                       {2, 112, 1, 3322},
                       {2, 128, 1, 3156},
                       {2, 128, 0, 3990},
                       {2, 160, 1, 3221},
                       {2, 176, 1, 3206},
                       {2, 192, 1, 3276},
                       {3, 64, 1, 3426},
                       {3, 80, 1, 3068},
                       {3, 96, 0, 3418}}},
        MeasuredHeads{"Heads256", {4, 16, 1024, 256}, Float16, {{2, 64, 1, 111}, {2, 80, 1, 110}, {2, 80, 0, 124}}}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace swage::synth
