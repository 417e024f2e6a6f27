// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/script.h"

#include <QAction>
#include <QPixmap>
#include <QTimer>

#include <algorithm>
#include <chrono>

#include "core/base/log.h"
#include "core/wire/exit_code.h"
#include "ui/shell/dock_layout.h"
#include "ui/shell/main_window.h"

namespace swage::workbench {
namespace {

// Long enough for the last frame of tables and charts to be drawn.
constexpr std::chrono::milliseconds kScriptSettle{700};

int exitCodeOf(const services::RunOutcome& outcome) {
  if (outcome.error) {
    return static_cast<int>(wire::exitCodeFor(outcome.error->kind()));
  }
  return static_cast<int>(outcome.best.isValid() || outcome.winner.isValid() ? wire::ExitCode::Ok
                                                                             : wire::ExitCode::NoCorrectKernel);
}

}  // namespace

Script::Script(ui::MainWindow& window, const WorkbenchOptions& options, QObject* parent)
    : QObject(parent), m_window(window), m_options(options) {
  connect(&window.session(), &ui::ProjectSession::finished, this, &Script::handleFinished);
}

void Script::run() {
  if (m_options.size.isValid()) {
    m_window.resize(m_options.size);
  }
  if (m_options.layout) {
    m_window.docks().apply(*m_options.layout);
  }
  showPages();
  if (m_options.start) {
    m_window.startSearch();
  }
  if (!m_options.commands.empty()) {
    QTimer::singleShot(kScriptSettle, this, &Script::giveCommands);
  }
  if (!m_options.screenshot.empty() && !m_options.screenshotAfterRun) {
    QTimer::singleShot(m_options.commands.empty() ? kScriptSettle : 2 * kScriptSettle, this, &Script::takeScreenshot);
  }
}

// When the window shows its record, so that there is something to give them about.
void Script::giveCommands() {
  for (const std::string& command : m_options.commands) {
    auto* action = m_window.findChild<QAction*>(QString::fromStdString(command));
    if (action == nullptr || !action->isEnabled()) {
      log::warn("the command '{}' {}", command, action == nullptr ? "does not exist" : "cannot be given now");
      continue;
    }
    action->trigger();
  }
}

// Not every window has every page: a replay has no system to check.
void Script::showPages() {
  const auto there = m_window.docks().pages();
  for (const std::string& page : m_options.pages) {
    const QString id = QString::fromStdString(page);
    if (std::none_of(there.begin(), there.end(), [&id](const auto* one) { return one->id == id; })) {
      log::warn("there is no page '{}' in this window", page);
      continue;
    }
    m_window.docks().show(id);
  }
}

void Script::handleFinished(const services::RunOutcome& outcome) {
  m_exitCode = exitCodeOf(outcome);
  if (m_options.screenshotAfterRun) {
    QTimer::singleShot(kScriptSettle, this, &Script::takeScreenshot);
  } else if (m_options.quitAfterRun) {
    m_window.close();
  }
}

void Script::takeScreenshot() {
  const QString file = QString::fromStdString(m_options.screenshot.string());
  if (!m_window.grab().save(file)) {
    log::error("cannot write the picture '{}'", m_options.screenshot.string());
    m_exitCode = static_cast<int>(wire::ExitCode::Internal);
  }
  if (!m_window.session().isActive()) {
    m_window.close();
  }
}

}  // namespace swage::workbench
