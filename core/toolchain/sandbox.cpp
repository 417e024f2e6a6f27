// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/sandbox.h"

#include <fmt/format.h>

// Why each argument is there:
//   --unshare-all --unshare-user   no network, own process ids, and a user namespace also for root;
//   --disable-userns               a nested namespace would give capabilities back;
//   --die-with-parent              killing the outer process kills everything inside, whatever group it made;
//   --new-session                  no pushing of characters into our terminal (TIOCSTI);
//   --clearenv                     secrets in the environment stay outside;
//   --cap-drop ALL                 root inside is nobody;
//   --remount-ro /proc             the host's root keeps its rights on /proc/sys inside, where core_pattern would let
//   it
//                                  run a program on the host; bubblewrap itself covers only what it cannot write;
//   --remount-ro / and /dev        the only places to fill are /tmp, which is bounded, and what is bound writable;
//   prlimit                        the kernel stops a fork bomb, which is faster than we look. It counts the processes
//   of
//                                  this user namespace; for the host's root it does not, and ProcessLimits must do;
//   no /etc                        no accounts, no ld.so.cache: libraries outside /usr/lib need LD_LIBRARY_PATH
//                                  and a bind (own_libraries.h), because $ORIGIN is another folder inside.
// File descriptors leak through bubblewrap: LimitedChild closes them before.
// /lib, /lib64 and /bin are links into /usr, as on every distribution with a merged /usr (Debian 12 requires it).
namespace swage::toolchain {
namespace {

constexpr int kMaxProcesses = 64;

std::vector<std::string> enclosedCommand(const SandboxSpec& spec, const std::vector<std::string>& program) {
  std::vector<std::string> command{spec.bubblewrap, "--enclose"};
  for (const Bind& bind : spec.binds) {
    command.insert(command.end(), {bind.access == Access::Writable ? "--write" : "--read", bind.source});
  }
  command.emplace_back("--");
  command.insert(command.end(), program.begin(), program.end());
  return command;
}

}  // namespace

std::vector<std::string> sandboxCommand(const SandboxSpec& spec, const std::vector<std::string>& program) {
  if (spec.mode == SandboxMode::None) {
    return program;
  }
  if (spec.mode == SandboxMode::Landlock) {
    return enclosedCommand(spec, program);
  }
  std::vector<std::string> command{spec.bubblewrap,    "--unshare-all",     "--unshare-user",
                                   "--disable-userns", "--die-with-parent", "--new-session",
                                   "--clearenv",       "--cap-drop",        "ALL"};
  const auto add = [&command](std::initializer_list<std::string> arguments) {
    command.insert(command.end(), arguments);
  };
  add({"--setenv", "PATH", "/usr/bin"});
  add({"--setenv", "HOME", "/tmp"});
  add({"--setenv", "LC_ALL", "C.UTF-8"});
  for (const auto& [name, value] : spec.environment) {
    add({"--setenv", name, value});
  }
  add({"--ro-bind", "/usr", "/usr"});
  add({"--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--symlink", "usr/bin", "/bin"});
  add({"--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev", "--remount-ro", "/dev"});
  add({"--size", fmt::format("{}", spec.temporaryBytes), "--tmpfs", "/tmp"});
  for (const Bind& bind : spec.binds) {
    add({bind.access == Access::Writable ? "--bind" : "--ro-bind", bind.source, bind.target});
  }
  add({"--remount-ro", "/", "--chdir", spec.workingDirectory, "--"});
  add({"/usr/bin/prlimit", fmt::format("--nproc={}", kMaxProcesses), "--"});
  command.insert(command.end(), program.begin(), program.end());
  return command;
}

std::string insidePath(SandboxMode mode, const Bind& bind) {
  return mode == SandboxMode::Bubblewrap ? bind.target : bind.source;
}

Environment outerEnvironment(const SandboxSpec& spec) {
  if (spec.mode == SandboxMode::Bubblewrap) {
    return {{"PATH", "/usr/bin:/bin"}};
  }
  Environment environment{{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"HOME", "/tmp"}, {"LC_ALL", "C.UTF-8"}};
  for (const Bind& bind : spec.binds) {
    if (spec.mode == SandboxMode::Landlock && bind.access == Access::Writable) {
      environment.emplace_back("TMPDIR", bind.source);
    }
  }
  environment.insert(environment.end(), spec.environment.begin(), spec.environment.end());
  return environment;
}

namespace {

// Runs nothing in it once.
Result<> tryOnce(const SandboxSpec& spec, const std::string& hint) {
  ProcessLimits limits;
  limits.seconds = 10.0;
  auto result = runLimited(sandboxCommand(spec, {"/usr/bin/true"}), outerEnvironment(spec), limits);
  if (!result) {
    return Error(ErrorKind::Sandbox, "sandbox unavailable: " + result.error().message(), hint);
  }
  if (result->end != ProcessEnd::Exited || result->exitCode != 0) {
    std::string reason = result->output.substr(0, result->output.find('\n'));
    if (reason.empty()) {
      reason = fmt::format("'{}' ended with code {}", spec.bubblewrap, result->exitCode);
    }
    return Error(ErrorKind::Sandbox, "sandbox unavailable: " + reason, hint);
  }
  return {};
}

}  // namespace

Result<> checkSandbox(const std::string& bubblewrap) {
  SandboxSpec spec;
  spec.bubblewrap = bubblewrap;
  return tryOnce(spec,
                 "install bubblewrap (apt install bubblewrap) and allow unprivileged user namespaces (sysctl "
                 "kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0)");
}

Result<> checkEnclosure(const std::string& compiler) {
  SandboxSpec spec;
  spec.mode = SandboxMode::Landlock;
  spec.bubblewrap = compiler;
  return tryOnce(spec, "a Linux kernel since 5.13 with Landlock does without user namespaces");
}

}  // namespace swage::toolchain
