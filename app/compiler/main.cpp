// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "app/compiler/options.h"
#include "app/compiler/server.h"
#include "app/compiler/synthesis_server.h"
#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/toolchain/enclosure.h"
#include "core/toolchain/job_directory.h"
#include "core/toolchain/nvrtc_helper.h"
#include "core/toolchain/own_libraries.h"
#include "core/toolchain/sandbox.h"
#include "core/wire/exit_code.h"

namespace swage::compiler {
namespace {

wire::ExitCode fail(const Error& error) {
  log::error("{}{}{}", error.message(), error.hint().empty() ? "" : "; hint: ", error.hint());
  return wire::exitCodeFor(error.kind());
}

constexpr int kNice = 10;

// Standard output is the connection and libraries print: frames get a descriptor of their own.
Fd takeOutput() {
  Fd frames(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  return frames;
}

// Bubblewrap where the system lets it work; else Landlock, unless somebody wants just that. Returns what it is, in
// words, and why it is not bubblewrap.
Result<std::string> chooseSandbox(CompilerOptions& options) {
  toolchain::ToolchainOptions& tools = options.toolchain;
  if (tools.sandbox == toolchain::SandboxMode::None) {
    return std::string("none, as chosen");
  }
  const bool isLandlock = tools.sandbox == toolchain::SandboxMode::Landlock;
  const Result<> usable =
      isLandlock ? toolchain::checkEnclosure(tools.helperProgram) : toolchain::checkSandbox(tools.bubblewrap);
  if (usable) {
    return std::string(isLandlock ? "Landlock, as chosen" : "bubblewrap");
  }
  if (options.isSandboxChosen) {
    return usable.error();
  }
  if (const Result<> enclosed = toolchain::checkEnclosure(tools.helperProgram); !enclosed) {
    return Error(ErrorKind::Sandbox,
                 fmt::format("{}; and without namespaces: {}", usable.error().message(), enclosed.error().message()),
                 usable.error().hint());
  }
  log::info("compilers run under Landlock and a filter of system calls, because bubblewrap cannot be used here: {}",
            usable.error().message());
  tools.sandbox = toolchain::SandboxMode::Landlock;
  return fmt::format("Landlock, because bubblewrap cannot be used here: {}", usable.error().message());
}

void findHelper(CompilerOptions& options) {
  std::error_code error;
  options.toolchain.helperProgram = std::filesystem::read_symlink("/proc/self/exe", error).string();
  options.toolchain.helperLibraries = toolchain::librariesOutsideUsr();
}

// Sandbox or Environment error when it cannot be used here.
Result<toolchain::Compiler> openToolchain(CompilerOptions options) {
  findHelper(options);
  SWAGE_TRY(chooseSandbox(options));
  return toolchain::Compiler::open(options.toolchain);
}

wire::ExitCode runServer(const CompilerOptions& options) {
  // As many compilers as cores run beside the worker, the engine and the window. Those must not wait for a core; who is
  // refused the lower priority has it already.
  static_cast<void>(::setpriority(PRIO_PROCESS, 0, kNice));
  const Fd frames = takeOutput();
  toolchain::JobDirectory::removeAbandoned();
  auto compiler = openToolchain(options);
  return compiler ? serve(*compiler, STDIN_FILENO, frames.get()) : fail(compiler.error());
}

wire::ExitCode check(CompilerOptions options) {
  findHelper(options);
  const auto sandbox = chooseSandbox(options);
  if (!sandbox) {
    return fail(sandbox.error());
  }
  fmt::print("{}\n", *sandbox);
  const auto compiler = toolchain::Compiler::open(options.toolchain);
  return compiler ? wire::ExitCode::Ok : fail(compiler.error());
}

wire::ExitCode run(const std::vector<std::string_view>& arguments) {
  auto options = parseOptions(arguments);
  if (!options) {
    return fail(options.error());
  }
  switch (options->action) {
    case CompilerOptions::Action::Help: fmt::print("{}", usage()); return wire::ExitCode::Ok;
    case CompilerOptions::Action::NvrtcHelper:
      return static_cast<wire::ExitCode>(toolchain::runNvrtcHelper(options->nvrtcHelper));
    case CompilerOptions::Action::Enclose: {
      const std::string trouble = toolchain::becomeEnclosed(toolchain::parseEnclosure(options->enclosed));
      fmt::print(stderr, "{}\n", trouble);
      return wire::ExitCode::SandboxUnavailable;
    }
    case CompilerOptions::Action::Synthesise: {
      const Fd frames = takeOutput();  // of the engine's priority, because the engine waits for it
      return serveSynthesis(STDIN_FILENO, frames.get());
    }
    case CompilerOptions::Action::Check: return check(*options);
    case CompilerOptions::Action::Serve: break;
  }
  return runServer(*options);
}

}  // namespace
}  // namespace swage::compiler

int main(int argc, char** argv) {
  // A closed pipe is an error to handle; Ctrl-C is the engine's to handle, which then closes our standard input.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGINT, SIG_IGN);
  try {
    return static_cast<int>(swage::compiler::run({argv + 1, argv + argc}));
  } catch (const std::exception& exception) {
    swage::log::error("swage-compiler failed: {}", exception.what());
    return static_cast<int>(swage::wire::ExitCode::Internal);
  }
}
