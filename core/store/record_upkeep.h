// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"

// Looking after the record of a project: whether it is intact, a copy of it, its size on disk. Blocking, on any thread,
// with connections of their own; a large record takes a while. `isCancelled` is asked every now and then on the calling
// thread, and ends the call with ErrorKind::Cancelled; nothing is left behind then. Kinds otherwise: NotFound where
// there is no record, Storage, and Locked where another program keeps the database to itself.
namespace swage::store {

// What was found in a record.
struct RecordCheck {
  std::vector<std::string> problems;  // the first hundred, one line each
  std::int64_t problemCount = 0;      // all of them; 0: the record is intact
  std::int64_t artifacts = 0;         // that were read: sources, plans, assembly, logs, binaries
  std::int64_t bytes = 0;             // on disk, of the database with its journal and of artifacts in files beside it

  [[nodiscard]] bool isIntact() const { return problemCount == 0; }
};
// Reads the pages of the database, what its rows refer to, and every artifact, whose content has to be that of its
// hash. A run may write meanwhile: this is about the state at the beginning.
[[nodiscard]] Result<RecordCheck> checkRecord(const std::filesystem::path& project,
                                              const std::function<bool()>& isCancelled);
// Kind Storage, with the first problem, where it is not intact.
[[nodiscard]] Result<> verdictOf(const RecordCheck& check, const std::filesystem::path& project);

struct RecordBackup {
  std::int64_t recordBytes = 0;  // on disk, as in RecordCheck
  std::int64_t bytes = 0;        // of the copy
  std::int64_t artifacts = 0;    // that lie in files beside the record and are in the copy itself
  std::int64_t leftOut = 0;      // of those, what could not be read: the record is not intact
};
// One state of the record in one new file, which can take the place of runs.sqlite. A run may write meanwhile. Kind
// InvalidInput: the file is there already; it is never written over.
[[nodiscard]] Result<RecordBackup> backUpRecord(const std::filesystem::path& project, const std::filesystem::path& file,
                                                const std::function<bool()>& isCancelled);

struct RecordSizes {
  std::int64_t before = 0;  // bytes of the database with its journal
  std::int64_t after = 0;
  bool isHeld = false;  // a reader keeps the file from becoming smaller until it has ended
};
// Gives the unused space of the database back. Holds the project's lock: kind Locked, with the pid, while another
// process writes the project. Needs as much free space as the database takes.
[[nodiscard]] Result<RecordSizes> vacuumRecord(const std::filesystem::path& project,
                                               const std::function<bool()>& isCancelled);

}  // namespace swage::store
