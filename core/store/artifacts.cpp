// SPDX-License-Identifier: Apache-2.0
#include "core/store/artifacts.h"

#include <system_error>
#include <utility>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include "core/base/files.h"
#include "core/base/sha256.h"
#include "core/store/compression.h"

namespace swage::store {
namespace {

constexpr std::size_t kMaxInlineBytes = std::size_t{1} << 20U;
constexpr std::size_t kMaxRowBytes = 900'000'000;  // SQLite takes a thousand million

Error asStorage(const Error& error) {
  return Error(ErrorKind::Storage, error.message(), error.hint());
}

}  // namespace

Result<std::int64_t> Artifacts::put(SQLite::Database& connection, std::string_view content) const {
  const std::string hash = sha256Hex(content);
  SQLite::Statement find(connection, "SELECT id FROM artifacts WHERE hash = ?");
  find.bind(1, hash);
  if (find.executeStep()) {
    return find.getColumn(0).getInt64();
  }
  SWAGE_TRY_ASSIGN(const std::string frame, compress(content));
  SQLite::Statement insert(connection, "INSERT INTO artifacts (hash, size, bytes) VALUES (?, ?, ?)");
  insert.bind(1, hash);
  insert.bind(2, static_cast<std::int64_t>(content.size()));
  if (frame.size() < kMaxInlineBytes) {
    insert.bind(3, frame.data(), static_cast<int>(frame.size()));
  } else {
    const std::filesystem::path file = fileOf(hash);
    std::filesystem::create_directories(file.parent_path());
    if (auto written = writeFileAtomically(file, frame); !written) {
      return asStorage(std::move(written).error());
    }
  }
  insert.exec();
  return connection.getLastInsertRowid();
}

Result<std::string> Artifacts::load(SQLite::Database& connection, std::int64_t id) const {
  SQLite::Statement find(connection, "SELECT hash, size, bytes FROM artifacts WHERE id = ?");
  find.bind(1, id);
  if (!find.executeStep()) {
    return Error(ErrorKind::Storage, fmt::format("the record has no artifact {}, though it is referred to", id));
  }
  const std::string hash = find.getColumn(0).getString();
  std::string frame;
  if (!find.getColumn(2).isNull()) {
    frame = find.getColumn(2).getString();
  } else if (auto read = readTextFile(fileOf(hash)); read) {
    frame = std::move(*read);
  } else {
    return asStorage(std::move(read).error());
  }
  auto content = decompress(frame, static_cast<std::size_t>(find.getColumn(1).getInt64()));
  if (!content || sha256Hex(*content) != hash) {
    return Error(ErrorKind::Storage,
                 fmt::format("artifact {} is damaged: {}", hash,
                             content ? "its content has another hash" : content.error().message()),
                 "Restore the project from a backup, or start the run again.");
  }
  return std::move(*content);
}

Result<Artifacts::Embedded> Artifacts::embed(SQLite::Database& copy, const std::function<bool()>& isCancelled) const {
  std::vector<std::pair<std::int64_t, std::string>> inFiles;
  SQLite::Statement find(copy, "SELECT id, hash FROM artifacts WHERE bytes IS NULL ORDER BY id");
  while (find.executeStep()) {
    inFiles.emplace_back(find.getColumn(0).getInt64(), find.getColumn(1).getString());
  }
  Embedded embedded;
  SQLite::Statement put(copy, "UPDATE artifacts SET bytes = ? WHERE id = ?");
  for (const auto& [id, hash] : inFiles) {
    if (isCancelled()) {
      return Error(ErrorKind::Cancelled, "putting artifacts into the copy was cancelled");
    }
    const auto frame = readTextFile(fileOf(hash), kMaxRowBytes);
    if (!frame) {
      ++embedded.leftOut;
      continue;
    }
    put.reset();
    put.bind(1, frame->data(), static_cast<int>(frame->size()));
    put.bind(2, id);
    put.exec();
    ++embedded.taken;
  }
  return embedded;
}

std::filesystem::path Artifacts::fileOf(std::string_view hash) const {
  return m_directory / std::string(hash.substr(0, 2)) / (std::string(hash) + ".zst");
}

}  // namespace swage::store
