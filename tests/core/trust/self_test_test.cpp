// SPDX-License-Identifier: Apache-2.0
#include "core/trust/self_test.h"

#include <filesystem>
#include <fstream>

#include "core/domain/json.h"
#include "core/trust/self_test_gate.h"
#include "core/trust/trust.h"
#include "tests/core/run/session_fixture.h"
#include "tests/support/result_matchers.h"

namespace swage::trust {
namespace {

namespace fs = std::filesystem;
using services::SelfTestCase;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsError;
using testing::IsOk;
using ::testing::Not;
using testing::waitFor;

// A corpus on disk; the fake worker finds everything correct but the number 13, which is wrong.
class Corpus {
 public:
  explicit Corpus(domain::DeviceKind target = domain::DeviceKind::Cpu)
      : m_target(domain::name(target)), m_kernel(target == domain::DeviceKind::Cuda ? "/kernel.cu" : "/kernel.cpp") {
    fs::create_directories(m_folder / "tasks");
    std::ofstream(m_folder / "tasks/tiny.json")
        << domain::Json{{"graph", domain::toJson(testing::tinyTask().graph)},
                        {"input_generator", domain::toJson(testing::tinyTask().inputGenerator)}};
  }
  void add(const std::string& name, int number, const std::string& family, const std::string& expect,
           const std::string& more = {}) {
    const fs::path folder = m_folder / (m_target + "/" + name);
    fs::create_directories(folder);
    std::ofstream(folder / "case.toml") << "task = 'tiny'\nfamily = '" << family << "'\nwhy = 'why'\nexpect = ['"
                                        << expect << "']\n"
                                        << more << "[[step]]\nkernel = 'tiny_kernel'\narguments = ['i32 " << number
                                        << "', '%0', '%1']\n";
    std::ofstream(folder.string() + m_kernel) << "kernel " << number;
  }
  [[nodiscard]] const fs::path& path() const { return m_folder.path(); }
  [[nodiscard]] Result<SelfTestCorpus> load() const { return SelfTestCorpus::load(path(), domain::DeviceKind::Cpu); }

 private:
  testing::TempDir m_folder;
  std::string m_target;
  std::string m_kernel;
};

TEST(SelfTestCorpusFiles, SharedPartsStandBeforeTheKernel) {
  Corpus corpus;
  corpus.add("shares", 1, "control", "correct", "parts = ['first', 'second']\n");
  EXPECT_THAT(corpus.load(), testing::IsError(ErrorKind::NotFound, ::testing::HasSubstr("first.cpp")));
  fs::create_directories(corpus.path() / "parts");
  std::ofstream(corpus.path() / "parts/first.cpp") << "one ";
  std::ofstream(corpus.path() / "parts/second.cpp") << "two ";
  const auto loaded = corpus.load();
  ASSERT_THAT(loaded, IsOk());
  EXPECT_EQ(loaded->cases[0].program.source, "one two kernel 1");
}

Result<services::SelfTestReport> runSelfTest(const Corpus& corpus, const std::string& compiler = "ok") {
  auto loaded = corpus.load();
  EXPECT_THAT(loaded, IsOk());
  SelfTest test(*loaded, {.worker = testing::fakeWorker("ok"),
                          .compiler = testing::fakeCompiler(compiler),
                          .stopGrace = std::chrono::milliseconds(200)});
  std::vector<Result<services::SelfTestReport>> reports;
  QObject::connect(&test, &SelfTest::finished, &test,
                   [&](const Result<services::SelfTestReport>& report) { reports.push_back(report); });
  test.start();
  EXPECT_TRUE(waitFor([&] { return !reports.empty(); }));
  EXPECT_EQ(reports.size(), 1U);
  return reports.empty() ? Error(ErrorKind::Internal, "nothing") : reports.front();
}

TEST(SelfTestCorpusFiles, AreReadWithTheirPlans) {
  Corpus corpus;
  corpus.add("cheat", 13, "no work", "wrong: error", "scratch = ['float32[2,3]']\nlimit = 0.5\n");
  const auto loaded = corpus.load();
  ASSERT_THAT(loaded, IsOk());
  ASSERT_EQ(loaded->cases.size(), 1U);
  const PlantedCase& planted = loaded->cases[0];
  EXPECT_EQ(planted.name, "cheat");
  EXPECT_DOUBLE_EQ(planted.limitSeconds, 0.5);
  EXPECT_EQ(planted.program.source, "kernel 13");
  EXPECT_EQ(planted.program.plan.buffers.back(),
            domain::contiguousTensor(domain::ScalarType::Float32, domain::Shape{2, 3}));
  EXPECT_EQ(domain::findDefect(planted.program.plan), "");
  ASSERT_EQ(planted.expected.size(), 1U);
  EXPECT_EQ(planted.expected[0].rule, "error");
}

TEST(SelfTestCorpusFiles, ThatAreMalformedAreNamed) {
  Corpus corpus;
  corpus.add("cheat", 13, "no work", "wrong", "why = 'twice'\n");
  EXPECT_THAT(corpus.load(), IsError(ErrorKind::InvalidInput, HasSubstr("cpu/cheat/case.toml")));
  EXPECT_THAT(SelfTestCorpus::load(corpus.path(), domain::DeviceKind::Cuda),
              IsError(ErrorKind::Environment, HasSubstr("no self-test cases")));
}

TEST(SelfTestCorpusFiles, HaveAHashOfAllThatIsRead) {
  Corpus corpus;
  corpus.add("cheat", 13, "no work", "wrong");
  const auto first = corpus.load();
  const auto again = corpus.load();
  corpus.add("cheat", 14, "no work", "wrong");
  const auto changed = corpus.load();
  ASSERT_THAT(changed, IsOk());
  EXPECT_EQ(first->hash, again->hash);
  EXPECT_NE(first->hash, changed->hash);
}

TEST(SelfTestCorpusFiles, OfTheProgramAreWhole) {
  for (const domain::DeviceKind target : {domain::DeviceKind::Cpu, domain::DeviceKind::Cuda}) {
    const auto corpus = SelfTestCorpus::load(fs::path(SWAGE_TEST_SELF_TEST), target);
    ASSERT_THAT(corpus, IsOk());
    EXPECT_GT(corpus->cases.size(), 60U);
    for (const PlantedCase& planted : corpus->cases) {
      const bool isControl = planted.expected.size() == 1 && planted.expected[0].status == "correct";
      EXPECT_EQ(planted.isControl(), isControl) << planted.name;
    }
  }
}

TEST(SelfTestRun, ComparesEveryVerdictWithWhatWasPlanted) {
  Corpus corpus;
  corpus.add("a_control", 5, "control", "correct");
  corpus.add("b_found", 13, "no work", "wrong: error");
  corpus.add("c_other_rule", 13, "no work", "wrong: red zone");
  corpus.add("d_passes", 5, "replay", "unstable");
  corpus.add("e_needs_a_tool", 5, "read out of bounds", "crashed", "needs = 'memcheck'\n");
  const auto report = runSelfTest(corpus);
  ASSERT_THAT(report, IsOk());
  std::vector<SelfTestCase::Verdict> verdicts;
  for (const SelfTestCase& one : report->cases) {
    verdicts.push_back(one.verdict);
  }
  using Verdict = SelfTestCase::Verdict;
  EXPECT_THAT(verdicts, ElementsAre(Verdict::AsExpected, Verdict::AsExpected, Verdict::Wrong, Verdict::Wrong,
                                    Verdict::Unchecked));
  EXPECT_FALSE(report->hasPassed());
  EXPECT_EQ(report->device.uuid, "fake-cpu");
  EXPECT_EQ(report->torchVersion, "2.11.0");
}

TEST(SelfTestRun, CallsWhatTheCompilerRefusesRejected) {
  Corpus corpus;
  corpus.add("cheat", 5, "tampers", "rejected: code check");
  const auto report = runSelfTest(corpus, "reject_source");
  ASSERT_THAT(report, IsOk());
  EXPECT_TRUE(report->hasPassed()) << report->cases[0].detail;
}

TEST(SelfTestRun, WithoutACompilerFindsNothingOut) {
  Corpus corpus;
  corpus.add("cheat", 5, "no work", "wrong");
  EXPECT_THAT(runSelfTest(corpus, "no_compiler"), IsError(ErrorKind::Environment, HasSubstr("")));
}

TEST(StoredVerdicts, AreThoseOfOneBuild) {
  const testing::TempDir folder;
  SelfTestKey key;
  key.device.name = "Example";
  key.device.uuid = "1";
  key.torchVersion = "2.11.0";
  key.build = "this";
  ASSERT_THAT(keepVerdict(folder.path(), key, true, 79), IsOk());
  SelfTestKey other = key;
  other.build = "another";
  ASSERT_THAT(keepVerdict(folder.path(), other, true, 70), IsOk());
  std::ofstream(folder / "damaged.json") << "{";
  const auto stored = storedVerdicts(folder.path(), "this");
  ASSERT_EQ(stored.size(), 1U);
  EXPECT_EQ(stored.front().deviceName, "Example");
  EXPECT_EQ(stored.front().torchVersion, "2.11.0");
  EXPECT_EQ(stored.front().cases, 79);
  EXPECT_GT(stored.front().passedAtMs, std::int64_t{1600000000000});
  EXPECT_TRUE(storedVerdicts(folder / "missing", "this").empty());
}

class GateTest : public testing::SessionFixture {
 protected:
  explicit GateTest(domain::DeviceKind target = domain::DeviceKind::Cpu) : m_corpus(target) {
    m_parts.selfTest = SelfTestPolicy{.corpus = m_corpus.path(), .verdicts = m_folder / "verdicts", .skip = false};
    m_corpus.add("control", 5, "control", "correct");
  }
  [[nodiscard]] std::size_t verdicts() const {
    std::error_code ignored;
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(m_folder / "verdicts", ignored)) {
      ++count;
    }
    return count;
  }
  [[nodiscard]] std::string ground() const {
    const auto events = record().events(onlyRun().id);
    EXPECT_THAT(events, IsOk());
    for (const auto& event : *events) {
      if (event.kind == domain::EventKind::SelfTest) {
        return domain::parseJson(event.json)->at("ground");
      }
    }
    return {};
  }

  Corpus m_corpus;
};

TEST_F(GateTest, LetsASearchGoOnWhereCheatsAreFound) {
  m_corpus.add("cheat", 13, "no work", "wrong: error");
  EXPECT_FALSE(run().error);
  EXPECT_EQ(verdicts(), 1U);
  EXPECT_EQ(ground(), "passed");
  EXPECT_FALSE(skippedSelfTest(record(), onlyRun().id).value());
  EXPECT_THAT(m_notices, IsEmpty());
}

TEST_F(GateTest, AsksOnceForADevice) {
  EXPECT_FALSE(run().error);
  m_spec.project = m_folder / "other";
  m_parts.selfTest->corpus = m_corpus.path();
  EXPECT_FALSE(run().error);
  EXPECT_EQ(ground(), "passed before");
}

TEST_F(GateTest, AsksAgainWhenTheCorpusIsAnother) {
  EXPECT_FALSE(run().error);
  m_corpus.add("cheat", 13, "no work", "wrong: error");
  m_spec.project = m_folder / "other";
  EXPECT_FALSE(run().error);
  EXPECT_EQ(ground(), "passed");
  EXPECT_EQ(verdicts(), 2U);
}

TEST_F(GateTest, EndsASearchWhereACheatPasses) {
  m_corpus.add("cheat", 5, "replay", "unstable");
  const services::RunOutcome outcome = run();
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->kind(), ErrorKind::Environment);
  EXPECT_THAT(outcome.error->message(), HasSubstr("1 of 2 self-test cases went wrong: 'cheat' (replay) came out as "
                                                  "'correct', not 'unstable'"));
  EXPECT_THAT(outcome.error->hint(), HasSubstr("--no-self-test"));
  EXPECT_FALSE(outcome.run.isValid());
  EXPECT_THAT(m_rows, IsEmpty());
  EXPECT_EQ(verdicts(), 0U);
}

TEST_F(GateTest, EndsASearchWhereAControlFails) {
  m_corpus.add("control_two", 13, "control", "correct");
  EXPECT_TRUE(run().error);
}

TEST_F(GateTest, CanBeSkippedAndSaysSo) {
  m_corpus.add("cheat", 5, "replay", "unstable");
  m_parts.selfTest->skip = true;
  EXPECT_FALSE(run().error);
  EXPECT_EQ(ground(), "skipped");
  EXPECT_TRUE(skippedSelfTest(record(), onlyRun().id).value());
  ASSERT_EQ(m_notices.size(), 1U);
  EXPECT_THAT(m_notices[0].text, HasSubstr("was skipped"));
}

TEST_F(GateTest, StopsWithTheSearch) {
  m_parts.programs.workerCommand = [](domain::DeviceKind) { return testing::fakeWorker("slow"); };
  for (int i = 0; i < 20; ++i) {
    m_corpus.add("control" + std::to_string(i), 5, "control", "correct");
  }
  start(m_session);
  ASSERT_TRUE(waitFor(
      [this] { return !m_progress.empty() && m_progress.back().stage.find("self-test 1 of") != std::string::npos; }));
  m_session->stop();
  ASSERT_TRUE(waitUntilFinished());
  EXPECT_TRUE(m_outcomes[0].interrupted);
  m_session.reset();
}

class GateOfSeveralDevices : public GateTest {
 protected:
  GateOfSeveralDevices() : GateTest(domain::DeviceKind::Cuda) {
    ::setenv("XDG_RUNTIME_DIR", m_folder.path().c_str(), 1);
    m_corpus.add("cheat", 13, "no work", "wrong: error");
    m_parts.programs.workerCommand = [](domain::DeviceKind) { return gpu("ok", "GPU-1"); };
    m_parts.programs.driver = [] { return process::DriverState::Loaded; };
    m_spec.target = "cuda";
    m_spec.maxEvaluations = 60;
    m_spaceSize = 1000;
  }
  ~GateOfSeveralDevices() override { ::unsetenv("XDG_RUNTIME_DIR"); }

  static process::LaunchCommand gpu(const std::string& behaviour, const std::string& uuid) {
    return testing::fakeWorker(behaviour, {"--gpu", "--evaluate-ms", "20", "--uuid", uuid});
  }
  [[nodiscard]] bool hasJoined() const {
    const auto events = record().events(onlyRun().id);
    EXPECT_THAT(events, IsOk());
    return std::any_of(events->begin(), events->end(),
                       [](const auto& event) { return event.kind == domain::EventKind::DeviceJoined; });
  }
};

TEST_F(GateOfSeveralDevices, AsksEachOfThem) {
  m_parts.moreWorkers = {gpu("ok", "GPU-2")};
  EXPECT_FALSE(run().error);
  EXPECT_TRUE(hasJoined());
  EXPECT_EQ(verdicts(), 2U);
}

TEST_F(GateOfSeveralDevices, LeavesOutTheOneWhereACheatPasses) {
  m_parts.moreWorkers = {gpu("believe", "GPU-2")};
  EXPECT_FALSE(run().error);
  EXPECT_FALSE(hasJoined());
  EXPECT_EQ(verdicts(), 1U);
  ASSERT_THAT(m_notices, Not(IsEmpty()));
  EXPECT_THAT(m_notices[0].text, HasSubstr("a GPU is left out: evaluations on Fake GPU cannot be trusted: 1 of 2"));
}

}  // namespace
}  // namespace swage::trust
