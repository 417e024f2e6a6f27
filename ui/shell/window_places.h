// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLockFile>
#include <QString>
#include <QStringList>

#include <filesystem>
#include <memory>
#include <vector>

#include "core/base/result.h"
#include "ui/shell/shell_state.h"

namespace swage::ui {

// What each open window shows, so that a later start can open all of them again. A window is a process of its own and
// holds one place: a file with its state, and a lock that says that the window is open. A place whose file is there and
// whose lock is free was left by a window of the last session. GUI thread only.
class WindowPlaces final {
 public:
  // In `folder`, which is created when a place is taken. Empty: nothing is ever kept.
  explicit WindowPlaces(std::filesystem::path folder);
  ~WindowPlaces();
  WindowPlaces(const WindowPlaces&) = delete;
  WindowPlaces& operator=(const WindowPlaces&) = delete;

  // Places of windows that are not open any more, in the order in which they were taken.
  [[nodiscard]] QStringList left() const;
  // The processes of the other open windows.
  [[nodiscard]] std::vector<qint64> others() const;

  // Holds a place of left(). False: another window has it meanwhile.
  bool take(const QString& place);
  // Holds a place that nobody has.
  void takeNew();
  // What the window of the place held showed; the default state where that is not known.
  [[nodiscard]] ShellState state() const;
  // Does nothing while no place is held.
  Result<> save(const ShellState& state) const;

  // Gives the place back; with Forget::Yes nothing is left of it.
  enum class Forget : bool { No, Yes };
  void leave(Forget forget);
  // Drops what left() lists.
  void forgetLeft();

 private:
  [[nodiscard]] std::filesystem::path fileOf(const QString& place) const;
  [[nodiscard]] std::unique_ptr<QLockFile> lockOf(const QString& place) const;
  [[nodiscard]] std::vector<int> numbers() const;  // of all places, held or not

  std::filesystem::path m_folder;
  QString m_place;
  std::unique_ptr<QLockFile> m_lock;  // null: no place is held
};

}  // namespace swage::ui
