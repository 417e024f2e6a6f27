// SPDX-License-Identifier: Apache-2.0
#include "core/engine/bug_report.h"

#include <pwd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <regex>

#include <fmt/format.h>

#include "core/base/files.h"

namespace swage::engine {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "swage-bug-report";
constexpr std::size_t kMostNotes = 3;
constexpr std::size_t kMostNoteBytes = std::size_t{256} << 10U;

bool isOfAWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Where it stands as a word of its own: a user "dev" is not in "device".
void replaceWord(std::string& text, const std::string& word, std::string_view by) {
  if (word.empty()) {
    return;
  }
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
    const std::size_t end = at + word.size();
    if ((at > 0 && isOfAWord(text[at - 1])) || (end < text.size() && isOfAWord(text[end]))) {
      at = end;
    } else {
      text.replace(at, word.size(), by);
      at += by.size();
    }
  }
}

std::string systemText() {
  utsname system{};
  std::string text = "swage " SWAGE_VERSION "\n";
  if (::uname(&system) == 0) {
    text += fmt::format("{} {} {}\n", system.sysname, system.release, system.machine);
  }
  return text + readTextFile("/etc/os-release").value_or("");
}

}  // namespace

Identity Identity::ofThisProcess() {
  const char* home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe): nobody sets any later
  std::array<char, 256> host{};
  Identity identity{.home = home != nullptr ? home : "", .user = {}, .host = {}};
  if (const passwd* entry = ::getpwuid(::getuid())) {  // NOLINT(concurrency-mt-unsafe): on the main thread
    identity.user = entry->pw_name;
  }
  if (::gethostname(host.data(), host.size() - 1) == 0) {
    identity.host = host.data();
  }
  return identity;
}

std::string redacted(std::string_view text, const Identity& identity) {
  static const std::regex keys("\\b(sk-|hf_|ghp_|github_pat_|xox[a-z]-)[A-Za-z0-9_-]{6,}");
  static const std::regex uuids("\\b([A-Z]{3}-[0-9a-f]{4})[0-9a-f]{4}-[0-9a-f-]{8,}");
  static const std::regex homes("/home/[^/\\s\"':]+");
  std::string result(text);
  if (identity.home.size() > 1) {
    replaceWord(result, identity.home, "~");
  }
  result = std::regex_replace(result, homes, "/home/USER");
  result = std::regex_replace(result, keys, "KEY");
  result = std::regex_replace(result, uuids, "$1…");
  replaceWord(result, identity.host, "HOST");
  if (identity.user != "root") {
    replaceWord(result, identity.user, "USER");
  }
  return result;
}

std::vector<BugReportFile> bugReportFacts(const fs::path& crashFolder) {
  std::vector<BugReportFile> files{{"system.txt", systemText()}};
  std::vector<std::pair<fs::file_time_type, fs::path>> notes;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(crashFolder, error)) {
    if (entry.is_regular_file(error)) {
      notes.emplace_back(entry.last_write_time(error), entry.path());
    }
  }
  std::sort(notes.rbegin(), notes.rend());
  notes.resize(std::min(notes.size(), kMostNotes));
  for (const auto& [time, path] : notes) {
    if (auto text = readTextFile(path, kMostNoteBytes); text && !text->empty()) {
      files.push_back({path.filename().string(), std::move(*text)});
    }
  }
  return files;
}

BugReportArchive::BugReportArchive(fs::path target, QObject* parent)
    : QObject(parent), m_target(fs::absolute(std::move(target))) {}

BugReportArchive::~BugReportArchive() = default;

Result<> BugReportArchive::prepare(const std::vector<BugReportFile>& files) {
  m_folder = std::make_unique<QTemporaryDir>();
  if (!m_folder->isValid()) {
    return Error(ErrorKind::Io,
                 fmt::format("cannot make a temporary folder: {}", m_folder->errorString().toStdString()),
                 "set TMPDIR to a folder that you may write to");
  }
  const fs::path folder = fs::path(m_folder->path().toStdString()) / kFolder;
  std::error_code failure;
  fs::create_directories(folder, failure);
  const Identity identity = Identity::ofThisProcess();
  for (const BugReportFile& file : files) {
    SWAGE_TRY(writeFileAtomically(folder / file.name, redacted(file.content, identity)));
  }
  return {};
}

void BugReportArchive::write(const std::vector<BugReportFile>& files) {
  if (const Result<> prepared = prepare(files); !prepared) {
    Q_EMIT finished(prepared.error());
    return;
  }
  m_tar = std::make_unique<process::ChildProcess>("tar");
  connect(m_tar.get(), &process::ChildProcess::ended, this, &BugReportArchive::handleEnd);
  m_tar->start({.program = "tar",
                .arguments = {"--create", "--gzip", "--owner=0", "--group=0", "--numeric-owner", "--sort=name",
                              "--file", m_target.string(), "--directory", m_folder->path().toStdString(), kFolder},
                .environment = {}});
}

void BugReportArchive::handleEnd(const process::ChildEnd& end) {
  m_tar.release()->deleteLater();
  if (end.kind == process::ChildEnd::Kind::Exited && end.exitCode == 0) {
    Q_EMIT finished({});
    return;
  }
  Q_EMIT finished(Error(ErrorKind::Io,
                        fmt::format("cannot write '{}': tar {}{}", m_target.string(), end.detail,
                                    end.lastLines.empty() ? "" : ": " + end.lastLines),
                        "choose a file in a folder that you may write to"));
}

}  // namespace swage::engine
