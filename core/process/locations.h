// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/process/bridge_call.h"

namespace swage::process {

// Where this installation keeps its parts. Paths need not exist; `swage doctor` tells which do.
struct Locations {
  std::filesystem::path worker;
  std::filesystem::path compiler;
  std::filesystem::path replay;
  std::filesystem::path patterns;
  std::filesystem::path rules;     // of the judge
  std::filesystem::path tasks;     // bundled tasks
  std::filesystem::path selfTest;  // planted cheats and controls
  std::filesystem::path bridge;    // folder that holds the Python package swage_bridge
  std::filesystem::path python;
  std::filesystem::path nvrtc;  // of Python's CUDA packages, else of a toolkit; empty: none
  std::filesystem::path cudaIncludes;
  std::filesystem::path sanitizer;  // compute-sanitizer of the PATH or of a CUDA toolkit; empty: none

  // Programs lie beside this one. Resources lie in ../share/swage, or in the source tree around the build folder.
  // Python is $SWAGE_PYTHON, else that of the environment the build was configured with, else the newest
  // venv-* under the cache folder, else python3 of the PATH.
  [[nodiscard]] static Locations find(const std::filesystem::path& programFolder);

  [[nodiscard]] BridgeEnvironment bridgeEnvironment() const { return {python.string(), bridge.string()}; }
};

// $XDG_DATA_HOME/swage (or $SWAGE_DATA_DIR), $XDG_CACHE_HOME/swage, with the defaults of the XDG specification.
[[nodiscard]] std::filesystem::path dataFolder();
[[nodiscard]] std::filesystem::path cacheFolder();
// $XDG_STATE_HOME/swage (or $SWAGE_STATE_DIR).
[[nodiscard]] std::filesystem::path stateFolder();

// Tasks of the person who uses it: <data>/tasks. Need not exist.
[[nodiscard]] std::filesystem::path taskFolder();

// Where rules of the judge are, each folder before those that may change what it says: `rules` of this installation, of
// the folder with the user's settings ($SWAGE_CONFIG's, else $XDG_CONFIG_HOME/swage), and of the project, if there is
// one. Need not exist.
[[nodiscard]] std::vector<std::filesystem::path> ruleFolders(const Locations& locations,
                                                             const std::filesystem::path& project);

// The project a task goes to when none is named: <data>/projects/<name of the file or bundle>.
[[nodiscard]] std::filesystem::path defaultProject(std::string_view task);
// Projects under the data folder, most recently used first.
[[nodiscard]] std::vector<std::filesystem::path> knownProjects();
// A KernelBench-like name to the bundled file of that name, or to that in taskFolder(), when no such file exists here:
// "softmax_rows".
[[nodiscard]] std::string resolveTask(std::string_view task, const Locations& locations);

}  // namespace swage::process
