// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/candidates.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "core/synth/synthesizer.h"

namespace swage::fuzz {
namespace {

using domain::Genome;
using domain::OperatorKind;

constexpr std::size_t kNeighboursTried = 3;

// Every way in which a search makes genomes, once or a few times.
std::vector<Genome> propose(const synth::Synthesizer& synthesizer, Random& random) {
  const std::vector<Genome> seeds = synthesizer.seeds();
  std::vector<Genome> genomes = seeds;
  if (genomes.size() > 3) {
    std::swap(genomes[1], genomes[1 + random.below(genomes.size() - 1)]);
    genomes.resize(2);
  }
  genomes.push_back(synthesizer.fresh(random));
  genomes.push_back(synthesizer.fresh(random));
  if (const auto rewritten =
          std::find_if(seeds.begin(), seeds.end(), [](const auto& seed) { return !seed.rewrites.empty(); });
      rewritten != seeds.end()) {
    genomes.push_back(*rewritten);
  }
  const Genome first = genomes.front();
  const Genome other = genomes.back();
  const domain::Cell aim{};
  constexpr std::array<OperatorKind, 6> kinds{OperatorKind::Parameter, OperatorKind::Split,
                                              OperatorKind::Merge,     OperatorKind::PatternSwap,
                                              OperatorKind::Crossover, OperatorKind::Rewrite};
  for (const OperatorKind kind : kinds) {
    const domain::Cell* wanted = random.chance(0.3) ? &aim : nullptr;
    if (auto varied = synthesizer.vary(kind, random.chance(0.5) ? first : other, &other, wanted, random)) {
      genomes.push_back(std::move(*varied));
    }
  }
  const std::vector<Genome> neighbours = synthesizer.neighbours(first);
  for (std::size_t i = 0; i < kNeighboursTried && !neighbours.empty(); ++i) {
    genomes.push_back(random.pick(std::span<const Genome>(neighbours)));
  }
  return genomes;
}

// "swage_kernel_0" and "region_0" become names that no other program of a batch has.
std::string renamed(std::string_view text, std::size_t number) {
  std::string result;
  constexpr std::array<std::string_view, 2> names{"swage_kernel_", "region_"};
  const auto isWord = [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  const auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = 0;
    for (const std::string_view name : names) {
      const bool begins = text.substr(at).starts_with(name) && (at == 0 || !isWord(text[at - 1]));
      if (begins && at + name.size() < text.size() && isDigit(text[at + name.size()])) {
        length = name.size();
      }
    }
    if (length > 0) {
      result.append(text.substr(at, length)).append("p").append(std::to_string(number)).append("_");
      at += length;
    } else {
      result += text[at++];
    }
  }
  return result;
}

// Takes the lines that include headers out of a source.
std::string takeIncludes(std::string& source) {
  std::string includes;
  std::string rest;
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t end = std::min(source.find('\n', at), source.size() - 1) + 1;
    const std::string_view line = std::string_view(source).substr(at, end - at);
    (line.starts_with("#include") ? includes : rest) += line;
    at = end;
  }
  source = std::move(rest);
  return includes;
}

}  // namespace

domain::DeviceInfo deviceFor(domain::DeviceKind target) {
  domain::DeviceInfo device;
  device.kind = target;
  if (target == domain::DeviceKind::Cpu) {
    device.architecture = "x86-64-v3";
    device.multiprocessors = device.threads = 4;
    device.cacheBytes = std::int64_t{32} << 20;
    return device;
  }
  device.architecture = "sm_90a";
  device.multiprocessors = 132;
  device.cacheBytes = std::int64_t{60} << 20;
  device.sharedBytesPerBlock = 232448;
  device.computeCapability = 90;
  return device;
}

Candidates synthesise(const FuzzCase& which, const domain::DeviceInfo& device, const patterns::Catalogue& catalogue,
                      std::size_t count) {
  Candidates result;
  auto synthesizer = synth::Synthesizer::create(which.graph, device, catalogue);
  if (!synthesizer) {
    result.findings.push_back({"no synthesiser", synthesizer.error().message(), {}});
    return result;
  }
  static_cast<void>((*synthesizer)->coveredNodes());
  Random random(which.seed ^ 0x5EEDULL);
  std::vector<Genome> genomes = which.genomes;  // may be illegal by now
  const std::size_t known = genomes.size();
  for (Genome& genome : propose(**synthesizer, random)) {
    genomes.push_back(std::move(genome));
  }
  std::set<std::string> sources;
  std::vector<Candidate> made;
  for (std::size_t i = 0; i < genomes.size(); ++i) {
    static_cast<void>((*synthesizer)->features(genomes[i]));
    auto program = (*synthesizer)->realise(genomes[i]);
    if (!program && i >= known) {
      result.findings.push_back({"illegal genome", program.error().message(), genomes[i]});
    }
    if (!program) {
      continue;
    }
    if (std::string defect = domain::findDefect(program->plan); !defect.empty()) {
      result.findings.push_back({"plan with a defect", std::move(defect), genomes[i]});
    } else if (program->plan.hasKernels() && sources.insert(program->source).second) {
      made.push_back({genomes[i], std::move(*program)});
    }
  }
  // The first guess always, the others as they come.
  for (std::size_t i = known + 1; i < made.size(); ++i) {
    std::swap(made[i], made[i + random.below(made.size() - i)]);
  }
  made.resize(std::min(made.size(), known + count));
  result.programs = std::move(made);
  return result;
}

void Batch::add(const Candidate& candidate) {
  const std::size_t number = m_members.size();
  // A namespace of its own: each program comes with the helpers that it uses.
  std::string source = renamed(candidate.program.source, number);
  m_source += takeIncludes(source);
  m_source += "namespace program_" + std::to_string(number) + " {\n" + source + "}\n";
  Member member{&candidate, candidate.program.plan};
  for (domain::PlanStep& step : member.plan.steps) {
    if (auto* kernel = std::get_if<domain::KernelStep>(&step)) {
      kernel->entry = renamed(kernel->entry, number);
    }
  }
  for (const std::string& entry : candidate.program.entries()) {
    m_entries.push_back(renamed(entry, number));
  }
  m_members.push_back(std::move(member));
}

domain::CompileRequest Batch::request(domain::DeviceKind target) const {
  domain::CompileRequest request;
  request.language = domain::standardLanguage(target);
  request.source = m_source;
  request.entries = m_entries;
  request.architecture = target == domain::DeviceKind::Cuda ? "sm_90a" : "native";
  if (target == domain::DeviceKind::Cpu) {
    request.flags = {"-O2"};  // twice as fast to compile as what a search uses
  }
  return request;
}

}  // namespace swage::fuzz
