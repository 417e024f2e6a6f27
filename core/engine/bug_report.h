// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <QTemporaryDir>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/process/child_process.h"

// What somebody who mends Swage needs to know of a machine, without what is nobody's business.
namespace swage::engine {

// Who and where this is; replaced wherever it stands in a text.
struct Identity {
  std::string home;  // folder
  std::string user;
  std::string host;
  [[nodiscard]] static Identity ofThisProcess();
};
// Home folders become ~, names of user and host USER and HOST, keys of services KEY, and of UUIDs only the beginning
// stays.
[[nodiscard]] std::string redacted(std::string_view text, const Identity& identity);

struct BugReportFile {
  std::string name;
  std::string content;
};
// Versions of Swage and of the system, and the notes that crashes left in their folder, the newest ones.
[[nodiscard]] std::vector<BugReportFile> bugReportFacts(const std::filesystem::path& crashFolder);

// Writes files, redacted, to a compressed archive. Ends with exactly one finished().
class BugReportArchive final : public QObject {
  Q_OBJECT

 public:
  explicit BugReportArchive(std::filesystem::path target, QObject* parent = nullptr);
  ~BugReportArchive() override;
  void write(const std::vector<BugReportFile>& files);

 Q_SIGNALS:
  void finished(const swage::Result<>& done);

 private:
  [[nodiscard]] Result<> prepare(const std::vector<BugReportFile>& files);
  void handleEnd(const process::ChildEnd& end);

  std::filesystem::path m_target;
  std::unique_ptr<QTemporaryDir> m_folder;
  std::unique_ptr<process::ChildProcess> m_tar;
};

}  // namespace swage::engine
