// SPDX-License-Identifier: Apache-2.0
#include "core/models/key_ring.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QProcess>
#include <QStandardPaths>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "core/base/fd.h"
#include "core/base/system_message.h"
#include "core/models/key_process.h"

namespace swage::models {
namespace {

constexpr std::size_t kMostOfKey = 16384;

Error noKey(std::string message, std::string hint) {
  return Error(ErrorKind::Config, std::move(message), std::move(hint));
}

// What a command prints is the key.
void ask(const std::vector<std::string>& command, const std::string& what, QObject* context, KeyRing::Taken taken) {
  runForKey(command, {}, what, context, [what, taken = std::move(taken)](const Result<std::string>& output) {
    taken(output ? keyIn(*output, what) : Result<Secret>(output.error()));
  });
}

std::vector<std::string> wordsOf(const std::string& command) {
  std::vector<std::string> words;
  for (const QString& word : QProcess::splitCommand(QString::fromStdString(command))) {
    words.push_back(word.toStdString());
  }
  return words;
}

}  // namespace

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
      ask(words, fmt::format("the command for the key ('{}')", words.front()), context, std::move(taken));
      return;
    }
    case KeySource::From::Keychain: break;
  }
  const auto command = keychainCommand("lookup", source.where);
  if (!command) {
    taken(command.error());
    return;
  }
  ask(*command, fmt::format("looking for '{}' in the keychain", source.where), context, std::move(taken));
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

Result<std::vector<std::string>> keychainCommand(std::string_view action, const std::string& account) {
  const QString tool = QStandardPaths::findExecutable(QStringLiteral("secret-tool"));
  if (tool.isEmpty()) {
    return Error(ErrorKind::NotFound, "the keychain cannot be asked: secret-tool is not installed",
                 "install libsecret-tools, or name the key with `key_env`, `key_command` or `key_file`");
  }
  std::vector<std::string> command{tool.toStdString(), std::string(action)};
  if (action == "store") {
    command.push_back("--label=Swage: key of " + account);
  }
  command.insert(command.end(), {"service", std::string(kKeychainService), "account", account});
  return command;
}

}  // namespace swage::models
