// SPDX-License-Identifier: Apache-2.0
#include "core/device/sass_listing.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "core/base/fd.h"
#include "core/base/files.h"
#include "core/base/scope_exit.h"

// A listing looks like this:
//   .text.row_block_0:
//           /*0000*/                   LDC R1, c[0x0][0x28] ;     /* 0x00000a00ff017b82 */
//                                                                 /* 0x000fe20000000800 */
//   .L_x_2:
//           /*00f0*/               @P0 BRA `(.L_x_1) ;            /* 0xfffffffc00f80947 */
//                                                                 /* 0x000fea000383ffff */
namespace swage::device {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kLimit{10};
constexpr std::string_view kSpace = " \t";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpace);
  return begin == std::string_view::npos ? std::string_view()
                                         : text.substr(begin, text.find_last_not_of(" \t;") - begin + 1);
}

// The upper 64 bits of an instruction stand on the line below it, alone.
std::optional<std::uint64_t> encodingAlone(std::string_view line) {
  constexpr std::string_view kOpen = "/* 0x";
  constexpr std::string_view kClose = " */";
  if (!line.starts_with(kOpen) || !line.ends_with(kClose)) {
    return std::nullopt;
  }
  const std::string_view digits = line.substr(kOpen.size(), line.size() - kOpen.size() - kClose.size());
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return error == std::errc{} && end == digits.data() + digits.size() ? std::optional(value) : std::nullopt;
}

std::uint32_t controlOf(std::uint64_t upper) {
  constexpr int kFirst = 105 - 64;
  constexpr std::uint64_t kMask = (1U << 21U) - 1U;
  return static_cast<std::uint32_t>(upper >> kFirst & kMask);
}

// Without the encoding behind it.
std::string_view instructionText(std::string_view line) {
  return trimmed(line.substr(0, line.find("/* 0x")));
}

std::string environmentPath(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr ? value : "";
}

bool isProgram(const fs::path& path) {
  return !path.empty() && ::access(path.c_str(), X_OK) == 0;
}

// Ends with the process, or ends the process.
bool waitFor(pid_t child) {
  const auto deadline = std::chrono::steady_clock::now() + kLimit;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool run(const std::string& program, const std::string& input, const std::string& output) {
  posix_spawn_file_actions_t actions{};
  if (::posix_spawn_file_actions_init(&actions) != 0) {
    return false;
  }
  const ScopeExit cleanup([&actions] { ::posix_spawn_file_actions_destroy(&actions); });
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  std::string name = program;
  std::string codeOnly = "-c";
  std::string withEncoding = "-hex";
  std::string file = input;
  std::vector<char*> arguments = {name.data(), codeOnly.data(), withEncoding.data(), file.data(), nullptr};
  pid_t child = 0;
  return ::posix_spawn(&child, program.c_str(), &actions, nullptr, arguments.data(), environ) == 0 && waitFor(child);
}

}  // namespace

SassListing parseSass(std::string_view listing, std::string_view entry) {
  SassListing instructions;
  const std::string header = ".text." + std::string(entry) + ":";
  bool inside = false;
  SassInstruction* last = nullptr;
  while (!listing.empty()) {
    const std::size_t end = listing.find('\n');
    const std::string_view line = trimmed(listing.substr(0, end));
    listing.remove_prefix(end == std::string_view::npos ? listing.size() : end + 1);
    if (line.starts_with(".text.") && line.ends_with(':')) {
      inside = line == header;
    }
    if (const auto upper = encodingAlone(line); upper && inside && last != nullptr) {
      last->control = controlOf(*upper);
      last = nullptr;
      continue;
    }
    const std::size_t close = line.find("*/");
    if (!inside || !line.starts_with("/*") || close == std::string_view::npos) {
      continue;
    }
    std::int64_t offset = 0;
    const auto [parsed, error] = std::from_chars(line.data() + 2, line.data() + close, offset, 16);
    if (error == std::errc{} && parsed == line.data() + close) {
      const auto [at, isNew] =
          instructions.emplace(offset, SassInstruction{std::string(instructionText(line.substr(close + 2))), {}});
      last = isNew ? &at->second : nullptr;
    }
  }
  return instructions;
}

std::string findDisassembler(const std::string& libraryPath) {
  if (std::string chosen = environmentPath("SWAGE_NVDISASM"); !chosen.empty()) {
    return isProgram(chosen) ? chosen : std::string();
  }
  std::vector<fs::path> places;
  // <packages>/nvidia/<name>/lib/<library>
  const fs::path packages = fs::path(libraryPath).parent_path().parent_path().parent_path().parent_path();
  if (!packages.empty()) {
    places.push_back(packages / "triton/backends/nvidia/bin");
  }
  if (const std::string home = environmentPath("CUDA_HOME"); !home.empty()) {
    places.push_back(fs::path(home) / "bin");
  }
  places.emplace_back("/usr/local/cuda/bin");
  std::string path = environmentPath("PATH");
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    places.emplace_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  for (const fs::path& place : places) {
    if (isProgram(place / "nvdisasm")) {
      return place / "nvdisasm";
    }
  }
  return {};
}

std::optional<std::string> disassemble(const std::string& program, const std::string& cubin) {
  std::error_code error;
  std::string folder = (fs::temp_directory_path(error) / "swage-sass-XXXXXX").string();
  if (error || ::mkdtemp(folder.data()) == nullptr) {
    return std::nullopt;
  }
  const ScopeExit cleanup([&folder] {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  });
  const std::string input = folder + "/kernel.cubin";
  const std::string output = folder + "/listing";
  if (!writeFileAtomically(input, cubin) || !run(program, input, output)) {
    return std::nullopt;
  }
  const Result<std::string> text = readTextFile(output);
  return text ? std::optional(*text) : std::nullopt;
}

}  // namespace swage::device
