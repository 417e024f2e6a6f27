// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/toolchain/process.h"

namespace swage::toolchain {

enum class SandboxMode : std::uint8_t {
  Bubblewrap,
  Landlock,  // where the system has no user namespaces, as in most containers: core/toolchain/enclosure.h
  None,      // only when the user asked for it: the compiler then sees everything that the user sees
};

// Changes whenever the argument vector does, so that a record can say under which rules a candidate was compiled.
inline constexpr int kSandboxRecipeVersion = 1;

enum class Access : std::uint8_t { ReadOnly, Writable };

struct Bind {
  std::string source;  // on the host
  std::string target;  // inside
  Access access = Access::ReadOnly;
};

// What a sandboxed program may see beside /usr, a private /tmp, /proc of its own and a minimal /dev:
// no network, no other process, no environment but this one, no other file. Under SandboxMode::Landlock files keep
// their places, /tmp is what is bound writable, and there is no /proc.
struct SandboxSpec {
  SandboxMode mode = SandboxMode::Bubblewrap;
  std::string bubblewrap = "bwrap";  // who sets it up; of SandboxMode::Landlock swage-compiler itself
  std::vector<Bind> binds;
  Environment environment;
  std::string workingDirectory = "/tmp";
  std::int64_t temporaryBytes = std::int64_t{512} << 20;
};

// The command that runs `program` under `spec`; `program` itself for SandboxMode::None.
[[nodiscard]] std::vector<std::string> sandboxCommand(const SandboxSpec& spec, const std::vector<std::string>& program);

// Where a host path of `spec` is seen by the program: its target under bubblewrap, else itself.
[[nodiscard]] std::string insidePath(SandboxMode mode, const Bind& bind);

// The environment that sandboxCommand's result must be started with.
[[nodiscard]] Environment outerEnvironment(const SandboxSpec& spec);

// Runs nothing in a sandbox once. Sandbox error "sandbox unavailable" when bubblewrap or user namespaces are
// missing. We refuse rather than run without: see SandboxMode::None.
[[nodiscard]] Result<> checkSandbox(const std::string& bubblewrap);
// The same for SandboxMode::Landlock; `compiler` is swage-compiler.
[[nodiscard]] Result<> checkEnclosure(const std::string& compiler);

}  // namespace swage::toolchain
