// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/quit_signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <QSocketNotifier>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>

#include "core/base/system_message.h"

namespace swage::workbench {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

// A signal handler may only touch lock-free atomics and call write().
std::atomic<int> writeEndForHandler{-1};

extern "C" void writeOneByte(int) {
  const int saved = errno;
  const char byte = 1;
  if (const int fd = writeEndForHandler.load(); fd >= 0) {
    [[maybe_unused]] const ssize_t written = ::write(fd, &byte, 1);
  }
  errno = saved;
}

}  // namespace

Result<std::unique_ptr<QuitSignals>> QuitSignals::install() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    return Error(ErrorKind::Io, std::string("cannot create a pipe for signals: ") + systemMessage(errno));
  }
  std::unique_ptr<QuitSignals> object(new QuitSignals(Fd(ends[0]), Fd(ends[1])));
  for (const int signal : kSignals) {
    std::signal(signal, writeOneByte);
  }
  std::signal(SIGPIPE, SIG_IGN);
  return object;
}

QuitSignals::QuitSignals(Fd readEnd, Fd writeEnd)
    : m_readEnd(std::move(readEnd)),
      m_writeEnd(std::move(writeEnd)),
      m_notifier(std::make_unique<QSocketNotifier>(m_readEnd.get(), QSocketNotifier::Read)) {
  writeEndForHandler = m_writeEnd.get();
  connect(m_notifier.get(), &QSocketNotifier::activated, this, [this] {
    char byte = 0;
    while (::read(m_readEnd.get(), &byte, 1) == 1) {
      Q_EMIT received();
    }
  });
}

QuitSignals::~QuitSignals() {
  for (const int signal : kSignals) {
    std::signal(signal, SIG_DFL);
  }
  writeEndForHandler = -1;
}

}  // namespace swage::workbench
