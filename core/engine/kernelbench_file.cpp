// SPDX-License-Identifier: Apache-2.0
#include "core/engine/kernelbench_file.h"

#include <fmt/format.h>

#include "core/base/files.h"

namespace swage::engine {

using exporting::KernelBenchDocument;

Result<KernelBenchDocument> readKernelBenchFile(const std::filesystem::path& path) {
  SWAGE_TRY_ASSIGN(const std::string text, readTextFile(path));
  const auto read = [&text]() -> Result<KernelBenchDocument> {
    SWAGE_TRY_ASSIGN(const domain::Json json, domain::parseJson(text));
    return exporting::kernelBenchFromJson(json);
  };
  Result<KernelBenchDocument> document = read();
  if (!document) {
    return Error(ErrorKind::InvalidInput, fmt::format("'{}' is no file of `swage bench kernelbench`: {}", path.string(),
                                                      document.error().message()));
  }
  return document;
}

Result<KernelBenchDocument> readKernelBenchFiles(const std::vector<std::filesystem::path>& paths) {
  KernelBenchDocument all;
  for (const std::filesystem::path& path : paths) {
    SWAGE_TRY_ASSIGN(KernelBenchDocument one, readKernelBenchFile(path));
    if (&path == &paths.front()) {
      all = std::move(one);
      continue;
    }
    const auto refuse = [&](std::string_view why) {
      return Error(ErrorKind::InvalidInput,
                   fmt::format("'{}' cannot be added to '{}': {}", path.string(), paths.front().string(), why));
    };
    if (one.settings != all.settings) {
      return refuse("it was made with other settings");
    }
    if (one.device != all.device || one.torchVersion != all.torchVersion || one.swageVersion != all.swageVersion) {
      return refuse("it was measured on another device or with other versions");
    }
    for (exporting::KernelBenchRow& row : one.rows) {
      if (all.find(row.level, row.problem) != nullptr) {
        return refuse(fmt::format("both have problem {}/{}", row.level, row.problem));
      }
      all.put(std::move(row));
    }
  }
  return all;
}

Result<KernelBenchFile> KernelBenchFile::open(std::filesystem::path path,
                                              const exporting::KernelBenchSettings& settings) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    KernelBenchDocument fresh;
    fresh.settings = settings;
    fresh.swageVersion = SWAGE_VERSION;
    // Now, so that a folder that cannot be written is not found out after the first search.
    SWAGE_TRY(writeFileAtomically(path, domain::dumpJson(exporting::toJson(fresh)) + '\n'));
    return KernelBenchFile(std::move(path), std::move(fresh));
  }
  SWAGE_TRY_ASSIGN(KernelBenchDocument document, readKernelBenchFile(path));
  if (document.settings != settings) {
    return Error(ErrorKind::InvalidInput, fmt::format("'{}' was made with other settings", path.string()),
                 "give the same target, time budget, seed, baselines and size limit to go on, or name another file");
  }
  return KernelBenchFile(std::move(path), std::move(document));
}

bool KernelBenchFile::isDone(int level, int problem) const {
  const exporting::KernelBenchRow* row = m_document.find(level, problem);
  return row != nullptr && row->failureKind != name(ErrorKind::Environment);
}

Result<> KernelBenchFile::put(exporting::KernelBenchRow row) {
  if (!row.device.empty() && !m_document.device.empty() && row.device != m_document.device) {
    return Error(ErrorKind::InvalidInput,
                 fmt::format("'{}' was measured on {}, this is {}", m_path.string(), m_document.device, row.device),
                 "name another file for this device");
  }
  if (m_document.device.empty()) {
    m_document.device = row.device;
  }
  m_document.put(std::move(row));
  return writeFileAtomically(m_path, domain::dumpJson(exporting::toJson(m_document)) + '\n');
}

}  // namespace swage::engine
