// SPDX-License-Identifier: Apache-2.0
// The synthesiser of swage-compiler with a fault: `faulty_synthesis CALL FAULT N FILE`. In the N-th call of that name
// (or "open") of a process it crashes, hangs, exits or asserts, and then makes the file; where the file is there it
// behaves. With "-" for the file it fails every time.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>

#include "app/compiler/synthesis_server.h"
#include "core/base/assert.h"

namespace {

using swage::wire::Message;

struct Fault {
  std::string call;
  std::string what;
  int at = 1;
  std::string file;
  int seen = 0;

  void operator()(const Message& request) {
    const auto* synthesise = std::get_if<swage::wire::Synthesise>(&request);
    const std::string name = synthesise == nullptr ? "open" : std::string(swage::wire::name(synthesise->call));
    if (name != call || ++seen != at || std::ifstream(file).good()) {
      return;
    }
    if (file != "-") {
      std::ofstream(file) << what;
    }
    fail();
  }

  void fail() const {
    if (what == "crash") {
      std::signal(SIGSEGV, SIG_DFL);  // a sanitizer would catch it and end the program in its own way
      std::raise(SIGSEGV);
    } else if (what == "hang") {
      for (;;) {
        ::pause();
      }
    } else if (what == "assert") {
      SWAGE_ASSERT(what.empty());
    } else {
      std::fputs("out of ideas\n", stderr);
      std::_Exit(3);
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  Fault fault{argv[1], argv[2], std::atoi(argv[3]), argv[4]};
  return static_cast<int>(swage::compiler::serveSynthesis(STDIN_FILENO, STDOUT_FILENO, std::ref(fault)));
}
