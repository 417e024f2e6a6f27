// SPDX-License-Identifier: Apache-2.0
#include "core/engine/safetensors.h"

#include <cstdint>
#include <fstream>

#include <fmt/format.h>

#include "core/domain/json.h"

// The format: header length (u64, little endian), a JSON header {name: {dtype, shape, data_offsets: [begin, end]}},
// then the data that the offsets count in.
namespace swage::engine {
namespace {

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = std::uint64_t{64} << 20;

Error malformed(const std::filesystem::path& file, std::string_view why) {
  return {ErrorKind::InvalidInput, fmt::format("'{}' is not a safetensors file: {}", file.string(), why),
          "import the task again"};
}

Result<std::uint64_t> headerLength(std::ifstream& stream, std::uint64_t size, const std::filesystem::path& file) {
  unsigned char bytes[kLengthBytes] = {};
  stream.read(reinterpret_cast<char*>(bytes), kLengthBytes);
  std::uint64_t length = 0;
  for (std::uint64_t i = kLengthBytes; i-- > 0;) {
    length = (length << 8U) | bytes[i];
  }
  if (!stream || length > kMaxHeaderBytes || length > size - kLengthBytes) {
    return malformed(file, "its header is cut off");
  }
  return length;
}

Result<std::string> readTensor(std::ifstream& stream, const domain::Json& header, const std::string& name,
                               std::uint64_t dataBegin, std::uint64_t size, const std::filesystem::path& file) {
  const auto entry = header.find(name);
  if (entry == header.end() || !entry->is_object() || !entry->contains("data_offsets")) {
    return malformed(file, fmt::format("it has no tensor '{}'", name));
  }
  const domain::Json& offsets = (*entry)["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned()) {
    return malformed(file, fmt::format("the offsets of '{}' are not two numbers", name));
  }
  const auto begin = offsets[0].get<std::uint64_t>();
  const auto end = offsets[1].get<std::uint64_t>();
  if (begin > end || end > size - dataBegin) {
    return malformed(file, fmt::format("the offsets of '{}' lie outside", name));
  }
  std::string bytes(end - begin, '\0');
  stream.seekg(static_cast<std::streamoff>(dataBegin + begin));
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!stream) {
    return malformed(file, fmt::format("'{}' cannot be read", name));
  }
  return bytes;
}

}  // namespace

Result<std::map<std::string, std::string>> readSafetensors(const std::filesystem::path& file,
                                                           const std::vector<std::string>& names) {
  std::map<std::string, std::string> tensors;
  if (names.empty()) {
    return tensors;
  }
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(file, error);
  std::ifstream stream(file, std::ios::binary);
  if (error || !stream) {
    return Error(ErrorKind::Io, fmt::format("cannot read '{}'", file.string()), "import the task again");
  }
  if (size < kLengthBytes) {
    return malformed(file, "it is too short");
  }
  SWAGE_TRY_ASSIGN(const std::uint64_t length, headerLength(stream, size, file));
  std::string text(length, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(length));
  SWAGE_TRY_ASSIGN(const domain::Json header, domain::parseJson(text));
  if (!header.is_object()) {
    return malformed(file, "its header is not an object");
  }
  for (const std::string& name : names) {
    SWAGE_TRY_ASSIGN(tensors[name], readTensor(stream, header, name, kLengthBytes + length, size, file));
  }
  return tensors;
}

}  // namespace swage::engine
