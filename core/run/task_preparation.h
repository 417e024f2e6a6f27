// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/process/bridge_call.h"
#include "core/store/task_bundle.h"

namespace swage::run {

// What to import, and where the bundle goes.
struct TaskRequest {
  std::string task;  // FILE.py, FILE.py:Class or a bundle directory
  std::string inputs;
  std::vector<std::pair<std::string, std::string>> overrides;
  bool eval = false;
  // Bundles lie here as <name>-<start of the task's id>.swage, so that importing the same file with other constants
  // does not change the bundle of an earlier run.
  std::filesystem::path folder;
  std::filesystem::path exactOutput;  // instead of `folder`: exactly this directory
};

// Makes a task bundle from what the user named. Emits finished() exactly once. Destroying it kills the import.
class TaskPreparation : public QObject {
  Q_OBJECT

 public:
  TaskPreparation(process::BridgeEnvironment environment, TaskRequest request, QObject* parent = nullptr);
  ~TaskPreparation() override;

  void start();
  void cancel();

 Q_SIGNALS:
  void finished(const swage::Result<swage::store::TaskBundle>& bundle);

 private:
  void importFile();
  void handleImported(const Result<nlohmann::json>& document);
  [[nodiscard]] Result<store::TaskBundle> settle() const;
  void finishLater(Result<store::TaskBundle> bundle);

  process::BridgeEnvironment m_environment;
  TaskRequest m_request;
  std::filesystem::path m_output;
  std::unique_ptr<process::BridgeCall> m_call;
};

// Whether `task` names a bundle directory.
[[nodiscard]] bool isBundle(const std::filesystem::path& task);
// InvalidInput when `task` is neither a file nor a bundle.
[[nodiscard]] Result<> checkTaskExists(const std::string& task);

}  // namespace swage::run
