// SPDX-License-Identifier: Apache-2.0
#include "tests/mutants/mutation.h"

#include <algorithm>
#include <array>
#include <map>
#include <regex>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace swage::testing {
namespace {

struct Rule {
  MutationKind kind = MutationKind::ArithmeticSlip;
  std::regex pattern;       // within one line
  std::string replacement;  // ECMAScript format
};

// Where computing happens: statements on values, states and groups.
bool computes(const std::string& line) {
  static const std::regex pattern(
      R"(^\s*(const )?(float|double) [\w\[\], ]+ = |^\s*(?!arrived)[\w.]+(\[[^\]]*\])? ([-+*]?=) )");
  return std::regex_search(line, pattern);
}

const std::vector<Rule>& slips() {
  using Kind = MutationKind;
  static const std::vector<Rule> rules = [] {
    const auto slip = [](const char* pattern, const char* replacement) {
      return Rule{Kind::ArithmeticSlip, std::regex(pattern), replacement};
    };
    return std::vector<Rule>{slip(R"( \+ )", " - "),
                             slip(R"( - )", " + "),
                             slip(R"( \* )", " + "),
                             slip(R"( \+= )", " -= "),
                             slip(R"( / )", " * "),
                             slip(R"(\bmaximum\()", "minimum("),
                             slip(R"(\b(__expf|expf|fastExp)\(([\w.]+)\))", "$1(0.5f * $2)"),
                             slip(R"(\b(\d+\.\d*(?:e[-+]?\d+)?)f\b)", "($1f * 1.5f)"),
                             slip(R"(= -kInfinity;)", "= 0.75f;")};
  }();
  return rules;
}

const std::vector<Rule>& shapeRules() {
  using Kind = MutationKind;
  static const std::vector<Rule> rules{
      {Kind::MissingBound, std::regex(R"(\bif \(([^()]*(?:\([^()]*\))?[^()]*(?:<|<=|>|>=) [^&|]*)\) \{)"),
       "if (true) {"},
      {Kind::MissingBound, std::regex(R"(\bif \((\w+ (?:<|<=) \w+)\) )"), "if (true) "},
      {Kind::OffByOne, std::regex(R"(\bfor \((\w+) (\w+) = 0;)"), "for ($1 $2 = 1;"},
      {Kind::OffByOne, std::regex(R"((\bfor \([^;]*; \w+) < ([^;]+);)"), "$1 < $2 - 1;"},
      {Kind::OffByOne, std::regex(R"((\bfor \([^;]*; \w+) < ([^;]+);)"), "$1 <= $2;"},
      {Kind::DroppedTail, std::regex(R"((\bfor \([^;]*; \w+) < (\w+);)"), "$1 < $2 / 16 * 16;"},
      {Kind::Equivalent, std::regex(R"(= \(([\w.]+) ([*+]) ([\w.]+)\);)"), "= ($3 $2 $1);"},
      {Kind::Equivalent, std::regex(R"(\(([\w.]+) \* ([\w.]+)\))"), "($2 * $1)"},
  };
  return rules;
}

// What threads do to one another is written in shared functions, too.
const std::vector<Rule>& raceRules() {
  using Kind = MutationKind;
  static const std::vector<Rule> rules{
      {Kind::Race, std::regex(R"(#pragma omp (barrier|atomic|critical)\b.*)"), ""},
      {Kind::Race, std::regex(R"(\b(__syncthreads\(\)|__syncwarp\(\w*\)|clusterBarrier\(\));)"), ";"},
  };
  return rules;
}

std::vector<std::string> linesOf(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

class Mutator {
 public:
  Mutator(std::string_view source, domain::Language language) : m_lines(linesOf(source)), m_language(language) {
    while (m_first < m_lines.size() && !m_lines[m_first].starts_with("extern \"C\"")) {
      ++m_first;
    }
  }

  std::vector<Mutation> run() {
    for (std::size_t i = 0; i < m_first; ++i) {
      applyAll(raceRules(), i);
    }
    for (std::size_t i = m_first; i < m_lines.size(); ++i) {
      if (m_lines[i].starts_with("//")) {
        continue;
      }
      if (computes(m_lines[i])) {
        applyAll(slips(), i);
      }
      applyAll(shapeRules(), i);
      applyAll(raceRules(), i);
      unroll(i);
    }
    rename();
    return std::move(m_found);
  }

 private:
  // One mutation for each place where a rule fits.
  void applyAll(const std::vector<Rule>& rules, std::size_t index) {
    const std::string& line = m_lines[index];
    for (const Rule& rule : rules) {
      for (std::sregex_iterator match(line.begin(), line.end(), rule.pattern), end; match != end; ++match) {
        const std::string changed = line.substr(0, static_cast<std::size_t>(match->position())) +
                                    match->format(rule.replacement) +
                                    line.substr(static_cast<std::size_t>(match->position() + match->length()));
        add(rule.kind, {{index, changed}});
      }
    }
  }

  // A loop that no pragma belongs to yet.
  void unroll(std::size_t index) {
    static const std::regex loop(R"(^\s*for \()");
    if (!std::regex_search(m_lines[index], loop) || m_lines[index - 1].find('#') != std::string::npos) {
      return;
    }
    const char* pragma = m_language == domain::Language::CudaCpp ? "#pragma unroll 2\n" : "#pragma GCC unroll 3\n";
    add(MutationKind::Equivalent, {{index, pragma + m_lines[index]}});
  }

  void rename() {
    std::set<std::string> names;
    static const std::regex local(R"(\bconst (?:float|double) (\w+) =)");
    for (std::size_t i = m_first; i < m_lines.size(); ++i) {
      std::smatch match;
      if (std::regex_search(m_lines[i], match, local)) {
        names.insert(match[1]);
      }
    }
    for (const std::string& old : names) {
      const std::regex word("\\b" + old + "\\b");
      std::map<std::size_t, std::string> changes;
      for (std::size_t i = m_first; i < m_lines.size(); ++i) {
        if (std::regex_search(m_lines[i], word)) {
          changes[i] = std::regex_replace(m_lines[i], word, "renamed_" + old);
        }
      }
      add(MutationKind::Equivalent, changes);
    }
  }

  void add(MutationKind kind, const std::map<std::size_t, std::string>& changes) {
    Mutation mutation{kind, {}, {}};
    bool differs = false;
    for (std::size_t i = 0; i < m_lines.size(); ++i) {
      const auto change = changes.find(i);
      mutation.source += (change == changes.end() ? m_lines[i] : change->second) + '\n';
      if (change != changes.end() && change->second != m_lines[i]) {
        differs = true;
        mutation.diff += fmt::format("line {}:\n- {}\n+ {}\n", i + 1, m_lines[i], change->second);
      }
    }
    if (differs && m_seen.insert(mutation.source).second) {
      m_found.push_back(std::move(mutation));
    }
  }

  std::vector<std::string> m_lines;
  domain::Language m_language;
  std::size_t m_first = 0;
  std::set<std::string> m_seen;
  std::vector<Mutation> m_found;
};

}  // namespace

std::string_view name(MutationKind kind) {
  switch (kind) {
    case MutationKind::ArithmeticSlip: return "arithmetic slip";
    case MutationKind::MissingBound: return "missing bound";
    case MutationKind::OffByOne: return "off by one";
    case MutationKind::DroppedTail: return "dropped tail";
    case MutationKind::Race: return "race";
    case MutationKind::Equivalent: return "equivalent";
  }
  return "unknown";
}

std::vector<Mutation> mutationsOf(std::string_view source, domain::Language language) {
  return Mutator(source, language).run();
}

std::vector<Mutation> drawEvenly(std::vector<Mutation> mutations, std::size_t count, Random& random) {
  std::map<MutationKind, std::vector<Mutation>> byKind;
  for (Mutation& mutation : mutations) {
    byKind[mutation.kind].push_back(std::move(mutation));
  }
  std::vector<Mutation> drawn;
  while (drawn.size() < count && !byKind.empty()) {
    for (auto entry = byKind.begin(); entry != byKind.end() && drawn.size() < count;) {
      auto& left = entry->second;
      const auto index = static_cast<std::size_t>(random.below(left.size()));
      std::swap(left[index], left.back());
      drawn.push_back(std::move(left.back()));
      left.pop_back();
      entry = left.empty() ? byKind.erase(entry) : std::next(entry);
    }
  }
  return drawn;
}

}  // namespace swage::testing
