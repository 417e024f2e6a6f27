// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/fuzz_case.h"

#include <algorithm>

#include "core/base/files.h"
#include "tests/fuzz/random_graph.h"

namespace swage::fuzz {
namespace {

using domain::Json;

constexpr std::size_t kMostNodes = 9;
constexpr double kShareTensors = 0.25;

// Whether two nodes of a generator draw from the same numbers: then what may be in one input may be in the other.
bool drawAlike(const domain::Graph& generator, domain::ValueId a, domain::ValueId b) {
  const auto drawing = [&generator](domain::ValueId value) {
    return std::find_if(generator.nodes.begin(), generator.nodes.end(),
                        [value](const domain::Node& node) { return node.outputs.front() == value; });
  };
  const auto first = drawing(a);
  const auto second = drawing(b);
  return first->op == second->op && first->args == second->args && first->kwargs == second->kwargs;
}

// As a caller does who writes f(x, x): one tensor is two inputs.
void shareTensors(FuzzCase& which, Random& random) {
  const domain::Graph& graph = which.graph;
  std::vector<domain::GraphOutput>& drawn = which.generator.outputs;
  for (std::size_t i = 1; i < graph.inputs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const bool fits = graph.type(graph.inputs[i].value) == graph.type(graph.inputs[j].value) &&
                        drawAlike(which.generator, drawn[i].value, drawn[j].value);
      if (fits && random.chance(kShareTensors)) {
        drawn[i].value = drawn[j].value;
      }
    }
  }
}

}  // namespace

FuzzCase makeCase(std::uint64_t seed) {
  GraphDraft draft(seed);
  draft.begin();
  const std::size_t wanted = 1 + draft.random().below(kMostNodes);
  for (std::size_t attempt = 0; attempt < 3 * wanted && draft.writer().graph().nodes.size() < wanted; ++attempt) {
    static_cast<void>(addRandomNode(draft));
  }
  draft.chooseOutputs();
  FuzzCase made;
  made.seed = seed;
  made.graph = draft.writer().graph();
  made.generator = draft.writer().generator();
  shareTensors(made, draft.random());  // last, so that a seed keeps its graph
  return made;
}

Json toJson(const FuzzCase& value) {
  Json genomes = Json::array();
  for (const domain::Genome& genome : value.genomes) {
    genomes.push_back(domain::toJson(genome));
  }
  return {{"seed", value.seed},
          {"why", value.why},
          {"graph", domain::toJson(value.graph)},
          {"input_generator", domain::toJson(value.generator)},
          {"genomes", std::move(genomes)}};
}

Result<FuzzCase> caseFromJson(const Json& json) {
  const bool isWhole = json.is_object() && json.contains("graph") && json.contains("input_generator");
  if (!isWhole) {
    return Error(ErrorKind::InvalidInput, "a case is an object with 'graph' and 'input_generator'");
  }
  FuzzCase read;
  SWAGE_TRY_ASSIGN(read.graph, domain::graphFromJson(json["graph"]));
  SWAGE_TRY_ASSIGN(read.generator, domain::graphFromJson(json["input_generator"]));
  if (json.contains("seed") && json["seed"].is_number_unsigned()) {
    read.seed = json["seed"].get<std::uint64_t>();
  }
  if (json.contains("why") && json["why"].is_string()) {
    read.why = json["why"].get<std::string>();
  }
  if (json.contains("genomes") && json["genomes"].is_array()) {
    for (const Json& genome : json["genomes"]) {
      SWAGE_TRY_ASSIGN(domain::Genome parsed, domain::genomeFromJson(genome));
      read.genomes.push_back(std::move(parsed));
    }
  }
  return read;
}

Result<FuzzCase> readCase(const std::filesystem::path& file) {
  SWAGE_TRY_ASSIGN(const std::string text, readTextFile(file));
  SWAGE_TRY_ASSIGN(const Json json, domain::parseJson(text));
  return caseFromJson(json);
}

Result<FuzzCase> findCase(const std::string& item) {
  const bool isSeed = !item.empty() && item.size() < 20 &&
                      std::all_of(item.begin(), item.end(), [](char c) { return c >= '0' && c <= '9'; });
  return isSeed ? Result<FuzzCase>(makeCase(std::stoull(item))) : readCase(item);
}

Json toJson(const Finding& finding) {
  return {{"kind", finding.kind}, {"detail", finding.detail}, {"genome", domain::toJson(finding.genome)}};
}

Finding findingFromJson(const Json& json) {
  Finding finding{json.value("kind", "unknown"), json.value("detail", ""), {}};
  if (const auto genome = domain::genomeFromJson(json.value("genome", Json()))) {
    finding.genome = *genome;
  }
  return finding;
}

}  // namespace swage::fuzz
