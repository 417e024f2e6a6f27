// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/window_places.h"

#include <QDir>
#include <QFile>

#include <algorithm>
#include <utility>

#include "ui/models/format.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr int kMostPlaces = 1000;  // far more windows than anybody opens
constexpr QLatin1String kSuffix(".json");
constexpr QLatin1String kLockSuffix(".lock");
// Another window may look at a lock for a moment.
constexpr int kLookMs = 200;

// A lock belongs to its window as long as that runs, however long that is.
std::unique_ptr<QLockFile> makeLock(const QString& file) {
  auto lock = std::make_unique<QLockFile>(file);
  lock->setStaleLockTime(0);
  return lock;
}

}  // namespace

WindowPlaces::WindowPlaces(std::filesystem::path folder) : m_folder(std::move(folder)) {}

WindowPlaces::~WindowPlaces() = default;

std::filesystem::path WindowPlaces::fileOf(const QString& place) const {
  return m_folder / QString(place % kSuffix).toStdString();
}

std::unique_ptr<QLockFile> WindowPlaces::lockOf(const QString& place) const {
  return makeLock(toQString((m_folder / QString(place % kLockSuffix).toStdString()).string()));
}

std::vector<int> WindowPlaces::numbers() const {
  std::vector<int> found;
  if (m_folder.empty()) {
    return found;
  }
  const QDir folder(toQString(m_folder.string()));
  for (const QString& name : folder.entryList({u'*' % kSuffix, u'*' % kLockSuffix}, QDir::Files)) {
    bool isNumber = false;
    if (const int number = name.section(u'.', 0, 0).toInt(&isNumber); isNumber) {
      found.push_back(number);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

QStringList WindowPlaces::left() const {
  QStringList places;
  for (const int number : numbers()) {
    const QString place = QString::number(number);
    if (place == m_place || !QFile::exists(toQString(fileOf(place).string()))) {
      continue;
    }
    if (const auto lock = lockOf(place); lock->tryLock(0)) {
      places.push_back(place);
    }
  }
  return places;
}

std::vector<qint64> WindowPlaces::others() const {
  std::vector<qint64> processes;
  for (const int number : numbers()) {
    const QString place = QString::number(number);
    if (place == m_place) {
      continue;
    }
    const auto lock = lockOf(place);
    qint64 process = 0;
    QString host;
    QString program;
    if (!lock->tryLock(0) && lock->getLockInfo(&process, &host, &program) && process > 0) {
      processes.push_back(process);
    }
  }
  return processes;
}

bool WindowPlaces::take(const QString& place) {
  if (m_folder.empty() || !QDir().mkpath(toQString(m_folder.string()))) {
    return false;
  }
  auto lock = lockOf(place);
  if (!lock->tryLock(kLookMs)) {
    return false;
  }
  m_place = place;
  m_lock = std::move(lock);
  return true;
}

void WindowPlaces::takeNew() {
  const std::vector<int> used = numbers();
  for (int number = 1; number <= kMostPlaces; ++number) {
    // Two windows may start at the same moment: the lock decides.
    if (!std::binary_search(used.begin(), used.end(), number) && take(QString::number(number))) {
      return;
    }
    if (m_folder.empty()) {
      return;
    }
  }
}

ShellState WindowPlaces::state() const {
  return m_lock != nullptr ? loadShellState(fileOf(m_place)) : ShellState();
}

Result<> WindowPlaces::save(const ShellState& state) const {
  return m_lock != nullptr ? saveShellState(state, fileOf(m_place)) : Result<>();
}

void WindowPlaces::leave(Forget forget) {
  if (m_lock == nullptr) {
    return;
  }
  if (forget == Forget::Yes) {
    QFile::remove(toQString(fileOf(m_place).string()));
  }
  m_lock.reset();
  m_place.clear();
}

void WindowPlaces::forgetLeft() {
  for (const QString& place : left()) {
    QFile::remove(toQString(fileOf(place).string()));
  }
}

}  // namespace swage::ui
