// SPDX-License-Identifier: Apache-2.0
#include "app/compiler/options.h"

#include <fmt/format.h>

namespace swage::compiler {
namespace {

Error usageError(const std::string& message) {
  return Error(ErrorKind::Usage, message, "see swage-compiler --help");
}

Result<> setSandbox(std::string_view value, CompilerOptions& chosen) {
  toolchain::ToolchainOptions& options = chosen.toolchain;
  chosen.isSandboxChosen = true;
  if (value == "bwrap") {
    options.sandbox = toolchain::SandboxMode::Bubblewrap;
  } else if (value == "landlock") {
    options.sandbox = toolchain::SandboxMode::Landlock;
  } else if (value == "none") {
    options.sandbox = toolchain::SandboxMode::None;
  } else {
    return usageError(fmt::format("--sandbox is 'bwrap', 'landlock' or 'none', not '{}'", value));
  }
  return {};
}

Result<> setOption(std::string_view name, std::string_view value, CompilerOptions& options) {
  if (name == "--sandbox") {
    return setSandbox(value, options);
  }
  if (name == "--bwrap") {
    options.toolchain.bubblewrap = value;
  } else if (name == "--cxx") {
    options.toolchain.cxx = value;
  } else if (name == "--nvrtc") {
    options.toolchain.nvrtc = value;
  } else if (name == "--cuda-include") {
    options.toolchain.cudaIncludes.emplace_back(value);
  } else if (name == "--header-cache") {
    options.toolchain.headerCache = value;
  } else if (name == "--nvrtc-helper") {
    options.nvrtcHelper = value;
    options.action = CompilerOptions::Action::NvrtcHelper;
  } else {
    return usageError(fmt::format("unknown option '{}'", name));
  }
  return {};
}

}  // namespace

Result<CompilerOptions> parseOptions(std::span<const std::string_view> arguments) {
  CompilerOptions options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string_view name = arguments[i];
    if (name == "--help" || name == "-h") {
      options.action = CompilerOptions::Action::Help;
      return options;
    }
    if (name == "--synthesis") {
      options.action = CompilerOptions::Action::Synthesise;
      continue;
    }
    if (name == "--check") {
      options.action = CompilerOptions::Action::Check;
      continue;
    }
    if (name == "--enclose") {
      options.action = CompilerOptions::Action::Enclose;
      options.enclosed.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
      return options;
    }
    std::string_view value;
    if (const std::size_t equals = name.find('='); equals != std::string_view::npos) {
      value = name.substr(equals + 1);
      name = name.substr(0, equals);
    } else if (i + 1 < arguments.size()) {
      value = arguments[++i];
    }
    if (value.empty()) {
      return usageError(fmt::format("option '{}' needs a value", name));
    }
    SWAGE_TRY(setOption(name, value, options));
  }
  return options;
}

std::string_view usage() {
  return "usage: swage-compiler [options]\n"
         "Compiles candidates: reads Compile frames on standard input, writes Compiled frames on standard output.\n"
         "  --synthesis            write sources instead: reads Synthesise frames, writes Synthesised frames\n"
         "  --check                only name the sandbox, and say by the exit code whether compilers can be used\n"
         "  --sandbox bwrap|landlock|none\n"
         "                         run compilers under bubblewrap, by Landlock and a filter of system calls, or\n"
         "                         unprotected (default: bubblewrap, or landlock where user namespaces are missing)\n"
         "  --bwrap PATH           the bubblewrap program (default: bwrap)\n"
         "  --cxx PROGRAM          the C++ compiler for target cpu (default: g++)\n"
         "  --nvrtc PATH           libnvrtc.so for target cuda\n"
         "  --cuda-include DIR     a folder of CUDA headers; may be repeated\n"
         "  --header-cache DIR     keep precompiled headers for target cpu there, and use them\n";
}

}  // namespace swage::compiler
