// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <QApplication>
#include <QTest>

#include <memory>

#include "tests/support/fake_export_service.h"
#include "tests/support/temp_dir.h"
#include "tests/ui/demo_activity.h"
#include "tests/ui/demo_data.h"
#include "ui/shell/main_window.h"

namespace swage::testing {

// Answers every question at once.
class FakeDialogs : public ui::Dialogs {
 public:
  void chooseTaskFile(QWidget*, const Answer& chosen) override { answer(chosen); }
  void chooseTaskBundle(QWidget*, const Answer& chosen) override { answer(chosen); }
  void chooseTaskFolder(QWidget*, const Answer& chosen) override { answer(chosen); }
  void chooseProject(QWidget*, const QString&, const Answer& chosen) override { answer(chosen); }
  void chooseExportFile(QWidget*, const QString& suggestion, const Answer& chosen) override {
    suggested = suggestion;
    answer(chosen);
  }
  void chooseExportFolder(QWidget*, const QString& suggestion, const Answer& chosen) override {
    suggested = suggestion;
    answer(chosen);
  }
  void chooseFile(QWidget*, const QString&, const QString&, const Answer& chosen) override { answer(chosen); }
  void chooseFolder(QWidget*, const QString&, const QString&, const Answer& chosen) override { answer(chosen); }
  void askText(QWidget*, const QString&, const QString&, const Answer& answered) override { answer(answered); }
  void showAbout(QWidget*) override { ++abouts; }

  QString path;  // or text; empty: the user cancels
  QString suggested;
  int abouts = 0;

 private:
  void answer(const Answer& chosen) const {
    if (!path.isEmpty()) {
      chosen(path);
    }
  }
};

// The whole window over fake services, with one bundled task and an empty project.
class WindowTest : public ::testing::Test {
 protected:
  WindowTest() {
    fillDemo(record);
    patterns.rows = demoPatterns();
    doctor.checks = demoChecks();
    std::filesystem::create_directory(folder / "tasks");
    std::filesystem::create_directory(folder / "project");
    write(folder / "tasks" / "softmax_rows.py", "\"\"\"Softmax of each row: one pass.\"\"\"\n");
    options.tasksFolder = QString::fromStdString((folder / "tasks").string());
    options.spec.project = folder / "project";
  }

  static void write(const std::filesystem::path& file, const char* text);

  ui::MainWindow& open() {
    window = std::make_unique<ui::MainWindow>(services(), options);
    window->show();
    return *window;
  }
  ui::MainWindow& openWithTask() {
    options.spec.task = (folder / "tasks" / "softmax_rows.py").string();
    return open();
  }
  // From Start to the first events of the engine.
  void startRun() {
    window->actions().start->trigger();
    run.enter(services::RunState::Importing);
    run.enter(services::RunState::Running);
    run.create(kDemoRun);
  }
  void sendEverything() {
    Q_EMIT run.progressed(demoProgress(record));
    Q_EMIT run.archiveChanged(record.cellRows);
    Q_EMIT run.lanesChanged(demoLanes(54.0));
    Q_EMIT run.candidateEvaluated(record.rows.front());
  }
  [[nodiscard]] ui::WindowServices services() {
    return {.run = run,
            .record = record,
            .exporter = exporter,
            .dialogs = dialogs,
            .theme = theme,
            .exportChecks = &exportChecks,
            .patterns = &patterns,
            .doctor = &doctor,
            .selfTest = &selfTest,
            .recordCheck = &recordCheck,
            .settings = &settings,
            .bus = bus};
  }
  template <class T>
  [[nodiscard]] T* child(const QString& name) const {
    T* found = window->findChild<T*>(name);
    EXPECT_NE(found, nullptr) << name.toStdString();
    return found;
  }

  TempDir folder;
  FakeRunService run;
  FakeRecordService record;
  FakeExportService exporter;
  FakeExportCheckService exportChecks;
  FakePatternService patterns;
  FakeDoctorService doctor;
  FakeSelfTestService selfTest;
  FakeRecordCheckService recordCheck;
  FakeSettingsService settings;
  QDBusConnection bus{QStringLiteral("none")};
  FakeDialogs dialogs;
  ui::ThemeController theme{*qobject_cast<QApplication*>(QCoreApplication::instance())};
  ui::WindowOptions options;
  std::unique_ptr<ui::MainWindow> window;
};

}  // namespace swage::testing
