// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <QAbstractItemModelTester>

#include "tests/support/no_warnings.h"
#include "ui/models/run_table_model.h"

namespace swage::ui {
namespace {

using ::testing::ElementsAre;

services::RunSummary runOf(std::int64_t id, const char* task, domain::RunStatus status, double speedup) {
  services::RunSummary run;
  run.id = domain::RunId(id);
  run.taskName = task;
  run.deviceName = "Example GPU";
  run.target = "cuda";
  run.status = status;
  run.bestSpeedup = domain::Speedup::exactly(speedup);
  run.evaluations = 100 * id;
  run.elapsedSeconds = 60.0 * static_cast<double>(id);
  return run;
}

TEST(RunTable, SortsAndFilters) {
  RunTableModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Warning);
  model.setRuns({runOf(1, "softmax", domain::RunStatus::Finished, 2.0),
                 runOf(2, "matmul", domain::RunStatus::Interrupted, 0.0),
                 runOf(3, "softmax_rows", domain::RunStatus::Finished, 1.2)});
  const auto ids = [&model] {
    std::vector<std::int64_t> found;
    for (int row = 0; row < model.rowCount(); ++row) {
      found.push_back(model.at(row)->run.id.value());
    }
    return found;
  };
  const auto filter = [&](std::string_view text) {
    model.setFilter(domain::parseFilter(text, domain::runFilterKeys()).value());
    return ids();
  };
  EXPECT_THAT(ids(), ElementsAre(3, 2, 1));
  model.sort(static_cast<int>(RunColumn::Speedup), Qt::DescendingOrder);
  EXPECT_THAT(ids(), ElementsAre(1, 3, 2));
  EXPECT_THAT(filter("task:softmax -run:1"), ElementsAre(3));
  EXPECT_THAT(filter("speedup<2"), ElementsAre(3));
  EXPECT_THAT(filter("status:interrupted,finished duration>90s"), ElementsAre(3, 2));
  EXPECT_THAT(filter("evaluations>=200 gpu"), ElementsAre(3, 2));
  EXPECT_THAT(filter("target:cpu"), ::testing::IsEmpty());
}

TEST(RunTable, ASpeedupStandsWithItsMargin) {
  RunTableModel model;
  services::RunSummary run = runOf(1, "softmax", domain::RunStatus::Finished, 2.0);
  run.bestSpeedup = {2.0, 1.9, 2.1};
  model.setRuns({run});
  EXPECT_EQ(model.index(0, static_cast<int>(RunColumn::Speedup)).data().toString().toStdString(), "2.00× ± 5.0 %");
  EXPECT_EQ(model.headerData(static_cast<int>(RunColumn::Roof), Qt::Horizontal).toString().toStdString(),
            "% of roofline");
}

}  // namespace
}  // namespace swage::ui
