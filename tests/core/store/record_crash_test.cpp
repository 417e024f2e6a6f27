// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/base/fd.h"
#include "core/store/record.h"
#include "tests/core/store/samples.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::store {
namespace {

using domain::CandidateId;
using domain::RunId;
using testing::IsOk;
using testing::TempDir;

// A process that writes candidates and says the id of each on a pipe, after the record has acknowledged it.
class Writer {
 public:
  explicit Writer(const std::filesystem::path& project) {
    int ends[2];
    SWAGE_ASSERT(::pipe(ends) == 0);
    m_pid = ::fork();
    if (m_pid == 0) {
      ::close(ends[0]);
      write(project, ends[1]);
    }
    ::close(ends[1]);
    m_acknowledgements = Fd(ends[0]);
  }
  ~Writer() { kill(); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  [[nodiscard]] std::int64_t nextAcknowledged() const {
    std::int64_t id = -1;
    return ::read(m_acknowledgements.get(), &id, sizeof(id)) == sizeof(id) ? id : -1;
  }

  void kill() {
    if (m_pid > 0) {
      ::kill(m_pid, SIGKILL);
      int status = 0;
      ::waitpid(m_pid, &status, 0);
      m_pid = -1;
    }
  }

 private:
  [[noreturn]] static void write(const std::filesystem::path& project, int acknowledgements) {
    Record record = testing::openForWriting(project);
    const auto runs = record.runs().value();
    const RunId run = runs.empty() ? record.createRun(testing::sampleRun()).value() : runs.front().id;
    testing::require(record.setRunStatus(run, RunStatus::Running, 0.0));
    for (std::int64_t i = 0;; ++i) {
      const CandidateId id = testing::addCorrect(record, run, i, static_cast<int>(i % 4), "A1B0C1",
                                                 1e6 - static_cast<double>(i), static_cast<double>(i));
      const std::int64_t value = id.value();
      if (::write(acknowledgements, &value, sizeof(value)) != sizeof(value)) {
        ::_exit(0);
      }
    }
  }

  pid_t m_pid = -1;
  Fd m_acknowledgements;
};

TEST(RecordCrash, NothingAcknowledgedIsLostWhenTheWriterIsKilled) {
  const TempDir directory;
  std::vector<std::int64_t> acknowledged;
  for (const int writes : {1, 7, 40, 111}) {
    Writer writer(directory.path());
    for (int i = 0; i < writes; ++i) {
      acknowledged.push_back(writer.nextAcknowledged());
    }
    writer.kill();
    for (std::int64_t id = writer.nextAcknowledged(); id >= 0; id = writer.nextAcknowledged()) {
      acknowledged.push_back(id);
    }
    Record record = testing::openForWriting(directory.path());
    const RunRow run = record.runs().value().at(0);
    EXPECT_EQ(run.status, RunStatus::Interrupted);
    for (const std::int64_t id : acknowledged) {
      const auto candidate = record.candidate(CandidateId(id));
      ASSERT_THAT(candidate, IsOk());
      ASSERT_TRUE(candidate->evaluation.has_value()) << id;
      ASSERT_THAT(record.binary(candidate->binaryHash), IsOk());
    }
    const auto history = record.history(run.id).value();
    EXPECT_GE(history.size(), acknowledged.size());
    const auto evaluated = std::count_if(history.begin(), history.end(),
                                         [](const CandidateRecord& candidate) { return candidate.evaluation; });
    EXPECT_EQ(run.evaluations, evaluated) << "counters and rows are of one transaction";
  }
  SQLite::Database database(directory / "runs.sqlite", SQLite::OPEN_READONLY);
  EXPECT_EQ(database.execAndGet("PRAGMA integrity_check").getString(), "ok");
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM pragma_foreign_key_check").getInt(), 0);
}

TEST(RecordCrash, AReaderReadsWhileAnotherProcessWritesAndDies) {
  const TempDir directory;
  Writer writer(directory.path());
  ASSERT_GE(writer.nextAcknowledged(), 0);
  const auto reader = Record::open(directory.path(), Record::Mode::ReadOnly);
  ASSERT_THAT(reader, IsOk());
  std::int64_t seen = 0;
  for (int i = 0; i < 60; ++i) {
    const std::int64_t acknowledged = writer.nextAcknowledged();
    const std::int64_t count = reader->candidateCount({.run = RunId(1)}).value();
    EXPECT_GE(count, acknowledged);
    EXPECT_GE(count, seen);
    seen = count;
    EXPECT_THAT(reader->candidate(CandidateId(acknowledged)), IsOk());
    EXPECT_EQ(reader->cells(RunId(1), std::nullopt).value().size(), 1U);
  }
  writer.kill();
  EXPECT_GE(reader->candidateCount({.run = RunId(1)}).value(), seen);
  const auto late = Record::open(directory.path(), Record::Mode::ReadOnly);
  ASSERT_THAT(late, IsOk()) << "also when the journal of the dead writer must be read first";
  EXPECT_GE(late->candidateCount({.run = RunId(1)}).value(), seen);
}

TEST(RecordCrash, APausedRunStaysPaused) {
  const TempDir directory;
  {
    Record record = testing::openForWriting(directory.path());
    const RunId run = record.createRun(testing::sampleRun()).value();
    testing::require(record.setRunStatus(run, RunStatus::Paused, 5.0));
  }
  const Record record = testing::openForWriting(directory.path());
  EXPECT_EQ(record.runs().value().at(0).status, RunStatus::Paused);
}

}  // namespace
}  // namespace swage::store
