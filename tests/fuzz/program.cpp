// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tests/fuzz/campaign.h"
#include "tests/fuzz/minimise.h"
#include "tests/fuzz/slice.h"

namespace swage::fuzz {
namespace {

constexpr std::string_view kUsage =
    "usage: swage-fuzz [options]\n"
    "Draws random graphs, synthesises candidates for them, compiles these and compares what they compute with "
    "PyTorch.\n"
    "  --seed N           the first graph (default 1); to go on with an earlier run, its 'next seed'\n"
    "  --count N          how many graphs (default 500)\n"
    "  --minutes N        begin no graph after so many minutes\n"
    "  --jobs N           processes at once (default 2)\n"
    "  --candidates N     programs that are compiled for each graph and target (default 2)\n"
    "  --corpus FOLDER    write each graph that fails there\n"
    "  --replay PATH      try a file, or every file of a folder, instead of random graphs\n"
    "  --minimise FILE    make a graph that fails as small as it still fails\n"
    "  --worker PATH      the swage-worker to run candidates with (default: the one it was built with)\n"
    "  --no-run           compile only: needs no worker\n"
    "  --no-compile       synthesise only\n"
    "  --cuda             compile kernels for a GPU too; needs --nvrtc\n"
    "  --nvrtc PATH       libnvrtc.so (default: the one it was built with)\n"
    "  --quiet            no progress\n"
    "Exit code 0: nothing failed. 1: something did. 2: an option is wrong. 3: it could not be tried.\n";

struct Options {
  CampaignOptions campaign;
  SliceOptions slice;
  std::vector<std::string> sliceItems;  // not empty: be a child
  std::string minimised;
  bool help = false;
};

Error usageError(const std::string& message) {
  return Error(ErrorKind::Usage, message, "see swage-fuzz --help");
}

template <class T>
Result<> setNumber(std::string_view value, T& into) {
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), into);
  if (error != std::errc() || end != value.data() + value.size() || into < 0) {
    return usageError(fmt::format("'{}' is no number", value));
  }
  return {};
}

std::vector<std::string> splitAtCommas(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

Result<> addReplay(std::string_view path, CampaignOptions& options) {
  if (!std::filesystem::is_directory(path)) {
    options.items.emplace_back(path);
    return {};
  }
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.path().extension() == ".json") {
      options.items.push_back(entry.path().string());
    }
  }
  std::sort(options.items.begin(), options.items.end());
  return options.items.empty() ? usageError(fmt::format("'{}' has no .json files", path)) : Result<>();
}

bool setFlag(std::string_view name, Options& options) {
  if (name == "--help" || name == "-h") {
    options.help = true;
  } else if (name == "--no-run") {
    options.slice.worker.clear();
  } else if (name == "--no-compile") {
    options.slice.compiles = false;
  } else if (name == "--cuda") {
    options.slice.cuda = true;
  } else if (name == "--quiet") {
    options.campaign.quiet = true;
  } else {
    return false;
  }
  return true;
}

Result<> setValue(std::string_view name, std::string_view value, Options& options) {
  if (name == "--seed") {
    return setNumber(value, options.campaign.seed);
  }
  if (name == "--count") {
    return setNumber(value, options.campaign.count);
  }
  if (name == "--minutes") {
    return setNumber(value, options.campaign.minutes);
  }
  if (name == "--jobs") {
    return setNumber(value, options.campaign.jobs);
  }
  if (name == "--candidates") {
    return setNumber(value, options.slice.candidates);
  }
  if (name == "--corpus") {
    options.campaign.corpus = value;
  } else if (name == "--replay") {
    return addReplay(value, options.campaign);
  } else if (name == "--minimise") {
    options.minimised = value;
  } else if (name == "--worker") {
    options.slice.worker = value;
  } else if (name == "--nvrtc") {
    options.slice.toolchain.nvrtc = value;
  } else if (name == "--slice") {
    options.sliceItems = splitAtCommas(value);
  } else {
    return usageError(fmt::format("'{}' is no option", name));
  }
  return {};
}

Options standardOptions() {
  Options options;
  options.slice.patterns = SWAGE_FUZZ_PATTERNS;
  options.slice.worker = SWAGE_FUZZ_WORKER;
  options.slice.toolchain.sandbox = toolchain::SandboxMode::None;  // the sources are our own
  options.slice.toolchain.nvrtc = SWAGE_FUZZ_NVRTC;
  options.slice.toolchain.helperProgram = SWAGE_FUZZ_COMPILER;
  return options;
}

Result<Options> parseOptions(const std::vector<std::string_view>& arguments) {
  Options options = standardOptions();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (setFlag(arguments[i], options)) {
      continue;
    }
    if (i + 1 == arguments.size()) {
      return usageError(fmt::format("'{}' is no option, or lacks its value", arguments[i]));
    }
    SWAGE_TRY(setValue(arguments[i], arguments[i + 1], options));
    ++i;
  }
  if (options.campaign.jobs < 1) {
    return usageError("--jobs must be at least 1");
  }
  return options;
}

// What a child is started with: the options that concern it, then its cases.
std::vector<std::string> childCommand(const Options& options) {
  std::error_code error;
  std::vector<std::string> command{std::filesystem::read_symlink("/proc/self/exe", error).string(), "--candidates",
                                   std::to_string(options.slice.candidates)};
  if (options.slice.worker.empty()) {
    command.emplace_back("--no-run");
  } else {
    command.insert(command.end(), {"--worker", options.slice.worker});
  }
  if (!options.slice.compiles) {
    command.emplace_back("--no-compile");
  }
  if (options.slice.cuda) {
    command.insert(command.end(), {"--cuda", "--nvrtc", options.slice.toolchain.nvrtc});
  }
  command.emplace_back("--slice");
  return command;
}

int fail(const Error& error, int code) {
  fmt::print(stderr, "swage-fuzz: {}{}{}\n", error.message(), error.hint().empty() ? "" : "; ", error.hint());
  return code;
}

int run(const std::vector<std::string_view>& arguments) {
  auto options = parseOptions(arguments);
  if (!options) {
    return fail(options.error(), 2);
  }
  if (options->help) {
    fmt::print("{}", kUsage);
    return 0;
  }
  if (!options->sliceItems.empty()) {
    return runSlice(options->sliceItems, options->slice);
  }
  options->campaign.childCommand = childCommand(*options);
  if (!options->minimised.empty()) {
    const auto smaller = minimise(options->minimised, options->campaign);
    return smaller ? (fmt::print("{}\n", *smaller), 0) : fail(smaller.error(), 3);
  }
  Campaign campaign(options->campaign);
  const auto tally = campaign.run();
  if (!tally) {
    return fail(tally.error(), 3);
  }
  for (const auto& [item, findings] : campaign.findings()) {
    for (const Finding& finding : findings) {
      if (finding.kind != kInexact) {
        fmt::print("{}: {}: {}\n", item, finding.kind, finding.detail);
      }
    }
  }
  fmt::print("{}next seed: {}\n", tally->text(), tally->next);
  return tally->failures.empty() ? 0 : 1;
}

}  // namespace
}  // namespace swage::fuzz

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return swage::fuzz::run({argv + 1, argv + argc});
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "swage-fuzz: %s\n", exception.what());
    return 3;
  }
}
