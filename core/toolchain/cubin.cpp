// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/cubin.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "core/base/sha256.h"
#include "core/toolchain/compile_failure.h"
#include "core/toolchain/ptx_data_flow.h"

// A report reads, for each entry:
//   ptxas info    : Compiling entry function 'k' for 'sm_90a'
//   ptxas info    : Function properties for k
//   ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 14 registers, used 1 barriers, 128 bytes smem
namespace swage::toolchain {
namespace {

std::string_view nextLine(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

// The number before `words`, as in "128 bytes smem"; 0 when the words do not occur.
std::int64_t numberBefore(std::string_view line, std::string_view words) {
  const std::size_t at = line.find(words);
  if (at == std::string_view::npos) {
    return 0;
  }
  std::size_t begin = at;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') {
    --begin;
  }
  std::int64_t value = 0;
  std::from_chars(line.data() + begin, line.data() + at, value);
  return value;
}

bool isReportLine(std::string_view line) {
  return line.starts_with("ptxas info") ||
         (line.starts_with("ptxas  ") && line.find("stack frame") != std::string_view::npos);
}

bool isHashedData(std::string_view name) {
  return name.starts_with(".nv.constant") || name.starts_with(".nv.global") || name.starts_with(".nv.shared");
}

void append(std::string& content, std::string_view label, const ElfSection& section) {
  content += fmt::format("{}:{}:", label, section.size);
  content += section.bytes;
}

}  // namespace

std::map<std::string, CompiledResources> parseResourceReport(std::string_view log) {
  std::map<std::string, CompiledResources> kernels;
  CompiledResources* current = nullptr;
  while (!log.empty()) {
    const std::string_view line = nextLine(log);
    constexpr std::string_view kCompiling = "Compiling entry function '";
    if (const std::size_t at = line.find(kCompiling); at != std::string_view::npos) {
      const std::string_view rest = line.substr(at + kCompiling.size());
      current = &kernels[std::string(rest.substr(0, rest.find('\'')))];
    } else if (current != nullptr && isReportLine(line)) {
      current->registers += static_cast<int>(numberBefore(line, " registers"));
      current->spillBytes += numberBefore(line, " bytes spill stores") + numberBefore(line, " bytes spill loads");
      current->staticSharedBytes += numberBefore(line, " bytes smem");
    }
  }
  return kernels;
}

std::string withoutResourceReport(std::string_view log) {
  std::string rest;
  while (!log.empty()) {
    const std::string_view line = nextLine(log);
    if (!isReportLine(line) && line.find_first_not_of(" \t\r\0") != std::string_view::npos) {
      rest += line;
      rest += '\n';
    }
  }
  return rest;
}

std::optional<std::string> findWritableGlobals(const ElfImage& cubin, std::string_view ptx) {
  std::uint64_t total = 0;
  std::string first;
  for (const ElfSymbol& symbol : cubin.symbols) {
    if (symbol.size > 0 && cubin.sectionName(symbol).starts_with(".nv.global") && mayWrite(ptx, symbol.name)) {
      total += symbol.size;
      first = first.empty() ? symbol.name : first;
    }
  }
  return total == 0 ? std::nullopt : std::optional(writableDataRefusal(total, first));
}

std::string cubinHash(const ElfImage& cubin, const std::vector<std::string>& entries) {
  std::string content;
  std::vector<std::string> entrySections;
  for (const std::string& entry : entries) {
    for (const std::string_view prefix : {".text.", ".rela.text.", ".nv.constant0.", ".nv.shared."}) {
      entrySections.push_back(std::string(prefix) + entry);
      if (const ElfSection* section = cubin.find(entrySections.back())) {
        append(content, prefix, *section);
      }
    }
  }
  for (const ElfSection& section : cubin.sections) {
    const bool ofEntry = std::find(entrySections.begin(), entrySections.end(), section.name) != entrySections.end();
    if (!ofEntry && (section.name.starts_with(".text.") || isHashedData(section.name))) {
      append(content, "data", section);
    }
  }
  return sha256Hex(content);
}

}  // namespace swage::toolchain
