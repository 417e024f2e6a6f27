// SPDX-License-Identifier: Apache-2.0
#include "app/cli/hidden_input.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "core/base/system_message.h"

namespace swage::cli {
namespace {

constexpr std::size_t kMostOfLine = 16384;

Error unreadable(int code) {
  return Error(ErrorKind::Io, "cannot read standard input: " + systemMessage(code),
               "type the key on a terminal, or pipe it in");
}

}  // namespace

HiddenInput::HiddenInput(std::string_view prompt, Done done)
    : m_done(std::move(done)), m_notifier(STDIN_FILENO, QSocketNotifier::Read) {
  QObject::connect(&m_notifier, &QSocketNotifier::activated, &m_notifier, [this] { read(); });
  hide(prompt);
}

HiddenInput::~HiddenInput() {
  if (m_shown) {
    std::fputc('\n', stderr);  // it was given up in the middle of a line
  }
  showAgain();
}

void HiddenInput::hide(std::string_view prompt) {
  termios shown{};
  if (::isatty(STDIN_FILENO) == 0 || ::tcgetattr(STDIN_FILENO, &shown) != 0) {
    return;
  }
  std::fwrite(prompt.data(), 1, prompt.size(), stderr);
  std::fflush(stderr);
  termios hidden = shown;
  hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  hidden.c_lflag |= static_cast<tcflag_t>(ICANON) | static_cast<tcflag_t>(ECHONL);
  m_shown = shown;
  ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
}

void HiddenInput::showAgain() {
  if (const auto shown = std::exchange(m_shown, std::nullopt)) {
    ::tcsetattr(STDIN_FILENO, TCSANOW, &*shown);
  }
}

void HiddenInput::read() {
  std::array<char, 4096> bytes{};
  const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) {
    return;
  }
  if (count < 0) {
    finish(unreadable(errno));
    return;
  }
  m_line.append(bytes.data(), static_cast<std::size_t>(count));
  const std::size_t end = m_line.find('\n');
  if (count == 0 || end != std::string::npos) {
    finish(m_line.substr(0, end));
  } else if (m_line.size() > kMostOfLine) {
    finish(Error(ErrorKind::InvalidInput, "what standard input has is too long for a key",
                 "its first line has to be the key"));
  }
}

void HiddenInput::finish(Result<std::string> line) {
  m_notifier.setEnabled(false);
  showAgain();
  m_done(std::move(line));
}

}  // namespace swage::cli
