// SPDX-License-Identifier: Apache-2.0
#include "core/services/termination_signals.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>

#include <QSocketNotifier>

#include "core/base/system_message.h"

namespace swage::services {
namespace {

constexpr std::array kHandled = {SIGINT, SIGTERM, SIGHUP};
std::atomic<int> pipeForHandler = -1;  // the only thing a handler may touch

void handler(int signal) {
  const int saved = errno;
  const auto byte = static_cast<unsigned char>(signal);
  // A full pipe already holds enough signals.
  [[maybe_unused]] const ssize_t written = ::write(pipeForHandler.load(), &byte, 1);
  errno = saved;
}

}  // namespace

Result<std::unique_ptr<TerminationSignals>> TerminationSignals::install() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    return Error(ErrorKind::Internal, std::string("cannot create a pipe for signals: ") + systemMessage(errno));
  }
  auto result = std::unique_ptr<TerminationSignals>(new TerminationSignals(Fd(ends[0]), Fd(ends[1])));
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  for (const int signal : kHandled) {
    ::sigaction(signal, &action, nullptr);
  }
  ::signal(SIGPIPE, SIG_IGN);
  return result;
}

TerminationSignals::TerminationSignals(Fd readEnd, Fd writeEnd)
    : m_readEnd(std::move(readEnd)),
      m_writeEnd(std::move(writeEnd)),
      m_notifier(std::make_unique<QSocketNotifier>(m_readEnd.get(), QSocketNotifier::Read)) {
  pipeForHandler = m_writeEnd.get();
  connect(m_notifier.get(), &QSocketNotifier::activated, this, &TerminationSignals::read);
}

TerminationSignals::~TerminationSignals() {
  for (const int signal : kHandled) {
    ::signal(signal, SIG_DFL);
  }
  pipeForHandler = -1;
}

void TerminationSignals::read() {
  unsigned char byte = 0;
  while (::read(m_readEnd.get(), &byte, 1) == 1) {
    Q_EMIT received(byte);
  }
}

}  // namespace swage::services
