// SPDX-License-Identifier: Apache-2.0
// The program itself: help texts, errors and exit codes, without Python, PyTorch or a compiler.
#include <gmock/gmock.h>

#include <QProcess>
#include <QStandardPaths>

#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/files.h"
#include "core/domain/json.h"
#include "core/store/record.h"
#include "tests/app/cli/program_fixture.h"
#include "tests/core/store/large_record.h"
#include "tests/support/result_matchers.h"

namespace swage {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Outcome;
using ::testing::StartsWith;

class ProgramTest : public testing::ProgramFixture {
 protected:
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
};

class HelpTest : public ProgramTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(HelpTest, IsAsWritten) {
  const std::string name = GetParam();
  std::vector<std::string> words;
  std::istringstream parts(name == "swage" ? "" : name);  // "bench_engine" is a command of a command
  for (std::string word; std::getline(parts, word, '_');) {
    words.push_back(word);
  }
  words.emplace_back("--help");
  const Outcome outcome = run(words);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.errors, IsEmpty());
  const auto golden = readTextFile(std::filesystem::path(SWAGE_GOLDEN_FOLDER) / ("help_" + name + ".txt"));
  ASSERT_THAT(golden, testing::IsOk());
  EXPECT_EQ(outcome.output, *golden);
}

INSTANTIATE_TEST_SUITE_P(Commands, HelpTest,
                         ::testing::Values("swage", "init", "tasks", "import", "optimize", "status", "list", "show",
                                           "compare", "disasm", "report", "resume", "verify", "evaluate", "profile",
                                           "export", "bench", "bench_engine", "bench_export", "bench_judge",
                                           "bench_kernelbench", "bench_report", "bench_swarm", "devices", "doctor",
                                           "config", "mcp", "models", "models_add", "keys", "keys_list", "keys_set",
                                           "keys_remove", "db", "db_check", "db_backup", "db_vacuum", "completion",
                                           "man", "patterns", "patterns_search", "rules", "version"),
                         [](const auto& parameter) { return std::string(parameter.param); });

TEST_F(ProgramTest, PatternsAreFoundByWhatTheyAreAbout) {
  setEnvironment("XDG_CACHE_HOME", (m_folder / "cache").string());
  setEnvironment("SWAGE_PYTHON", "/nonexistent/bin/python");  // its packages are many
  const Outcome found = run({"patterns", "search", "row softmax, long rows, sm_90", "--json"});
  ASSERT_EQ(found.code, 0) << found.errors;
  const auto json = domain::Json::parse(found.output);
  EXPECT_EQ(json["found"][0]["key"], "catalogue/cuda/row_cluster");
  EXPECT_EQ(json["found"].size(), 10U);
  EXPECT_TRUE(std::filesystem::exists(m_folder / "cache/swage/patterns.sqlite"));
  const Outcome table = run({"patterns", "search", "H200 memory bandwidth", "--limit", "1"});
  EXPECT_THAT(table.output, HasSubstr("NVIDIA H200 SXM"));
  const Outcome filtered = run({"patterns", "search", "softmax", "--arch", "cpu", "--operator", "softmax", "--jsonl"});
  EXPECT_THAT(filtered.output, HasSubstr("catalogue/cpu/row"));
  EXPECT_THAT(filtered.output, ::testing::Not(HasSubstr("catalogue/cuda")));
  EXPECT_EQ(run({"patterns", "search"}).code, 2);
}

TEST_F(ProgramTest, AnEmbeddingModelThatDoesNotAnswerLeavesTheOrderOfThisMachine) {
  setEnvironment("SWAGE_CONFIG", (m_folder / "config.toml").string());
  setEnvironment("XDG_CACHE_HOME", (m_folder / "cache").string());
  setEnvironment("SWAGE_PYTHON", "/nonexistent/bin/python");  // its packages are many
  const std::vector<std::string> search{"patterns", "search", "row softmax, long rows, sm_90", "--limit", "3"};
  const auto with = [&search](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = search;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  const Outcome alone = run(search);
  ASSERT_EQ(alone.code, 0) << alone.errors;
  EXPECT_THAT(alone.errors, Not(HasSubstr("embedding model")));
  EXPECT_EQ(run(with({"--embeddings", "near"})).code, 4) << "there is none of that name";
  ASSERT_EQ(run({"models", "add", "near", "--base-url", "http://localhost:1/v1", "--model-id", "points"}).code, 0);
  ASSERT_EQ(run({"config", "set", "swarm.embeddings", "near"}).code, 0);
  const Outcome failed = run(search);
  EXPECT_EQ(failed.code, 0);
  EXPECT_EQ(failed.output, alone.output);
  EXPECT_THAT(failed.errors, HasSubstr("the results are not ranked by an embedding model"));
  EXPECT_THAT(failed.errors, HasSubstr("the embedding model 'near' failed: no connection"));
  EXPECT_THAT(run(with({"--no-embeddings"})).errors, Not(HasSubstr("embedding model")));
  EXPECT_EQ(run(with({"--embeddings", "near"})).output, alone.output);
  ASSERT_EQ(run({"config", "set", "swarm.embeddings", "far"}).code, 0);
  EXPECT_THAT(run(search).errors, HasSubstr("the setting 'swarm.embeddings': "));
  EXPECT_EQ(run(search).output, alone.output);
}

TEST_F(ProgramTest, TasksAreTheBundledOnesAndThoseOfThePerson) {
  const auto mine = m_folder / "data/swage/tasks";
  std::filesystem::create_directories(mine);
  std::ofstream(mine / "mine.py") << "\"\"\"My own.\"\"\"\n";
  const Outcome table = run({"tasks"});
  EXPECT_EQ(table.code, 0);
  EXPECT_THAT(table.output, HasSubstr("softmax_rows"));
  EXPECT_THAT(table.output, HasSubstr("My own."));
  const auto json = domain::parseJson(run({"tasks", "--json"}).output);
  ASSERT_THAT(json, testing::IsOk());
  const domain::Json& last = (*json)["tasks"].back();
  EXPECT_EQ(last["name"], "mine");
  EXPECT_EQ(last["path"], (mine / "mine.py").string());
  EXPECT_EQ(last["description"], "My own.");
  EXPECT_EQ(last["bundled"], false);
  EXPECT_EQ(run({"tasks", "no_such_folder"}).code, 4);
}

TEST_F(ProgramTest, ModelsAreAddedListedAndRemoved) {
  setEnvironment("SWAGE_CONFIG", (m_folder / "config.toml").string());
  EXPECT_THAT(run({"models", "list"}).output, HasSubstr("no models"));
  const Outcome added = run({"models", "add", "local", "--kind", "ollama", "--base-url", "http://localhost:1",
                             "--model-id", "small", "--key-env", "LOCAL_KEY"});
  EXPECT_EQ(added.code, 0) << added.errors;
  const auto json = domain::parseJson(run({"models", "list", "--json"}).output);
  ASSERT_THAT(json, testing::IsOk());
  EXPECT_EQ((*json)["models"][0]["name"], "local");
  EXPECT_EQ((*json)["models"][0]["key"], "$LOCAL_KEY");
  const Outcome tested = run({"models", "test", "local"});
  EXPECT_EQ(tested.code, 9);
  EXPECT_THAT(tested.errors, HasSubstr("LOCAL_KEY is not set"));
  EXPECT_EQ(run({"optimize", "no_such_task", "--model", "locol"}).code, 4);
  EXPECT_EQ(run({"optimize", "softmax_rows", "--budget-usd", "1"}).code, 2);
  EXPECT_EQ(run({"models", "add", "far", "--base-url", "http://example.com", "--model-id", "m"}).code, 3);
  EXPECT_EQ(run({"models", "remove", "local"}).code, 0);
  EXPECT_EQ(run({"models", "remove", "local"}).code, 4);
}

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
  for (const domain::Json& candidate : candidates) {
    EXPECT_EQ(candidate["status"], "correct");
    EXPECT_NE(candidate["island"], 2);
    EXPECT_GT(candidate["speedup"], 20.0);
  }
}

TEST_F(ProgramTest, ListSortsBySpeedupWithTheFastestFirstAndReverseTurnsItRound) {
  testing::makeLargeRecord(m_folder / "project", 300);
  const auto speedups = [this](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"list",    "1",      "--project", "project", "--status",
                                       "correct", "--sort", "speedup",   "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto document = domain::parseJson(run(arguments).output);
    std::vector<double> values;
    for (const domain::Json& candidate : document ? (*document)["candidates"] : domain::Json::array()) {
      values.push_back(candidate["speedup_low"].get<double>());
    }
    return values;
  };
  const std::vector<double> fastestFirst = speedups({});
  ASSERT_GT(fastestFirst.size(), 5U);
  EXPECT_TRUE(std::is_sorted(fastestFirst.rbegin(), fastestFirst.rend()));
  const std::vector<double> slowestFirst = speedups({"--reverse"});
  EXPECT_TRUE(std::is_sorted(slowestFirst.begin(), slowestFirst.end()));
  EXPECT_EQ(slowestFirst.size(), fastestFirst.size());
}

TEST_F(ProgramTest, AMisspeltSettingIsExitCode3AndNamesTheNearestOne) {
  setEnvironment("SWAGE_CONFIG", (m_folder / "config.toml").string());
  std::ofstream(m_folder / "config.toml") << "[search]\ntime_budgt = \"5 min\"\n";
  const Outcome outcome = run({"list"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.errors, HasSubstr("there is no setting 'search.time_budgt'"));
  EXPECT_THAT(outcome.errors, HasSubstr("config.toml"));
  EXPECT_THAT(outcome.errors, HasSubstr("hint: did you mean 'search.time_budget'?"));
  EXPECT_EQ(run({"list", "--help"}).code, 0);
  EXPECT_EQ(run({"version"}).code, 0);
  EXPECT_EQ(run({"config", "unset", "search.time_budgt"}).code, 0) << "the way to mend it";
  EXPECT_EQ(run({"status"}).code, 0);
}

TEST_F(ProgramTest, AFileOfSettingsOfALaterVersionIsExitCode3) {
  setEnvironment("SWAGE_CONFIG", (m_folder / "config.toml").string());
  std::ofstream(m_folder / "config.toml") << "version = 2\n";
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"list"}, {"config", "set", "search.target", "cpu"}}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 3);
    EXPECT_THAT(outcome.errors, HasSubstr("which a later Swage reads"));
    EXPECT_THAT(outcome.errors, HasSubstr("hint: update Swage"));
  }
}

TEST_F(ProgramTest, ConfigShowsWhereAValueComesFrom) {
  setEnvironment("SWAGE_CONFIG", (m_folder / "config.toml").string());
  EXPECT_EQ(run({"config", "get", "search.target"}).output, "auto\n");
  EXPECT_EQ(run({"config", "set", "search.target", "cpu"}).code, 0);
  EXPECT_EQ(run({"config", "get", "search.target"}).output, "cpu\n");
  std::filesystem::create_directories(m_folder / "project");
  EXPECT_EQ(run({"config", "set", "search.target", "cuda", "--scope", "project", "--project", "project"}).code, 0);
  const auto document =
      domain::parseJson(run({"config", "get", "search.target", "--project", "project", "--json"}).output);
  ASSERT_THAT(document, testing::IsOk());
  EXPECT_EQ((*document)["value"], "cuda");
  EXPECT_EQ((*document)["origin"], "project");
  EXPECT_EQ((*document)["sources"].size(), 3U);
  EXPECT_THAT(run({"config", "--project", "project", "--origin"}).output, HasSubstr("user ("));
  EXPECT_EQ(run({"config", "path"}).output, (m_folder / "config.toml").string() + "\n");
}

TEST_F(ProgramTest, ConfigRefusesWhatMakesNoSense) {
  setEnvironment("SWAGE_CONFIG", (m_folder / "config.toml").string());
  EXPECT_EQ(run({"config", "set", "search.target", "toaster"}).code, 3);
  EXPECT_EQ(run({"config", "set", "search.taget", "cpu"}).code, 3);
  EXPECT_EQ(run({"config", "get", "nothing"}).code, 3);
  EXPECT_EQ(run({"config", "set", "search.target"}).code, 2);
  EXPECT_EQ(run({"config", "get"}).code, 2);
  EXPECT_EQ(run({"config", "list", "search.target"}).code, 2);
  EXPECT_FALSE(std::filesystem::exists(m_folder / "config.toml"));
}

TEST_F(ProgramTest, ColoursAreWhereTheyAreAskedFor) {
  EXPECT_THAT(run({"list"}).errors, ::testing::Not(HasSubstr("\x1b[")));
  EXPECT_THAT(run({"list", "--color", "always"}).errors, HasSubstr("\x1b[31mswage: "));
  setEnvironment("CLICOLOR_FORCE", "1");
  EXPECT_THAT(run({"list"}).errors, HasSubstr("\x1b[31m"));
  EXPECT_THAT(run({"list", "--no-color"}).errors, ::testing::Not(HasSubstr("\x1b[")));
  setEnvironment("NO_COLOR", "1");
  EXPECT_THAT(run({"list"}).errors, ::testing::Not(HasSubstr("\x1b[")));
}

TEST_F(ProgramTest, AMisspeltCommandOrOptionIsNamedWithTheNearestOne) {
  EXPECT_THAT(run({"optimise"}).errors, HasSubstr("did you mean 'optimize'?"));
  const Outcome outcome = run({"list", "--fliter", "x"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.errors, HasSubstr("there is no option '--fliter'"));
  EXPECT_THAT(outcome.errors, HasSubstr("did you mean --filter?"));
}

// A shell reads the script without running it, where the shell is installed.
class CompletionTest : public ProgramTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(CompletionTest, IsAScriptOfItsShell) {
  const std::string shell = GetParam();
  const QString program = QStandardPaths::findExecutable(QString::fromStdString(shell));
  if (program.isEmpty()) {
    GTEST_SKIP() << shell << " is not installed";
  }
  std::ofstream(m_folder / "script") << run({"completion", shell}).output;
  QProcess process;
  process.start(program, {QStringLiteral("-n"), path(m_folder / "script")});
  ASSERT_TRUE(process.waitForFinished(60000));
  const Outcome outcome = outcomeOf(process);
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_THAT(outcome.errors, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Shells, CompletionTest, ::testing::Values("bash", "zsh", "fish"),
                         [](const auto& parameter) { return std::string(parameter.param); });

TEST_F(ProgramTest, BashCompletesCommandsAndChoices) {
  const QString bash = QStandardPaths::findExecutable(QStringLiteral("bash"));
  if (bash.isEmpty()) {
    GTEST_SKIP() << "bash is not installed";
  }
  std::ofstream(m_folder / "script") << run({"completion", "bash"}).output;
  const auto completions = [&](const std::string& words, int at) {
    QProcess process;
    process.start(bash, {QStringLiteral("-c"),
                         QString::fromStdString("source '" + (m_folder / "script").string() + "'; COMP_WORDS=(" +
                                                std::string(SWAGE_PROGRAM) + " " + words + "); COMP_CWORD=" +
                                                std::to_string(at) + "; _swage; echo \"${COMPREPLY[*]}\"")});
    EXPECT_TRUE(process.waitForFinished(60000));
    return process.readAllStandardOutput().trimmed().toStdString();
  };
  EXPECT_EQ(completions("opt", 1), "optimize");
  EXPECT_EQ(completions("optimize --target c", 3), "cpu cuda");
}

TEST_F(ProgramTest, ManPagesAreThereForAllCommandsAndCleanForMandoc) {
  EXPECT_EQ(run({"man", "-o", "pages"}).code, 0);
  const std::filesystem::path pages = m_folder / "pages";
  EXPECT_TRUE(std::filesystem::exists(pages / "swage.1"));
  EXPECT_TRUE(std::filesystem::exists(pages / "swage-bench-engine.1"));
  EXPECT_EQ(run({"man", "nonsense"}).code, 2);
  const QString mandoc = QStandardPaths::findExecutable(QStringLiteral("mandoc"));
  if (mandoc.isEmpty()) {
    GTEST_SKIP() << "mandoc is not installed";
  }
  for (const auto& page : std::filesystem::directory_iterator(pages)) {
    QProcess process;
    process.start(mandoc, {QStringLiteral("-Tlint"), QStringLiteral("-Wwarning"), path(page.path())});
    ASSERT_TRUE(process.waitForFinished(60000));
    EXPECT_EQ(process.readAllStandardOutput().toStdString(), "") << page.path();
  }
}

TEST_F(ProgramTest, ABugReportHasChecksAndSettingsAndNoNames) {
  setEnvironment("SWAGE_PYTHON", "/home/ada/python");
  const Outcome outcome = run({"doctor", "--bundle", "report.tar.gz", "--sandbox", "none"});
  EXPECT_EQ(outcome.code, 5) << "without a Python nothing works";
  ASSERT_TRUE(std::filesystem::exists(m_folder / "report.tar.gz"));
  QProcess tar;
  tar.setWorkingDirectory(path(m_folder.path()));
  tar.start(QStringLiteral("tar"),
            {QStringLiteral("--extract"), QStringLiteral("--file"), QStringLiteral("report.tar.gz")});
  ASSERT_TRUE(tar.waitForFinished(60000));
  const auto folder = m_folder / "swage-bug-report";
  const auto settings = readTextFile(folder / "settings.txt");
  ASSERT_THAT(settings, testing::IsOk());
  EXPECT_THAT(*settings, HasSubstr("/home/USER/python"));
  EXPECT_THAT(*settings, ::testing::ContainsRegex("search.sandbox +none")) << "an option is a setting, too";
  EXPECT_TRUE(domain::parseJson(readTextFile(folder / "doctor.json").value_or("")));
  EXPECT_THAT(readTextFile(folder / "system.txt").value_or(""), StartsWith("swage "));
  EXPECT_EQ(run({"doctor", "--bundle", "nowhere/report.tar.gz"}).code, 10);
}

TEST_F(ProgramTest, CompareDisasmAndReportSayWhatIsMissing) {
  testing::makeLargeRecord(m_folder / "project", 300);
  EXPECT_EQ(run({"compare", "1", "99999", "--project", "project"}).code, 4);
  EXPECT_EQ(run({"compare", "1", "2", "--other-project", "nowhere", "--project", "project"}).code, 4);
  EXPECT_EQ(run({"disasm", "99999", "--project", "project"}).code, 4);
  const Outcome report = run({"report", "r9", "-o", "x.html", "--project", "project"});
  EXPECT_EQ(report.code, 4);
  EXPECT_THAT(report.errors, HasSubstr("there is no run r9 in 'project'"));
  EXPECT_FALSE(std::filesystem::exists(m_folder / "x.html"));
  EXPECT_EQ(run({"report", "r1"}).code, 2);
}

TEST_F(ProgramTest, CompareAndReportReadARecord) {
  testing::makeLargeRecord(m_folder / "project", 300);
  const Outcome compared = run({"compare", "1", "2", "--project", "project", "--source", "--json"});
  EXPECT_EQ(compared.code, 0) << compared.errors;
  const auto document = domain::parseJson(compared.output);
  ASSERT_THAT(document, testing::IsOk());
  EXPECT_EQ((*document)["a"]["candidate"], 1);
  EXPECT_TRUE((*document)["facts"].is_array());
  const Outcome report = run({"report", "-o", "run.html", "--project", "project"});
  EXPECT_EQ(report.code, 0) << report.errors;
  EXPECT_THAT(readTextFile(m_folder / "run.html").value_or(""), StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(run({"report", "r1", "-o", "-", "--format", "markdown", "--project", "project"}).output,
              StartsWith("# "));
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
