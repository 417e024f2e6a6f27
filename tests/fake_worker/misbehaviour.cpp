// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_worker/misbehaviour.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <utility>

namespace swage::fake {

std::optional<Behaviour> parseBehaviour(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, Behaviour>, 34> kNames = {{
      {"ok", Behaviour::Ok},
      {"slow", Behaviour::Slow},
      {"hang", Behaviour::Hang},
      {"ignore_sigterm", Behaviour::IgnoreSigterm},
      {"crash", Behaviour::Crash},
      {"killed", Behaviour::Killed},
      {"crash_before_hello", Behaviour::CrashBeforeHello},
      {"killed_before_hello", Behaviour::KilledBeforeHello},
      {"bad_version", Behaviour::BadVersion},
      {"garbage_frame", Behaviour::GarbageFrame},
      {"half_frame", Behaviour::HalfFrame},
      {"huge_length", Behaviour::HugeLength},
      {"noisy_stdout", Behaviour::NoisyStdout},
      {"exit_3", Behaviour::Exit3},
      {"grandchild", Behaviour::Grandchild},
      {"refuse_task", Behaviour::RefuseTask},
      {"doubt_task", Behaviour::DoubtTask},
      {"poisoned", Behaviour::Poisoned},
      {"wrong_request", Behaviour::WrongRequest},
      {"compile_error", Behaviour::CompileError},
      {"no_compiler", Behaviour::NoCompiler},
      {"no_sandbox", Behaviour::NoSandbox},
      {"reject_source", Behaviour::RejectSource},
      {"stderr_flood", Behaviour::StderrFlood},
      {"stdout_flood", Behaviour::StdoutFlood},
      {"believe", Behaviour::Believe},
      {"heartbeat_flood", Behaviour::HeartbeatFlood},
      {"beat_forever", Behaviour::BeatForever},
      {"other_device", Behaviour::OtherDevice},
      {"unusable", Behaviour::Unusable},
      {"waver", Behaviour::Waver},
      {"fail-last-checks", Behaviour::FailLastChecks},
      {"crash-making-room", Behaviour::CrashMakingRoom},
      {"hang-making-room", Behaviour::HangMakingRoom},
  }};
  for (const auto& [text, behaviour] : kNames) {
    if (text == name) {
      return behaviour;
    }
  }
  return std::nullopt;
}

void crash() {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::signal(SIGSEGV, SIG_DFL);
  ::raise(SIGSEGV);
  ::_exit(1);
}

void hang() {
  for (;;) {
    ::pause();
  }
}

void startGrandchild() {
  const pid_t child = ::fork();
  if (child == 0) {
    hang();
  }
  std::fprintf(stderr, "grandchild %d\n", static_cast<int>(child));
}

}  // namespace swage::fake
