// SPDX-License-Identifier: Apache-2.0
#include "core/run/task_preparation.h"

#include <unistd.h>

#include <QTimer>

#include <fmt/format.h>

namespace swage::run {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kImportLimit{10};
constexpr std::size_t kIdCharacters = 12;

fs::path fileOf(const std::string& task) {
  if (const auto colon = task.rfind(".py:"); colon != std::string::npos && !fs::exists(task)) {
    return task.substr(0, colon + 3);
  }
  return task;
}

}  // namespace

bool isBundle(const fs::path& task) {
  std::error_code ignored;
  return fs::is_regular_file(task / "task.json", ignored);
}

Result<> checkTaskExists(const std::string& task) {
  std::error_code ignored;
  if (isBundle(task) || fs::is_regular_file(fileOf(task), ignored)) {
    return {};
  }
  return Error(ErrorKind::InvalidInput, fmt::format("'{}' is neither a Python file nor a task bundle", task),
               "give FILE.py, FILE.py:Class or a directory that `swage import` wrote");
}

TaskPreparation::TaskPreparation(process::BridgeEnvironment environment, TaskRequest request, QObject* parent)
    : QObject(parent), m_environment(std::move(environment)), m_request(std::move(request)) {}

TaskPreparation::~TaskPreparation() {
  if (m_call && m_request.exactOutput.empty() && !m_output.empty()) {
    std::error_code ignored;
    fs::remove_all(m_output, ignored);
  }
}

void TaskPreparation::start() {
  if (isBundle(m_request.task)) {
    finishLater(store::readTaskBundle(fs::absolute(m_request.task)));
    return;
  }
  if (const Result<> exists = checkTaskExists(m_request.task); !exists) {
    finishLater(exists.error());
    return;
  }
  std::error_code error;
  m_output = m_request.exactOutput;
  if (m_output.empty()) {
    fs::create_directories(m_request.folder, error);
    if (error) {
      finishLater(
          Error(ErrorKind::Storage, fmt::format("cannot create '{}': {}", m_request.folder.string(), error.message())));
      return;
    }
    m_output = m_request.folder / fmt::format(".import-{}.swage", ::getpid());
  }
  importFile();
}

void TaskPreparation::importFile() {
  std::vector<std::string> arguments = {"import", m_request.task, "-o", m_output.string()};
  if (!m_request.inputs.empty()) {
    arguments.insert(arguments.end(), {"--inputs", m_request.inputs});
  }
  for (const auto& [name, value] : m_request.overrides) {
    arguments.insert(arguments.end(), {"--set", fmt::format("{}={}", name, value)});
  }
  if (m_request.eval) {
    arguments.emplace_back("--eval");
  }
  m_call = std::make_unique<process::BridgeCall>(m_environment, std::move(arguments), kImportLimit);
  connect(m_call.get(), &process::BridgeCall::finished, this, &TaskPreparation::handleImported);
  m_call->start();
}

void TaskPreparation::cancel() {
  if (m_call) {
    m_call->cancel();
  }
}

void TaskPreparation::handleImported(const Result<nlohmann::json>& document) {
  if (!document) {
    Q_EMIT finished(document.error());
    return;
  }
  Q_EMIT finished(settle());
}

Result<store::TaskBundle> TaskPreparation::settle() const {
  SWAGE_TRY_ASSIGN(store::TaskBundle bundle, store::readTaskBundle(m_output));
  if (!m_request.exactOutput.empty()) {
    return bundle;
  }
  const fs::path place =
      m_request.folder / fmt::format("{}-{}.swage", bundle.task.name, bundle.task.id.substr(0, kIdCharacters));
  if (isBundle(place)) {
    return store::readTaskBundle(place);  // the same question; the destructor removes the fresh copy
  }
  std::error_code error;
  fs::rename(m_output, place, error);
  if (error) {
    return Error(ErrorKind::Storage,
                 fmt::format("cannot move the bundle to '{}': {}", place.string(), error.message()));
  }
  return store::readTaskBundle(place);
}

void TaskPreparation::finishLater(Result<store::TaskBundle> bundle) {
  QTimer::singleShot(0, this, [this, bundle = std::move(bundle)] { Q_EMIT finished(bundle); });
}

}  // namespace swage::run
