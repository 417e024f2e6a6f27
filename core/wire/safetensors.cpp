// SPDX-License-Identifier: Apache-2.0
#include "core/wire/safetensors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/fd.h"
#include "core/base/system_message.h"
#include "core/domain/checks.h"
#include "core/domain/json.h"

namespace swage::wire {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = std::uint64_t{64} << 20U;

Error invalid(std::string message) {
  return Error(ErrorKind::InvalidInput, std::move(message));
}

std::optional<domain::ScalarType> parseType(std::string_view text) {
  using domain::ScalarType;
  static constexpr std::array<std::pair<std::string_view, ScalarType>, 10> kTypes = {{
      {"BOOL", ScalarType::Bool},
      {"U8", ScalarType::UInt8},
      {"I8", ScalarType::Int8},
      {"I16", ScalarType::Int16},
      {"I32", ScalarType::Int32},
      {"I64", ScalarType::Int64},
      {"F16", ScalarType::Float16},
      {"BF16", ScalarType::BFloat16},
      {"F32", ScalarType::Float32},
      {"F64", ScalarType::Float64},
  }};
  for (const auto& [name, type] : kTypes) {
    if (name == text) {
      return type;
    }
  }
  return std::nullopt;
}

Result<domain::Shape> parseShape(const domain::Json& json) {
  if (!json.is_array() || json.size() > domain::kMaxRank) {
    return invalid("its shape is no list of sizes");
  }
  domain::Shape shape;
  std::int64_t elements = 1;
  for (const auto& item : json) {
    if (!item.is_number_integer() || item.get<std::int64_t>() < 0 || item.get<std::int64_t>() > domain::kMaxElements) {
      return invalid("its shape has a size that is no count");
    }
    const auto size = item.get<std::int64_t>();
    // A size of 0 counts as 1, because the strides do not become 0 either.
    const std::int64_t factor = std::max<std::int64_t>(size, 1);
    if (elements > domain::kMaxElements / factor) {
      return invalid("its shape has too many elements");
    }
    elements *= factor;
    shape.push_back(size);
  }
  return shape;
}

Result<std::pair<std::size_t, std::size_t>> parseOffsets(const domain::Json& json, std::size_t dataBytes) {
  if (!json.is_array() || json.size() != 2 || !json[0].is_number_unsigned() || !json[1].is_number_unsigned()) {
    return invalid("its data_offsets are no pair of numbers");
  }
  const auto begin = json[0].get<std::uint64_t>();
  const auto end = json[1].get<std::uint64_t>();
  if (begin > end || end > dataBytes) {
    return invalid(fmt::format("its data [{}, {}) is outside the {} bytes of the file", begin, end, dataBytes));
  }
  return std::pair(static_cast<std::size_t>(begin), static_cast<std::size_t>(end));
}

Result<SafetensorsFile::Tensor> parseTensor(const domain::Json& json, std::span<const std::byte> data) {
  if (!json.is_object() || !json.contains("dtype") || !json.contains("shape") || !json.contains("data_offsets") ||
      !json["dtype"].is_string()) {
    return invalid("it lacks dtype, shape or data_offsets");
  }
  const auto dtype = parseType(json["dtype"].get_ref<const std::string&>());
  if (!dtype) {
    return invalid(fmt::format("its dtype '{}' is not supported", json["dtype"].get_ref<const std::string&>()));
  }
  SWAGE_TRY_ASSIGN(domain::Shape shape, parseShape(json["shape"]));
  SWAGE_TRY_ASSIGN(const auto offsets, parseOffsets(json["data_offsets"], data.size()));
  SafetensorsFile::Tensor tensor{domain::contiguousTensor(*dtype, std::move(shape)),
                                 data.subspan(offsets.first, offsets.second - offsets.first)};
  if (static_cast<std::uint64_t>(tensor.type.byteCount()) != tensor.bytes.size()) {
    return invalid(
        fmt::format("its shape needs {} bytes, but it has {}", tensor.type.byteCount(), tensor.bytes.size()));
  }
  return tensor;
}

// Two tensors of which one changes with the other are no weights of a module, and a number that does not begin where
// numbers of its type begin is read by nobody reliably.
Result<> checkPlaces(const std::map<std::string, SafetensorsFile::Tensor>& tensors, const std::byte* data) {
  std::vector<std::pair<std::span<const std::byte>, std::string_view>> places;
  for (const auto& [name, tensor] : tensors) {
    if (tensor.bytes.empty()) {
      continue;
    }
    if ((tensor.bytes.data() - data) % static_cast<std::ptrdiff_t>(domain::byteSize(tensor.type.dtype)) != 0) {
      return invalid(fmt::format("tensor '{}' is not aligned to its type's size", name));
    }
    places.emplace_back(tensor.bytes, name);
  }
  std::sort(places.begin(), places.end(), [](const auto& a, const auto& b) { return a.first.data() < b.first.data(); });
  for (std::size_t i = 1; i < places.size(); ++i) {
    if (places[i - 1].first.data() + places[i - 1].first.size() > places[i].first.data()) {
      return invalid(fmt::format("tensors '{}' and '{}' overlap", places[i - 1].second, places[i].second));
    }
  }
  return {};
}

}  // namespace

void SafetensorsFile::Unmapper::operator()(std::byte* address) const {
  ::munmap(address, size);
}

Result<SafetensorsFile> SafetensorsFile::open(const std::filesystem::path& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!fd.isOpen() || ::fstat(fd.get(), &status) != 0) {
    const int code = errno;
    return Error(code == ENOENT ? ErrorKind::NotFound : ErrorKind::Io,
                 fmt::format("cannot open the weights '{}': {}", path.string(), systemMessage(code)));
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (!S_ISREG(status.st_mode) || size < kLengthBytes) {
    return invalid(fmt::format("'{}' is not a safetensors file: it is too short", path.string()));
  }
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (address == MAP_FAILED) {
    return Error(ErrorKind::Io, fmt::format("cannot map the weights '{}': {}", path.string(), systemMessage(errno)));
  }
  Mapping mapping(static_cast<std::byte*>(address), Unmapper{size});
  auto tensors = parse(std::span<const std::byte>(mapping.get(), size));
  if (!tensors) {
    return std::move(tensors).error().withContext(fmt::format("reading the weights '{}'", path.string()));
  }
  return SafetensorsFile(std::move(mapping), std::move(*tensors));
}

Result<std::map<std::string, SafetensorsFile::Tensor>> SafetensorsFile::parse(std::span<const std::byte> file) {
  std::uint64_t headerBytes = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    headerBytes |= std::to_integer<std::uint64_t>(file[i]) << (8 * i);
  }
  if (headerBytes > kMaxHeaderBytes || headerBytes > file.size() - kLengthBytes) {
    return invalid(fmt::format("the header claims {} bytes of a file of {}", headerBytes, file.size()));
  }
  const auto header = file.subspan(kLengthBytes, static_cast<std::size_t>(headerBytes));
  const auto data = file.subspan(kLengthBytes + header.size());
  SWAGE_TRY_ASSIGN(const domain::Json json,
                   domain::parseJson({reinterpret_cast<const char*>(header.data()), header.size()}));
  if (!json.is_object()) {
    return invalid("the header is no JSON object");
  }
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, description] : json.items()) {
    if (name == "__metadata__") {
      continue;
    }
    auto tensor = parseTensor(description, data);
    if (!tensor) {
      return std::move(tensor).error().withContext(fmt::format("tensor '{}'", name));
    }
    tensors.emplace(name, std::move(*tensor));
  }
  SWAGE_TRY(checkPlaces(tensors, data.data()));
  return tensors;
}

const SafetensorsFile::Tensor* SafetensorsFile::find(const std::string& name) const {
  const auto found = m_tensors.find(name);
  return found == m_tensors.end() ? nullptr : &found->second;
}

}  // namespace swage::wire
