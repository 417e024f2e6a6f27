// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "core/base/result.h"
#include "core/domain/task.h"

namespace swage::store {

// A task bundle on disk (core/wire/TASK_FORMAT.md).
struct TaskBundle {
  std::filesystem::path directory;
  domain::Task task;
  std::filesystem::path weights;  // weights.safetensors
  std::filesystem::path source;   // source.py: the user's file, byte for byte
  std::filesystem::path applied;  // as it was run: applied.py where --set changed something, else source.py
};

[[nodiscard]] Result<TaskBundle> readTaskBundle(const std::filesystem::path& directory);

}  // namespace swage::store
