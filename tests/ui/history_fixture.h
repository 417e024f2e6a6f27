// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <QTest>
#include <QWidget>

#include <fstream>

#include "tests/support/temp_dir.h"
#include "tests/ui/demo_data.h"
#include "ui/models/project_session.h"

namespace swage::testing {

// A page over a session that shows the demo's run.
class HistoryPage : public ::testing::Test {
 protected:
  HistoryPage() {
    fillDemo(record);
    std::ofstream(folder / "runs.sqlite").flush();
    session.openProject(folder.path());
  }
  template <class T>
  [[nodiscard]] static T* child(const QWidget& page, const QString& name) {
    T* found = page.findChild<T*>(name);
    EXPECT_NE(found, nullptr) << name.toStdString();
    return found;
  }
  static void show(QWidget& page) {
    page.resize(1000, 500);
    page.show();
  }

  TempDir folder;
  FakeRunService run;
  FakeRecordService record;
  ui::ProjectSession session{run, record};
};

}  // namespace swage::testing
