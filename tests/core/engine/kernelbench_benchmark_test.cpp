// SPDX-License-Identifier: Apache-2.0
// Benchmarks over problems whose import and check a shell script answers in the place of Python, with the fake worker
// and compiler behind real sessions.
#include "core/engine/kernelbench_benchmark.h"

#include <algorithm>
#include <fstream>

#include "core/base/files.h"
#include "core/engine/kernelbench_facts.h"
#include "tests/core/run/session_fixture.h"
#include "tests/support/result_matchers.h"

namespace swage::engine {
namespace {

using exporting::KernelBenchDocument;
using exporting::KernelBenchRow;
using ::testing::ElementsAre;
using testing::fakeWorker;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsError;
using testing::IsOk;
using testing::waitFor;

constexpr const char* kModule =
    "import torch\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return torch.relu(x)\n";

class KernelBenchBenchmarkTest : public testing::SessionFixture {
 protected:
  KernelBenchBenchmarkTest() {
    std::ofstream(std::filesystem::path(m_spec.task) / "source.py") << kModule;
    // import: a copy of the bundle, or for 5_Broken a document with an error. kernelbench-check: a verdict.
    const std::filesystem::path python = m_folder / "python";
    std::ofstream(python) << "#!/bin/sh\necho \"$*\" >> '" << log().string() << "'\ncase \"$3 $4\" in\n"
                          << "*5_Broken*) echo '{\"error\": {\"message\": \"it cannot be traced\"}}'; exit 4;;\n"
                          << "*7_Killed*) kill -9 $$;;\n"
                          << "import*) cp -r '" << m_spec.task << "' \"$6\"; echo '{}';;\n"
                          << "kernelbench-check*) test -e \"$4\" && echo '{\"verdict\": \"accepted\", "
                             "\"trials\": \"(5 / 5)\", \"problem\": \"\", \"note\": \"on the CPU\"}';;\nesac\n";
    std::filesystem::permissions(python, std::filesystem::perms::owner_all);
    m_parts.programs.bridge = {python.string(), "/bridge"};
    m_options.checkout = m_folder / "checkout";
    m_options.file = m_folder / "out.json";
    m_options.spec = m_spec;
  }

  [[nodiscard]] std::filesystem::path log() const { return m_folder / "calls"; }
  // Lines of the log in which the file is imported.
  [[nodiscard]] int imports(const std::string& name) const {
    const std::string calls = readTextFile(log()).value_or("");
    int count = 0;
    for (std::size_t at = calls.find("import /checkout/" + name); at != std::string::npos;
         at = calls.find("import /checkout/" + name, at + 1)) {
      ++count;
    }
    return count;
  }
  void problems(const std::vector<std::string>& names) {
    m_options.problems.clear();
    for (const std::string& name : names) {
      m_options.problems.push_back({1, std::stoi(name), name, "/checkout/" + name + ".py"});
    }
  }

  void connectTo(KernelBenchBenchmark& benchmark) {
    m_rowsEnded.clear();
    m_result.reset();
    QObject::connect(&benchmark, &KernelBenchBenchmark::taskEnded, &benchmark,
                     [this](const KernelBenchRow& row) { m_rowsEnded.push_back(row.name); });
    QObject::connect(&benchmark, &KernelBenchBenchmark::finished, &benchmark,
                     [this](const Result<KernelBenchDocument>& document) {
                       EXPECT_FALSE(m_result.has_value());
                       m_result = document;
                     });
  }
  Result<KernelBenchDocument> measure() {
    KernelBenchBenchmark benchmark(m_parts, m_options);
    connectTo(benchmark);
    benchmark.start();
    EXPECT_TRUE(waitFor([this] { return m_result.has_value(); }));
    return m_result.value_or(Error(ErrorKind::Internal, "no result"));
  }

  KernelBenchBenchmark::Options m_options;
  std::vector<std::string> m_rowsEnded;
  std::optional<Result<KernelBenchDocument>> m_result;
};

TEST_F(KernelBenchBenchmarkTest, SearchesExportsAndChecksEachProblem) {
  problems({"1_First", "3_Third"});
  m_options.largestTensorBytes = 1000;
  const auto document = measure();
  ASSERT_THAT(document, IsOk());
  EXPECT_THAT(m_rowsEnded, ElementsAre("1_First", "3_Third"));
  EXPECT_THAT(readTextFile(log()).value(), HasSubstr("--largest-tensor 1000"));
  const KernelBenchRow& row = document->rows.at(0);
  EXPECT_TRUE(row.run.isValid());
  EXPECT_NE(row.run, document->rows.at(1).run);
  EXPECT_EQ(row.candidates, 20);
  EXPECT_THAT(row.operators, ElementsAre("aten.relu.default"));
  ASSERT_TRUE(row.kernel.has_value());
  EXPECT_GT(row.kernel->timeNs, 0.0);
  EXPECT_TRUE(row.kernel->speedup.isKnown());
  EXPECT_THAT(row.kernel->aten, IsEmpty());
  EXPECT_THAT(row.alwaysAten, IsEmpty());
  EXPECT_EQ(row.baselineMode, "eager");
  EXPECT_EQ(row.exported, "kernel");
  EXPECT_THAT(readTextFile(row.exportFile).value_or(""), HasSubstr("class ModelNew("));
  EXPECT_EQ(row.check.verdict, "accepted");
  EXPECT_EQ(row.check.note, "on the CPU");
  EXPECT_EQ(row.failedStage, "");
  EXPECT_EQ(exporting::toJson(*readKernelBenchFile(m_options.file)), exporting::toJson(*document));
}

TEST_F(KernelBenchBenchmarkTest, AFailingProblemIsARowAndNotTheEnd) {
  problems({"5_Broken", "7_Killed", "9_Good"});
  const auto document = measure();
  ASSERT_THAT(document, IsOk());
  ASSERT_EQ(document->rows.size(), 3U);
  EXPECT_EQ(document->rows[0].failedStage, "import");
  EXPECT_EQ(document->rows[0].failure, "it cannot be traced");
  EXPECT_EQ(document->rows[0].check.verdict, "not run");
  EXPECT_THAT(document->rows[1].failure, HasSubstr("without a result"));
  EXPECT_EQ(document->rows[1].failureKind, name(ErrorKind::Environment));
  EXPECT_EQ(document->rows[2].check.verdict, "accepted");
}

TEST_F(KernelBenchBenchmarkTest, AProblemWithoutACorrectKernelIsARowWithTheReasonAndPyTorchsWay) {
  problems({"1_First"});
  m_spaceSize = 1;
  m_parts.programs.compilerCommand = testing::fakeCompiler("compile_error");
  const auto document = measure();
  ASSERT_THAT(document, IsOk());
  const KernelBenchRow& row = document->rows.at(0);
  EXPECT_FALSE(row.kernel.has_value());
  EXPECT_EQ(row.failedStage, "search");
  EXPECT_THAT(row.failure, HasSubstr("no kernel is correct: 1 compile error"));
  EXPECT_THAT(row.alwaysAten, ElementsAre("aten.relu.default")) << "nothing else can compute it";
  EXPECT_EQ(row.exported, "eager");
  EXPECT_EQ(row.check.verdict, "accepted");
}

// torch.compile is the fastest there: half a microsecond, where the fastest kernel of the fake worker takes a whole one
// and eager 100. The checker rejects the first export; what it says of the second is `second`.
class RejectedCompile : public KernelBenchBenchmarkTest {
 protected:
  KernelBenchRow measureWith(const std::string& second) {
    const std::filesystem::path python = m_folder / "python";
    std::ofstream(python) << "#!/bin/sh\ncase \"$3\" in\n"
                          << "import) cp -r '" << m_spec.task << "' \"$6\"; echo '{}';;\n"
                          << "kernelbench-check) [ -e \"$0.asked\" ] && { " << second
                          << "; exit; }; touch \"$0.asked\"\n"
                          << "  echo '{\"verdict\": \"rejected\", \"problem\": \"Output mismatch\"}';;\n"
                          << R"(*) echo '{"torch_version": "2.11.0+cu130", "modes": {
      "eager": {"median_ns": 100000, "low_ns": 99000, "high_ns": 101000, "samples": 20, "accuracy": "fp32"},
      "compile": {"median_ns": 500, "low_ns": 490, "high_ns": 510, "samples": 20, "accuracy": "fp32"}}}';;
esac
)";
    m_options.spec.compileBaselines = true;
    problems({"1_First"});
    const auto document = measure();
    EXPECT_THAT(document, IsOk());
    EXPECT_EQ(exporting::toJson(*readKernelBenchFile(m_options.file)), exporting::toJson(*document));
    return document->rows.at(0);
  }
};

TEST_F(RejectedCompile, IsReplacedByAKernelThatBeatsEager) {
  const KernelBenchRow row = measureWith("echo '{\"verdict\": \"accepted\"}'");
  EXPECT_EQ(row.baselineMode, "compile");
  ASSERT_TRUE(row.kernel.has_value());
  EXPECT_LT(row.kernel->speedup.value, 1.0);
  EXPECT_EQ(row.exported, "kernel");
  EXPECT_EQ(row.check.verdict, "accepted");
  EXPECT_EQ(row.check.rejectedWay, "torch.compile is faster, but KernelBench rejects it: Output mismatch");
}

TEST_F(RejectedCompile, IsNoVerdictOnTheKernel) {
  const KernelBenchRow row = measureWith("kill -9 $$");
  EXPECT_EQ(row.exported, "kernel");
  EXPECT_EQ(row.check.verdict, "not run");
  EXPECT_THAT(row.check.rejectedWay, HasSubstr("Output mismatch"));
}

TEST_F(KernelBenchBenchmarkTest, GoesOnBehindWhatItHadFinishedWhenItWasKilled) {
  problems({"1_First", "3_Third", "9_Good"});
  {
    KernelBenchBenchmark benchmark(m_parts, m_options);
    connectTo(benchmark);
    benchmark.start();
    // In the middle of the second problem nothing is left of the process but the file and the record.
    ASSERT_TRUE(waitFor([this] { return imports("3_Third") == 1; }));
  }
  EXPECT_FALSE(m_result.has_value());
  EXPECT_EQ(readKernelBenchFile(m_options.file)->rows.size(), 1U);
  const domain::RunId first = readKernelBenchFile(m_options.file)->rows.at(0).run;
  const auto document = measure();
  ASSERT_THAT(document, IsOk());
  EXPECT_THAT(m_rowsEnded, ElementsAre("3_Third", "9_Good"));
  EXPECT_EQ(document->rows.size(), 3U);
  EXPECT_EQ(document->rows[0].run, first);
  EXPECT_EQ(imports("1_First"), 1);
  EXPECT_EQ(imports("3_Third"), 2);
  ASSERT_THAT(measure(), IsOk());
  EXPECT_THAT(m_rowsEnded, IsEmpty()) << "there is nothing left to do";
}

TEST_F(KernelBenchBenchmarkTest, StoppingKeepsWhatIsFinishedAndNotTheProblemInProgress) {
  problems({"1_First", "3_Third"});
  m_options.spec.maxEvaluations = 0;
  m_spaceSize = 100000;
  KernelBenchBenchmark benchmark(m_parts, m_options);
  connectTo(benchmark);
  bool isSearching = false;
  QObject::connect(&benchmark, &KernelBenchBenchmark::progressed, &benchmark,
                   [&](const services::Progress& progress) { isSearching |= progress.evaluations > 2; });
  benchmark.start();
  ASSERT_TRUE(waitFor([&] { return isSearching; }));
  benchmark.stop();
  ASSERT_TRUE(waitFor([this] { return m_result.has_value(); }));
  EXPECT_THAT(*m_result, IsError(ErrorKind::Cancelled, HasSubstr("stopped")));
  EXPECT_THAT(readKernelBenchFile(m_options.file)->rows, IsEmpty());
}

TEST_F(KernelBenchBenchmarkTest, EndsWhereItsSurroundingsAreAtFault) {
  problems({"1_First", "3_Third", "9_Good", "11_More"});
  m_parts.programs.bridge.python = "/nonexistent/python";
  EXPECT_THAT(measure(), IsError(ErrorKind::Environment, HasSubstr("/nonexistent/python")));
  EXPECT_THAT(m_rowsEnded, ElementsAre("1_First", "3_Third"));
}

TEST_F(KernelBenchBenchmarkTest, EndsWhereTheFileCannotBeWritten) {
  problems({"1_First"});
  m_options.file = m_folder / "nowhere" / "out.json";
  EXPECT_THAT(measure(), ::testing::Not(IsOk()));
  EXPECT_EQ(imports("1_First"), 0) << "before anything is searched";
}

TEST(KernelBenchFacts, AWeightWithoutEffectDoesNotMakeATaskDegenerate) {
  EXPECT_FALSE(meansDegenerate("no output depends on the weight 'conv.bias'"));
  EXPECT_TRUE(meansDegenerate("no output depends on the input 'x'"));
  EXPECT_TRUE(meansDegenerate("the output is zero whatever the inputs are"));
}

}  // namespace
}  // namespace swage::engine
