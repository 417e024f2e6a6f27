// SPDX-License-Identifier: Apache-2.0
#include "core/models/key_store.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/base/fd.h"
#include "core/base/scope_exit.h"
#include "core/base/system_message.h"
#include "core/models/key_process.h"

namespace swage::models {
namespace {

namespace fs = std::filesystem;
using From = KeySource::From;

Error cannotWrite(const fs::path& file, const std::string& why) {
  return Error(ErrorKind::Io, fmt::format("cannot write the key into '{}': {}", file.string(), why),
               "name a file in a folder that you may write to");
}

Result<> writeAll(int fd, const fs::path& file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno != EINTR) {
      return cannotWrite(file, systemMessage(errno));
    }
    text.remove_prefix(count < 0 ? 0 : static_cast<std::size_t>(count));
  }
  return {};
}

// Nobody but the owner may read it at any moment: mkostemp makes files with 0600.
Result<> writeKeyFile(const fs::path& file, const Secret& key) {
  std::error_code failure;
  fs::create_directories(fs::absolute(file).parent_path(), failure);
  if (failure) {
    return cannotWrite(file, failure.message());
  }
  std::string temporary = file.string() + ".XXXXXX";
  const Fd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.isOpen()) {
    return cannotWrite(file, systemMessage(errno));
  }
  ScopeExit removeTemporary([&temporary] { ::unlink(temporary.c_str()); });
  SWAGE_TRY(writeAll(fd.get(), file, key.reveal() + '\n'));
  if (::fsync(fd.get()) != 0 || ::rename(temporary.c_str(), file.c_str()) != 0) {
    return cannotWrite(file, systemMessage(errno));
  }
  removeTemporary.release();
  return {};
}

Result<> removeKeyFile(const fs::path& file) {
  std::error_code failure;
  if (!fs::exists(fs::symlink_status(file, failure))) {
    return Error(ErrorKind::NotFound, fmt::format("there is no key in '{}': there is no such file", file.string()));
  }
  if (fs::is_directory(file, failure) || !fs::remove(file, failure)) {
    return Error(
        ErrorKind::Io,
        fmt::format("cannot remove the key '{}': {}", file.string(), failure ? failure.message() : "it is no file"),
        "remove it by hand");
  }
  return {};
}

void useKeychain(std::string_view action, const std::string& account, const std::string& input, QObject* context,
                 KeyDone done) {
  const auto command = keychainCommand(action, account);
  if (!command) {
    done(command.error());
    return;
  }
  const std::string what = action == "store" ? fmt::format("putting '{}' into the keychain", account)
                                             : fmt::format("removing '{}' from the keychain", account);
  runForKey(*command, input, what, context, [done = std::move(done)](Result<std::string> output) {
    done(output ? Result<>()
                : Result<>(std::move(output).error().withHint(
                      "the desktop's keychain has to run and to be unlocked; a file with `--file` needs neither")));
  });
}

}  // namespace

Result<> checkCanKeep(const KeySource& place) {
  const std::string elsewhere =
      "change it where it is set, or say `--keychain` or `--file FILE` to `swage keys set` to store a key elsewhere";
  switch (place.from) {
    case From::File: return {};
    case From::Keychain: {
      if (auto command = keychainCommand("store", place.where); !command) {
        return std::move(command).error().withHint(
            "install libsecret-tools, or store the key in a file: `swage keys set NAME --file FILE`");
      }
      return {};
    }
    case From::Environment:
      return Error(ErrorKind::InvalidInput,
                   fmt::format("the key is in the variable {}, which is not Swage's to change", place.where),
                   elsewhere);
    case From::Command:
      return Error(ErrorKind::InvalidInput, "the key comes from a command, which has it from elsewhere", elsewhere);
    case From::Nowhere: break;
  }
  return Error(ErrorKind::InvalidInput, "the settings name no place for a key", "`swage keys set` puts one into place");
}

void keepKey(const KeySource& place, const Secret& key, QObject* context, KeyDone done) {
  if (Result<> possible = checkCanKeep(place); !possible) {
    done(std::move(possible));
  } else if (place.from == From::File) {
    done(writeKeyFile(place.where, key));
  } else {
    useKeychain("store", place.where, key.reveal(), context, std::move(done));
  }
}

void removeKey(const KeySource& place, QObject* context, KeyDone done) {
  if (Result<> possible = checkCanKeep(place); !possible) {
    done(std::move(possible));
  } else if (place.from == From::File) {
    done(removeKeyFile(place.where));
  } else {
    useKeychain("clear", place.where, {}, context, std::move(done));
  }
}

}  // namespace swage::models
