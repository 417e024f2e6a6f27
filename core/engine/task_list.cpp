// SPDX-License-Identifier: Apache-2.0
#include "core/engine/task_list.h"

#include <algorithm>
#include <fstream>
#include <system_error>

#include "core/base/trimmed.h"

namespace swage::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHeadBytes = 4096;

std::string headOf(const fs::path& file) {
  std::string head(kHeadBytes, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(stream.gcount()));
  return head;
}

}  // namespace

std::string firstDocLine(std::string_view source) {
  source = trimmed(source);
  while (source.starts_with('#')) {
    source = trimmed(source.substr(std::min(source.find('\n'), source.size())));
  }
  for (const std::string_view quotes : {R"(""")", "'''"}) {
    if (source.starts_with(quotes)) {
      const std::string_view rest = source.substr(quotes.size());
      const std::string_view doc = trimmed(rest.substr(0, rest.find(quotes)));
      return std::string(trimmed(doc.substr(0, doc.find('\n'))));
    }
  }
  return {};
}

std::vector<ListedTask> listTasks(const fs::path& folder) {
  std::vector<ListedTask> tasks;
  std::error_code failure;
  for (fs::directory_iterator it(folder, failure), end; !failure && it != end; it.increment(failure)) {
    std::error_code ignored;
    if (it->path().extension() == ".py" && it->is_regular_file(ignored)) {
      tasks.push_back({it->path().stem().string(), it->path(), firstDocLine(headOf(it->path()))});
    }
  }
  std::sort(tasks.begin(), tasks.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return tasks;
}

}  // namespace swage::engine
