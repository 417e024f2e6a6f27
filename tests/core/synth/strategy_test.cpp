// SPDX-License-Identifier: Apache-2.0
#include "core/synth/strategy.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "core/base/files.h"
#include "core/synth/emit/frame.h"
#include "core/synth/emit/helpers.h"
#include "core/synth/example.h"
#include "tests/core/synth/bench.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::synth {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A strategy that the product does not have: every map in one loop, on one thread.
class Plain final : public Strategy {
 public:
  Plain() : Strategy(domain::Language::Cpp, "plain") {}

  [[nodiscard]] bool accepts(const Region& region) const override { return region.kind() == NestKind::Map; }
  [[nodiscard]] Launch launch(const Instance& /*instance*/, const std::string& entry) const override {
    Launch launch;
    launch.step.entry = entry;
    return launch;
  }
  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    KernelWriter writer(instance, Dialect::of(language()));
    openCppKernel(writer, launch.step.entry);
    writer.code().open("for (long long i = 0; i < {}; ++i)", instance.region.groupCount());
    writer.decode("i", freeAxes(instance.region));
    writer.compute(storedPrims(instance.region.elementStores));
    writer.store(instance.region.elementStores);
    writer.code().close();
    writer.code().close();
    return writer.finish();
  }

 private:
  [[nodiscard]] Result<> fits(const Instance& /*instance*/) const override { return {}; }
};

TEST(StrategyTable, TakesAPatternFromOutside) {
  const swage::testing::TempDir folder;
  std::filesystem::create_directories(folder.path() / "cpu" / "plain");
  std::filesystem::create_directories(folder.path() / "cuda");
  ASSERT_THAT(writeFileAtomically(folder.path() / "cpu" / "plain" / "pattern.toml",
                                  "family = \"map\"\ndescription = \"one loop\"\n"),
              swage::testing::IsOk());
  const auto patterns = patterns::Catalogue::load(folder.path());
  ASSERT_THAT(patterns, swage::testing::IsOk());
  StrategyTable table;
  table.add(std::make_unique<Plain>());

  GraphBuilder b;
  const auto x = b.input({3, 5});
  b.output(b.mul(b.add(x, x), 3.0));
  const auto synthesizer = Synthesizer::create(b.graph(), cpuDevice(), *patterns, table);
  ASSERT_THAT(synthesizer, swage::testing::IsOk());
  const std::vector<domain::Genome> seeds = (*synthesizer)->seeds();
  ASSERT_FALSE(seeds.empty());
  const auto program = (*synthesizer)->realise(seeds.front());
  ASSERT_THAT(program, swage::testing::IsOk());
  const Numbers numbers = randomNumbers(15, 3);
  Numbers want;
  for (const double number : numbers) {
    want.push_back(6.0 * number);
  }
  const std::vector<Bytes> results = runOnCpu(*program, {toBytes<float>(numbers)});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(firstDifference(toNumbers<float>(results[0]), want, 1e-6), "");
}

TEST(StrategyTable, HasOneStrategyForEachPattern) {
  for (const patterns::Pattern& pattern : catalogue().all()) {
    EXPECT_NE(StrategyTable::builtIn().find(pattern.language, pattern.id), nullptr) << pattern.id;
  }
  for (const auto& strategy : StrategyTable::builtIn().all()) {
    EXPECT_NE(catalogue().find(strategy->language(), strategy->id()), nullptr) << strategy->id();
  }
}

TEST(Strategies, SayWhetherTheyAreForConvolutions) {
  std::set<std::string> found;
  for (const auto& strategy : StrategyTable::builtIn().all()) {
    if (strategy->isForConvolutions()) {
      found.insert(strategy->id());
    }
  }
  EXPECT_THAT(found, ::testing::ElementsAre("conv_mma", "conv_wgmma"));
}

TEST(Strategies, AreShownWithTheirOwnExampleOrWithRows) {
  const Example plain = Plain().example();
  EXPECT_EQ(plain.text, "softmax over the last dimension of float32[1024, 4096]");
  EXPECT_EQ(plain.graph, examples::rows({1024, 4096}).graph);
  const auto* const own = StrategyTable::builtIn().find(domain::Language::CudaCpp, "attention_wgmma");
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(exampleOf(*catalogue().find(own->language(), own->id())).text, own->example().text);
  EXPECT_THAT(own->example().text, HasSubstr("float16"));
}

TEST(Helpers, OfOneNameAreChosenByAnotherWordOfTheSource) {
  constexpr std::string_view kHelpers =
      "//! swage:helper one if wide\nlong one();\n\n//! swage:helper one unless wide\nint one();\n";
  EXPECT_EQ(helpersFor(kHelpers, "x = one(wide);"), "long one();\n\n");
  EXPECT_EQ(helpersFor(kHelpers, "x = one();"), "int one();\n\n");
}

TEST(Helpers, AreThoseThatTheSourceUses) {
  constexpr std::string_view kHelpers =
      "// head\n//! swage:helper one\nint one();\n\n//! swage:helper two\nint two() { return one(); }\n\n"
      "//! swage:helper three\nint three();\n";
  EXPECT_EQ(helpersFor(kHelpers, "x = two;"), "int one();\n\nint two() { return one(); }\n\n");
  EXPECT_EQ(helpersFor(kHelpers, "x = twofold + one_more;"), "");
  EXPECT_EQ(helpersFor(kHelpers, "// two\nx = 1;  // model.py:3: three = one"), "");
  EXPECT_EQ(helpersFor(kHelpers, "// one\nthree"), "int three();\n\n");
  constexpr std::string_view kSaid = "//! swage:helper one\nint one();\n//! swage:helper two\n// as one\nint two();\n";
  EXPECT_EQ(helpersFor(kSaid, "x = two;"), "// as one\nint two();\n\n");
}

// All lines of a source.
std::ptrdiff_t linesOf(const std::string& source) {
  return std::count(source.begin(), source.end(), '\n');
}

TEST(WrittenKernels, AreShortAndNameWhatTheModelNames) {
  const std::map<std::string, int> bounds{{"map", 60},    {"row", 140},       {"column", 150},    {"contract", 200},
                                          {"window", 60}, {"gather", 60},     {"scan", 100},      {"convolution", 400},
                                          {"turned", 60}, {"attention", 150}, {"recurrence", 600}};
  // Blocks that meet in memory, what is folded in two directions, rows of millions, whose sums need totals, and
  // products on tensor cores, with the passes that split their operands and the instructions that have no name in C++.
  // Recurrences come with the product of the inputs of all steps.
  const std::map<std::string, int> longer{{"row_cluster", 165},    {"row_gang", 200},      {"row_split", 210},
                                          {"pool", 105},           {"scan_chain", 135},    {"gather", 70},
                                          {"row_resident", 235},   {"product_mma", 300},   {"product_onepass", 360},
                                          {"product_wgmma", 370},  {"attention_mma", 530}, {"conv_wgmma", 520},
                                          {"attention_wgmma", 400}};
  for (const patterns::Pattern& pattern : catalogue().all()) {
    const auto program = exampleProgram(pattern, catalogue());
    ASSERT_THAT(program, swage::testing::IsOk());
    const auto known = longer.find(pattern.id);
    const int bound = known == longer.end() ? bounds.at(pattern.family) : known->second;
    EXPECT_LE(linesOf(program->source), bound) << pattern.id << "\n" << program->source;
    // One computes with halves, which come by tensor maps.
    const bool isShort = pattern.id == "attention_wgmma";
    EXPECT_THAT(program->source,
                AllOf(HasSubstr(isShort ? "Half* __restrict__ out" : "float* __restrict__ out"),
                      HasSubstr(isShort ? "TensorMap queries" : "float* __restrict__ x"), Not(HasSubstr("SWAGE_"))))
        << pattern.id;
    // Numbers of the task stand in the text itself; but for helpers that loops must be unrolled in.
    EXPECT_THAT(program->source.substr(program->source.find("extern \"C\"")), Not(HasSubstr("template <int")))
        << pattern.id;
  }
}

// The longest of all programs for the CPU in which a graph is one region with one of these patterns.
std::string longestOnCpu(const GraphBuilder& b, const std::set<std::string>& patterns) {
  const auto synthesizer = makeSynthesizer(b.graph(), cpuDevice());
  std::vector<domain::Genome> genomes;
  for (const domain::Genome& seed : synthesizer->seeds()) {
    for (int choice = 0; seed.regions.size() == 1 && patterns.count(seed.regions[0].pattern) != 0 && choice < 8;
         ++choice) {
      domain::Genome genome = seed;
      int bit = 1;
      for (const char* name : {"fused", "streaming", "keep"}) {
        const auto found = genome.regions[0].parameters.find(name);
        if (found != genome.regions[0].parameters.end()) {
          found->second = (choice & bit) != 0 ? 1 : 0;
        }
        bit *= 2;
      }
      genomes.push_back(std::move(genome));
    }
  }
  std::string longest;
  for (const domain::Genome& genome : genomes) {
    if (const auto program = synthesizer->realise(genome); program && linesOf(program->source) > linesOf(longest)) {
      longest = program->source;
    }
  }
  EXPECT_NE(longest, "") << "the graph is no region";
  return longest;
}

TEST(WrittenKernels, OfPointwiseChainsHaveAtMost60Lines) {
  GraphBuilder b;
  const auto x = b.input({64, 1000});
  b.output(b.mul(b.like("aten.gelu.default", x), b.add(b.silu(x), b.input({1000}))));
  const std::string source = longestOnCpu(b, {"map"});
  EXPECT_LE(linesOf(source), 60) << source;
}

GraphBuilder layerNorm(std::int64_t width) {
  GraphBuilder b;
  const auto x = b.add(b.input({64, width}), b.input({64, width}));
  const auto weight = b.input({width});
  b.output(b.like("aten.layer_norm.default", x, {listArg({width}), arg(weight), arg(b.input({width})), arg(1e-5)}));
  return b;
}

GraphBuilder rmsNorm(std::int64_t width) {
  GraphBuilder b;
  const auto total = b.add(b.input({64, width}), b.input({64, width}));
  const auto mean = b.call("aten.mean.dim", {arg(b.mul(total, total)), listArg({1}), arg(true)}, {64, 1});
  const auto scale = b.like("aten.rsqrt.default", b.like("aten.add.Tensor", mean, {arg(1e-6)}));
  b.output(b.mul(b.mul(total, scale), b.input({width})));
  b.output(total);
  return b;
}

GraphBuilder softmax(std::int64_t width) {
  GraphBuilder b;
  b.output(b.softmax(b.input({64, width}), 1));
  return b;
}

TEST(WrittenKernels, OfRowNormalisationsHaveAtMost140Lines) {
  for (const auto& graph : {layerNorm, rmsNorm, softmax}) {
    const std::string source = longestOnCpu(graph(4096), {"row", "split"});
    EXPECT_LE(linesOf(source), 140) << source;
    // Fills neither all lanes nor all runs.
    const std::string ragged = longestOnCpu(graph(5000), {"row"});
    EXPECT_LE(linesOf(ragged), 140) << ragged;
  }
}

// x + residual, over its root mean square, times a scale; and a layer norm.
std::vector<domain::Graph> normalisations() {
  constexpr std::int64_t kRows = 1024;
  constexpr std::int64_t kColumns = 1024;
  GraphBuilder rms;
  const auto total = rms.add(rms.input({kRows, kColumns}), rms.input({kRows, kColumns}));
  const auto square = rms.like("aten.pow.Tensor_Scalar", total, {arg(2)});
  const auto mean = rms.call("aten.mean.dim", {arg(square), listArg({-1}), arg(true)}, {kRows, 1});
  const auto root = rms.like("aten.rsqrt.default", rms.like("aten.add.Tensor", mean, {arg(1e-6)}));
  rms.output(rms.mul(rms.mul(total, root), rms.input({kColumns})));
  rms.output(total);
  GraphBuilder layer;
  const auto x = layer.input({kRows, kColumns});
  const auto weight = layer.input({kColumns});
  const auto bias = layer.input({kColumns});
  layer.output(layer.like("aten.layer_norm.default", x, {listArg({kColumns}), arg(weight), arg(bias), arg(1e-5)}));
  return {rms.graph(), layer.graph()};
}

TEST(WrittenKernels, OfNormalisationsAreShortWhereBlocksMeetInNoMemory) {
  for (const domain::Graph& graph : normalisations()) {
    const auto synthesizer = makeSynthesizer(graph, cudaDevice());
    std::size_t whole = 0;
    for (const domain::Genome& genome : synthesizer->seeds()) {
      const std::string& pattern = genome.regions[0].pattern;
      const bool meetsInMemory = pattern == "row_resident" || pattern == "row_split" || pattern == "row_gang";
      if (genome.regions.size() == 1 && !meetsInMemory) {
        const auto program = synthesizer->realise(genome);
        ASSERT_THAT(program, swage::testing::IsOk());
        EXPECT_LE(linesOf(program->source), 140) << pattern << "\n" << program->source;
        ++whole;
      }
    }
    EXPECT_GE(whole, 4U);
  }
}

TEST(WrittenKernels, OfRowsSayHowDataMovesInEachPhase) {
  const std::map<std::string, std::vector<std::string>> phases{
      {"row_warp", {"Each lane loads its share", "Lanes fold the elements in their registers", "Results are computed"}},
      {"row_block",
       {"Threads read their elements", "lanes join by shuffles, warps in shared", "read from memory again"}},
      {"row_shared", {"Threads copy the row", "Threads fold elements from shared memory", "Results are computed"}},
      {"row_registers", {"Threads load their share", "Threads fold the elements in", "Results are computed"}}};
  std::set<std::string> seen;
  const domain::Graph graph = normalisations().front();
  const auto synthesizer = makeSynthesizer(graph, cudaDevice());
  for (const domain::Genome& genome : synthesizer->seeds()) {
    const auto expected = phases.find(genome.regions[0].pattern);
    const auto program = synthesizer->realise(genome);
    ASSERT_THAT(program, swage::testing::IsOk());
    if (genome.regions.size() != 1 || expected == phases.end() || !seen.insert(expected->first).second) {
      continue;
    }
    std::size_t at = 0;
    for (const std::string& phase : expected->second) {
      at = program->source.find(phase, at);
      ASSERT_NE(at, std::string::npos) << phase << "\n" << program->source;
    }
  }
  EXPECT_EQ(seen.size(), phases.size());
}

TEST(WrittenKernels, NameTheLineOfTheModelBesideTheComputation) {
  GraphBuilder b;
  b.output(b.mul(b.silu(b.input({64, 256})), b.input({64, 256})));
  domain::Graph graph = b.graph();
  graph.nodes[0].where = "model.py:4 in forward";
  graph.nodes[0].code = "gate = silu(x)";
  graph.nodes[0].name = "gate";
  graph.nodes[1].where = "model.py:5 in forward";
  graph.nodes[1].code = "return gate * y";
  const auto synthesizer = makeSynthesizer(graph, cudaDevice());
  const auto program = synthesizer->realise(synthesizer->seeds().front());
  ASSERT_THAT(program, swage::testing::IsOk());
  EXPECT_THAT(program->source, AllOf(HasSubstr("    // model.py:4: gate = silu(x)\n    const float gate = "),
                                     HasSubstr("    // model.py:5: return gate * y\n    out4[v] = gate * ")));
}

// The first name of a floating-point constant that a block has twice; empty: none has.
std::string firstNameDeclaredTwice(const std::string& source) {
  std::vector<std::set<std::string>> blocks(1);
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line);) {
    const std::string_view text = std::string_view(line).substr(std::min(line.find_first_not_of(' '), line.size()));
    for (const std::string_view type : {"const float ", "const int "}) {
      const std::size_t end = text.find(" = ");
      if (text.starts_with(type) && end != std::string_view::npos &&
          !blocks.back().emplace(text.substr(type.size(), end - type.size())).second) {
        return line;
      }
    }
    if (text.starts_with('}') && blocks.size() > 1) {
      blocks.pop_back();
    }
    if (text.ends_with('{')) {
      blocks.emplace_back();
    }
  }
  return {};
}

// A row is a single step of so many threads: there is no loop around it.
TEST(WrittenKernels, DeclareNoNameTwiceInABlock) {
  GraphBuilder b;
  const auto x = b.input({512, 64});
  const auto sum = b.like("aten.add.Tensor", x, {arg(b.input({512, 1}))});
  b.output(b.like("aten.layer_norm.default", b.add(sum, b.input({64})), {listArg({64}), noArg(), noArg(), arg(1e-5)}));
  domain::Graph graph = b.graph();
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    graph.nodes[node].where = "model.py:" + std::to_string(node);  // each line has a comment, and its result a name
  }
  const auto synthesizer = makeSynthesizer(graph, cudaDevice());
  const std::map<std::string, std::map<std::string, std::int64_t>> asked{
      {"row_registers", {{"threads", 64}, {"vector_width", 1}, {"cluster", 1}}},
      {"row_warp", {{"vector_width", 2}, {"fused", 1}, {"keep", 0}}}};
  std::set<std::string> seen;
  for (domain::Genome genome : synthesizer->seeds()) {
    const auto changes = genome.regions.size() == 1 ? asked.find(genome.regions[0].pattern) : asked.end();
    if (changes == asked.end()) {
      continue;
    }
    for (const auto& [name, value] : changes->second) {
      genome.regions[0].parameters.at(name) = value;
    }
    if (const auto program = synthesizer->realise(genome)) {
      EXPECT_EQ(firstNameDeclaredTwice(program->source), "") << program->source;
      seen.insert(changes->first);
    }
  }
  EXPECT_THAT(seen, ::testing::ElementsAre("row_registers", "row_warp"));
}

}  // namespace
}  // namespace swage::synth
