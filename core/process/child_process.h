// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QByteArray>
#include <QObject>
#include <QProcess>
#include <QTimer>

#include <chrono>
#include <csignal>
#include <deque>
#include <string>

#include "core/process/launch_command.h"

namespace swage::process {

// How a child came to its end.
struct ChildEnd {
  enum class Kind : std::uint8_t { FailedToStart, Exited, Signalled };
  Kind kind = Kind::Exited;
  int exitCode = 0;         // Exited
  std::string detail{};     // one line: "cannot start …", "exited with code 3", "was killed by signal 11"
  std::string lastLines{};  // the end of its standard error
  bool byUs = false;        // we ended it: terminate() or kill()
  int signal = 0;           // Signalled
};

// Owns one child in a process group of its own, which dies with the thread that started it. One start() per object;
// emits ended() exactly once for it, from the event loop, also when the program cannot start. Standard error goes to
// the log, at a limited rate. Nothing here waits. One thread only.
class ChildProcess : public QObject {
  Q_OBJECT

 public:
  // `lastSignal` is what kill() sends; tests take another one for a process that the kernel cannot end.
  explicit ChildProcess(std::string logName, int lastSignal = SIGKILL, QObject* parent = nullptr);
  // A child that still runs is killed with its group and reaped in the background.
  ~ChildProcess() override;

  void start(const LaunchCommand& command);
  [[nodiscard]] bool isRunning() const;
  // Bytes are buffered; a closed pipe shows as the end of the child, not here.
  void write(const QByteArray& bytes);
  void closeInput();
  // End of input now, SIGTERM to the group after `grace`, SIGKILL after another `grace`.
  void stop(std::chrono::milliseconds grace);
  void kill();

 Q_SIGNALS:
  void started();
  void output(const QByteArray& bytes);
  void ended(const swage::process::ChildEnd& end);

 private:
  void readErrors();
  void logLine(const QByteArray& line);
  void escalate();
  void signalGroup(int signal) const;
  void handleError(QProcess::ProcessError error);
  void handleFinished(int code, QProcess::ExitStatus status);
  void finish(ChildEnd end);

  std::string m_logName;
  int m_lastSignal;
  QProcess* m_process;  // owned, but outlives us while it dies
  QTimer m_escalation;
  std::chrono::milliseconds m_grace{2000};
  enum class Ending : std::uint8_t { No, Asked, Terminated, Killed } m_ending = Ending::No;
  qint64 m_group = 0;
  QByteArray m_partialLine;
  std::deque<std::string> m_lastLines;
  std::chrono::steady_clock::time_point m_rateWindow;
  int m_linesInWindow = 0;
  int m_linesDropped = 0;
  bool m_ended = false;
};

}  // namespace swage::process
