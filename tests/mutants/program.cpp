// SPDX-License-Identifier: Apache-2.0
// swage_mutants [--target cpu|cuda] [--count N] [--seed S]: kernels that the synthesiser writes, changed in small ways,
// through the real compiler and worker. What is true of each mutant is found out beforehand by the oracle, which runs
// it beside its original and knows nothing of the verifier:
//   wrong   it writes where it must not, stops the device, or its outputs are further from the original's than thirty
//           times what any accuracy contract for float32 allows
//   honest  it was made by a rule that cannot change what is computed, and its outputs are the original's to 1e-6
// Everything else is left out, because nobody knows what is true of it. What the worker lets pass goes through
// compute-sanitizer where it is installed, as whatever becomes an elite does. Leaves with 0 when no verdict was wrong.
#include <QCoreApplication>
#include <QElapsedTimer>
#include <QProcess>
#include <QTimer>

#include <cstdio>
#include <deque>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "core/base/files.h"
#include "core/domain/json.h"
#include "core/patterns/catalogue.h"
#include "core/process/locations.h"
#include "core/run/session_parts.h"
#include "core/synth/synthesizer.h"
#include "core/trust/sanitizer_check.h"
#include "core/trust/self_test.h"
#include "tests/mutants/mutation.h"

namespace swage::testing {
namespace {

namespace fs = std::filesystem;

constexpr double kSurelyWrong = 3e-5;  // relative; contracts for float32 end at 1e-6, or twice eager's error
constexpr double kSurelyHonest = 1e-6;
constexpr int kOracleRequests = 40;  // then a fresh one, with fresh memory
constexpr int kOracleLimitMs = 20000;
constexpr int kRaceRepeats = 60;
constexpr int kSanitizers = 8;  // at once

struct Options {
  domain::DeviceKind device = domain::DeviceKind::Cpu;
  std::size_t count = 40;
  std::uint64_t seed = 1;
};

struct Mutant {
  std::size_t original = 0;
  Mutation mutation;
  std::string binary;
  bool isWrong = false;
  std::string truth;
};

// What the engine says of a mutant in the end.
struct Judgement {
  const Mutant* mutant = nullptr;
  std::string family;
  bool isAccepted = false;
  std::string detail;
};

struct Original {
  std::string task;
  std::string what;  // pattern and parameters
  domain::Program program;
  std::string file;  // its binary
};

// Asks the oracle; a process that dies or hangs over a mutant has answered too.
class Oracle {
 public:
  explicit Oracle(domain::DeviceKind device) : m_device(device) {}
  ~Oracle() { end(); }

  // A process that a mutant before this one has poisoned dies over any request: who ends a used one is asked again.
  domain::Json ask(const domain::Json& request) {
    const bool isUsed = m_process != nullptr;
    const domain::Json answer = askOnce(request);
    return isUsed && answer.value("wrong", std::string()) == kCrashes ? askOnce(request) : answer;
  }

 private:
  static constexpr const char* kCrashes = "crashes";

  domain::Json askOnce(const domain::Json& request) {
    if (m_process && (++m_asked > kOracleRequests || m_process->state() == QProcess::NotRunning)) {
      end();
    }
    if (!m_process) {
      m_asked = 0;
      m_process = std::make_unique<QProcess>();
      m_process->setProcessChannelMode(QProcess::ForwardedErrorChannel);
      m_process->start(QStringLiteral(SWAGE_TEST_ORACLE),
                       {QString::fromStdString(std::string(domain::name(m_device)))});
      if (!m_process->waitForStarted()) {
        // Else every mutant would look like one that crashes.
        std::fprintf(stderr, "swage_mutants: cannot start the oracle %s\n", SWAGE_TEST_ORACLE);
        std::exit(5);
      }
    }
    m_process->write((request.dump() + '\n').c_str());
    QElapsedTimer clock;
    clock.start();
    while (!m_process->canReadLine() && m_process->state() != QProcess::NotRunning &&
           clock.elapsed() < kOracleLimitMs) {
      m_process->waitForReadyRead(200);
    }
    if (!m_process->canReadLine()) {
      const bool hangs = m_process->state() != QProcess::NotRunning;
      end();
      return {{"wrong", hangs ? "never ends" : kCrashes}};
    }
    const auto parsed = domain::parseJson(m_process->readLine().toStdString());
    return parsed ? *parsed : domain::Json{{"failed", "no answer"}};
  }

  void end() {
    if (m_process) {
      m_process->kill();
      m_process->waitForFinished();
      m_process.reset();
    }
  }
  domain::DeviceKind m_device;
  std::unique_ptr<QProcess> m_process;
  int m_asked = 0;
};

class Program : public QObject {
 public:
  Program(Options options, process::Locations locations)
      : m_options(options),
        m_locations(std::move(locations)),
        m_parts(run::SessionParts::standard(m_locations)),
        m_oracle(options.device),
        m_random(options.seed) {}

  void start() {
    process::WorkerSupervisor::Options worker;
    worker.command = m_parts.programs.workerCommand(m_options.device);
    m_worker = std::make_unique<process::WorkerSupervisor>(std::move(worker));
    connect(m_worker.get(), &process::WorkerSupervisor::failed, this, [this](const Error& error) { fail(error); });
    connect(m_worker.get(), &process::WorkerSupervisor::deviceReady, this, [this](const wire::WorkerReady& ready) {
      m_device = ready.device;
      m_worker->stop();
    });
    connect(m_worker.get(), &process::WorkerSupervisor::stopped, this, [this] { makeMutants(); });
    m_worker->start();
  }

 private:
  static void fail(const Error& error) {
    std::fprintf(stderr, "swage_mutants: %s\n", error.message().c_str());
    QCoreApplication::exit(5);
  }

  [[nodiscard]] Result<> addOriginals(const std::string& name, const patterns::Catalogue& catalogue) {
    SWAGE_TRY_ASSIGN(m_tasks[name], trust::SelfTestCorpus::loadTask(m_locations.selfTest, name));
    SWAGE_TRY_ASSIGN(const auto synthesizer, synth::Synthesizer::create(m_tasks[name].graph, m_device, catalogue));
    std::vector<domain::Genome> genomes = synthesizer->seeds();
    for (int i = 0; i < 12; ++i) {
      genomes.push_back(synthesizer->fresh(m_random));
    }
    std::map<std::string, int> perPattern;
    for (const domain::Genome& genome : genomes) {
      auto program = synthesizer->realise(genome);
      const bool usable = program && program->plan.hasKernels() &&
                          std::none_of(program->plan.steps.begin(), program->plan.steps.end(),
                                       [](const auto& step) { return std::holds_alternative<domain::AtenStep>(step); });
      const std::string structure = domain::structureText(genome);
      if (usable && perPattern[structure]++ < 2) {
        m_originals.push_back({name, structure, std::move(*program), {}});
      }
    }
    return {};
  }

  void makeMutants() {
    const auto catalogue = patterns::Catalogue::load(m_locations.patterns);
    if (!catalogue) {
      fail(catalogue.error());
      return;
    }
    for (const char* name : {"softmax", "scale_bias_relu", "row_sum", "layer_norm", "column_sum", "swish_gate"}) {
      if (const Result<> added = addOriginals(name, *catalogue); !added) {
        fail(added.error());
        return;
      }
    }
    if (m_originals.empty()) {
      fail(Error(ErrorKind::Internal, "nothing was synthesised"));
      return;
    }
    // More than are wanted: of many nobody can say what is true.
    const std::size_t perOriginal = 3 * m_options.count / m_originals.size() + 6;
    for (std::size_t i = 0; i < m_originals.size(); ++i) {
      for (Mutation& mutation : drawEvenly(mutationsOf(m_originals[i].program.source, m_originals[i].program.language),
                                           perOriginal, m_random)) {
        m_candidates.push_back({i, std::move(mutation), {}, false, {}});
      }
    }
    for (std::size_t i = m_candidates.size(); i > 1; --i) {
      std::swap(m_candidates[i - 1], m_candidates[m_random.below(i)]);
    }
    std::fprintf(stderr, "%zu originals, %zu mutants to choose from\n", m_originals.size(), m_candidates.size());
    compile();
  }

  void compile() {
    process::CompilerPool::Options pool;
    pool.command = m_parts.programs.compilerCommand;
    pool.size = trust::selfTestOptions(m_parts.programs, m_options.device).compilers;
    m_compilers = std::make_unique<process::CompilerPool>(std::move(pool));
    connect(m_compilers.get(), &process::CompilerPool::failed, this, [this](const Error& error) { fail(error); });
    connect(m_compilers.get(), &process::CompilerPool::compiled, this, &Program::handleCompiled);
    connect(m_compilers.get(), &process::CompilerPool::stopped, this, &Program::judge);
    for (std::size_t i = 0; i < m_originals.size(); ++i) {
      send(i, m_originals[i].program, m_originals[i].program.source);
    }
    more();
  }

  void send(std::size_t token, const domain::Program& program, const std::string& source) {
    domain::CompileRequest request = domain::compileRequest(program, m_device);
    request.source = source;
    m_compilers->compile(token, std::move(request));
  }

  // Keeps the compilers busy, and not more.
  void more() {
    while (m_compilers->pending() < m_compilers->size() + 2 && m_sent < m_candidates.size()) {
      const Mutant& mutant = m_candidates[m_sent];
      send(m_originals.size() + m_sent++, m_originals[mutant.original].program, mutant.mutation.source);
    }
    if (m_compilers->pending() == 0 && !std::exchange(m_judging, true)) {
      m_compilers->stop();
    }
  }

  void handleCompiled(std::uint64_t token, const domain::CompileOutcome& outcome) {
    const auto* binary = std::get_if<domain::CompiledBinary>(&outcome);
    if (token < m_originals.size()) {
      if (binary != nullptr) {
        m_originals[token].file = write(fmt::format("original-{}", token), binary->bytes);
        m_originals[token].program.compileFlags.clear();
        m_originalHashes[token] = binary->binaryHash;
      }
    } else if (binary == nullptr) {
      ++m_notCompiled;
    } else if (m_mutants.size() < m_options.count) {
      consult(m_candidates[token - m_originals.size()], *binary);
    }
    if (m_mutants.size() >= m_options.count) {
      m_sent = m_candidates.size();
    }
    QTimer::singleShot(0, this, [this] {
      if (!m_judging) {
        more();
      }
    });
  }

  void consult(Mutant& mutant, const domain::CompiledBinary& binary) {
    const Original& original = m_originals[mutant.original];
    const bool mayBeHonest = mutant.mutation.kind == MutationKind::Equivalent;
    if (original.file.empty() || (!mayBeHonest && binary.binaryHash == m_originalHashes[mutant.original])) {
      ++m_unknown;
      return;
    }
    const domain::Json answer =
        m_oracle.ask({{"plan", domain::toJson(original.program.plan)},
                      {"original", original.file},
                      {"mutant", write("mutant", binary.bytes)},
                      {"seed", m_options.seed * 1000 + 17},
                      {"draws", 2},
                      {"repeats", mutant.mutation.kind == MutationKind::Race ? kRaceRepeats : 2}});
    const double distance = answer.value("distance", 0.0);
    if (answer.contains("wrong") || distance > kSurelyWrong) {
      mutant.isWrong = true;
      mutant.truth =
          answer.contains("wrong") ? answer["wrong"].get<std::string>() : fmt::format("off by {:.3g}", distance);
    } else if (mayBeHonest && answer.contains("distance") && distance <= kSurelyHonest) {
      mutant.truth = "computes the same";
    } else {
      ++m_unknown;
      return;
    }
    if (mayBeHonest && mutant.isWrong) {
      std::printf("a rule that should change nothing did: %s\n%s\n", mutant.truth.c_str(),
                  mutant.mutation.diff.c_str());
      ++m_unknown;
      return;
    }
    mutant.binary = binary.bytes;
    m_mutants.push_back(mutant);
    if (m_mutants.size() % 25 == 0) {
      std::fprintf(stderr, "%zu mutants whose truth is known, %d unknown\n", m_mutants.size(), m_unknown);
    }
  }

  std::string write(const std::string& name, const std::string& bytes) {
    const std::string file = (m_folder / name).string();
    if (const Result<> written = writeFileAtomically(file, bytes); !written) {
      fail(written.error());
    }
    return file;
  }

  void judge() {
    trust::SelfTestCorpus corpus;
    corpus.tasks = m_tasks;
    for (std::size_t i = 0; i < m_mutants.size(); ++i) {
      const Mutant& mutant = m_mutants[i];
      trust::PlantedCase planted;
      planted.name = fmt::format("{}", i);
      planted.task = m_originals[mutant.original].task;
      planted.family = std::string(name(mutant.mutation.kind));
      planted.program = m_originals[mutant.original].program;
      planted.program.source = mutant.mutation.source;
      planted.binary = mutant.binary;
      planted.limitSeconds = mutant.isWrong ? 20.0 : 60.0;  // a busy machine makes nothing wrong
      planted.expected = {{"correct", ""}};
      if (mutant.isWrong) {
        planted.expected = {{"wrong", ""},     {"unstable", ""},     {"crashed", ""},
                            {"timed out", ""}, {"launch error", ""}, {"cheating", ""}};
      }
      corpus.cases.push_back(std::move(planted));
    }
    std::stable_sort(corpus.cases.begin(), corpus.cases.end(),
                     [](const auto& a, const auto& b) { return a.task < b.task; });
    m_test = std::make_unique<trust::SelfTest>(std::move(corpus),
                                               trust::selfTestOptions(m_parts.programs, m_options.device));
    connect(m_test.get(), &trust::SelfTest::finished, this, &Program::handleReport);
    m_test->start();
  }

  void handleReport(const Result<services::SelfTestReport>& report) {
    if (!report) {
      fail(report.error());
      return;
    }
    m_deviceName = report->device.name;
    for (const services::SelfTestCase& one : report->cases) {
      const Mutant& mutant = m_mutants[std::stoul(one.name)];
      const bool asExpected = one.verdict == services::SelfTestCase::Verdict::AsExpected;
      m_judgements.push_back({&mutant, one.family, asExpected != mutant.isWrong, one.detail});
    }
    if (m_options.device == domain::DeviceKind::Cuda && m_parts.programs.sanitizer.empty()) {
      std::fprintf(stderr, "compute-sanitizer is not installed: nothing is sanitised\n");
    }
    for (Judgement& judgement : m_judgements) {
      if (judgement.isAccepted && m_options.device == domain::DeviceKind::Cuda && !m_parts.programs.sanitizer.empty()) {
        m_unchecked.push_back(&judgement);
      }
    }
    m_sanitised = m_unchecked.size();
    for (int i = 0; i < kSanitizers; ++i) {
      sanitiseNext();
    }
  }

  void sanitiseNext() {
    if (m_unchecked.empty()) {
      if (m_checks == 0 && !std::exchange(m_reported, true)) {
        QTimer::singleShot(0, this, [this] { report(); });
      }
      return;
    }
    Judgement& judgement = *m_unchecked.front();
    m_unchecked.pop_front();
    auto* check = new trust::SanitizerCheck(
        {.sanitizer = m_parts.programs.sanitizer, .replay = m_parts.programs.replay, .ordinal = m_device.ordinal},
        this);
    connect(check, &trust::SanitizerCheck::found, this, [this, &judgement](const domain::Assurance& assurance) {
      m_unavailable += assurance.verdict == domain::AssuranceVerdict::Unavailable ? 1 : 0;
      if (assurance.verdict == domain::AssuranceVerdict::Failed) {
        judgement.isAccepted = false;
        judgement.detail = fmt::format("{}: {}", trust::sanitizerTool(assurance.kind), assurance.detail);
        ++m_foundLate;
      }
    });
    connect(check, &trust::SanitizerCheck::finished, this, [this, check] {
      check->deleteLater();
      --m_checks;
      sanitiseNext();
    });
    const Mutant& mutant = *judgement.mutant;
    using Kind = domain::AssuranceKind;
    if (const Result<> started = check->start(m_originals[mutant.original].program.plan, mutant.binary,
                                              {Kind::Memcheck, Kind::Racecheck, Kind::Initcheck});
        !started) {
      fail(started.error());
      return;
    }
    ++m_checks;
  }

  void report() {
    std::map<std::string, std::map<std::string, int>> table;
    int wrong = 0;
    for (const Judgement& judgement : m_judgements) {
      const Mutant& mutant = *judgement.mutant;
      const bool ok = judgement.isAccepted != mutant.isWrong;
      ++table[judgement.family][mutant.isWrong ? "wrong" : "honest"];
      table[judgement.family]["misjudged"] += ok ? 0 : 1;
      if (!ok) {
        ++wrong;
        const Original& original = m_originals[mutant.original];
        std::printf("WRONG VERDICT: %s of %s (%s)\ntruth: %s; verdict: %s\n%s\n", judgement.family.c_str(),
                    original.task.c_str(), original.what.c_str(), mutant.truth.c_str(), judgement.detail.c_str(),
                    mutant.mutation.diff.c_str());
      }
    }
    std::printf("%-18s %8s %8s %10s\n", "", "wrong", "honest", "misjudged");
    for (auto& [family, counts] : table) {
      std::printf("%-18s %8d %8d %10d\n", family.c_str(), counts["wrong"], counts["honest"], counts["misjudged"]);
    }
    std::printf("%zu mutants of %zu kernels on %s: %d wrong verdicts; left out: %d of unknown truth, %d not compiled\n",
                m_judgements.size(), m_originals.size(), m_deviceName.c_str(), wrong, m_unknown, m_notCompiled);
    std::printf("compute-sanitizer: %zu that had passed, %d found, %d runs without a result\n", m_sanitised,
                m_foundLate, m_unavailable);
    QCoreApplication::exit(wrong == 0 && m_judgements.size() == m_options.count ? 0 : 8);
  }

  Options m_options;
  process::Locations m_locations;
  run::SessionParts m_parts;
  Oracle m_oracle;
  Random m_random;
  domain::DeviceInfo m_device;
  std::map<std::string, domain::Task> m_tasks;
  std::vector<Original> m_originals;
  std::map<std::size_t, std::string> m_originalHashes;
  std::vector<Mutant> m_candidates;
  std::vector<Mutant> m_mutants;
  std::size_t m_sent = 0;
  int m_unknown = 0;
  int m_notCompiled = 0;
  bool m_judging = false;  // all are compiled
  std::string m_deviceName;
  std::vector<Judgement> m_judgements;
  std::deque<Judgement*> m_unchecked;  // by compute-sanitizer
  std::size_t m_sanitised = 0;
  int m_checks = 0;  // in progress
  int m_foundLate = 0;
  int m_unavailable = 0;
  bool m_reported = false;
  fs::path m_folder = makeFolder();
  std::unique_ptr<process::WorkerSupervisor> m_worker;
  std::unique_ptr<process::CompilerPool> m_compilers;
  std::unique_ptr<trust::SelfTest> m_test;

  static fs::path makeFolder() {
    std::string name = (fs::temp_directory_path() / "swage-mutants-XXXXXX").string();
    return ::mkdtemp(name.data()) == nullptr ? fs::temp_directory_path() : fs::path(name);
  }
};

int run(int argc, char** argv) {
  QCoreApplication application(argc, argv);
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--target") {
      options.device = domain::parseDeviceKind(argv[i + 1]).value_or(domain::DeviceKind::Cpu);
    } else if (option == "--count") {
      options.count = std::stoul(argv[i + 1]);
    } else if (option == "--seed") {
      options.seed = std::stoul(argv[i + 1]);
    } else {
      std::fprintf(stderr, "swage_mutants: unknown option %s\n", argv[i]);
      return 2;
    }
  }
  Program program(options, process::Locations::find(SWAGE_TEST_PROGRAMS));
  QTimer::singleShot(0, &program, [&program] { program.start(); });
  return QCoreApplication::exec();
}

}  // namespace
}  // namespace swage::testing

int main(int argc, char** argv) {
  return swage::testing::run(argc, argv);
}
