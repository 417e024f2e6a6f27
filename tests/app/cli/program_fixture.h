// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>

#include <QProcess>
#include <QProcessEnvironment>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

namespace swage::testing {

// How a program ended, and what it printed.
struct Outcome {
  int code = -1;
  std::string output;
  std::string errors;
};

// Runs the program in a folder of its own, in which its projects lie, too.
class ProgramFixture : public ::testing::Test {
 protected:
  ProgramFixture() { m_environment.insert(QStringLiteral("XDG_DATA_HOME"), path(m_folder / "data")); }

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
    process.setWorkingDirectory(path(m_workingFolder));
    process.start(QStringLiteral(SWAGE_PROGRAM), list);
  }
  // `input` is all that the program reads.
  Outcome run(const std::vector<std::string>& arguments, const std::string& input = {}) {
    QProcess process;
    startProgram(process, arguments);
    if (!input.empty()) {
      process.write(input.data(), static_cast<qint64>(input.size()));
    }
    process.closeWriteChannel();
    EXPECT_TRUE(process.waitForFinished(60000));
    return outcomeOf(process);
  }
  static Outcome outcomeOf(QProcess& process) {
    return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -process.exitCode(),
            process.readAllStandardOutput().toStdString(), process.readAllStandardError().toStdString()};
  }

  TempDir m_folder;
  std::filesystem::path m_workingFolder = m_folder.path();
  QProcessEnvironment m_environment = QProcessEnvironment::systemEnvironment();
};

}  // namespace swage::testing
