// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/base/fd.h"

// Linux tells the children of a thread in /proc/<pid>/task/<tid>/children where it was built with CONFIG_PROC_CHILDREN;
// elsewhere the parent of every process has to be read. Both are needed: the first costs a few system calls, the second
// grows with the machine.
namespace swage::toolchain {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

std::optional<std::string> readSmallFile(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.isOpen()) {
    return std::nullopt;
  }
  std::string text;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t count = ::read(fd.get(), buffer.data(), buffer.size());
    if (count <= 0) {
      return text;
    }
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

std::optional<pid_t> parsePid(std::string_view text) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(pid) : std::nullopt;
}

std::vector<pid_t> numericEntries(const std::string& path) {
  std::vector<pid_t> pids;
  const Directory directory(::opendir(path.c_str()));
  if (!directory) {
    return pids;
  }
  while (const dirent* entry = ::readdir(directory.get())) {
    if (const auto pid = parsePid(entry->d_name)) {
      pids.push_back(*pid);
    }
  }
  return pids;
}

void appendPids(std::string_view text, std::vector<pid_t>& into) {
  while (!text.empty()) {
    const std::size_t end = text.find_first_of(" \n");
    if (const auto pid = parsePid(text.substr(0, end))) {
      into.push_back(*pid);
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

// Parent of a process: the second field after the parenthesised command, which may itself contain anything.
std::optional<pid_t> parentOf(pid_t pid) {
  const auto stat = readSmallFile(fmt::format("/proc/{}/stat", pid));
  if (!stat) {
    return std::nullopt;
  }
  const std::size_t close = stat->rfind(") ");
  if (close == std::string::npos || close + 4 > stat->size()) {
    return std::nullopt;
  }
  const std::string_view rest = std::string_view(*stat).substr(close + 4);
  return parsePid(rest.substr(0, rest.find(' ')));
}

bool kernelListsChildren() {
  static const bool lists = ::access(fmt::format("/proc/self/task/{}/children", ::getpid()).c_str(), R_OK) == 0;
  return lists;
}

std::vector<pid_t> treeByChildren(pid_t root) {
  std::vector<pid_t> tree{root};
  for (std::size_t i = 0; i < tree.size(); ++i) {
    for (const pid_t thread : numericEntries(fmt::format("/proc/{}/task", tree[i]))) {
      if (const auto children = readSmallFile(fmt::format("/proc/{}/task/{}/children", tree[i], thread))) {
        appendPids(*children, tree);
      }
    }
  }
  return tree;
}

std::vector<pid_t> treeByParents(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  for (const pid_t pid : numericEntries("/proc")) {
    if (const auto parent = parentOf(pid)) {
      children.emplace(*parent, pid);
    }
  }
  std::vector<pid_t> tree{root};
  std::set<pid_t> seen{root};
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const auto [begin, end] = children.equal_range(tree[i]);
    for (auto child = begin; child != end; ++child) {
      if (seen.insert(child->second).second) {
        tree.push_back(child->second);
      }
    }
  }
  return tree;
}

std::int64_t residentBytes(pid_t pid) {
  static const std::int64_t pageBytes = ::sysconf(_SC_PAGESIZE);
  const auto statm = readSmallFile(fmt::format("/proc/{}/statm", pid));
  if (!statm) {
    return 0;
  }
  const std::size_t space = statm->find(' ');
  if (space == std::string::npos) {
    return 0;
  }
  std::int64_t pages = 0;
  const char* first = statm->data() + space + 1;
  std::from_chars(first, statm->data() + statm->size(), pages);
  return pages * pageBytes;
}

}  // namespace

TreeUsage treeUsage(pid_t root) {
  TreeUsage usage;
  for (const pid_t pid : kernelListsChildren() ? treeByChildren(root) : treeByParents(root)) {
    usage.residentBytes += residentBytes(pid);
    ++usage.processes;
  }
  return usage;
}

}  // namespace swage::toolchain
