// SPDX-License-Identifier: Apache-2.0
// `init`, `keys` and `db`, as the program itself.
#include <gmock/gmock.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "core/base/random.h"
#include "core/domain/json.h"
#include "core/engine/new_project.h"
#include "core/store/record.h"
#include "tests/app/cli/program_fixture.h"
#include "tests/core/store/large_record.h"
#include "tests/support/result_matchers.h"

namespace swage {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Outcome;

domain::Json documentOf(const Outcome& outcome) {
  const auto document = domain::parseJson(outcome.output);
  EXPECT_THAT(document, testing::IsOk()) << outcome.output << outcome.errors;
  return document ? *document : domain::Json();
}

class InitProgramTest : public testing::ProgramFixture {
 protected:
  InitProgramTest() { setEnvironment("SWAGE_CONFIG", (m_folder / "config.toml").string()); }

  std::filesystem::path m_project = m_folder / "mine";
};

TEST_F(InitProgramTest, MakesAProjectOfAFolder) {
  const domain::Json made = documentOf(run({"init", "mine", "--json"}));
  EXPECT_EQ(made["project"], m_project.string());
  EXPECT_EQ(made["written"].size(), 2U);
  EXPECT_THAT(made["kept"], IsEmpty());
  EXPECT_EQ(readTextFile(m_project / "project.toml").value_or(""), engine::projectSettingsText());
  EXPECT_THAT(readTextFile(m_project / ".gitignore").value_or(""), HasSubstr("/runs.sqlite*"));
  std::filesystem::create_directories(m_folder / "here");
  m_workingFolder = m_folder / "here";
  const Outcome here = run({"init"});
  EXPECT_EQ(here.code, 0) << here.errors;
  EXPECT_EQ(here.output, m_workingFolder.string() + " is a project\n  wrote project.toml\n  wrote .gitignore\n");
}

TEST_F(InitProgramTest, OverwritesNothing) {
  std::filesystem::create_directories(m_project);
  std::ofstream(m_project / "project.toml") << "# mine\n";
  const Outcome refused = run({"init", "mine"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.output, IsEmpty());
  EXPECT_THAT(refused.errors, AllOf(HasSubstr("it already has the settings file 'project.toml'"), HasSubstr("hint: ")));
  EXPECT_EQ(readTextFile(m_project / "project.toml").value_or(""), "# mine\n");
  std::filesystem::remove(m_project / "project.toml");
  std::ofstream(m_project / ".gitignore") << "mine\n";
  const Outcome made = run({"init", "mine"});
  EXPECT_EQ(made.code, 0) << made.errors;
  EXPECT_THAT(made.output, HasSubstr("kept .gitignore"));
  EXPECT_EQ(readTextFile(m_project / ".gitignore").value_or(""), "mine\n");
}

TEST_F(InitProgramTest, CommandsInTheFolderTakeItAsTheirProject) {
  ASSERT_EQ(run({"init", "mine"}).code, 0);
  m_workingFolder = m_project;
  EXPECT_EQ(run({"config", "set", "search.target", "cpu", "--scope", "project"}).code, 0);
  EXPECT_EQ(run({"config", "get", "search.target"}).output, "cpu\n");
  EXPECT_THAT(readTextFile(m_project / "project.toml").value_or(""),
              AllOf(HasSubstr("\ntarget = \"cpu\"\n"), HasSubstr("# time_budget = ")));
  const Outcome listed = run({"list"});
  EXPECT_EQ(listed.code, 4);
  EXPECT_THAT(listed.errors, HasSubstr((m_project / "runs.sqlite").string()));
}

TEST_F(InitProgramTest, ASearchInTheFolderIsRecordedThere) {
  ASSERT_EQ(run({"init", "mine"}).code, 0);
  std::ofstream(m_folder / "task.py") << "class Model: pass\n";
  const std::string task = (m_folder / "task.py").string();
  // Who cannot write the record is refused, and with that says which one it would have been.
  const auto holder = store::Record::open(m_project, store::Record::Mode::ReadWrite);
  ASSERT_THAT(holder, testing::IsOk());
  setEnvironment("SWAGE_PROJECT", m_project.string());
  EXPECT_EQ(run({"optimize", task}).code, 13) << "the variable names it";
  m_environment.remove(QStringLiteral("SWAGE_PROJECT"));
  m_workingFolder = m_project;
  EXPECT_EQ(run({"optimize", task}).code, 13) << "it is the current folder";
}

class KeysProgramTest : public testing::ProgramFixture {
 protected:
  KeysProgramTest() {
    setEnvironment("SWAGE_CONFIG", m_config.string());
    std::filesystem::create_directories(m_folder / "bin");
    setEnvironment("PATH", (m_folder / "bin").string());  // no keychain, whatever this machine has
  }
  // A secret-tool that keeps its keys in files.
  void installKeychain() const {
    std::ofstream(m_folder / "bin/secret-tool") << "#!/bin/sh\nPATH=/usr/bin:/bin\nfor last; do :; done\ncase $1 in\n"
                                                   "  store) cat > \"$0.$last\" ;;\n"
                                                   "  lookup) cat \"$0.$last\" ;;\n"
                                                   "  clear) rm -f \"$0.$last\" ;;\nesac\n";
    std::filesystem::permissions(m_folder / "bin/secret-tool", std::filesystem::perms::owner_all);
  }
  void addModel(const std::string& name, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"models", "add", name, "--base-url", "http://localhost:1", "--model-id", "big"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome added = run(arguments);
    ASSERT_EQ(added.code, 0) << added.errors;
  }
  // Runs `keys`; nothing that is printed or set has the key.
  Outcome keys(std::vector<std::string> arguments, const std::string& input = {}) {
    arguments.insert(arguments.begin(), "keys");
    Outcome outcome = run(arguments, input);
    EXPECT_THAT(outcome.output + outcome.errors, Not(HasSubstr(kKey)));
    EXPECT_THAT(readTextFile(m_config).value_or(""), Not(HasSubstr(kKey)));
    return outcome;
  }
  domain::Json listed(const std::string& name) {
    const domain::Json document = documentOf(keys({"list", "--json"}));
    for (const domain::Json& one : document["keys"]) {
      if (one["name"] == name) {
        return one;
      }
    }
    return {};
  }

  static constexpr const char* kKey = "topsecret-0123456789";
  std::filesystem::path m_config = m_folder / "config.toml";
};

TEST_F(KeysProgramTest, ListSaysWhereKeysAreAndWhetherTheyAreThere) {
  EXPECT_EQ(keys({"list"}).output, "no models; `swage models add` adds one\n");
  addModel("plain");
  addModel("variable", {"--key-env", "SOME_KEY"});
  addModel("command", {"--key-command", "/bin/echo inline-key"});
  EXPECT_EQ(listed("plain")["from"], "none");
  EXPECT_TRUE(listed("plain")["there"].is_null());
  EXPECT_EQ(listed("variable")["there"], false);
  EXPECT_THAT(listed("variable")["error"]["message"].get<std::string>(), HasSubstr("SOME_KEY is not set"));
  setEnvironment("SOME_KEY", kKey);
  EXPECT_EQ(listed("variable")["there"], true);
  EXPECT_EQ(listed("variable")["where"], "SOME_KEY");
  EXPECT_EQ(listed("command")["there"], true);
  EXPECT_TRUE(listed("command")["where"].is_null()) << "its words may be a key";
  const Outcome table = keys({"list"});
  EXPECT_THAT(table.output, AllOf(HasSubstr("$SOME_KEY"), Not(HasSubstr("inline-key"))));
}

TEST_F(KeysProgramTest, SetStoresAKeyInTheFileThatIsNamed) {
  addModel("cloud");
  const Outcome stored = keys({"set", "cloud", "--file", "deep/cloud.key"}, std::string(kKey) + "\n");
  EXPECT_EQ(stored.code, 0) << stored.errors;
  const std::filesystem::path file = m_folder / "deep/cloud.key";
  EXPECT_EQ(readTextFile(file).value_or(""), std::string(kKey) + "\n");
  EXPECT_EQ(std::filesystem::status(file).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_EQ(listed("cloud")["where"], file.string()) << "the settings name it from now on";
  EXPECT_EQ(listed("cloud")["there"], true);
  EXPECT_EQ(keys({"set", "cloud"}, "another-key").code, 0) << "without a line feed, too";
  EXPECT_EQ(readTextFile(file).value_or(""), "another-key\n");
  EXPECT_EQ(keys({"remove", "cloud"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_EQ(listed("cloud")["there"], false);
  EXPECT_EQ(keys({"remove", "cloud"}).code, 4);
}

TEST_F(KeysProgramTest, SetStoresAKeyInTheKeychainWhereNothingElseIsNamed) {
  addModel("cloud");
  addModel("other", {"--key-keychain", "cloud"});
  const Outcome refused = keys({"set", "cloud"}, kKey);
  EXPECT_EQ(refused.code, 4);
  EXPECT_THAT(refused.errors, AllOf(HasSubstr("secret-tool is not installed"), HasSubstr("--file FILE")));
  installKeychain();
  const domain::Json stored = documentOf(keys({"set", "cloud", "--json"}, kKey));
  EXPECT_EQ(stored["set"], "cloud");
  EXPECT_EQ(stored["from"], "keychain");
  EXPECT_EQ(readTextFile(m_folder / "bin/secret-tool.cloud").value_or(""), kKey);
  EXPECT_EQ(listed("cloud")["there"], true);
  const domain::Json removed = documentOf(keys({"remove", "cloud", "--json"}));
  EXPECT_EQ(removed["removed"], "cloud");
  EXPECT_EQ(removed["also_of"], domain::Json::array({"other"}));
  EXPECT_EQ(listed("cloud")["there"], false);
}

TEST_F(KeysProgramTest, SetRefusesWhatItCannotStore) {
  addModel("variable", {"--key-env", "SOME_KEY"});
  addModel("cloud", {"--key-file", (m_folder / "key").string()});
  const Outcome variable = keys({"set", "variable"}, kKey);
  EXPECT_EQ(variable.code, 4);
  EXPECT_THAT(variable.errors, AllOf(HasSubstr("the variable SOME_KEY"), HasSubstr("hint: ")));
  EXPECT_THAT(keys({"set", "clout"}, kKey).errors, HasSubstr("did you mean 'cloud'?"));
  EXPECT_EQ(keys({"set", "cloud"}).code, 4) << "there is nothing to read";
  const Outcome strange = keys({"set", "cloud"}, std::string(kKey) + " and more\n");
  EXPECT_EQ(strange.code, 4);
  EXPECT_THAT(strange.errors, HasSubstr("is no key"));
  EXPECT_EQ(keys({"set", "cloud", kKey}).code, 2) << "a key on the command line is not even repeated";
  EXPECT_FALSE(std::filesystem::exists(m_folder / "key"));
}

class DbProgramTest : public testing::ProgramFixture {
 protected:
  DbProgramTest() { testing::makeLargeRecord(m_project, 300); }

  Outcome db(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "db");
    arguments.insert(arguments.end(), {"--project", "project"});
    return run(arguments);
  }
  // A text so large that it lies in a file beside the database.
  void addLargeText() const {
    auto record = store::Record::open(m_project, store::Record::Mode::ReadWrite);
    ASSERT_THAT(record, testing::IsOk());
    Random random(1);
    std::string text;
    while (text.size() < (std::size_t{3} << 20U)) {
      text += static_cast<char>(random.next() & 0xFFU);
    }
    ASSERT_THAT(record->addText(text), testing::IsOk());
  }

  std::filesystem::path m_project = m_folder / "project";
};

TEST_F(DbProgramTest, CheckSaysThatARecordIsIntact) {
  const Outcome text = db({"check"});
  EXPECT_EQ(text.code, 0) << text.errors;
  EXPECT_THAT(text.output, HasSubstr("the record of 'project' is intact: "));
  const domain::Json document = documentOf(db({"check", "--json"}));
  EXPECT_EQ(document["intact"], true);
  EXPECT_THAT(document["problems"], IsEmpty());
  EXPECT_GT(document["artifacts"], 0);
  EXPECT_GT(document["bytes"], 10000);
}

TEST_F(DbProgramTest, CheckNamesWhatIsDamaged) {
  addLargeText();
  std::filesystem::remove_all(m_project / "artifacts");
  const Outcome text = db({"check"});
  EXPECT_EQ(text.code, 10);
  EXPECT_THAT(text.output, HasSubstr(".zst"));
  EXPECT_THAT(text.errors, AllOf(HasSubstr("is damaged"), HasSubstr("hint: ")));
  const Outcome json = db({"check", "--json"});
  EXPECT_EQ(json.code, 10);
  const domain::Json document = documentOf(json);
  EXPECT_EQ(document["intact"], false);
  EXPECT_EQ(document["problem_count"], 1);
  EXPECT_EQ(document["problems"].size(), 1U);
}

TEST_F(DbProgramTest, BackupIsACopyThatTakesThePlaceOfTheRecord) {
  addLargeText();
  const domain::Json document = documentOf(db({"backup", "copy.sqlite", "--json"}));
  EXPECT_EQ(document["file"], "copy.sqlite");
  EXPECT_GT(document["bytes_before"], 3'000'000);
  EXPECT_GT(document["bytes_after"], 3'000'000);
  EXPECT_EQ(document["artifacts_from_files"], 1);
  EXPECT_EQ(document["artifacts_left_out"], 0);
  const Outcome again = db({"backup", "copy.sqlite"});
  EXPECT_EQ(again.code, 4);
  EXPECT_THAT(again.errors, AllOf(HasSubstr("'copy.sqlite': it exists"), HasSubstr("hint: ")));
  EXPECT_EQ(db({"backup", "nowhere/copy.sqlite"}).code, 10);
  std::filesystem::remove_all(m_project);
  std::filesystem::create_directories(m_project);
  std::filesystem::rename(m_folder / "copy.sqlite", m_project / "runs.sqlite");
  EXPECT_EQ(db({"check"}).code, 0);
  EXPECT_EQ(run({"list", "r1", "--project", "project"}).code, 0);
}

TEST_F(DbProgramTest, VacuumIsRefusedWhileARunWritesTheProject) {
  {
    const auto holder = store::Record::open(m_project, store::Record::Mode::ReadWrite);
    ASSERT_THAT(holder, testing::IsOk());
    const Outcome refused = db({"vacuum"});
    EXPECT_EQ(refused.code, 13);
    EXPECT_THAT(refused.errors, HasSubstr("is writing it"));
    EXPECT_EQ(db({"check"}).code, 0) << "looking and copying are not";
    EXPECT_EQ(db({"backup", "copy.sqlite"}).code, 0);
  }
  const domain::Json document = documentOf(db({"vacuum", "--json"}));
  EXPECT_GT(document["bytes_before"], 0);
  EXPECT_GT(document["bytes_after"], 0);
  EXPECT_LE(document["bytes_after"], document["bytes_before"]);
  EXPECT_EQ(document["held"], false);
  EXPECT_THAT(db({"vacuum"}).output, AllOf(HasSubstr("the database of 'project': "), HasSubstr(" after\n")));
}

TEST_F(DbProgramTest, WithoutARecordThereIsNothingToLookAfter) {
  std::filesystem::create_directories(m_folder / "empty");
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"db", "check"}, {"db", "backup", "copy.sqlite"}, {"db", "vacuum"}}) {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), {"--project", "empty"});
    const Outcome outcome = run(all);
    EXPECT_EQ(outcome.code, 4) << arguments[1];
    EXPECT_THAT(outcome.errors, HasSubstr("there is no record"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(m_folder / "empty"));
}

}  // namespace
}  // namespace swage
