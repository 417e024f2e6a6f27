// SPDX-License-Identifier: Apache-2.0
#include "core/process/locations.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace swage::process {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxParents = 6;

fs::path environmentPath(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? fs::path(value) : fs::path();
}

fs::path home() {
  const fs::path path = environmentPath("HOME");
  return path.empty() ? fs::path("/") : path;
}

// XDG: relative paths in these variables are to be ignored.
fs::path xdgFolder(const char* variable, const char* fallback) {
  const fs::path path = environmentPath(variable);
  return path.is_absolute() ? path : home() / fallback;
}

bool pathExists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

fs::path sourceTree(fs::path folder) {
  for (int i = 0; i < kMaxParents && folder.has_relative_path(); ++i, folder = folder.parent_path()) {
    if (pathExists(folder / "resources/bridge/swage_bridge")) {
      return folder;
    }
  }
  return SWAGE_SOURCE_FOLDER;
}

fs::path newestEnvironment() {
  fs::path newest;
  fs::file_time_type newestTime;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(cacheFolder(), error)) {
    const fs::path python = entry.path() / "bin/python";
    if (!entry.path().filename().string().starts_with("venv-") || !pathExists(python)) {
      continue;
    }
    const auto time = entry.last_write_time(error);
    if (newest.empty() || time > newestTime) {
      newest = python;
      newestTime = time;
    }
  }
  return newest;
}

// The program of this name in the folders of PATH; empty: none.
fs::path findOnPath(const fs::path& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (fs::path found = fs::path(folder) / name; ::access(found.c_str(), X_OK) == 0) {
      return found;
    }
  }
  return {};
}

// With its folder, where it has one: CUDA's wheels lie beside it.
fs::path withFolder(const fs::path& program) {
  const fs::path found = program.has_parent_path() ? program : findOnPath(program);
  return found.empty() ? program : found;
}

fs::path findPython() {
  if (fs::path chosen = environmentPath("SWAGE_PYTHON"); !chosen.empty()) {
    return withFolder(chosen);
  }
  fs::path configured = fs::path(SWAGE_BUILD_VENV) / "bin/python";
  if (!std::string_view(SWAGE_BUILD_VENV).empty() && pathExists(configured)) {
    return configured;
  }
  const fs::path cached = newestEnvironment();
  return cached.empty() ? withFolder("python3") : cached;
}

// The first entry of `folder` whose name starts with `prefix`, in the order of names.
fs::path firstEntry(const fs::path& folder, std::string_view prefix) {
  fs::path first;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().filename().string().starts_with(prefix) && (first.empty() || entry.path() < first)) {
      first = entry.path();
    }
  }
  return first;
}

std::vector<fs::path> toolkits() {
  return {environmentPath("CUDA_HOME"), "/usr/local/cuda", "/opt/cuda"};
}

// The nvidia-* wheels put libraries and headers under site-packages/nvidia/<package>/{lib,include}.
void findCudaOfPython(Locations& locations) {
  const fs::path packages = firstEntry(locations.python.parent_path().parent_path() / "lib", "python3");
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(packages / "site-packages/nvidia", error)) {
    if (const fs::path library = firstEntry(entry.path() / "lib", "libnvrtc.so."); !library.empty()) {
      locations.nvrtc = library;
    }
    if (pathExists(entry.path() / "include/cuda_fp16.h")) {
      locations.cudaIncludes = entry.path() / "include";
    }
  }
}

// Of Python's wheels, because PyTorch uses these; else of a toolkit, library and headers of one version.
void findCuda(Locations& locations) {
  findCudaOfPython(locations);
  for (const fs::path& toolkit : toolkits()) {
    if (const fs::path library = firstEntry(toolkit / "lib64", "libnvrtc.so.");
        locations.nvrtc.empty() && !toolkit.empty() && !library.empty()) {
      locations.nvrtc = library;
      locations.cudaIncludes = pathExists(toolkit / "include/cuda_fp16.h") ? toolkit / "include" : fs::path();
    }
  }
}

fs::path findSanitizer() {
  if (fs::path found = findOnPath("compute-sanitizer"); !found.empty()) {
    return found;
  }
  for (const fs::path& toolkit : toolkits()) {
    for (const char* place : {"bin/compute-sanitizer", "compute-sanitizer/compute-sanitizer"}) {
      if (!toolkit.empty() && ::access((toolkit / place).c_str(), X_OK) == 0) {
        return toolkit / place;
      }
    }
  }
  return {};
}

}  // namespace

Locations Locations::find(const fs::path& programFolder) {
  Locations result;
  result.worker = programFolder / "swage-worker";
  result.compiler = programFolder / "swage-compiler";
  result.replay = programFolder / "swage-replay";
  result.sanitizer = findSanitizer();
  result.python = findPython();
  findCuda(result);
  const fs::path installed = programFolder.parent_path() / "share/swage";
  if (pathExists(installed / "bridge")) {
    result.patterns = installed / "patterns";
    result.rules = installed / "rules";
    result.tasks = installed / "tasks";
    result.selfTest = installed / "selftest";
    result.bridge = installed / "bridge";
    return result;
  }
  const fs::path tree = sourceTree(programFolder);
  result.patterns = tree / "patterns";
  result.rules = tree / "resources/rules";
  result.tasks = tree / "resources/tasks";
  result.selfTest = tree / "resources/selftest";
  result.bridge = tree / "resources/bridge";
  return result;
}

fs::path dataFolder() {
  const fs::path own = environmentPath("SWAGE_DATA_DIR");
  return own.empty() ? xdgFolder("XDG_DATA_HOME", ".local/share") / "swage" : own;
}

fs::path taskFolder() {
  return dataFolder() / "tasks";
}

fs::path cacheFolder() {
  return xdgFolder("XDG_CACHE_HOME", ".cache") / "swage";
}

std::vector<fs::path> ruleFolders(const Locations& locations, const fs::path& project) {
  const fs::path settings = environmentPath("SWAGE_CONFIG");
  std::vector<fs::path> folders{locations.rules, settings.empty()
                                                     ? xdgFolder("XDG_CONFIG_HOME", ".config") / "swage/rules"
                                                     : settings.parent_path() / "rules"};
  if (!project.empty()) {
    folders.push_back(project / "rules");
  }
  return folders;
}

fs::path stateFolder() {
  const fs::path own = environmentPath("SWAGE_STATE_DIR");
  return own.empty() ? xdgFolder("XDG_STATE_HOME", ".local/state") / "swage" : own;
}

fs::path defaultProject(std::string_view task) {
  std::string text(task);
  if (const auto colon = text.rfind(".py:"); colon != std::string::npos) {
    text.resize(colon + 3);
  }
  while (text.size() > 1 && text.back() == '/') {
    text.pop_back();
  }
  const std::string stem = fs::path(text).stem().string();
  return dataFolder() / "projects" / (stem.empty() ? "task" : stem);
}

std::vector<fs::path> knownProjects() {
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(dataFolder() / "projects", error)) {
    const fs::path database = entry.path() / "runs.sqlite";
    fs::file_time_type latest;
    if (const auto time = fs::last_write_time(database, error); !error) {
      latest = time;
    } else {
      continue;
    }
    std::error_code noLog;
    if (const auto time = fs::last_write_time(entry.path() / "runs.sqlite-wal", noLog); !noLog) {
      latest = std::max(latest, time);
    }
    found.emplace_back(latest, entry.path());
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<fs::path> result;
  result.reserve(found.size());
  for (auto& [time, path] : found) {
    result.push_back(std::move(path));
  }
  return result;
}

std::string resolveTask(std::string_view task, const Locations& locations) {
  const fs::path given{std::string(task)};
  if (pathExists(given) || task.find('/') != std::string_view::npos || task.find(':') != std::string_view::npos) {
    return std::string(task);
  }
  const std::string file = given.extension() == ".py" ? given.string() : given.string() + ".py";
  for (const fs::path& folder : {locations.tasks, taskFolder()}) {
    if (pathExists(folder / file)) {
      return (folder / file).string();
    }
  }
  return std::string(task);
}

}  // namespace swage::process
