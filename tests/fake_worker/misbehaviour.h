// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace swage::fake {

// How the program misbehaves, and mostly when: in its first job.
enum class Behaviour {
  Ok,
  Slow,           // answers after 300 ms, with heartbeats
  Hang,           // never answers
  IgnoreSigterm,  // hangs, ignores end of input and SIGTERM
  Crash,          // SIGSEGV
  Killed,         // SIGKILL, as from somebody else
  CrashBeforeHello,
  KilledBeforeHello,  // SIGKILL, as from somebody else
  BadVersion,
  GarbageFrame,
  HalfFrame,    // half an answer, then the end
  HugeLength,   // a header that announces 4 GiB
  NoisyStdout,  // prints text between frames
  Exit3,
  Grandchild,      // starts a child that holds the pipes open, then crashes
  RefuseTask,      // TaskRefused
  DoubtTask,       // a task whose output is constant
  Believe,         // finds everything correct
  Poisoned,        // answers, announces that it exits, and exits
  WrongRequest,    // answers another request
  CompileError,    // compiler: every source is wrong
  NoCompiler,      // compiler: there is no g++
  NoSandbox,       // compiler: says so when it is asked
  RejectSource,    // compiler: refuses every source
  StderrFlood,     // twenty thousand lines on standard error, then the answer
  StdoutFlood,     // text without end between frames
  HeartbeatFlood,  // twenty thousand heartbeats, then the answer
  BeatForever,     // never answers, but says that it is alive
  OtherDevice,     // worker: opens another device than the one before it
  Unusable,        // worker: cannot open its device
  Waver,  // worker: the fastest is wrong when it is asked about again; who is slower than an elite is screened out
  FailLastChecks,  // worker: whatever takes less than 60 us is wrong when it is asked about again
  CrashMakingRoom,
  HangMakingRoom,
};
[[nodiscard]] std::optional<Behaviour> parseBehaviour(std::string_view name);

// Kills itself by SIGSEGV without a core file.
[[noreturn]] void crash();
[[noreturn]] void hang();
// A process that outlives its parent unless the whole group is killed; prints its id on standard error.
void startGrandchild();

}  // namespace swage::fake
