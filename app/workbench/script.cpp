// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/script.h"

#include <QPixmap>
#include <QTimer>

#include <chrono>

#include "core/base/log.h"
#include "core/wire/exit_code.h"
#include "ui/shell/main_window.h"

namespace swage::workbench {
namespace {

// Long enough for the last frame of tables and charts to be drawn.
constexpr std::chrono::milliseconds kSettle{700};

int exitCodeOf(const services::RunOutcome& outcome) {
  if (outcome.error) {
    return static_cast<int>(wire::exitCodeFor(outcome.error->kind()));
  }
  return static_cast<int>(outcome.best.isValid() ? wire::ExitCode::Ok : wire::ExitCode::NoCorrectKernel);
}

}  // namespace

Script::Script(ui::MainWindow& window, const Options& options, QObject* parent)
    : QObject(parent), m_window(window), m_options(options) {
  connect(&window.session(), &ui::Session::finished, this, &Script::handleFinished);
}

void Script::run() {
  if (m_options.start) {
    m_window.startSearch();
  }
  if (!m_options.screenshot.empty() && !m_options.screenshotAfterRun) {
    QTimer::singleShot(kSettle, this, &Script::takeScreenshot);
  }
}

void Script::handleFinished(const services::RunOutcome& outcome) {
  m_exitCode = exitCodeOf(outcome);
  if (m_options.screenshotAfterRun) {
    QTimer::singleShot(kSettle, this, &Script::takeScreenshot);
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
