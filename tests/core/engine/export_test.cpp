// SPDX-License-Identifier: Apache-2.0
// Exports of what a session with the fake worker has recorded: what is known, what is checked again, what is written.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <string_view>

#include "core/base/files.h"
#include "core/engine/compiler_note.h"
#include "core/engine/export_check_service_impl.h"
#include "core/engine/export_facts.h"
#include "core/engine/export_files.h"
#include "core/engine/export_service_impl.h"
#include "tests/core/run/session_fixture.h"
#include "tests/support/result_matchers.h"

namespace swage::engine {
namespace {

using namespace std::string_view_literals;

using domain::AssuranceKind;
using domain::AssuranceVerdict;
using services::ExistingFiles;
using services::ExportFormat;
using services::ExportGate;
using ::testing::ElementsAre;
using testing::fakeWorker;
using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;
using testing::waitFor;
using Check = ExportChecks::Check;
using Keeping = ExportChecks::Keeping;
using Kind = ExportGate::Kind;
using State = ExportGate::State;

class ExportTest : public testing::SessionFixture {
 protected:
  // A search, and a source that can be exported.
  domain::CandidateId search() {
    const services::RunOutcome outcome = run();
    EXPECT_FALSE(outcome.error);
    std::ofstream(std::filesystem::path(m_spec.task) / "source.py")
        << "import torch\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return torch.relu(x)\n";
    for (const store::CandidateRecord& candidate : history()) {
      if (candidate.program.plan.hasKernels() && domain::asCorrect(*candidate.evaluation) != nullptr) {
        return candidate.id;
      }
    }
    return {};
  }
  // The candidate whose number the fake worker finds wrong, unless it believes everything.
  [[nodiscard]] domain::CandidateId believed() {
    m_spec.maxEvaluations = 60;
    m_spaceSize = 14;
    m_parts.programs.workerCommand = [](domain::DeviceKind) { return fakeWorker("believe"); };
    search();
    m_parts.programs.workerCommand = [](domain::DeviceKind) { return fakeWorker("ok"); };
    for (const store::CandidateRecord& candidate : history()) {
      if (candidate.program.plan == testing::planWithNumber(13)) {
        return candidate.id;
      }
    }
    return {};
  }
  [[nodiscard]] ExportGate gate(domain::CandidateId candidate, Kind kind) const {
    const auto evidence = readExportEvidence(record(), candidate);
    EXPECT_THAT(evidence, IsOk());
    return exportGates(*evidence).at(static_cast<std::size_t>(kind));
  }
  Result<> check(domain::CandidateId candidate, std::vector<Check> checks, Keeping keeping = Keeping::Must,
                 bool cancel = false) {
    ExportChecks job(m_parts.programs, m_spec.project, candidate, std::move(checks), keeping);
    std::optional<Result<>> result;
    m_kinds.clear();
    QObject::connect(&job, &ExportChecks::checkStarted, &job, [this](AssuranceKind kind) { m_kinds.push_back(kind); });
    QObject::connect(&job, &ExportChecks::finished, &job, [&](const Result<>& done) {
      EXPECT_FALSE(result.has_value());
      result = done;
    });
    job.start();
    if (cancel) {
      EXPECT_TRUE(waitFor([this] { return !m_kinds.empty(); }));
      job.cancel();
    }
    EXPECT_TRUE(waitFor([&] { return result.has_value(); }));
    return result.value_or(Error(ErrorKind::Internal, "no result"));
  }
  void useSanitizer(const std::string& body) {
    const std::filesystem::path file = m_folder / "compute-sanitizer";
    std::ofstream(file) << "#!/bin/sh\ntool=$2\n" << body << "\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    m_parts.programs.sanitizer = file.string();
    m_parts.programs.replay = "/nonexistent/swage-replay";
  }
  void useGpu() {
    ::setenv("XDG_RUNTIME_DIR", m_folder.path().c_str(), 1);
    m_parts.programs.workerCommand = [](domain::DeviceKind) { return fakeWorker("ok", {"--gpu"}); };
    m_parts.programs.driver = [] { return process::DriverState::Loaded; };
    m_spec.target = "cuda";
  }

  std::vector<AssuranceKind> m_kinds;
};

TEST_F(ExportTest, AFreshProcessBearsOutWhatTheSearchMeasured) {
  const domain::CandidateId candidate = search();
  EXPECT_EQ(gate(candidate, Kind::Verified).state, State::Passed);
  EXPECT_EQ(gate(candidate, Kind::FreshProcess).state, State::NotRun);
  EXPECT_EQ(gate(candidate, Kind::Sanitizer).state, State::NotApplicable) << "the kernels are for a CPU";
  EXPECT_THAT(check(candidate, {Check::FreshProcess, Check::Sanitizer}), IsOk());
  EXPECT_THAT(m_kinds, ElementsAre(AssuranceKind::FreshProcess));
  const ExportGate fresh = gate(candidate, Kind::FreshProcess);
  EXPECT_EQ(fresh.state, State::Passed);
  EXPECT_THAT(fresh.detail, HasSubstr("; recorded "));
  EXPECT_EQ(gate(candidate, Kind::HeldBackSeeds).state, State::Passed);
}

TEST_F(ExportTest, WhatAFreshProcessFindsWrongIsTakenBackAndCannotLeave) {
  const domain::CandidateId candidate = believed();
  ASSERT_TRUE(candidate.isValid());
  EXPECT_EQ(gate(candidate, Kind::Verified).state, State::Passed);
  EXPECT_THAT(check(candidate, {Check::FreshProcess, Check::HeldOutShapes}), IsOk());
  EXPECT_THAT(m_kinds, ElementsAre(AssuranceKind::FreshProcess)) << "nothing more is asked";
  EXPECT_TRUE(services::blocksExport(gate(candidate, Kind::Verified)));
  EXPECT_THAT(gate(candidate, Kind::FreshProcess).detail, HasSubstr("in a fresh process it is not correct"));
  EXPECT_THAT(makeExportFiles(record(), candidate, ExportFormat::ModelNew),
              IsError(ErrorKind::InvalidInput, HasSubstr("cannot be exported: verified failed: wrong")));
}

TEST_F(ExportTest, WhatIsFasterThanEagerAloneIsNotSignificantlyFaster) {
  const domain::CandidateId candidate = search();
  domain::Baseline compile;
  compile.mode = "compile";
  compile.timing.samples = 40;
  compile.timing.medianNs = 1.0;
  compile.eagerSpeedup = {0.001, 0.0009, 0.0011};
  const domain::RunId run = onlyRun().id;
  {
    auto writer = store::Record::open(m_spec.project, store::Record::Mode::ReadWrite);
    ASSERT_THAT(writer, IsOk());
    ASSERT_THAT(writer->addBaseline(run, compile), IsOk());
  }
  const auto evidence = readExportEvidence(record(), candidate);
  ASSERT_THAT(evidence, IsOk());
  const domain::Speedup overEager = domain::againstEager(evidence->provenance.evaluation.timing);
  ASSERT_TRUE(overEager.isKnown());
  EXPECT_EQ(evidence->provenance.speedup, overEager.times(compile.eagerSpeedup));
  const ExportGate faster = gate(candidate, Kind::Faster);
  EXPECT_EQ(faster.state, State::Failed);
  EXPECT_EQ(faster.speedup, evidence->provenance.speedup);
  EXPECT_EQ(faster.baselineMode, "compile");
  EXPECT_EQ(faster.overEager, overEager);
  const auto own = readExportEvidence(record(), history().front().id);
  ASSERT_THAT(own, IsOk());
  EXPECT_FALSE(own->provenance.speedup.isKnown()) << "PyTorch's own operators stand for its fastest way";
}

// The task's own operators are the candidate that wins where nothing beats PyTorch.
TEST_F(ExportTest, WherePytorchWinsItsOwnWayIsWritten) {
  search();
  const store::CandidateRecord own = history().front();
  ASSERT_EQ(own.madeBy, domain::OperatorKind::Baseline);
  const auto files = makeExportFiles(record(), own.id, ExportFormat::ModelNew);
  ASSERT_THAT(files, IsOk());
  const std::string& text = files->files.front().content;
  EXPECT_THAT(text, HasSubstr("class ModelNew(_OriginalModel):"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("_swage_plan")));
  EXPECT_EQ(text.find("self.compile(") == std::string::npos, onlyRun().baselineMode == "eager");
}

TEST_F(ExportTest, CancellingEndsTheWorkerAndRecordsNothing) {
  const domain::CandidateId candidate = search();
  m_parts.programs.workerCommand = [](domain::DeviceKind) { return fakeWorker("hang", {"--from", "0"}); };
  EXPECT_THAT(check(candidate, {Check::FreshProcess}, Keeping::Must, true),
              IsError(ErrorKind::Cancelled, HasSubstr("cancelled")));
  EXPECT_EQ(gate(candidate, Kind::FreshProcess).state, State::NotRun);
}

TEST_F(ExportTest, ARecordThatAnotherWritesIsSaidBeforeTheWork) {
  const domain::CandidateId candidate = search();
  const auto writer = store::Record::open(m_spec.project, store::Record::Mode::ReadWrite);
  ASSERT_THAT(writer, IsOk());
  EXPECT_THAT(check(candidate, {Check::FreshProcess}), IsError(ErrorKind::Locked, HasSubstr("")));
  EXPECT_TRUE(m_kinds.empty());
  EXPECT_THAT(check(candidate, {Check::FreshProcess}, Keeping::IfPossible), IsOk());
}

TEST_F(ExportTest, TheSanitizerIsAskedAboutOneCandidate) {
  useGpu();
  const domain::CandidateId candidate = search();
  EXPECT_THAT(check(candidate, {Check::Sanitizer}), IsOk());
  EXPECT_EQ(gate(candidate, Kind::Sanitizer).state, State::NotRun);
  EXPECT_THAT(gate(candidate, Kind::Sanitizer).detail, HasSubstr("not installed"));
  useSanitizer(
      "case $tool in racecheck) echo '========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)';;\n"
      "*) echo '========= ERROR SUMMARY: 0 errors';; esac");
  EXPECT_THAT(check(candidate, {Check::Sanitizer}), IsOk());
  EXPECT_THAT(m_kinds, ElementsAre(AssuranceKind::Memcheck, AssuranceKind::Racecheck, AssuranceKind::Initcheck));
  EXPECT_EQ(gate(candidate, Kind::Sanitizer).state, State::Passed);
  EXPECT_EQ(gate(candidate, Kind::Sanitizer).checks, 3);
  m_parts.programs.sanitizer.clear();
  EXPECT_THAT(check(candidate, {Check::Sanitizer}), IsOk());
  EXPECT_EQ(gate(candidate, Kind::Sanitizer).state, State::Passed) << "what was found stays";
  ::unsetenv("XDG_RUNTIME_DIR");
}

TEST_F(ExportTest, WhatTheSanitizerObjectsToIsTakenBack) {
  useGpu();
  const domain::CandidateId candidate = search();
  useSanitizer(
      "echo '========= Invalid __global__ read of size 4 bytes'\necho '=========     at tiny_kernel+0x10'\n"
      "echo '========= ERROR SUMMARY: 2 errors'; exit 4");
  EXPECT_THAT(check(candidate, {Check::Sanitizer, Check::HeldOutShapes}), IsOk());
  EXPECT_THAT(m_kinds, ElementsAre(AssuranceKind::Memcheck));
  EXPECT_EQ(gate(candidate, Kind::Sanitizer).state, State::Failed);
  EXPECT_EQ(gate(candidate, Kind::Verified).state, State::Failed);
  ::unsetenv("XDG_RUNTIME_DIR");
}

TEST_F(ExportTest, TheServiceAnswersFromItsThreadAndWritesAProject) {
  const domain::CandidateId candidate = search();
  const ExportServiceImpl service;
  const auto facts = service.facts(m_spec.project, candidate).result();
  ASSERT_THAT(facts, IsOk());
  EXPECT_EQ(facts->taskName, "tiny");
  EXPECT_EQ(facts->gates.size(), 7U);
  const auto files = service.files(m_spec.project, candidate, ExportFormat::Project).result();
  ASSERT_THAT(files, IsOk());
  EXPECT_EQ(files->suggestedName, "tiny_new");
  EXPECT_FALSE(std::filesystem::exists(m_folder / "out"));
  ASSERT_THAT(service.write(*files, m_folder / "out", ExistingFiles::Keep).result(), IsOk());
  for (const services::ExportFile& file : files->files) {
    EXPECT_EQ(readTextFile(m_folder / "out" / file.name).value_or(""), file.content);
  }
  EXPECT_THAT(service.write(*files, m_folder / "out", ExistingFiles::Keep).result(),
              IsError(ErrorKind::InvalidInput, HasSubstr("is there and not empty")));
  EXPECT_THAT(service.write(*files, m_folder / "out", ExistingFiles::Replace).result(), IsOk());
  EXPECT_THAT(service.facts({}, candidate).result(), IsError(ErrorKind::NotFound, HasSubstr("no project is open")));
}

TEST_F(ExportTest, AFileThatIsThereIsKept) {
  const domain::CandidateId candidate = search();
  const auto files = makeExportFiles(record(), candidate, ExportFormat::ModelNew);
  ASSERT_THAT(files, IsOk());
  EXPECT_EQ(files->suggestedName, "tiny_new.py");
  ASSERT_THAT(writeFileAtomically(m_folder / "mine.py", "precious"), IsOk());
  EXPECT_THAT(writeExportFiles(*files, m_folder / "mine.py", ExistingFiles::Keep),
              IsError(ErrorKind::InvalidInput, HasSubstr("is there already")));
  EXPECT_EQ(readTextFile(m_folder / "mine.py").value_or(""), "precious");
}

TEST_F(ExportTest, AFolderThatCannotBeFilledIsTakenAway) {
  services::ExportFiles files;
  files.format = ExportFormat::Project;
  files.files = {{"good.py", "x"}, {"no/such/folder.py", "x"}};
  EXPECT_THAT(writeExportFiles(files, m_folder / "out", ExistingFiles::Keep),
              IsError(ErrorKind::NotFound, HasSubstr("no/such")));
  EXPECT_FALSE(std::filesystem::exists(m_folder / "out"));
}

TEST_F(ExportTest, TheServiceOfTheWindowChecksEverything) {
  const domain::CandidateId candidate = search();
  ExportCheckServiceImpl service(m_parts.programs);
  std::optional<Result<>> result;
  QObject::connect(&service, &ExportCheckServiceImpl::finished, &service,
                   [&](domain::CandidateId checked, const Result<>& done) {
                     EXPECT_EQ(checked, candidate);
                     EXPECT_FALSE(service.checking().isValid());
                     result = done;
                   });
  service.start(m_spec.project, candidate);
  EXPECT_EQ(service.checking(), candidate);
  ASSERT_TRUE(waitFor([&] { return result.has_value(); }));
  EXPECT_THAT(*result, IsOk());
  EXPECT_EQ(gate(candidate, Kind::FreshProcess).state, State::Passed);
  EXPECT_THAT(gate(candidate, Kind::HeldOutShapes).detail, HasSubstr("/nonexistent/python"));
}

TEST(CompilerNote, IsReadFromWhatTheCompilerMade) {
  EXPECT_EQ(
      compilerNote("//\n// Generated by NVIDIA NVVM Compiler\n// Cuda compilation tools, release 13.0, V13.0.88\n", ""),
      "Cuda compilation tools, release 13.0, V13.0.88");
  EXPECT_EQ(compilerNote("mov eax, 1",
                         "\x7f"
                         "ELF\0GCC: (Debian 12.2.0-14) 12.2.0\0.text"sv),
            "GCC: (Debian 12.2.0-14) 12.2.0");
  EXPECT_EQ(compilerNote("mov eax, 1", "nothing"), "");
}

}  // namespace
}  // namespace swage::engine
