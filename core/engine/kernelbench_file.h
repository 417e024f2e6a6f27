// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "core/base/result.h"
#include "core/export/kernelbench.h"

namespace swage::engine {

// The file of a benchmark over KernelBench. What put() has returned from is there after any crash, and the file is a
// whole document at every moment. One thread only.
class KernelBenchFile {
 public:
  // A file that is there goes on. Errors: InvalidInput where it is no such document or was made with other settings;
  // Storage, Io.
  [[nodiscard]] static Result<KernelBenchFile> open(std::filesystem::path path,
                                                    const exporting::KernelBenchSettings& settings);

  // Takes the place of an earlier row of the same problem. InvalidInput: the row was measured on another device than
  // the others, with which it cannot be compared.
  [[nodiscard]] Result<> put(exporting::KernelBenchRow row);
  // PyTorch's version, as a task bundle has it.
  void setTorchVersion(std::string version) { m_document.torchVersion = std::move(version); }

  // Whether the problem need not be done again: it has a row, and not because of its surroundings.
  [[nodiscard]] bool isDone(int level, int problem) const;
  [[nodiscard]] const exporting::KernelBenchDocument& document() const { return m_document; }

 private:
  KernelBenchFile(std::filesystem::path path, exporting::KernelBenchDocument document)
      : m_path(std::move(path)), m_document(std::move(document)) {}

  std::filesystem::path m_path;
  exporting::KernelBenchDocument m_document;
};

[[nodiscard]] Result<exporting::KernelBenchDocument> readKernelBenchFile(const std::filesystem::path& path);
// One document of all, as of problems that were shared among GPUs of one model. InvalidInput: they differ in settings,
// device or versions, or two of them have the same problem.
[[nodiscard]] Result<exporting::KernelBenchDocument> readKernelBenchFiles(
    const std::vector<std::filesystem::path>& paths);

}  // namespace swage::engine
