// SPDX-License-Identifier: Apache-2.0
#include "core/domain/candidate.h"

#include <algorithm>

namespace swage::domain {
namespace {

// Names are written so that no name can be read as a piece of the structure around it.
void appendEscaped(std::string& text, std::string_view raw) {
  for (const char c : raw) {
    if (std::string_view(R"(\:;,={})").find(c) != std::string_view::npos) {
      text += '\\';
    }
    text += c;
  }
}

void appendStructure(std::string& text, const RegionGene& region) {
  for (std::size_t i = 0; i < region.nodes.size(); ++i) {
    text += i == 0 ? "" : ",";
    text += std::to_string(region.nodes[i]);
  }
  text += ':';
  appendEscaped(text, region.pattern);
}

std::string rewriteText(const Genome& genome) {
  std::string text;
  for (const Rewrite& rewrite : genome.rewrites) {
    appendEscaped(text, rewrite.rule);
    text += '=' + std::to_string(rewrite.value.value()) + ';';
  }
  return text;
}

}  // namespace

std::string canonicalText(const Genome& genome) {
  std::string text = rewriteText(genome);
  for (const RegionGene& region : genome.regions) {
    appendStructure(text, region);
    text += '{';
    for (const auto& [key, value] : region.parameters) {
      appendEscaped(text, key);
      text += '=' + std::to_string(value) + ',';
    }
    text += "};";
  }
  return text;
}

std::string structureText(const Genome& genome) {
  std::string text = rewriteText(genome);
  for (const RegionGene& region : genome.regions) {
    appendStructure(text, region);
    if (const auto mode = region.parameters.find("mode"); mode != region.parameters.end()) {
      text += '@' + std::to_string(mode->second);
    }
    text += ';';
  }
  return text;
}

bool isAlgebraic(const Genome& genome) {
  return std::any_of(genome.rewrites.begin(), genome.rewrites.end(),
                     [](const Rewrite& rewrite) { return isAlgebraic(rewrite); });
}

std::vector<std::string> Program::entries() const {
  std::vector<std::string> names;
  for (const PlanStep& step : plan.steps) {
    const auto* kernel = std::get_if<KernelStep>(&step);
    if (kernel != nullptr && std::find(names.begin(), names.end(), kernel->entry) == names.end()) {
      names.push_back(kernel->entry);
    }
  }
  return names;
}

}  // namespace swage::domain
