// SPDX-License-Identifier: Apache-2.0
#include "core/store/compression.h"

#include <memory>

#include <fmt/format.h>
#include <zstd.h>

namespace swage::store {
namespace {

constexpr int kLevel = 3;
constexpr std::size_t kMaxBytes = std::size_t{1} << 30U;

Error compressionError(std::string_view action, std::string_view why) {
  return Error(ErrorKind::Storage, fmt::format("cannot {} an artifact: {}", action, why));
}

}  // namespace

Result<std::string> compress(std::string_view content) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), &ZSTD_freeCCtx);
  if (context == nullptr || content.size() > kMaxBytes) {
    return compressionError("compress", context == nullptr ? "out of memory" : "it is larger than 1 GiB");
  }
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string frame(ZSTD_compressBound(content.size()), '\0');
  const std::size_t used = ZSTD_compress2(context.get(), frame.data(), frame.size(), content.data(), content.size());
  if (ZSTD_isError(used) != 0U) {
    return compressionError("compress", ZSTD_getErrorName(used));
  }
  frame.resize(used);
  return frame;
}

Result<std::string> decompress(std::string_view frame, std::size_t size) {
  if (size > kMaxBytes) {
    return compressionError("decompress", "it claims to be larger than 1 GiB");
  }
  std::string content(size, '\0');
  const std::size_t got = ZSTD_decompress(content.data(), content.size(), frame.data(), frame.size());
  if (ZSTD_isError(got) != 0U) {
    return compressionError("decompress", ZSTD_getErrorName(got));
  }
  if (got != size) {
    return compressionError("decompress", "its length does not match the record");
  }
  return content;
}

}  // namespace swage::store
