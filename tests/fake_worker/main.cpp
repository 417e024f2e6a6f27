// SPDX-License-Identifier: Apache-2.0
// swage-fake-worker ROLE BEHAVIOUR [--from N] [--once FILE] [--then BEHAVIOUR] [--start-ms N] [--stand-by] [--gpu]
//                 [--uuid U] [--model NAME] [--copy-bytes N] [--memory-bytes N] [--evaluate-ms N] [--no-counters]
//                 [--log FILE] [--name NAME]
//   ROLE      worker or compiler
//   --from N  misbehaves in the N-th job (Evaluate, Profile or Compile) only; 1 by default. 0: while loading the task
//   --once F  misbehaves only if F does not exist, and creates it when it does: the replacement then behaves
//   --then B  what the replacement does instead
//   --start-ms N  takes so long to start, like a program with large libraries
//   --stand-by    as of swage-worker
//   --gpu         says that its device is a GPU, --uuid and --model which one
//   --copy-bytes N   says that its device copies so much in a second
//   --memory-bytes N   that it has so much memory, and all of it free; 1 GiB by default
//   --evaluate-ms N  takes so long for each evaluation
//   --no-counters    profiles by the times of kernels alone
//   --log F       adds a line to F, after the name that --name gives, whenever it "starts", "evaluates", "profiles",
//                 "answers" either, and "ends"
// The time a worker reports for a plan with one kernel whose first argument is Int32 n is n microseconds; it is wrong
// when n is 13. Plans without kernels take 100 microseconds, as does eager.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/sha256.h"
#include "core/wire/codec.h"
#include "tests/fake_worker/later_verdicts.h"
#include "tests/fake_worker/misbehaviour.h"

namespace swage::fake {
namespace {

constexpr double kEagerNs = 100e3;
constexpr int kWrongNumber = 13;

void writeAll(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written <= 0) {
      ::_exit(0);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void send(const wire::Message& message) {
  writeAll(wire::encodeFrame(message));
}

void floodErrors() {
  for (int i = 0; i < 20'000; ++i) {
    std::fprintf(stderr, "line %d of a kernel that talks too much\n", i);
  }
}

domain::Timing timing(double ns) {
  domain::Timing result;
  result.samples = 20;
  result.medianNs = ns;
  result.lowNs = 0.99 * ns;
  result.highNs = 1.01 * ns;
  result.minNs = result.lowNs;
  result.stopReason = "precise";
  return result;
}

int numberOf(const domain::LaunchPlan& plan) {
  for (const domain::PlanStep& step : plan.steps) {
    const auto* kernel = std::get_if<domain::KernelStep>(&step);
    if (kernel != nullptr && !kernel->arguments.empty()) {
      if (const auto* number = std::get_if<domain::Int32>(&kernel->arguments.front())) {
        return number->value;
      }
    }
  }
  return static_cast<int>(kEagerNs / 1e3);
}

domain::Evaluation evaluate(const domain::LaunchPlan& plan, bool believes) {
  const int number = numberOf(plan);
  if (number == kWrongNumber && !believes) {
    domain::Wrong wrong;
    wrong.rule = "error";
    return wrong;
  }
  domain::Correct correct;
  correct.errors.push_back({});
  correct.timing.candidate = timing(number * 1e3);
  correct.timing.eager = timing(kEagerNs);
  correct.timing.speedup = kEagerNs / (number * 1e3);
  correct.timing.speedupLow = 0.98 * correct.timing.speedup;
  correct.timing.speedupHigh = 1.02 * correct.timing.speedup;
  return correct;
}

// One kernel that takes its number of microseconds and moves a megabyte.
domain::Profile profile(const domain::LaunchPlan& plan, bool counts) {
  domain::Profile result;
  result.source = counts ? domain::ProfileSource::Counters : domain::ProfileSource::Activity;
  result.limitation = counts ? "" : "nobody may count here";
  for (const domain::PlanStep& step : plan.steps) {
    if (const auto* kernel = std::get_if<domain::KernelStep>(&step)) {
      domain::KernelProfile& found = result.kernels.emplace_back();
      found.entry = kernel->entry;
      found.durationNs = numberOf(plan) * 1e3;
      if (counts) {
        found.metrics = {{"dram__bytes_read.sum", 1e6}};
      }
    }
  }
  return result;
}

domain::DeviceInfo device() {
  domain::DeviceInfo info;
  info.host = "test";
  info.uuid = "fake-cpu";
  info.name = "Fake CPU";
  info.architecture = "x86-64-v3";
  info.multiprocessors = 2;
  info.threads = 2;
  return info;
}

class Program {
 public:
  struct Options {
    Behaviour behaviour = Behaviour::Ok;
    bool isWorker = true;
    int from = 1;
    int startMs = 0;
    bool standBy = false;
    bool gpu = false;
    const char* uuid = "GPU-fake";
    const char* model = "Fake GPU";
    double copyBytes = 0.0;
    std::int64_t memoryBytes = std::int64_t{1} << 30U;
    int evaluateMs = 0;
    bool counts = true;
    const char* log = nullptr;
    const char* name = "";
    const char* once = nullptr;
    Behaviour then = Behaviour::Ok;
  };
  explicit Program(const Options& options)
      : m_options(options), m_behaviour(options.behaviour), m_isWorker(options.isWorker), m_from(options.from) {}

  int run() {
    note("starts");
    ::usleep(static_cast<useconds_t>(m_options.startMs) * 1000U);
    if (!m_options.standBy) {
      takeTurn();
    }
    if (m_behaviour == Behaviour::CrashBeforeHello) {
      crash();
    }
    if (m_behaviour == Behaviour::KilledBeforeHello) {
      ::kill(::getpid(), SIGKILL);
    }
    wire::Hello hello;
    hello.protocol += m_behaviour == Behaviour::BadVersion ? 1 : 0;
    hello.program = m_isWorker ? "swage-worker" : "swage-compiler";
    send(hello);
    if (m_isWorker && !m_options.standBy) {
      openDevice();
    }
    const int code = serve();
    note("ends");
    return code;
  }

 private:
  // Whether this is the process that misbehaves, decided when it takes the device.
  void takeTurn();

  // For who wants to know the order in which processes did something.
  void note(std::string_view what) const {
    if (m_options.log == nullptr) {
      return;
    }
    const std::string line = std::string(m_options.name) + " " + std::string(what) + "\n";
    const int fd = ::open(m_options.log, O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0 || ::write(fd, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
      ::_exit(2);
    }
    ::close(fd);
  }

  void openDevice() const {
    if (m_behaviour == Behaviour::Unusable) {
      std::fputs("cannot open CUDA device 0: CUDA_ERROR_UNKNOWN (999)\n", stderr);
      ::_exit(5);
    }
    wire::WorkerReady ready;
    ready.device = device();
    ready.device.copyBytesPerSecond = m_options.copyBytes;
    if (m_options.gpu) {
      ready.device.kind = domain::DeviceKind::Cuda;
      ready.device.uuid = m_options.uuid;
      ready.device.name = m_options.model;
      ready.device.memoryBytes = m_options.memoryBytes;
    }
    ready.device.uuid += m_behaviour == Behaviour::OtherDevice ? "-other" : "";
    ready.torchVersion = "2.11.0";
    send(ready);
  }

  int serve() {
    wire::FrameReader reader;
    char buffer[1 << 16];
    for (;;) {
      const ssize_t count = ::read(STDIN_FILENO, buffer, sizeof buffer);
      if (count <= 0) {
        if (m_behaviour == Behaviour::IgnoreSigterm) {
          hang();
        }
        return 0;
      }
      reader.feed({buffer, static_cast<std::size_t>(count)});
      for (auto next = reader.next(); next && *next; next = reader.next()) {
        if (std::holds_alternative<wire::Shutdown>(**next)) {
          return 0;
        }
        handle(**next);
      }
    }
  }

  void handle(const wire::Message& message) {
    if (std::holds_alternative<wire::Hello>(message)) {
      return;
    }
    if (std::holds_alternative<wire::LoadTask>(message)) {
      if (m_options.standBy && !std::exchange(m_opened, true)) {
        takeTurn();
        openDevice();
      }
      load();
      return;
    }
    if (std::holds_alternative<wire::MakeRoom>(message)) {
      if (m_behaviour == Behaviour::CrashMakingRoom) {
        crash();
      }
      if (m_behaviour == Behaviour::HangMakingRoom) {
        hang();
      }
      send(wire::RoomMade{m_options.memoryBytes});
      return;
    }
    ++m_jobs;
    note(std::holds_alternative<wire::ProfileRequest>(message) ? "profiles" : "evaluates");
    ::usleep(static_cast<useconds_t>(m_options.evaluateMs) * 1000U);
    const wire::Message answer = answerTo(message);
    if (m_jobs == m_from) {
      misbehave(answer);
    }
    note("answers");
    send(answer);
  }

  void load() {
    if (m_from == 0) {
      misbehave(wire::TaskReady{});
    }
    if (m_behaviour == Behaviour::RefuseTask) {
      send(wire::TaskRefused{.kind = ErrorKind::Unsupported, .message = "no such operator", .hint = "try another"});
      return;
    }
    wire::TaskReady ready;
    ready.eager = timing(kEagerNs);
    ready.referenceType = "float64";
    if (m_behaviour == Behaviour::DoubtTask) {
      ready.doubts = {"the output is constant"};
    }
    send(ready);
  }

  [[nodiscard]] wire::Message answerTo(const wire::Message& message) {
    if (const auto* evaluate = std::get_if<wire::Evaluate>(&message)) {
      wire::Evaluated answer;
      answer.request = evaluate->request;
      answer.evaluation = fake::evaluate(evaluate->plan, m_behaviour == Behaviour::Believe);
      m_later.change(m_behaviour, *evaluate, answer.evaluation);
      if (auto* correct = std::get_if<domain::Correct>(&answer.evaluation); correct != nullptr && evaluate->heldBack) {
        correct->byInputs.push_back({.inputs = "held back", .checks = 3, .errors = {{}}});
      }
      return answer;
    }
    if (const auto* profile = std::get_if<wire::ProfileRequest>(&message)) {
      wire::Profiled answer;
      answer.request = profile->request;
      answer.profile = fake::profile(profile->plan, m_options.counts);
      answer.workerExits = true;
      return answer;
    }
    wire::Compiled answer;
    if (const auto* compile = std::get_if<wire::Compile>(&message)) {
      answer.request = compile->request;
      answer.outcome = compiled(compile->what);
    }
    return answer;
  }

  [[nodiscard]] static domain::CompileFailed failure(
      const char* log, domain::CompileFailureReason reason = domain::CompileFailureReason::Error) {
    return {.reason = reason, .log = log};
  }

  [[nodiscard]] domain::CompileOutcome compiled(const domain::CompileRequest& what) const {
    switch (m_behaviour) {
      case Behaviour::CompileError: return failure("expected ';'");
      case Behaviour::NoCompiler:
        return failure("no C++ compiler\nhint: install g++", domain::CompileFailureReason::Environment);
      case Behaviour::RejectSource:
        return failure("the source has inline assembly", domain::CompileFailureReason::Refused);
      default: break;
    }
    domain::CompiledBinary binary;
    binary.bytes = "binary of " + what.source;
    binary.binaryHash = sha256Hex(binary.bytes);
    for (const std::string& entry : what.entries) {
      domain::KernelFacts facts;
      facts.entry = entry;
      facts.registers = 16;
      binary.kernels.push_back(std::move(facts));
    }
    return binary;
  }

  void misbehave(const wire::Message& answer);
  void beatSlowly();

  Options m_options;
  bool m_opened = false;  // in stand-by
  Behaviour m_behaviour;
  bool m_isWorker;
  int m_from;
  int m_jobs = 0;
  LaterVerdicts m_later;
};

void Program::beatSlowly() {
  for (int i = 0; i < 3; ++i) {
    ::usleep(100'000);
    send(wire::Heartbeat{.request = 0, .stage = "time"});
  }
}

void Program::misbehave(const wire::Message& answer) {
  switch (m_behaviour) {
    case Behaviour::Slow: beatSlowly(); return;
    case Behaviour::Hang: hang();
    case Behaviour::BeatForever:
      for (;;) {
        beatSlowly();
      }
    case Behaviour::StderrFlood: floodErrors(); return;
    case Behaviour::StdoutFlood:
      for (;;) {
        writeAll("and another line of a kernel that talks too much\n");
      }
    case Behaviour::HeartbeatFlood:
      for (int i = 0; i < 20'000; ++i) {
        send(wire::Heartbeat{.request = 0, .stage = "verify"});
      }
      return;
    case Behaviour::IgnoreSigterm: ::signal(SIGTERM, SIG_IGN); hang();
    case Behaviour::Crash: crash();
    case Behaviour::Killed: ::raise(SIGKILL); hang();
    case Behaviour::GarbageFrame: writeAll(std::string(64, '\x7f')); hang();
    case Behaviour::HalfFrame: {
      const std::string frame = wire::encodeFrame(answer);
      writeAll(std::string_view(frame).substr(0, frame.size() / 2));
      ::_exit(0);
    }
    case Behaviour::HugeLength: writeAll(std::string(9, '\xff')); hang();
    case Behaviour::NoisyStdout: writeAll("Hello from a kernel\n"); return;
    case Behaviour::Exit3: ::_exit(3);
    case Behaviour::Grandchild: startGrandchild(); crash();
    case Behaviour::Poisoned: {
      auto evaluated = std::get<wire::Evaluated>(answer);
      evaluated.workerExits = true;
      send(evaluated);
      ::_exit(110);
    }
    case Behaviour::WrongRequest: {
      auto evaluated = std::get<wire::Evaluated>(answer);
      evaluated.request += 100;
      send(evaluated);
      return;
    }
    default: return;
  }
}

// True when the file did not exist, and now does.
bool createFile(const char* file) {
  const int fd = ::open(file, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (fd >= 0) {
    ::close(fd);
  }
  return fd >= 0;
}

void Program::takeTurn() {
  if (m_options.once != nullptr && !createFile(m_options.once)) {
    m_behaviour = m_options.then;
  }
}

}  // namespace
}  // namespace swage::fake

int main(int argc, char** argv) {
  using namespace swage::fake;
  if (argc < 3) {
    return 2;
  }
  const auto behaviour = parseBehaviour(argv[2]);
  if (!behaviour) {
    return 2;
  }
  Program::Options options{.behaviour = *behaviour, .isWorker = std::strcmp(argv[1], "worker") == 0};
  for (int i = 3; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--check") {
      return options.behaviour == Behaviour::NoSandbox ? 12 : 0;
    }
    if (name == "--stand-by" || name == "--gpu") {
      (name == "--gpu" ? options.gpu : options.standBy) = true;
      continue;
    }
    if (name == "--no-counters") {
      options.counts = false;
      continue;
    }
    if (++i == argc) {
      return 2;
    }
    if (name == "--from") {
      options.from = std::atoi(argv[i]);
    } else if (name == "--start-ms") {
      options.startMs = std::atoi(argv[i]);
    } else if (name == "--evaluate-ms") {
      options.evaluateMs = std::atoi(argv[i]);
    } else if (name == "--copy-bytes") {
      options.copyBytes = std::atof(argv[i]);
    } else if (name == "--memory-bytes") {
      options.memoryBytes = std::atoll(argv[i]);
    } else if (name == "--uuid") {
      options.uuid = argv[i];
    } else if (name == "--model") {
      options.model = argv[i];
    } else if (name == "--log") {
      options.log = argv[i];
    } else if (name == "--name") {
      options.name = argv[i];
    } else if (name == "--once") {
      options.once = argv[i];
    } else if (name == "--then") {
      options.then = parseBehaviour(argv[i]).value_or(Behaviour::Ok);
    }
  }
  return Program(options).run();
}
