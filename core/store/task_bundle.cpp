// SPDX-License-Identifier: Apache-2.0
#include "core/store/task_bundle.h"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include "core/base/files.h"
#include "core/domain/json.h"

namespace swage::store {
namespace {

constexpr std::size_t kMaxTaskBytes = std::size_t{64} << 20U;
constexpr const char* kHint = "Import the task again with 'swage import'.";

Error bundleError(ErrorKind kind, const std::filesystem::path& directory, std::string_view why) {
  return Error(kind, fmt::format("cannot read the task bundle '{}': {}", directory.string(), why), kHint);
}

bool needsWeights(const domain::Graph& graph) {
  return std::any_of(graph.inputs.begin(), graph.inputs.end(),
                     [](const domain::GraphInput& input) { return input.kind != domain::InputKind::User; });
}

Result<domain::Task> readTask(const std::filesystem::path& file) {
  SWAGE_TRY_ASSIGN(const std::string text, readTextFile(file, kMaxTaskBytes));
  SWAGE_TRY_ASSIGN(const domain::Json json, domain::parseJson(text));
  return domain::taskFromJson(json);
}

}  // namespace

Result<TaskBundle> readTaskBundle(const std::filesystem::path& directory) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(directory, ignored)) {
    return bundleError(ErrorKind::NotFound, directory, "it is not a directory");
  }
  Result<domain::Task> task = readTask(directory / "task.json");
  if (!task) {
    return bundleError(task.error().kind(), directory, task.error().message());
  }
  TaskBundle bundle{directory, std::move(*task), directory / "weights.safetensors", directory / "source.py",
                    directory / "source.py"};
  if (!bundle.task.source.overrides.empty()) {
    bundle.applied = directory / "applied.py";
  }
  const bool hasWeights = std::filesystem::is_regular_file(bundle.weights, ignored);
  if (!hasWeights && (needsWeights(bundle.task.graph) || needsWeights(bundle.task.inputGenerator))) {
    return bundleError(ErrorKind::NotFound, directory, "weights.safetensors is missing");
  }
  if (!std::filesystem::is_regular_file(bundle.source, ignored)) {
    return bundleError(ErrorKind::NotFound, directory, "source.py is missing");
  }
  return bundle;
}

}  // namespace swage::store
