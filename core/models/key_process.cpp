// SPDX-License-Identifier: Apache-2.0
#include "core/models/key_process.h"

#include <QProcess>
#include <QTimer>

#include <cstddef>
#include <memory>
#include <utility>

#include <fmt/format.h>

namespace swage::models {
namespace {

constexpr qint64 kMostOfOutput = 16384;
constexpr int kCommandLimitMs = 30'000;

Error noAnswer(std::string message, std::string hint) {
  return Error(ErrorKind::Config, std::move(message), std::move(hint));
}

}  // namespace

void runForKey(const std::vector<std::string>& command, const std::string& input, const std::string& what,
               QObject* context, std::function<void(Result<std::string>)> said) {
  auto* process = new QProcess(context);
  auto* limit = new QTimer(process);
  limit->setSingleShot(true);
  QStringList arguments;
  for (std::size_t i = 1; i < command.size(); ++i) {
    arguments << QString::fromStdString(command[i]);
  }
  process->setStandardErrorFile(QProcess::nullDevice());
  if (input.empty()) {
    process->setStandardInputFile(QProcess::nullDevice());
  }
  const auto done = std::make_shared<bool>(false);
  const auto say = [process, done, said = std::move(said)](Result<std::string> output) {
    if (!std::exchange(*done, true)) {
      process->deleteLater();
      said(std::move(output));
    }
  };
  QObject::connect(process, &QProcess::finished, context, [process, say, what](int code, QProcess::ExitStatus status) {
    if (status != QProcess::NormalExit || code != 0) {
      say(noAnswer(fmt::format("{} failed", what), "run it by hand to see why"));
    } else {
      say(process->read(kMostOfOutput).toStdString());
    }
  });
  QObject::connect(process, &QProcess::errorOccurred, context, [say, what](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart) {
      say(noAnswer(fmt::format("{} cannot be started", what), "check its name and that it may be run"));
    }
  });
  QObject::connect(limit, &QTimer::timeout, context, [process, say, what] {
    process->kill();
    say(noAnswer(fmt::format("{} did not end within {} s", what, kCommandLimitMs / 1000), "run it by hand to see why"));
  });
  limit->start(kCommandLimitMs);
  process->start(QString::fromStdString(command.front()), arguments);
  if (!input.empty()) {
    process->write(input.data(), static_cast<qint64>(input.size()));
    process->closeWriteChannel();
  }
}

}  // namespace swage::models
