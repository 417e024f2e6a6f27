// SPDX-License-Identifier: Apache-2.0
// Opens a large record in the page of candidates, as the window does, and says how long a user waits.
//   swage-table-benchmark PROJECT     (swage-record-benchmark makes one)
#include <QApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QScrollBar>
#include <QTableView>
#include <QTimer>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "core/engine/record_service_impl.h"
#include "tests/support/fake_services.h"
#include "ui/models/candidate_table_model.h"
#include "ui/pages/candidates_page.h"

using namespace Qt::StringLiterals;
using namespace swage;

namespace {

// Milliseconds of `action` until the search that it starts is answered, and the longest time the event loop stood
// still.
template <class Action>
void report(const char* what, ui::CandidateTableModel& model, Action action) {
  QElapsedTimer total;
  total.start();
  QElapsedTimer turn;
  qint64 longest = 0;
  turn.start();
  action();
  while (model.isSearching()) {
    longest = std::max(longest, turn.restart());
    QApplication::processEvents(QEventLoop::AllEvents, 5);
  }
  longest = std::max(longest, turn.elapsed());
  std::printf("%-34s %8lld ms   longest stop %4lld ms   %d rows\n", what, static_cast<long long>(total.elapsed()),
              static_cast<long long>(longest), model.rowCount());
}

void reportScrolling(QTableView& table) {
  QScrollBar* bar = table.verticalScrollBar();
  std::vector<double> frames;
  for (int step = 0; step < 300; ++step) {
    QElapsedTimer timer;
    timer.start();
    bar->setValue(step % 2 == 0 ? bar->value() + 40 * bar->singleStep()                 // the wheel
                                : static_cast<int>((step * 7919LL) % bar->maximum()));  // the thumb
    table.viewport()->repaint();
    frames.push_back(static_cast<double>(timer.nsecsElapsed()) * 1e-6);
  }
  std::sort(frames.begin(), frames.end());
  std::printf("frame while scrolling: median %.1f ms, 99th percentile %.1f ms, longest %.1f ms\n",
              frames[frames.size() / 2], frames[frames.size() * 99 / 100], frames.back());
}

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  testing::FakeRunService run;
  engine::RecordServiceImpl record;
  ui::ProjectSession session(run, record);
  ui::CandidatesPage page(session, record);
  page.resize(1280, 400);
  page.show();
  auto& model = *page.findChild<ui::CandidateTableModel*>();
  auto& table = *page.findChild<QTableView*>(u"candidateTable"_s);
  report("open and list by speedup", model, [&] { session.openProject(argv[1]); });
  reportScrolling(table);
  for (int column = 0; column < model.columnCount(); ++column) {
    if (ui::CandidateTableModel::canSortBy(column)) {
      const QByteArray name = "sort by " + model.headerData(column, Qt::Horizontal).toString().toUtf8();
      report(name.constData(), model, [&] { table.sortByColumn(column, Qt::AscendingOrder); });
    }
  }
  for (const char* filter :
       {"status:correct", "status:wrong speedup>0", "speedup>10", "cell:A2", "outcome", "pinned"}) {
    report(filter, model, [&] { page.setFilterText(QString::fromLatin1(filter)); });
  }
  report("no filter", model, [&] { page.setFilterText({}); });
  return 0;
}
