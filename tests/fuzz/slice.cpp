// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/slice.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "tests/fuzz/judge.h"

namespace swage::fuzz {
namespace {

using domain::DeviceKind;
using domain::Json;

constexpr std::size_t kBatch = 16;  // candidates in one source
constexpr std::size_t kKeptLog = 1500;
const toolchain::ProcessLimits kCompileLimits{.seconds = 300.0, .memoryBytes = std::int64_t{4} << 30};

void say(const Json& line) {
  fmt::print("{}\n", domain::dumpJson(line));
  std::fflush(stdout);
}

// One case on its way.
struct Trial {
  std::string item;
  FuzzCase which;
  Candidates cpu;
  Candidates cuda;
  std::string refusal;
  std::vector<Finding> findings;
  std::map<const Candidate*, std::pair<domain::LaunchPlan, std::shared_ptr<const std::string>>> compiled;
};

class Slice {
 public:
  Slice(const SliceOptions& options, const patterns::Catalogue& catalogue, toolchain::Compiler* compiler)
      : m_options(options), m_catalogue(catalogue), m_compiler(compiler), m_judge(options.worker) {}

  void add(const std::string& item) {
    say({{"begin", item}});
    Trial trial{item, {}, {}, {}, {}, {}, {}};
    auto found = findCase(item);
    if (!found) {
      trial.findings.push_back({"unreadable", found.error().message(), {}});
    } else {
      trial.which = std::move(*found);
      trial.cpu = synthesise(trial.which, deviceFor(DeviceKind::Cpu), m_catalogue, m_options.candidates);
      trial.cuda = synthesise(trial.which, deviceFor(DeviceKind::Cuda), m_catalogue, m_options.candidates);
      for (const Candidates* made : {&trial.cpu, &trial.cuda}) {
        trial.findings.insert(trial.findings.end(), made->findings.begin(), made->findings.end());
      }
    }
    m_trials.push_back(std::move(trial));
  }

  void finish() {
    if (m_compiler != nullptr && m_options.compiles) {
      compileAll(DeviceKind::Cpu);
    }
    if (m_compiler != nullptr && m_options.cuda) {
      compileAll(DeviceKind::Cuda);
    }
    for (Trial& trial : m_trials) {
      say({{"begin", trial.item}});
      judge(trial);
      report(trial);
    }
  }

 private:
  void compileAll(DeviceKind target) {
    std::vector<std::pair<Trial*, const Candidate*>> waiting;
    const auto flush = [&] {
      if (!waiting.empty()) {
        compile(waiting, target);
        waiting.clear();
      }
    };
    for (Trial& trial : m_trials) {
      for (const Candidate& candidate : (target == DeviceKind::Cpu ? trial.cpu : trial.cuda).programs) {
        waiting.emplace_back(&trial, &candidate);
        if (waiting.size() == kBatch) {
          flush();
        }
      }
    }
    flush();
  }

  // All of them at once; one by one where that fails, to find out which it was.
  void compile(const std::vector<std::pair<Trial*, const Candidate*>>& members, DeviceKind target) {
    Batch batch;
    for (const auto& [trial, candidate] : members) {
      batch.add(*candidate);
    }
    const domain::CompileOutcome outcome = m_compiler->compile(batch.request(target), kCompileLimits);
    const auto* binary = std::get_if<domain::CompiledBinary>(&outcome);
    if (binary == nullptr && members.size() > 1) {
      for (const auto& member : members) {
        compile({member}, target);
      }
      return;
    }
    if (binary == nullptr) {
      const std::string& log = std::get<domain::CompileFailed>(outcome).log;
      members[0].first->findings.push_back({fmt::format("does not compile for {}", domain::name(target)),
                                            log.substr(0, kKeptLog), members[0].second->genome});
      return;
    }
    if (target == DeviceKind::Cpu) {
      const auto bytes = std::make_shared<const std::string>(binary->bytes);
      for (std::size_t i = 0; i < members.size(); ++i) {
        members[i].first->compiled[members[i].second] = {batch.members()[i].plan, bytes};
      }
    }
  }

  void judge(Trial& trial) {
    if (m_options.worker.empty() || trial.compiled.empty()) {
      return;
    }
    trial.refusal = m_judge.load(trial.which);
    if (!trial.refusal.empty()) {
      return;
    }
    for (const auto& [candidate, made] : trial.compiled) {
      if (auto finding = m_judge.judge(made.first, *made.second)) {
        finding->genome = candidate->genome;
        trial.findings.push_back(std::move(*finding));
      }
    }
  }

  static void report(const Trial& trial) {
    Json findings = Json::array();
    for (const Finding& finding : trial.findings) {
      findings.push_back(toJson(finding));
    }
    say({{"end", trial.item},
         {"candidates", trial.cpu.programs.size() + trial.cuda.programs.size()},
         {"run", trial.refusal.empty() ? trial.compiled.size() : 0},
         {"refusal", trial.refusal},
         {"findings", std::move(findings)}});
  }

  const SliceOptions& m_options;
  const patterns::Catalogue& m_catalogue;
  toolchain::Compiler* m_compiler;
  Judge m_judge;
  std::vector<Trial> m_trials;
};

}  // namespace

int runSlice(const std::vector<std::string>& items, const SliceOptions& options) {
  // Tensors this small leave the threads of a team waiting most of the time, which they would do at full speed.
  ::setenv("OMP_WAIT_POLICY", "passive", 0);  // NOLINT(concurrency-mt-unsafe): before any thread
  const auto catalogue = patterns::Catalogue::load(options.patterns);
  if (!catalogue) {
    fmt::print(stderr, "swage-fuzz: {}\n", catalogue.error().message());
    return 3;
  }
  std::optional<toolchain::Compiler> compiler;
  if (options.compiles || options.cuda) {
    auto opened = toolchain::Compiler::open(options.toolchain);
    if (!opened) {
      fmt::print(stderr, "swage-fuzz: {}\n", opened.error().message());
      return 3;
    }
    compiler = std::move(*opened);
  }
  Slice slice(options, *catalogue, compiler ? &*compiler : nullptr);
  for (const std::string& item : items) {
    slice.add(item);
  }
  slice.finish();
  return 0;
}

}  // namespace swage::fuzz
