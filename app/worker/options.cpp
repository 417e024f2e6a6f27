// SPDX-License-Identifier: Apache-2.0
#include "app/worker/options.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace swage::worker {
namespace {

Error usage(std::string message) {
  return Error(ErrorKind::Usage, std::move(message), std::string(kUsage));
}

std::optional<int> parseCount(std::string_view text, int largest) {
  int value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = code == std::errc() && end == text.data() + text.size();
  return whole && value >= 0 && value <= largest ? std::optional(value) : std::nullopt;
}

Result<> setDevice(WorkerOptions& options, std::string_view text) {
  if (text == "cpu") {
    options.target = domain::DeviceKind::Cpu;
    return {};
  }
  const std::string_view kind = text.substr(0, text.find(':'));
  const auto ordinal = kind == text ? std::optional(0) : parseCount(text.substr(kind.size() + 1), 1023);
  if (kind != "cuda" || !ordinal) {
    return usage(fmt::format("'{}' is no device", text));
  }
  options.target = domain::DeviceKind::Cuda;
  options.ordinal = *ordinal;
  return {};
}

}  // namespace

Result<WorkerOptions> parseOptions(std::span<const char* const> arguments) {
  WorkerOptions options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view name = arguments[i];
    if (name == "--help" || name == "-h") {
      options.help = true;
      return options;
    }
    if (name == "--stand-by" || name == "--check" || name == "--list") {
      (name == "--check" ? options.check : name == "--list" ? options.list : options.standBy) = true;
      continue;
    }
    if ((name != "--device" && name != "--threads") || i + 1 == arguments.size()) {
      return usage(fmt::format("'{}' is no option, or lacks its value", name));
    }
    const std::string_view value = arguments[++i];
    if (name == "--device") {
      SWAGE_TRY(setDevice(options, value));
      continue;
    }
    const auto threads = parseCount(value, 4096);
    if (!threads) {
      return usage(fmt::format("'{}' is no number of threads", value));
    }
    options.threads = *threads;
  }
  return options;
}

}  // namespace swage::worker
