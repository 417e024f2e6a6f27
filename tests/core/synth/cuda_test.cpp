// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <ostream>

#include "core/synth/example.h"
#include "core/toolchain/compiler.h"
#include "core/toolchain/sandbox.h"
#include "tests/core/synth/graph_builder.h"
#include "tests/core/synth/hostile_model.h"
#include "tests/core/synth/lab.h"

// What NVRTC makes of the CUDA patterns. Nothing runs: that is for the tests with a device.
namespace swage::synth {
namespace {

using domain::Language;
using patterns::Pattern;

toolchain::Compiler* compiler() {
  static Result<toolchain::Compiler> opened = [] {
    std::signal(SIGPIPE, SIG_IGN);
    toolchain::ToolchainOptions options;
    options.sandbox =
        toolchain::checkSandbox("bwrap") ? toolchain::SandboxMode::Bubblewrap : toolchain::SandboxMode::None;
    options.nvrtc = SWAGE_TEST_NVRTC;
    options.helperProgram = SWAGE_TEST_COMPILER;
    return toolchain::Compiler::open(options);
  }();
  return opened ? &*opened : nullptr;
}

std::vector<domain::KernelFacts> compile(std::string source, std::vector<std::string> entries,
                                         std::vector<std::string> flags = {}, std::string architecture = "sm_90a") {
  if (compiler() == nullptr) {
    ADD_FAILURE() << "no toolchain";
    return {};
  }
  const domain::CompileRequest request{Language::CudaCpp, std::move(source), std::move(entries),
                                       std::move(architecture), std::move(flags)};
  auto outcome = compiler()->compile(request, {});
  if (const auto* failure = std::get_if<domain::CompileFailed>(&outcome)) {
    ADD_FAILURE() << failure->log << "\n" << request.source;
    return {};
  }
  return std::get<domain::CompiledBinary>(std::move(outcome)).kernels;
}

class CudaPatterns : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (std::string_view(SWAGE_TEST_NVRTC).empty()) {
      GTEST_SKIP() << "there is no NVRTC (configure with SWAGE_VENV)";
    }
    m_pattern = catalogue().find(Language::CudaCpp, GetParam());
    ASSERT_NE(m_pattern, nullptr);
  }

  // The first seed whose only region has this pattern.
  std::optional<domain::Genome> seed(const Synthesizer& synthesizer) const {
    for (domain::Genome& genome : synthesizer.seeds()) {
      if (genome.regions.size() == 1 && genome.regions[0].pattern == m_pattern->id) {
        return std::move(genome);
      }
    }
    return std::nullopt;
  }

  // Facts joined over the kernels of the pattern's program for its example graph.
  domain::KernelFacts realisedFacts(const std::map<std::string, std::int64_t>& wanted) {
    const auto synthesizer = makeSynthesizer(exampleOf(*m_pattern).graph, cudaDevice());
    auto genome = seed(*synthesizer);
    if (!genome) {
      ADD_FAILURE() << "no seed uses the pattern";
      return {};
    }
    for (const auto& [name, value] : wanted) {
      genome->regions[0].parameters.at(name) = value;
    }
    const auto program = synthesizer->realise(*genome);
    if (!program) {
      ADD_FAILURE() << program.error().message();
      return {};
    }
    EXPECT_EQ(domain::findDefect(program->plan), "");
    domain::KernelFacts joined;
    for (const domain::KernelFacts& facts : compile(program->source, program->entries(), program->compileFlags)) {
      joined.movement = std::max(joined.movement, facts.movement);
      joined.arithmetic = std::max(joined.arithmetic, facts.arithmetic);
      joined.interBlock = joined.interBlock || facts.interBlock;
      joined.registers = std::max(joined.registers, facts.registers);
      joined.spillBytes = std::max(joined.spillBytes, facts.spillBytes);
    }
    return joined;
  }

  const Pattern* m_pattern = nullptr;
};

TEST_P(CudaPatterns, CompileForTheirExamples) {
  const auto program = exampleProgram(*m_pattern, catalogue());
  ASSERT_TRUE(program.has_value()) << program.error().message();
  EXPECT_EQ(compile(program->source, program->entries()).size(), program->entries().size());
}

TEST_P(CudaPatterns, CompileToTheCellTheirManifestNames) {
  std::map<std::string, std::int64_t> wanted;
  if (m_pattern->parameter("asynchronous") != nullptr) {
    wanted["asynchronous"] = 1;
  }
  if (m_pattern->parameter("vector_width") != nullptr) {
    wanted["vector_width"] = 4;
  }
  if (m_pattern->id == "scan_tiles") {
    wanted["items"] = 4;  // vectors of more positions are too many registers
  }
  if (m_pattern->family == "column") {
    wanted["rows"] = 1;  // rows of threads would meet in shared memory
  }
  const domain::KernelFacts facts = realisedFacts(wanted);
  const auto fact = [&](const char* name) {
    const auto found = m_pattern->facts.find(name);
    return found == m_pattern->facts.end() ? std::string() : found->second;
  };
  const std::string movement = "A" + std::to_string(static_cast<int>(facts.movement));
  EXPECT_EQ(movement, fact("movement").empty() ? "A1" : fact("movement"));
  if (!fact("arithmetic").empty()) {
    EXPECT_EQ("B" + std::to_string(static_cast<int>(facts.arithmetic)), fact("arithmetic"));
  }
  EXPECT_EQ(facts.interBlock, fact("decomposition") == "C2");
  EXPECT_EQ(facts.spillBytes, 0);
}

INSTANTIATE_TEST_SUITE_P(All, CudaPatterns,
                         ::testing::Values("attention_mma", "attention_wgmma", "column", "conv_mma", "conv_wgmma",
                                           "direct", "direct_rows", "gather", "map", "map_turned", "pool", "product",
                                           "product_mma", "product_onepass", "product_wgmma", "row_block",
                                           "row_cluster", "row_gang", "row_registers", "row_resident", "row_shared",
                                           "row_split", "row_warp", "scan", "scan_chain", "scan_columns", "scan_tiles"),
                         [](const auto& each) { return each.param; });

struct MmaVariant {
  const char* name;
  domain::ScalarType type;
  bool isRightAlongDepth;
  std::map<std::string, std::int64_t> parameters;
  friend void PrintTo(const MmaVariant& self, std::ostream* out) { *out << self.name; }
};

class MmaVariants : public ::testing::TestWithParam<MmaVariant> {};

TEST_P(MmaVariants, CompileWithoutSpillsForAmpereAndHopper) {
  if (std::string_view(SWAGE_TEST_NVRTC).empty()) {
    GTEST_SKIP() << "there is no NVRTC (configure with SWAGE_VENV)";
  }
  GraphBuilder b;
  const auto x = b.input({1000, 504}, GetParam().type);
  const auto y =
      GetParam().isRightAlongDepth ? b.input({2000, 504}, GetParam().type) : b.input({504, 2000}, GetParam().type);
  const domain::Argument both{domain::ArgumentList{arg(x), arg(y)}};
  const std::string equation = GetParam().isRightAlongDepth ? "xz,yz->xy" : "xz,zy->xy";
  b.output(b.call("aten.einsum.default", {{equation}, both}, {1000, 2000}, GetParam().type));
  const auto synthesizer = makeSynthesizer(b.graph(), cudaDevice());
  domain::Genome genome{{{{0}, "product_mma", {}}}};
  for (const patterns::Parameter& parameter : catalogue().find(Language::CudaCpp, "product_mma")->parameters) {
    const auto given = GetParam().parameters.find(parameter.name);
    genome.regions[0].parameters[parameter.name] =
        given != GetParam().parameters.end() ? given->second : parameter.standard;
  }
  const auto program = synthesizer->realise(genome);
  ASSERT_TRUE(program.has_value()) << program.error().message();
  for (const char* architecture : {"sm_80", "sm_90a"}) {
    const auto kernels = compile(program->source, program->entries(), {}, architecture);
    ASSERT_EQ(kernels.size(), program->entries().size()) << architecture;
    const domain::KernelFacts& facts = kernels.back();
    EXPECT_EQ(facts.entry, "swage_kernel_0");
    EXPECT_EQ(facts.movement, domain::DataMovement::Pipelined);
    EXPECT_EQ(facts.arithmetic, domain::Arithmetic::TensorCore);
    EXPECT_EQ(facts.spillBytes, 0) << architecture;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, MmaVariants,
    ::testing::Values(MmaVariant{"Fp16x3", domain::ScalarType::Float32, false, {}},
                      MmaVariant{"Bf16x6", domain::ScalarType::Float32, true, {{"mode", 2}, {"promote", 32}}},
                      MmaVariant{"Half",
                                 domain::ScalarType::Float16,
                                 false,
                                 {{"mode", 0},
                                  {"promote", 0},
                                  {"tile_columns", 128},
                                  {"warp_rows", 64},
                                  {"warp_columns", 64},
                                  {"tile_depth", 64}}},
                      MmaVariant{"BFloat16", domain::ScalarType::BFloat16, true, {{"mode", 0}}}),
    [](const auto& each) { return each.param.name; });

class WgmmaVariants : public ::testing::TestWithParam<MmaVariant> {};

TEST_P(WgmmaVariants, CompileWithoutSpillsAndMultiplyByWarpGroups) {
  if (std::string_view(SWAGE_TEST_NVRTC).empty()) {
    GTEST_SKIP() << "there is no NVRTC (configure with SWAGE_VENV)";
  }
  GraphBuilder b;
  const auto x = b.input({3, 1000, 1544}, GetParam().type);
  const auto y = GetParam().isRightAlongDepth ? b.input({3, 2200, 1544}, GetParam().type)
                                              : b.input({3, 1544, 2200}, GetParam().type);
  const domain::Argument both{domain::ArgumentList{arg(x), arg(y)}};
  const std::string equation = GetParam().isRightAlongDepth ? "bxz,byz->bxy" : "bxz,bzy->bxy";
  b.output(b.relu(b.call("aten.einsum.default", {{equation}, both}, {3, 1000, 2200}, GetParam().type)));
  const auto synthesizer = makeSynthesizer(b.graph(), cudaDevice());
  domain::Genome genome{{{{0, 1}, "product_wgmma", {}}}};
  for (const patterns::Parameter& parameter :
       catalogue().find(domain::Language::CudaCpp, "product_wgmma")->parameters) {
    const auto given = GetParam().parameters.find(parameter.name);
    genome.regions[0].parameters[parameter.name] =
        given != GetParam().parameters.end() ? given->second : parameter.standard;
  }
  const auto program = synthesizer->realise(genome);
  ASSERT_TRUE(program.has_value()) << program.error().message();
  EXPECT_EQ(domain::findDefect(program->plan), "");
  EXPECT_NE(program->source.find("wgmma.mma_async"), std::string::npos);
  const auto kernels = compile(program->source, program->entries());
  ASSERT_EQ(kernels.size(), program->entries().size());
  const auto product = std::find_if(kernels.begin(), kernels.end(),
                                    [](const domain::KernelFacts& facts) { return facts.entry == "swage_kernel_0"; });
  ASSERT_NE(product, kernels.end());
  EXPECT_EQ(product->movement, domain::DataMovement::Pipelined);
  EXPECT_EQ(product->arithmetic, domain::Arithmetic::TensorCore);
  for (const domain::KernelFacts& facts : kernels) {
    EXPECT_EQ(facts.spillBytes, 0) << facts.entry;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, WgmmaVariants,
    ::testing::Values(MmaVariant{"Fp16x3", domain::ScalarType::Float32, false, {}},
                      MmaVariant{"Fp16x3AlongDepth", domain::ScalarType::Float32, true, {{"promote", 128}}},
                      MmaVariant{"OneWarpGroup",
                                 domain::ScalarType::Float32,
                                 true,
                                 {{"tile_rows", 64}, {"tile_columns", 128}, {"pair", 0}, {"share", 0}}},
                      MmaVariant{"ScaledHalf",
                                 domain::ScalarType::Float32,
                                 true,
                                 {{"mode", 3}, {"tile_columns", 256}, {"slots", 4}, {"share", 0}}},
                      MmaVariant{"Half", domain::ScalarType::Float16, false, {{"mode", 0}}},
                      MmaVariant{"BFloat16",
                                 domain::ScalarType::BFloat16,
                                 true,
                                 {{"mode", 0}, {"tile_columns", 256}, {"slots", 4}, {"share", 0}}}),
    [](const auto& each) { return each.param.name; });

struct ConvVariant {
  const char* name;
  domain::ScalarType type;
  bool isTransposed;
  std::map<std::string, std::int64_t> parameters;
  const char* pattern = "conv_mma";
  const char* activation = nullptr;
  friend void PrintTo(const ConvVariant& self, std::ostream* out) { *out << self.name; }
};

class ConvVariants : public ::testing::TestWithParam<ConvVariant> {};

TEST_P(ConvVariants, CompileWithoutSpillsForTheirArchitectures) {
  if (std::string_view(SWAGE_TEST_NVRTC).empty()) {
    GTEST_SKIP() << "there is no NVRTC (configure with SWAGE_VENV)";
  }
  GraphBuilder b;
  const auto x = b.input({8, 64, 60, 60}, GetParam().type);
  const auto weight = b.input({64, 64, 3, 3}, GetParam().type);
  const auto y =
      GetParam().isTransposed
          ? b.call("aten.conv_transpose2d.input", {arg(x), arg(weight), noArg(), listArg({2, 2}), listArg({1, 1})},
                   {8, 64, 119, 119}, GetParam().type)
          : b.call("aten.conv2d.default", {arg(x), arg(weight), noArg(), listArg({1, 1}), listArg({1, 1})},
                   {8, 64, 60, 60}, GetParam().type);
  b.output(GetParam().activation == nullptr ? y : b.like(GetParam().activation, y));
  const auto synthesizer = makeSynthesizer(b.graph(), cudaDevice());
  domain::Genome genome{{{{0}, GetParam().pattern, {}}}};
  if (GetParam().activation != nullptr) {
    genome.regions[0].nodes.push_back(1);
  }
  for (const patterns::Parameter& parameter : catalogue().find(Language::CudaCpp, GetParam().pattern)->parameters) {
    const auto given = GetParam().parameters.find(parameter.name);
    genome.regions[0].parameters[parameter.name] =
        given != GetParam().parameters.end() ? given->second : parameter.standard;
  }
  const auto program = synthesizer->realise(genome);
  ASSERT_TRUE(program.has_value()) << program.error().message();
  const bool isForHopper = std::string_view(GetParam().pattern) == "conv_wgmma";
  for (const char* architecture : {"sm_80", "sm_90a"}) {
    if (isForHopper && std::string_view(architecture) == "sm_80") {
      continue;
    }
    const auto kernels = compile(program->source, program->entries(), {}, architecture);
    ASSERT_EQ(kernels.size(), 2U) << architecture;
    for (const domain::KernelFacts& facts : kernels) {
      EXPECT_EQ(facts.spillBytes, 0) << architecture << ' ' << facts.entry;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, ConvVariants,
    ::testing::Values(
        ConvVariant{"Halves", domain::ScalarType::Float16, false, {{"mode", 0}}},
        ConvVariant{"BFloats", domain::ScalarType::BFloat16, false, {{"mode", 0}}},
        ConvVariant{"Floats", domain::ScalarType::Float32, false, {{"mode", 1}}},
        ConvVariant{
            "FloatsAsHalves", domain::ScalarType::Float32, false, {{"mode", 3}, {"warp_rows", 64}, {"promote", 32}}},
        ConvVariant{"Transposed", domain::ScalarType::Float32, true, {{"mode", 1}}},
        ConvVariant{"ByWarpGroups", domain::ScalarType::Float32, false, {{"tile_columns", 64}}, "conv_wgmma"},
        ConvVariant{"ByTwoBlocksOfWarpGroups",
                    domain::ScalarType::Float32,
                    false,
                    {{"tile_columns", 64}, {"bring_groups", 1}, {"blocks", 2}, {"tile_width", 16}},
                    "conv_wgmma"},
        ConvVariant{"ExactByWarpGroups",
                    domain::ScalarType::Float32,
                    false,
                    {{"mode", 1}, {"tile_columns", 64}, {"tile_pixels", 128}, {"parts", 2}},
                    "conv_wgmma"},
        ConvVariant{"ExactInPairsByWarpGroups",
                    domain::ScalarType::Float32,
                    false,
                    {{"mode", 1}, {"tile_columns", 64}, {"tile_pixels", 128}, {"tile_depth", 8}},
                    "conv_wgmma"},
        ConvVariant{"ExactTransposedByWarpGroups",
                    domain::ScalarType::Float32,
                    true,
                    {{"mode", 1}, {"tile_columns", 64}, {"tile_pixels", 64}},
                    "conv_wgmma"},
        ConvVariant{"BFloatsByWarpGroups",
                    domain::ScalarType::BFloat16,
                    false,
                    {{"mode", 0}, {"tile_columns", 64}, {"tile_depth", 64}},
                    "conv_wgmma"},
        ConvVariant{"TransposedByWarpGroups",
                    domain::ScalarType::Float32,
                    true,
                    {{"tile_pixels", 128}, {"parts", 2}, {"tile_columns", 64}},
                    "conv_wgmma"},
        ConvVariant{"TransposedWithGeluByWarpGroups",
                    domain::ScalarType::Float32,
                    true,
                    {{"tile_pixels", 112}, {"tile_width", 16}, {"parts", 2}, {"tile_columns", 64}, {"bring_groups", 1}},
                    "conv_wgmma",
                    "aten.gelu.default"},
        ConvVariant{"WithMishByWarpGroups",
                    domain::ScalarType::Float32,
                    false,
                    {{"tile_pixels", 128}, {"parts", 2}, {"tile_columns", 64}},
                    "conv_wgmma",
                    "aten.mish.default"}),
    [](const auto& each) { return each.param.name; });

TEST(CudaNames, OfAnyModelCompile) {
  if (std::string_view(SWAGE_TEST_NVRTC).empty()) {
    GTEST_SKIP() << "there is no NVRTC (configure with SWAGE_VENV)";
  }
  const auto synthesizer = makeSynthesizer(hostileModel(), cudaDevice());
  std::vector<domain::Genome> genomes = synthesizer->seeds();
  genomes.resize(std::min<std::size_t>(genomes.size(), 6));
  ASSERT_FALSE(genomes.empty());
  for (const domain::Genome& genome : genomes) {
    const auto program = synthesizer->realise(genome);
    ASSERT_TRUE(program.has_value()) << program.error().message();
    EXPECT_EQ(compile(program->source, program->entries(), program->compileFlags).size(), program->entries().size());
  }
}

TEST(CudaPatternList, IsTheCatalogues) {
  std::vector<std::string> ids;
  for (const Pattern& pattern : catalogue().all()) {
    if (pattern.language == Language::CudaCpp) {
      ids.push_back(pattern.id);
    }
  }
  EXPECT_THAT(ids, ::testing::ElementsAre("attention_mma", "attention_wgmma", "column", "conv_mma", "conv_wgmma",
                                          "direct", "direct_rows", "gather", "map", "map_turned", "pool", "product",
                                          "product_mma", "product_onepass", "product_wgmma", "recurrence", "row_block",
                                          "row_cluster", "row_gang", "row_registers", "row_resident", "row_shared",
                                          "row_split", "row_warp", "scan", "scan_chain", "scan_columns", "scan_tiles"));
}

// Each of its parts has what it needs.
TEST(CudaParts, AreCompiledByThemselves) {
  if (std::string_view(SWAGE_TEST_NVRTC).empty()) {
    GTEST_SKIP() << "there is no NVRTC (configure with SWAGE_VENV)";
  }
  GraphBuilder b;
  const auto x = b.input({256, 512});
  b.output(b.softmax(
      b.silu(b.softmax(b.call("aten.matmul.default", {arg(x), arg(b.input({512, 1024}))}, {256, 1024}), 1)), 0));
  const auto synthesizer = makeSynthesizer(b.graph(), cudaDevice());
  const auto program = synthesizer->realise(seedsWithKernels(*synthesizer).front());
  ASSERT_TRUE(program.has_value());
  ASSERT_GT(program->parts.size(), 1U);
  for (const domain::SourcePart& part : program->parts) {
    const std::vector<domain::KernelFacts> kernels = compile(part.source, part.entries);
    EXPECT_EQ(kernels.size(), part.entries.size());
  }
}

}  // namespace
}  // namespace swage::synth
