// SPDX-License-Identifier: Apache-2.0
#include "tests/core/retrieval/questions.h"

#include <algorithm>
#include <array>
#include <random>

#include <fmt/format.h>
#include <toml++/toml.h>

namespace swage::testing {
namespace {

const std::filesystem::path kRoot = SWAGE_TEST_ROOT;
constexpr std::string_view kInductor = "inductor:";

bool isWanted(const std::string& key, const std::string& wanted) {
  if (!wanted.starts_with(kInductor)) {
    return key == wanted;
  }
  return key.starts_with("inductor/") && key.find('/' + wanted.substr(kInductor.size()) + ':') != std::string::npos;
}

// About a few of these things, and with names that few others have, as sources are.
domain::PatternEntry madeUpPiece(int number) {
  constexpr std::array<const char*, 32> kWords{
      "softmax", "matmul",  "row",  "column",   "warp", "shared", "register", "tile",
      "block",   "cluster", "tma",  "wgmma",    "mma",  "async",  "copy",     "reduce",
      "scan",    "gather",  "pool", "conv",     "norm", "layer",  "batch",    "vector",
      "float32", "bf16",    "fp8",  "epilogue", "bias", "gelu",   "stream",   "persistent"};
  constexpr int kWordsOfBody = 200;
  constexpr std::uint32_t kNames = 5000;
  std::minstd_rand random(static_cast<std::uint32_t>(number) + 1U);
  std::array<const char*, 5> subjects{};
  std::generate(subjects.begin(), subjects.end(), [&] { return kWords[random() % kWords.size()]; });
  const auto word = [&] { return std::string(subjects[random() % subjects.size()]); };
  const auto name = [&] { return fmt::format("{}_{}", word(), random() % kNames); };
  domain::PatternEntry entry;
  entry.key = fmt::format("made up/{}", number);
  entry.title = word() + ' ' + word() + ' ' + name();
  entry.summary = word() + ' ' + name() + ' ' + word();
  for (int i = 0; i < kWordsOfBody; ++i) {
    entry.body += (i % 8 == 0 ? word() : name()) + ' ';
  }
  entry.operators = {word()};
  return entry;
}

}  // namespace

bool LabelledQuestion::needsInductor() const {
  return std::any_of(wanted.begin(), wanted.end(), [](const std::string& one) { return one.starts_with(kInductor); });
}

std::vector<LabelledQuestion> labelledQuestions() {
  std::vector<LabelledQuestion> questions;
  const toml::table root = toml::parse_file((kRoot / "tests/core/retrieval/questions.toml").string());
  for (const toml::node& node : *root.get_as<toml::array>("question")) {
    const toml::table& table = *node.as_table();
    LabelledQuestion question{table["text"].value_or(std::string()), {}};
    for (const toml::node& one : *table.get_as<toml::array>("wanted")) {
      question.wanted.push_back(one.value_or(std::string()));
    }
    questions.push_back(std::move(question));
  }
  return questions;
}

std::vector<retrieval::Unit> ownUnits() {
  std::vector<retrieval::Unit> units = retrieval::catalogueUnits(kRoot / "patterns");
  for (retrieval::Unit& unit : retrieval::dataSheetUnits(kRoot / "resources/devices")) {
    units.push_back(std::move(unit));
  }
  return units;
}

std::vector<retrieval::Unit> inductorUnits() {
  const std::filesystem::path environment = SWAGE_TEST_VENV;
  return environment.empty() ? std::vector<retrieval::Unit>() : retrieval::pythonUnits(environment / "bin/python");
}

double recallAtFive(const retrieval::Finder& finder, const std::vector<LabelledQuestion>& questions,
                    std::string& missed) {
  double sum = 0.0;
  for (const LabelledQuestion& question : questions) {
    const auto found = finder.find({.text = question.text, .limit = 5}, retrieval::Finder::Bodies::No);
    int hits = 0;
    for (const std::string& wanted : question.wanted) {
      const bool isFound = found && std::any_of(found->begin(), found->end(), [&wanted](const retrieval::Found& one) {
                             return isWanted(one.entry.key, wanted);
                           });
      hits += isFound ? 1 : 0;
      if (!isFound) {
        missed += fmt::format("'{}' does not find {}, but", question.text, wanted);
        for (std::size_t i = 0; found && i < found->size(); ++i) {
          missed += ' ' + (*found)[i].entry.key;
        }
        missed += '\n';
      }
    }
    sum += static_cast<double>(hits) / static_cast<double>(question.wanted.size());
  }
  return sum / static_cast<double>(questions.size());
}

std::vector<retrieval::Unit> madeUpUnits(int pieces) {
  constexpr int kInUnit = 100;
  std::vector<retrieval::Unit> units;
  for (int first = 0; first < pieces; first += kInUnit) {
    const auto read = [first, pieces]() -> Result<std::vector<domain::PatternEntry>> {
      std::vector<domain::PatternEntry> entries;
      for (int i = first; i < std::min(first + kInUnit, pieces); ++i) {
        entries.push_back(madeUpPiece(i));
      }
      return entries;
    };
    units.push_back({fmt::format("unit {}", first), "1", read});
  }
  return units;
}

}  // namespace swage::testing
