// SPDX-License-Identifier: Apache-2.0
// Makes a large record, once, and says how long the window's questions of it take.
//   swage-record-benchmark PROJECT [CANDIDATES]
#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/domain/filter.h"
#include "core/store/annotations.h"
#include "core/store/record.h"
#include "tests/core/store/large_record.h"
#include "tests/core/store/samples.h"

namespace swage::testing {
namespace {

constexpr int kRepetitions = 5;

double millisecondsOf(const std::function<void()>& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

void report(const std::string& what, const std::function<void()>& action) {
  std::vector<double> times;
  const std::clock_t begin = std::clock();
  for (int i = 0; i < kRepetitions; ++i) {
    times.push_back(millisecondsOf(action));
  }
  const double processor = 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / kRepetitions;
  const double first = times.front();
  std::sort(times.begin(), times.end());
  std::cout << fmt::format("{:<44} {:>9.2f} {:>9.2f} {:>9.2f}\n", what, first, times[times.size() / 2], processor)
            << std::flush;
}

store::CandidateQuery queryOf(domain::RunId run, const std::string& filter) {
  store::CandidateQuery query{.run = run};
  query.filter = domain::parseFilter(filter, domain::candidateFilterKeys()).value();
  return query;
}

void measureOrders(const store::Record& record, domain::RunId run) {
  const std::vector<std::pair<std::string, store::CandidateColumn>> orders = {
      {"id", store::CandidateColumn::Id},
      {"time", store::CandidateColumn::Time},
      {"speedup", store::CandidateColumn::Speedup},
      {"cell", store::CandidateColumn::Cell},
      {"status", store::CandidateColumn::Status},
      {"operator", store::CandidateColumn::Operator},
      {"island", store::CandidateColumn::Island},
      {"error", store::CandidateColumn::Error},
      {"registers", store::CandidateColumn::Registers},
      {"found", store::CandidateColumn::Found}};
  for (const auto& [name, sort] : orders) {
    for (const bool descending : {false, true}) {
      report(fmt::format("all ids by {}{}", name, descending ? ", falling" : ""), [&, sort = sort] {
        static_cast<void>(
            record.candidateIds({.run = run, .sort = sort, .descending = descending}, [] { return false; }).value());
      });
    }
  }
}

void measureFilters(const store::Record& record, domain::RunId run) {
  for (const char* filter :
       {"status:correct", "status:wrong", "speedup>10", "speedup:2..2.5", "cell:A2B1C0", "cell:A2", "-operator:human",
        "island:2 status:correct speedup>5 registers<64", "error<1.2e-7", "parent:1000..1010", "tag:promising",
        "pinned", "trashed", "outcome", "\"outcome 77\"", "id:400000..500000", "found<1h", "failed -status:wrong"}) {
    store::CandidateQuery query = queryOf(run, filter);
    query.sort = store::CandidateColumn::Speedup;
    query.descending = true;
    const std::size_t found = record.candidateIds(query, [] { return false; }).value().size();
    report(fmt::format("ids of {} ({})", filter, found),
           [&] { static_cast<void>(record.candidateIds(query, [] { return false; }).value()); });
  }
}

void measureRows(const store::Record& record, domain::RunId run) {
  store::CandidateQuery query{.run = run, .sort = store::CandidateColumn::Speedup, .descending = true, .limit = 128};
  report("first page by offset", [&] { static_cast<void>(record.candidates(query).value()); });
  query.offset = record.candidateCount(query).value() / 2;
  report("middle page by offset", [&] { static_cast<void>(record.candidates(query).value()); });
  report("count", [&] { static_cast<void>(record.candidateCount(query).value()); });
  const std::vector<domain::CandidateId> ids = record.candidateIds(query, [] { return false; }).value();
  for (const auto& [where, at] : {std::pair{"first", std::size_t{0}}, std::pair{"middle", ids.size() / 2}}) {
    report(fmt::format("128 rows of the {} ids", where), [&, at = at] {
      const std::size_t count = std::min<std::size_t>(128, ids.size() - at);
      static_cast<void>(record.candidates(std::span(ids).subspan(at, count)).value());
    });
  }
  report("lineage of the middle candidate",
         [&] { static_cast<void>(record.lineage(ids[ids.size() / 2], {}).value()); });
}

}  // namespace
}  // namespace swage::testing

int main(int argc, char** argv) {
  using namespace swage;
  const std::filesystem::path project = argc > 1 ? argv[1] : "large.swage-project";
  const std::int64_t count = argc > 2 ? std::stoll(argv[2]) : 1'000'000;
  if (!std::filesystem::exists(project / "runs.sqlite")) {
    const double ms = testing::millisecondsOf([&] { testing::makeLargeRecord(project, count); });
    std::cout << fmt::format("made {} candidates in {:.1f} s\n", count, ms * 1e-3);
  }
  std::cout << fmt::format("{:<44} {:>9} {:>9} {:>9}  ms\n", "", "first", "median", "processor");
  testing::report("open", [&] {
    static_cast<void>(store::Record::open(project, store::Record::Mode::ReadOnly).value().runs().value());
  });
  const store::Record record = store::Record::open(project, store::Record::Mode::ReadOnly).value();
  const domain::RunId run = record.runs().value().front().id;
  testing::measureRows(record, run);
  testing::measureOrders(record, run);
  testing::measureFilters(record, run);
  return 0;
}
