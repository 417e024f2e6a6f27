// SPDX-License-Identifier: Apache-2.0
#include "core/models/key_ring.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QProcess>
#include <QStandardPaths>
#include <QTimer>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>

#include "core/base/fd.h"
#include "core/base/system_message.h"

namespace swage::models {
namespace {

constexpr std::size_t kMostOfKey = 16384;
constexpr int kCommandLimitMs = 30'000;

Error noKey(std::string message, std::string hint) {
  return Error(ErrorKind::Config, std::move(message), std::move(hint));
}

Result<Secret> keyIn(std::string_view text, const std::string& where) {
  const std::string_view line = text.substr(0, text.find_first_of("\r\n"));
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) {
    return noKey(fmt::format("{} has no key", where), "its first line has to be the key");
  }
  const std::string_view key = line.substr(first, line.find_last_not_of(" \t") - first + 1);
  for (const char c : key) {
    if (c <= ' ' || c > '~') {
      return noKey(fmt::format("what {} has is no key", where), "its first line has to be the key");
    }
  }
  return Secret(std::string(key));
}

// Ends by itself, and says exactly once how.
void run(const std::vector<std::string>& command, const std::string& what, QObject* context, KeyRing::Taken taken) {
  auto* process = new QProcess(context);
  auto* limit = new QTimer(process);
  limit->setSingleShot(true);
  QStringList arguments;
  for (std::size_t i = 1; i < command.size(); ++i) {
    arguments << QString::fromStdString(command[i]);
  }
  process->setStandardErrorFile(QProcess::nullDevice());
  process->setStandardInputFile(QProcess::nullDevice());
  const auto done = std::make_shared<bool>(false);
  const auto say = [process, done, taken = std::move(taken)](Result<Secret> key) {
    if (!std::exchange(*done, true)) {
      process->deleteLater();
      taken(std::move(key));
    }
  };
  QObject::connect(process, &QProcess::finished, context, [process, say, what](int code, QProcess::ExitStatus status) {
    const QByteArray output = process->read(static_cast<qint64>(kMostOfKey));
    if (status != QProcess::NormalExit || code != 0) {
      say(noKey(fmt::format("{} failed", what), "run it by hand to see why"));
    } else {
      say(keyIn({output.constData(), static_cast<std::size_t>(output.size())}, what));
    }
  });
  QObject::connect(process, &QProcess::errorOccurred, context, [say, what](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart) {
      say(noKey(fmt::format("{} cannot be started", what), "check its name and that it may be run"));
    }
  });
  QObject::connect(limit, &QTimer::timeout, context, [process, say, what] {
    process->kill();
    say(noKey(fmt::format("{} did not end within {} s", what, kCommandLimitMs / 1000), "run it by hand to see why"));
  });
  limit->start(kCommandLimitMs);
  process->start(QString::fromStdString(command.front()), arguments);
}

std::vector<std::string> wordsOf(const std::string& command) {
  std::vector<std::string> words;
  for (const QString& word : QProcess::splitCommand(QString::fromStdString(command))) {
    words.push_back(word.toStdString());
  }
  return words;
}

}  // namespace

KeyRing::KeyRing(const std::vector<Endpoint>& endpoints) {
  for (const Endpoint& endpoint : endpoints) {
    const std::string& name = endpoint.key.where;
    if (endpoint.key.from != KeySource::From::Environment || m_variables.contains(name)) {
      continue;
    }
    // NOLINTBEGIN(concurrency-mt-unsafe): before there are threads
    if (const char* value = std::getenv(name.c_str()); value != nullptr) {
      m_variables.emplace(name, Secret(value));
      ::unsetenv(name.c_str());
    }
    // NOLINTEND(concurrency-mt-unsafe)
  }
}

void KeyRing::fetch(const KeySource& source, QObject* context, Taken taken) const {
  switch (source.from) {
    case KeySource::From::Nowhere: taken(Secret()); return;
    case KeySource::From::File: taken(readKeyFile(source.where)); return;
    case KeySource::From::Environment: {
      const auto found = m_variables.find(source.where);
      const std::string what = fmt::format("the variable {}", source.where);
      taken(found == m_variables.end()
                ? Result<Secret>(noKey(fmt::format("{} is not set", what), "set it before Swage starts"))
                : keyIn(found->second.reveal(), what));
      return;
    }
    case KeySource::From::Command: {
      const std::vector<std::string> words = wordsOf(source.where);
      if (words.empty()) {
        taken(noKey("the command for the key is empty", "set `key_command`"));
        return;
      }
      run(words, fmt::format("the command for the key ('{}')", words.front()), context, std::move(taken));
      return;
    }
    case KeySource::From::Keychain: break;
  }
  const auto command = keychainCommand(source.where);
  if (!command) {
    taken(command.error());
    return;
  }
  run(*command, fmt::format("looking for '{}' in the keychain", source.where), context, std::move(taken));
}

Result<Secret> readKeyFile(const std::filesystem::path& file) {
  const std::string what = fmt::format("the file '{}'", file.string());
  const Fd opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts {};
  if (!opened.isOpen() || ::fstat(opened.get(), &facts) != 0) {
    return noKey(fmt::format("{} cannot be read: {}", what, systemMessage(errno)), "name a file that has the key");
  }
  if (!S_ISREG(facts.st_mode)) {
    return noKey(fmt::format("{} is no file", what), "name a file that has the key");
  }
  if ((facts.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return noKey(fmt::format("{} can be read by others", what), fmt::format("chmod 600 '{}'", file.string()));
  }
  std::array<char, kMostOfKey> buffer{};
  const ssize_t count = ::read(opened.get(), buffer.data(), buffer.size());
  if (count < 0) {
    return noKey(fmt::format("{} cannot be read: {}", what, systemMessage(errno)), "name a file that has the key");
  }
  return keyIn({buffer.data(), static_cast<std::size_t>(count)}, what);
}

Result<std::vector<std::string>> keychainCommand(const std::string& account) {
  const QString tool = QStandardPaths::findExecutable(QStringLiteral("secret-tool"));
  if (tool.isEmpty()) {
    return Error(ErrorKind::NotFound, "the keychain cannot be asked: secret-tool is not installed",
                 "install libsecret-tools, or name the key with `key_env`, `key_command` or `key_file`");
  }
  return std::vector<std::string>{tool.toStdString(), "lookup", "service", std::string(kKeychainService),
                                  "account",          account};
}

}  // namespace swage::models
