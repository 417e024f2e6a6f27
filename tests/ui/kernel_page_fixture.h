// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>

#include <QLabel>
#include <QTest>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/fake_compile_service.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_for.h"
#include "tests/ui/demo_data.h"
#include "ui/editor/editor_marks.h"
#include "ui/editor/kernel_view.h"
#include "ui/pages/kernel_page.h"

namespace swage::ui {

inline constexpr const char* kSource = "int a;\nint b;\nint c;\n";
inline constexpr const char* kPtx =
    ".visible .entry k()\n{\n\t.loc 1 2 1\n\tadd.s32 %r1, %r2, %r3;\n\t.loc 1 3 1\n\tret;\n}\n.file 1 \"source.cu\"\n";

// The page with a demo run, somebody to evaluate edits, and a candidate that a test may change before it opens it.
class KernelPageTest : public ::testing::Test {
 protected:
  KernelPageTest() {
    testing::fillDemo(record);
    record.makeDetail = [this](const services::CandidateRow& row) {
      services::CandidateDetail detail = prepared;
      detail.row = row;
      return detail;
    };
    prepared.program.language = domain::Language::CudaCpp;
    prepared.program.source = kSource;
    prepared.assembly = kPtx;
    prepared.genome.emplace().regions = {{{0}, "row_block", {{"lanes", 16}}}};
    edits.regionRows = {{"row_block", "one row for each block", {0}, {{"lanes", "width", {8, 16, 32}, 16, 8}}}};
  }

  void open() {
    session = std::make_unique<ProjectSession>(run, record);
    session->openProject(folder / "project");
    session->showRun(testing::kDemoRun);
    page =
        std::make_unique<KernelPage>(*session, KernelServices{&record, &edits, folder / "drafts", compiles}, nullptr);
    page->resize(1200, 700);
    page->show();
    page->activateWindow();
    EXPECT_TRUE(QTest::qWaitForWindowActive(page.get()));
    session->selectCandidate(first());
  }
  // The views tell of a caret that moved when they are painted.
  static bool links(const KernelView& view, const std::vector<int>& lines) {
    return testing::waitFor([&] { return view.marks().linkedLines() == lines; });
  }
  [[nodiscard]] domain::CandidateId first() const { return record.rows[0].id; }
  [[nodiscard]] domain::CandidateId second() const { return record.rows[1].id; }
  template <class T>
  [[nodiscard]] T* child(const QString& name) const {
    T* found = page->findChild<T*>(name);
    EXPECT_NE(found, nullptr) << name.toStdString();
    return found;
  }
  [[nodiscard]] KernelView& view(const QString& name) const { return *child<KernelView>(name); }
  void type(const QString& text) {
    view(QStringLiteral("sourceView")).setFocus();
    QTest::keyClicks(view(QStringLiteral("sourceView")).focusProxy(), text);
  }
  void press(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QTest::keyClick(view(QStringLiteral("sourceView")).focusProxy(), key, modifiers);
  }
  [[nodiscard]] QString state() const { return child<QLabel>(QStringLiteral("editState"))->text(); }
  static services::EditOutcome outcome(const services::CandidateRow& row) {
    services::EditOutcome outcome;
    outcome.detail.row = row;
    return outcome;
  }

  testing::TempDir folder;
  testing::FakeRunService run;
  testing::FakeRecordService record;
  testing::FakeEditService edits;
  testing::FakeCompileService compileService;
  services::CompileService* compiles = nullptr;  // of the page
  services::CandidateDetail prepared;
  std::unique_ptr<ProjectSession> session;
  std::unique_ptr<KernelPage> page;
};

}  // namespace swage::ui
