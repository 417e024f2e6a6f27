// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QThread>
#include <QTimer>

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "core/models/token_server.h"
#include "core/run/model_proposer.h"
#include "core/run/proposer_pool.h"
#include "core/run/swarm_feed.h"
#include "core/store/record.h"

namespace swage::engine {

// Whether the engine keeps up with many models that write at once: a server on this machine streams replies to so many
// of them, and what they write is read, judged by its form, told of, and kept in a record with its conversation.
// Compilers and workers have no part in it. Emits finished() once. One thread only, besides that of the server.
class SwarmBenchmark : public QObject {
  Q_OBJECT

 public:
  struct Options {
    std::filesystem::path folder;  // for the record; empty at the beginning
    int models = 32;
    double tokensPerSecond = 250'000.0;  // all together
    int tokensPerEvent = 4;
    int tokensPerReply = 2000;
    double seconds = 20.0;
  };
  struct Report {
    double seconds = 0.0;
    double tokensPerSecond = 0.0;  // that came
    double repliesPerSecond = 0.0;
    std::int64_t candidates = 0;  // recorded
    // Bytes that the server had to keep back: the most, in the first and in the last quarter of the time. A queue that
    // grows is larger in the end.
    std::int64_t queuedFirst = 0;
    std::int64_t queuedLast = 0;
    std::int64_t behindTokens = 0;  // at the end, of those that should have been sent
    double stall99Ms = 0.0;         // that the engine's event loop did not come round
    double stallMaxMs = 0.0;
    double reportMs = 0.0;  // of what the window is told, in the mean
    // Nothing piles up: what was to be sent came, and the last quarter holds back no more than the first.
    [[nodiscard]] bool keepsUp() const;
    double wantedTokensPerSecond = 0.0;
  };

  explicit SwarmBenchmark(Options options, QObject* parent = nullptr);
  ~SwarmBenchmark() override;

  void start();

 Q_SIGNALS:
  void finished(const swage::Result<swage::engine::SwarmBenchmark::Report>& report);

 private:
  [[nodiscard]] Result<> openRecord();
  [[nodiscard]] Result<> openServer();
  [[nodiscard]] Result<> makeModels();
  void drain();
  [[nodiscard]] Result<> keep(const run::ProposerPool::Taken& taken);
  void beat();
  void tellWindow();
  void conclude(std::optional<Error> error);

  Options m_options;
  domain::Task m_task;
  domain::DeviceInfo m_device;
  QThread m_serverThread;
  models::TokenServer* m_server = nullptr;  // lives on its thread, deleted there
  std::uint16_t m_port = 0;
  std::optional<store::Record> m_record;
  domain::RunId m_run;
  std::unique_ptr<run::ProposerPool> m_pool;
  std::unique_ptr<run::SwarmFeed> m_feed;
  QTimer m_beat{this};
  QTimer m_tell{this};
  QElapsedTimer m_sinceBeat;
  QElapsedTimer m_clock;
  std::vector<double> m_stalls;
  double m_reportSum = 0.0;
  int m_reports = 0;
  bool m_ended = false;
  Report m_report;
};

}  // namespace swage::engine
