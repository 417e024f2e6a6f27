// SPDX-License-Identifier: Apache-2.0
// The program itself: help texts, errors and exit codes, without Python, PyTorch or a compiler.
#include <gmock/gmock.h>

#include <QProcess>
#include <QProcessEnvironment>

#include <signal.h>

#include <filesystem>
#include <fstream>

#include "core/base/files.h"
#include "core/domain/json.h"
#include "core/store/record.h"
#include "tests/core/store/large_record.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

struct Outcome {
  int code = -1;
  std::string output;
  std::string errors;
};

class ProgramTest : public ::testing::Test {
 protected:
  ProgramTest() { m_environment.insert(QStringLiteral("XDG_DATA_HOME"), path(m_folder / "data")); }

  static QString path(const std::filesystem::path& file) { return QString::fromStdString(file.string()); }
  void setEnvironment(const char* name, const std::string& value) {
    m_environment.insert(QString::fromLatin1(name), QString::fromStdString(value));
  }
  void startProgram(QProcess& process, const std::vector<std::string>& arguments) {
    QStringList list;
    for (const std::string& argument : arguments) {
      list.append(QString::fromStdString(argument));
    }
    process.setProcessEnvironment(m_environment);
    process.setWorkingDirectory(path(m_folder.path()));
    process.start(QStringLiteral(SWAGE_PROGRAM), list);
  }
  Outcome run(const std::vector<std::string>& arguments) {
    QProcess process;
    startProgram(process, arguments);
    EXPECT_TRUE(process.waitForFinished(60000));
    return outcomeOf(process);
  }
  static Outcome outcomeOf(QProcess& process) {
    return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -process.exitCode(),
            process.readAllStandardOutput().toStdString(), process.readAllStandardError().toStdString()};
  }
  // A Python that never answers.
  void useHangingPython() {
    const auto python = m_folder / "python";
    std::ofstream(python) << "#!/bin/sh\necho started > '" << (m_folder / "started").string() << "'\nsleep 1000\n";
    std::filesystem::permissions(python, std::filesystem::perms::owner_all);
    setEnvironment("SWAGE_PYTHON", python.string());
  }
  std::string taskFile() {
    std::ofstream(m_folder / "task.py") << "class Model: pass\n";
    return (m_folder / "task.py").string();
  }

  testing::TempDir m_folder;
  QProcessEnvironment m_environment = QProcessEnvironment::systemEnvironment();
};

class HelpTest : public ProgramTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(HelpTest, IsAsWritten) {
  const std::string name = GetParam();
  const Outcome outcome = name == "swage" ? run({"--help"}) : run({name, "--help"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.errors, IsEmpty());
  const auto golden = readTextFile(std::filesystem::path(SWAGE_GOLDEN_FOLDER) / ("help_" + name + ".txt"));
  ASSERT_THAT(golden, testing::IsOk());
  EXPECT_EQ(outcome.output, *golden);
}

INSTANTIATE_TEST_SUITE_P(Commands, HelpTest,
                         ::testing::Values("swage", "import", "optimize", "status", "list", "show", "resume", "verify",
                                           "evaluate", "profile", "export", "bench", "doctor", "version"),
                         [](const auto& parameter) { return std::string(parameter.param); });

TEST_F(ProgramTest, WrongUsageIsExitCode2WithAHint) {
  const Outcome outcome = run({"optimize"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.output, IsEmpty());
  EXPECT_EQ(outcome.errors, "swage: task is required\nhint: `swage optimize --help` shows how\n");
}

TEST_F(ProgramTest, AMissingTaskIsExitCode4AndLeavesNoProject) {
  const Outcome outcome = run({"optimize", "nowhere.py"});
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.errors, HasSubstr("swage: 'nowhere.py' is neither a Python file nor a task bundle\nhint: "));
  EXPECT_FALSE(std::filesystem::exists(m_folder / "data"));
}

TEST_F(ProgramTest, JsonErrorsAreADocumentOnStandardOutput) {
  const Outcome outcome = run({"optimize", "nowhere.py", "--json"});
  EXPECT_EQ(outcome.code, 4);
  const auto document = domain::parseJson(outcome.output);
  ASSERT_THAT(document, testing::IsOk());
  EXPECT_EQ((*document)["error"]["kind"], "invalid input");
}

TEST_F(ProgramTest, AMissingPythonIsExitCode5) {
  setEnvironment("SWAGE_PYTHON", "/nonexistent/python");
  const Outcome outcome = run({"import", taskFile()});
  EXPECT_EQ(outcome.code, 5);
  EXPECT_THAT(outcome.errors, HasSubstr("/nonexistent/python"));
  EXPECT_THAT(outcome.errors, HasSubstr("hint: "));
}

TEST_F(ProgramTest, AnUnwritableProjectIsExitCode10) {
  std::ofstream(m_folder / "file") << "in the way";
  const Outcome outcome = run({"optimize", taskFile(), "--project", (m_folder / "file/project").string()});
  EXPECT_EQ(outcome.code, 10);
  EXPECT_THAT(outcome.errors, HasSubstr("swage: "));
}

TEST_F(ProgramTest, ACorruptDatabaseIsExitCode10AndIsLeftAlone) {
  std::filesystem::create_directories(m_folder / "project");
  std::ofstream(m_folder / "project/runs.sqlite") << std::string(8192, 'x');
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"list", "--project", "project"}, {"optimize", taskFile(), "--project", "project"}}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 10) << arguments[0];
    EXPECT_THAT(outcome.errors, HasSubstr("swage: "));
  }
  EXPECT_EQ(std::filesystem::file_size(m_folder / "project/runs.sqlite"), 8192U);
}

TEST_F(ProgramTest, ALockedProjectIsExitCode13) {
  const auto holder = store::Record::open(m_folder / "project", store::Record::Mode::ReadWrite);
  ASSERT_THAT(holder, testing::IsOk());
  const Outcome outcome = run({"optimize", taskFile(), "--project", "project"});
  EXPECT_EQ(outcome.code, 13);
}

TEST_F(ProgramTest, AWrongFilterIsExitCode2AndSaysWhere) {
  const Outcome outcome = run({"list", "--project", "nowhere", "--filter", "pinned spedup>2"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.errors, HasSubstr("there is no key 'spedup'; did you mean 'speedup'?"));
  EXPECT_THAT(outcome.errors, HasSubstr("  pinned spedup>2\n         ^^^^^^"));
}

TEST_F(ProgramTest, ListTakesTheFilterLanguageOfTheWindow) {
  testing::makeLargeRecord(m_folder / "project", 300);
  const Outcome outcome = run({"list", "1", "--project", "project", "--filter", "status:correct speedup>20 -island:2",
                               "--sort", "speedup", "--json"});
  EXPECT_EQ(outcome.code, 0);
  const auto document = domain::parseJson(outcome.output);
  ASSERT_THAT(document, testing::IsOk());
  const domain::Json& candidates = (*document)["candidates"];
  ASSERT_GT(candidates.size(), 5U);
  double before = 20.0;
  for (const domain::Json& candidate : candidates) {
    EXPECT_EQ(candidate["status"], "correct");
    EXPECT_NE(candidate["island"], 2);
    EXPECT_GT(candidate["speedup"], before);
    before = candidate["speedup"].get<double>();
  }
}

TEST_F(ProgramTest, WithoutAnyProjectListSaysSo) {
  const Outcome outcome = run({"list"});
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.errors, StartsWith("swage: there is no project yet\nhint: "));
  EXPECT_EQ(run({"status"}).output, "no projects yet\n");
}

TEST_F(ProgramTest, AnEmptyProjectHasNoRuns) {
  { const auto made = store::Record::open(m_folder / "project", store::Record::Mode::ReadWrite); }
  EXPECT_THAT(run({"status", "--project", "project"}).output, HasSubstr("no runs"));
  EXPECT_EQ(run({"list", "--project", "project"}).code, 0);
  EXPECT_EQ(run({"resume", "--project", "project"}).code, 4);
  EXPECT_EQ(run({"show", "1", "--project", "project"}).code, 4);
  EXPECT_EQ(run({"verify", "1", "--project", "project"}).code, 4);
  EXPECT_EQ(run({"export", "1", "-o", "x.py", "--project", "project"}).code, 4);
  EXPECT_EQ(run({"export", "r1", "-o", "x.py", "--project", "project"}).code, 4);
  EXPECT_FALSE(std::filesystem::exists(m_folder / "x.py"));
}

TEST_F(ProgramTest, AnExportSaysWhatIsKnownAndNeedsTheTask) {
  testing::makeLargeRecord(m_folder / "project", 300);
  const Outcome outcome = run({"export", "1", "--preview", "--project", "project"});
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.errors, HasSubstr("cannot read the task bundle")) << "a made-up record has none";
  EXPECT_EQ(run({"export", "99999", "--preview", "--project", "project"}).code, 4);
}

TEST_F(ProgramTest, VersionIsOneLineOrOneDocument) {
  EXPECT_THAT(run({"version"}).output, StartsWith("swage "));
  const auto document = domain::parseJson(run({"version", "--json"}).output);
  ASSERT_THAT(document, testing::IsOk());
  EXPECT_TRUE((*document)["version"].is_string());
}

class SignalTest : public ProgramTest, public ::testing::WithParamInterface<std::pair<int, int>> {};

TEST_P(SignalTest, EndsARunWithItsExitCodeAndFreesTheProject) {
  useHangingPython();
  QProcess process;
  startProgram(process, {"optimize", taskFile(), "--project", "project"});
  ASSERT_TRUE(process.waitForStarted());
  for (int i = 0; i < 3000 && !std::filesystem::exists(m_folder / "started"); ++i) {
    process.waitForReadyRead(10);
  }
  ASSERT_TRUE(std::filesystem::exists(m_folder / "started"));
  ::kill(static_cast<pid_t>(process.processId()), GetParam().first);
  ASSERT_TRUE(process.waitForFinished(60000));
  EXPECT_EQ(outcomeOf(process).code, GetParam().second);
  EXPECT_THAT(store::Record::open(m_folder / "project", store::Record::Mode::ReadWrite), testing::IsOk());
}

INSTANTIATE_TEST_SUITE_P(Signals, SignalTest,
                         ::testing::Values(std::pair(SIGINT, 130), std::pair(SIGTERM, 143), std::pair(SIGHUP, 143)),
                         [](const auto& parameter) { return "Signal" + std::to_string(parameter.param.first); });

}  // namespace
}  // namespace swage
