// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QElapsedTimer>
#include <QTcpServer>
#include <QTcpSocket>
#include <QTimer>

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace swage::models {

// A model server on this machine for measurements: streams the same reply to every question, as OpenAI's format has it,
// so many tokens a second over all connections together. Lives on a thread of its own; only stats() may be asked from
// another one.
class TokenServer final : public QTcpServer {
  Q_OBJECT

 public:
  struct Options {
    std::string reply;
    double tokensPerSecond = 250'000.0;
    int tokensPerEvent = 4;
    static constexpr std::size_t kBytesPerToken = 4;
  };
  // What has happened so far. A queue is what was to be sent and was not taken.
  struct Stats {
    std::atomic<std::int64_t> tokens{0};  // handed to the system
    std::atomic<std::int64_t> replies{0};
    std::atomic<std::int64_t> queuedBytes{0};   // now
    std::atomic<std::int64_t> behindTokens{0};  // that should have been sent by now, and were not
  };

  explicit TokenServer(Options options);

  // On its thread. False: there is no port.
  [[nodiscard]] bool open();
  [[nodiscard]] const Stats& stats() const { return m_stats; }

 private:
  struct Stream {
    std::string read;
    bool isAnswering = false;
    std::size_t next = 0;  // event of the reply
  };
  void handleConnection();
  void handleData(QTcpSocket& socket);
  void tick();
  // How many of the tokens were sent.
  int send(QTcpSocket& socket, Stream& stream, int events);
  [[nodiscard]] std::string ending() const;

  Options m_options;
  std::vector<std::string> m_events;  // of one reply, as chunks of HTTP
  std::map<QTcpSocket*, Stream> m_streams;
  QTimer m_tick;
  QElapsedTimer m_clock;
  double m_owed = 0.0;  // events
  Stats m_stats;
};

}  // namespace swage::models
