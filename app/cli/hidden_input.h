// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QSocketNotifier>

#include <termios.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace swage::cli {

// One line of standard input, read by the event loop, so that Ctrl-C ends the program as always. A terminal is asked
// with a prompt on standard error and does not show what is typed; it is as it was when the line has come or the object
// goes.
class HiddenInput {
 public:
  // Without its end. Kind Io: it cannot be read. InvalidInput: it is longer than any key.
  using Done = std::function<void(Result<std::string>)>;

  // `done` is called once, by the event loop, and must not destroy this object.
  HiddenInput(std::string_view prompt, Done done);
  ~HiddenInput();
  HiddenInput(const HiddenInput&) = delete;
  HiddenInput& operator=(const HiddenInput&) = delete;

 private:
  void hide(std::string_view prompt);
  void showAgain();
  void read();
  void finish(Result<std::string> line);

  Done m_done;
  std::string m_line;
  std::optional<termios> m_shown;  // how the terminal was
  QSocketNotifier m_notifier;
};

}  // namespace swage::cli
