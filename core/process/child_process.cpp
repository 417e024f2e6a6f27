// SPDX-License-Identifier: Apache-2.0
#include "core/process/child_process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstring>

#include <QProcessEnvironment>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/log.h"

// QProcess, as far as this file depends on it:
// - a program that does not exist is reported by errorOccurred(FailedToStart), either from within start() or later, and
//   then finished() never comes; every other error is followed by finished();
// - a destroyed QProcess kills its child and *waits* for it, so a live one is detached and deleted when it finished;
// - PR_SET_PDEATHSIG follows the thread that forked, which is the one start() runs on;
// - setsid() in the child makes the group id equal to the process id, so the group outlives its leader until the last
//   member is gone and can still be signalled in finished().
namespace swage::process {
namespace {

// Not strsignal, which shares a buffer among threads.
std::string_view describe(int signal) {
  const char* text = ::sigdescr_np(signal);
  return text != nullptr ? text : "unknown";
}

constexpr int kLinesPerSecond = 50;
constexpr std::size_t kKeptLines = 20;
constexpr qsizetype kMaxLineBytes = 2000;

QStringList toQt(const std::vector<std::string>& list) {
  QStringList result;
  for (const std::string& item : list) {
    result.append(QString::fromStdString(item));
  }
  return result;
}

// Runs in the child between fork and exec: only async-signal-safe calls.
void detachFromTerminal() {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  ::sigaction(SIGPIPE, &standard, nullptr);
}

}  // namespace

ChildProcess::ChildProcess(std::string logName, int lastSignal, QObject* parent)
    : QObject(parent), m_logName(std::move(logName)), m_lastSignal(lastSignal), m_process(new QProcess) {
  m_escalation.setSingleShot(true);
  connect(&m_escalation, &QTimer::timeout, this, &ChildProcess::escalate);
  connect(m_process, &QProcess::started, this, [this] {
    m_group = m_process->processId();
    Q_EMIT started();
  });
  connect(m_process, &QProcess::readyReadStandardOutput, this,
          [this] { Q_EMIT output(m_process->readAllStandardOutput()); });
  connect(m_process, &QProcess::readyReadStandardError, this, &ChildProcess::readErrors);
  connect(m_process, &QProcess::errorOccurred, this, &ChildProcess::handleError);
  connect(m_process, &QProcess::finished, this, &ChildProcess::handleFinished);
}

ChildProcess::~ChildProcess() {
  m_process->disconnect(this);
  if (m_process->state() == QProcess::NotRunning) {
    delete m_process;
    return;
  }
  QObject::connect(m_process, &QProcess::finished, m_process, &QObject::deleteLater);
  signalGroup(SIGKILL);
  m_process->kill();
}

void ChildProcess::start(const LaunchCommand& command) {
  SWAGE_ASSERT(m_process->state() == QProcess::NotRunning && !m_ended);
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  for (const auto& [key, value] : command.environment) {
    environment.insert(QString::fromStdString(key), QString::fromStdString(value));
  }
  m_process->setProcessEnvironment(environment);
  m_process->setChildProcessModifier(detachFromTerminal);
  m_process->setProgram(QString::fromStdString(command.program));
  m_process->setArguments(toQt(command.arguments));
  m_process->start();
}

bool ChildProcess::isRunning() const {
  return m_process->state() != QProcess::NotRunning;
}

void ChildProcess::write(const QByteArray& bytes) {
  if (m_process->state() != QProcess::NotRunning) {
    m_process->write(bytes);
  }
}

void ChildProcess::closeInput() {
  m_process->closeWriteChannel();
}

void ChildProcess::stop(std::chrono::milliseconds grace) {
  if (!isRunning() || m_ending != Ending::No) {
    return;
  }
  m_ending = Ending::Asked;
  m_grace = grace;
  closeInput();
  m_escalation.start(grace);
}

void ChildProcess::kill() {
  if (!isRunning() || m_ending == Ending::Killed) {
    return;
  }
  m_ending = Ending::Killed;
  m_escalation.stop();
  signalGroup(m_lastSignal);
  if (m_lastSignal == SIGKILL) {
    m_process->kill();
  }
}

void ChildProcess::escalate() {
  if (m_ending != Ending::Asked) {
    kill();
    return;
  }
  m_ending = Ending::Terminated;
  signalGroup(SIGTERM);
  m_escalation.start(m_grace);
}

void ChildProcess::signalGroup(int signal) const {
  if (m_group > 1) {
    ::kill(-static_cast<pid_t>(m_group), signal);
  }
}

void ChildProcess::readErrors() {
  m_partialLine += m_process->readAllStandardError();
  qsizetype begin = 0;
  for (qsizetype end = m_partialLine.indexOf('\n'); end >= 0; end = m_partialLine.indexOf('\n', begin)) {
    logLine(m_partialLine.mid(begin, end - begin));
    begin = end + 1;
  }
  m_partialLine.remove(0, begin);
  if (m_partialLine.size() > kMaxLineBytes) {
    logLine(m_partialLine);
    m_partialLine.clear();
  }
}

void ChildProcess::logLine(const QByteArray& line) {
  if (line.isEmpty()) {
    return;
  }
  const std::string text = line.left(kMaxLineBytes).toStdString();
  m_lastLines.push_back(text);
  if (m_lastLines.size() > kKeptLines) {
    m_lastLines.pop_front();
  }
  const auto now = std::chrono::steady_clock::now();
  if (now - m_rateWindow > std::chrono::seconds(1)) {
    if (m_linesDropped > 0) {
      log::debug("[{}] … {} more lines", m_logName, m_linesDropped);
    }
    m_rateWindow = now;
    m_linesInWindow = 0;
    m_linesDropped = 0;
  }
  if (++m_linesInWindow > kLinesPerSecond) {
    ++m_linesDropped;
    return;
  }
  log::debug("[{}] {}", m_logName, text);
}

void ChildProcess::handleError(QProcess::ProcessError error) {
  if (error != QProcess::FailedToStart) {
    return;
  }
  ChildEnd end;
  end.kind = ChildEnd::Kind::FailedToStart;
  end.detail =
      fmt::format("cannot start {}: {}", m_process->program().toStdString(), m_process->errorString().toStdString());
  // Possibly still inside start(): the owner must not be called back before it returned.
  QTimer::singleShot(0, this, [this, end] { finish(end); });
}

void ChildProcess::handleFinished(int code, QProcess::ExitStatus status) {
  signalGroup(SIGKILL);  // what the leader left behind
  readErrors();
  if (!m_partialLine.isEmpty()) {
    logLine(std::exchange(m_partialLine, {}));
  }
  ChildEnd end;
  end.byUs = m_ending != Ending::No;
  if (status == QProcess::CrashExit) {
    end.kind = ChildEnd::Kind::Signalled;
    end.signal = code;  // QProcess puts the signal number there
    end.detail = fmt::format("was killed by signal {} ({})", code, describe(code));
  } else {
    end.exitCode = code;
    end.detail = fmt::format("exited with code {}", code);
  }
  finish(std::move(end));
}

void ChildProcess::finish(ChildEnd end) {
  if (m_ended) {
    return;
  }
  m_ended = true;
  m_escalation.stop();
  for (const std::string& line : m_lastLines) {
    end.lastLines += line + '\n';
  }
  Q_EMIT ended(end);
}

}  // namespace swage::process
