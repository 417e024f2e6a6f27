// SPDX-License-Identifier: Apache-2.0
#include "core/device/cell.h"

#include <gmock/gmock.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/base/assert.h"
#include "core/base/files.h"
#include "tests/core/verify/kernel_compiler.h"

namespace swage::device {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kNumbers = 1000;
constexpr double kLimit = 30.0;

// Each has an input of a thousand floats, an output of as many, and `kernel`.
class CellTest : public ::testing::Test {
 protected:
  DeviceResult<std::unique_ptr<KernelCell>> start(std::string_view source, int threads = 2) {
    const KernelCell::Options options{
        SWAGE_TEST_CELL, {{kNumbers * sizeof(float), true}, {kNumbers * sizeof(float), false}}, threads};
    return KernelCell::start(options, testing::compileSharedObject(source));
  }
  // What became of a call of `kernel`; empty: it came back.
  std::string outcome(std::string_view source, double limitSeconds = kLimit) {
    auto started = start(source);
    if (!started) {
      return started.error().detail;
    }
    m_cell = std::move(*started);
    const auto entry = m_cell->bind("kernel");
    if (!entry) {
      return entry.error().detail;
    }
    const auto ns = m_cell->call(*entry, m_arguments, limitSeconds);
    return ns ? std::string() : ns.error().detail;
  }
  [[nodiscard]] std::span<float> floats(std::size_t buffer) const {
    SWAGE_ASSERT(m_cell != nullptr);
    return {reinterpret_cast<float*>(m_cell->buffer(buffer).data()), kNumbers};
  }
  [[nodiscard]] std::string body(std::string_view statements) const {
    return "#include <cstdlib>\n#include <cstring>\n#include <unistd.h>\n#include <immintrin.h>\n"
           "#include <sys/mman.h>\n#include <sys/socket.h>\n#include <fcntl.h>\n#include <time.h>\n"
           "extern \"C\" void kernel(void** a) {\n"
           "  float* x = *static_cast<float**>(a[0]);\n  float* y = *static_cast<float**>(a[1]);\n"
           "  (void)x; (void)y;\n" +
           std::string(statements) + "\n}\n";
  }

  std::unique_ptr<KernelCell> m_cell;
  std::vector<KernelCell::Argument> m_arguments{KernelCell::BufferArgument{0}, KernelCell::BufferArgument{1},
                                                std::uint64_t{7}};
};

TEST_F(CellTest, RunsAKernelOnItsBuffersAndNumbers) {
  auto started = start(body("for (int i = 0; i < 1000; ++i) y[i] = x[i] * *static_cast<long*>(a[2]);"));
  ASSERT_TRUE(started.has_value()) << started.error().detail;
  m_cell = std::move(*started);
  std::fill(floats(0).begin(), floats(0).end(), 3.0F);
  const auto entry = m_cell->bind("kernel");
  ASSERT_TRUE(entry.has_value()) << entry.error().detail;
  const auto ns = m_cell->call(*entry, m_arguments, kLimit);
  ASSERT_TRUE(ns.has_value()) << ns.error().detail;
  EXPECT_EQ(std::count(floats(1).begin(), floats(1).end(), 21.0F), 1000);
  EXPECT_FALSE(m_cell->findOverrun());
  EXPECT_FALSE(m_cell->inspect());
}

TEST_F(CellTest, RunsOpenMpTeams) {
  EXPECT_EQ(outcome("#include <omp.h>\n" + body("#pragma omp parallel num_threads(3)\n"
                                                "y[omp_get_thread_num()] = omp_get_num_threads();")),
            "");
  EXPECT_EQ(std::count(floats(1).begin(), floats(1).end(), 3.0F), 3);
}

// All but the one that calls kernels, which stays beside this process.
TEST_F(CellTest, LetsThreadsOfAKernelUseAllProcessors) {
  EXPECT_EQ(
      outcome("#include <omp.h>\n#include <sched.h>\n" +
              body("#pragma omp parallel num_threads(4)\n{ cpu_set_t set; sched_getaffinity(0, sizeof set, &set);\n"
                   "y[omp_get_thread_num()] = CPU_COUNT(&set); }")),
      "");
  cpu_set_t set;
  ASSERT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
  EXPECT_EQ(floats(1)[0], 1.0F);
  EXPECT_EQ(std::count(floats(1).begin() + 1, floats(1).begin() + 4, static_cast<float>(CPU_COUNT(&set))), 3);
}

// Nothing keeps it there, so that on a busy machine it may be elsewhere now and then.
TEST_F(CellTest, PutsThreadsOnTheProcessorsThatTheyAreGiven) {
  auto started = start("#include <omp.h>\n#include <sched.h>\n" +
                       body("#pragma omp parallel num_threads(2)\ny[omp_get_thread_num()] = sched_getcpu();"));
  ASSERT_TRUE(started.has_value()) << started.error().detail;
  m_cell = std::move(*started);
  const auto entry = m_cell->bind("kernel");
  ASSERT_TRUE(entry.has_value());
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    bool isThere = !CPU_ISSET(static_cast<unsigned>(processor), &allowed);
    for (int round = 0; round < 200 && !isThere; ++round) {
      const int wanted[] = {-1, processor};
      ASSERT_FALSE(m_cell->warm(wanted));
      ASSERT_TRUE(m_cell->call(*entry, m_arguments, kLimit).has_value());
      isThere = floats(1)[1] == static_cast<float>(processor);
    }
    EXPECT_TRUE(isThere) << processor;
  }
}

TEST_F(CellTest, LetsNewThreadsStayWhereAllOthersAreConfined) {
  auto started = start("#include <omp.h>\n#include <sched.h>\n" +
                           body("#pragma omp parallel num_threads(4)\n{ cpu_set_t set;\n"
                                "sched_getaffinity(0, sizeof set, &set); y[omp_get_thread_num()] = CPU_COUNT(&set); }"),
                       1);
  ASSERT_TRUE(started.has_value()) << started.error().detail;
  m_cell = std::move(*started);
  const auto entry = m_cell->bind("kernel");
  ASSERT_TRUE(entry.has_value());
  m_cell->setConfined(true);
  ASSERT_TRUE(m_cell->call(*entry, m_arguments, kLimit).has_value());
  EXPECT_EQ(std::count(floats(1).begin(), floats(1).begin() + 4, 1.0F), 4);
}

// 'T' in the system's words, once it has come to that.
TEST_F(CellTest, StandsStillUntilItIsAskedForSomething) {
  ASSERT_EQ(outcome(body("y[0] += 1;")), "");
  const std::string file = "/proc/" + std::to_string(m_cell->process()) + "/stat";
  for (int round = 2; round < 12; ++round) {
    m_cell->rest();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (readTextFile(file).value_or("").find(") T") == std::string::npos &&
           std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
    EXPECT_NE(readTextFile(file).value_or("").find(") T"), std::string::npos);
    ASSERT_TRUE(m_cell->call(1, m_arguments, kLimit).has_value());
    EXPECT_EQ(floats(1)[0], static_cast<float>(round));
  }
  m_cell->rest();
  const pid_t process = m_cell->process();
  m_cell.reset();
  EXPECT_EQ(::kill(process, 0), -1) << "and ends all the same";
}

TEST_F(CellTest, FindsWhatIsKeptBehindTheVariablesOfALibrary) {
  const auto keepsAt = [this](std::string_view address) {
    EXPECT_EQ(outcome("extern \"C\" char __bss_start, _end;\nchar g_kept[8];\n" +
                      body("char* kept = " + std::string(address) + ";\nkept[0] = 7; y[0] = kept[0];")),
              "");
    EXPECT_EQ(floats(1)[0], 7.0F);
    return m_cell->inspect();
  };
  EXPECT_FALSE(keepsAt("g_kept")) << "that is found in the compiled file";
  const DeviceStatus found = keepsAt("&_end + 64");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, FailureKind::BesideBuffer);
}

TEST_F(CellTest, AllocatesMemoryInAllThreads) {
  EXPECT_EQ(outcome(body("int sum = 0;\n#pragma omp parallel reduction(+ : sum)\n{ char* p = (char*)malloc(1 << 20);\n"
                         "p[5] = 1; sum += p[5]; free(p); }\ny[0] = sum;")),
            "");
  EXPECT_EQ(floats(1)[0], 2.0F);
}

TEST_F(CellTest, SaysThatThereIsNoSuchEntry) {
  EXPECT_THAT(outcome("extern \"C\" void other(void**) {}"), HasSubstr("no entry 'kernel'"));
}

TEST_F(CellTest, SaysWhyAnObjectCannotBeLoaded) {
  const auto started = KernelCell::start({SWAGE_TEST_CELL, {}}, "not an ELF file");
  ASSERT_FALSE(started.has_value());
  EXPECT_THAT(started.error().detail, HasSubstr("cannot be loaded"));
}

TEST_F(CellTest, SaysThatTheProgramIsMissing) {
  const auto started = KernelCell::start({"/nowhere/swage-cell", {}}, "");
  ASSERT_FALSE(started.has_value());
  EXPECT_THAT(started.error().detail, HasSubstr("cannot start /nowhere/swage-cell"));
}

TEST_F(CellTest, EndsAKernelThatWritesToItsInput) {
  EXPECT_THAT(outcome(body("x[0] = 1;")), HasSubstr("memory that it was not given"));
  const auto again = m_cell->renew();
  ASSERT_TRUE(again.has_value()) << "a cell that is gone stays gone";
  EXPECT_THAT(again->detail, HasSubstr("memory that it was not given"));
}

TEST_F(CellTest, EndsAKernelThatMakesItsInputWritable) {
  EXPECT_EQ(outcome(body("y[0] = mprotect((void*)((unsigned long)x & ~4095ul), 4096, PROT_READ | PROT_WRITE);")), "");
  EXPECT_EQ(floats(1)[0], -1.0F);
}

TEST_F(CellTest, EndsAKernelThatReadsOrWritesPastItsBuffers) {
  EXPECT_THAT(outcome(body("y[0] = x[1024];")), HasSubstr("memory that it was not given"));
  EXPECT_THAT(outcome(body("y[1024] = 1;")), HasSubstr("memory that it was not given"));
  EXPECT_THAT(outcome(body("y[-1024] = 1;")), HasSubstr("memory that it was not given"));
}

TEST_F(CellTest, FindsWhatWasWrittenJustBesideABuffer) {
  EXPECT_EQ(outcome(body("y[1000] = 1;")), "");
  EXPECT_EQ(m_cell->findOverrun(), std::optional<std::size_t>(1));
  EXPECT_EQ(outcome(body("y[-1] = 1;")), "");
  EXPECT_EQ(m_cell->findOverrun(), std::optional<std::size_t>(1));
}

TEST_F(CellTest, EndsAKernelThatAsksTheSystemForAnything) {
  for (const char* call : {"if (fork() == 0) _exit(0);", "y[0] = socket(AF_INET, SOCK_STREAM, 0);",
                           "execl(\"/bin/true\", \"true\", nullptr);", "write(1, \"x\", 1);", "usleep(1);",
                           "mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);",
                           "mprotect((void*)((unsigned long)y & ~4095ul), 4096, PROT_READ | PROT_EXEC);",
                           "asm volatile(\"syscall\" : : \"a\"(62), \"D\"(getppid()), \"S\"(0) : \"rcx\", \"r11\");"}) {
    EXPECT_THAT(outcome(body(call)), HasSubstr("system call")) << call;
  }
}

TEST_F(CellTest, OpensNoFile) {
  EXPECT_EQ(outcome(body("y[0] = open(\"/etc/passwd\", O_RDONLY); y[1] = open(\"/proc/self/mem\", O_RDWR);")), "");
  EXPECT_EQ(floats(1)[0], -1.0F);
  EXPECT_EQ(floats(1)[1], -1.0F);
}

TEST_F(CellTest, OpensNoFileWhileItIsLoaded) {
  EXPECT_EQ(outcome("#include <fcntl.h>\nstatic int opened = 0;\n"
                    "__attribute__((constructor)) static void early() { opened = open(\"/etc/passwd\", O_RDONLY); }\n" +
                    body("y[0] = opened;")),
            "");
  EXPECT_EQ(floats(1)[0], -1.0F);
}

TEST_F(CellTest, StartsNothingWhileItIsLoaded) {
  EXPECT_THAT(outcome("#include <unistd.h>\n__attribute__((constructor)) static void early() { fork(); }\n" + body("")),
              HasSubstr("system call"));
}

TEST_F(CellTest, HasNoClock) {
  EXPECT_THAT(outcome(body("y[0] = __rdtsc();")), HasSubstr("asked for the time"));
  EXPECT_THAT(outcome(body("timespec t; clock_gettime(CLOCK_MONOTONIC, &t); y[0] = t.tv_nsec;")),
              HasSubstr("asked for the time"));
  EXPECT_THAT(outcome(body("#pragma omp parallel\ny[0] = __rdtsc();")), HasSubstr("asked for the time"));
}

TEST_F(CellTest, HasNoEnvironment) {
  ASSERT_EQ(::setenv("SWAGE_CELL_SECRET", "1", 1), 0);  // NOLINT(concurrency-mt-unsafe)
  EXPECT_EQ(outcome(body("y[0] = getenv(\"SWAGE_CELL_SECRET\") != nullptr; y[1] = environ[0] != nullptr;")), "");
  EXPECT_EQ(floats(1)[0], 0.0F);
  EXPECT_EQ(floats(1)[1], 0.0F);
}

TEST_F(CellTest, EndsAKernelThatDoesNotComeBack) {
  EXPECT_THAT(outcome(body("volatile int forever = 1; while (forever) {}"), 0.2),
              HasSubstr("did not end within 0.2 s"));
}

TEST_F(CellTest, SaysThatAKernelEndedTheProcess) {
  EXPECT_THAT(outcome(body("_exit(3);")), HasSubstr("ended its process with code 3"));
  EXPECT_THAT(outcome(body("__builtin_trap();")), HasSubstr("signal"));
}

TEST_F(CellTest, NoticesArithmeticThatWasChangedInAnyThread) {
  ASSERT_EQ(outcome(body("_mm_setcsr(_mm_getcsr() | 0x8040);")), "");
  EXPECT_TRUE(m_cell->inspect());
  EXPECT_FALSE(m_cell->renew());
  EXPECT_FALSE(m_cell->inspect());
  ASSERT_EQ(outcome("#include <omp.h>\n" + body("#pragma omp parallel\nif (omp_get_thread_num() == 1)\n"
                                                "_mm_setcsr(_mm_getcsr() | 0x6000);")),
            "");
  EXPECT_TRUE(m_cell->inspect());
}

// Two megabytes below its frame, where only a stack that is new has nothing.
TEST_F(CellTest, FindsNothingDeepInItsStackAfterRenewal) {
  auto started = start("#include <omp.h>\n" +
                       body("#pragma omp parallel\n{\n"
                            "volatile long* deep = (volatile long*)((char*)__builtin_frame_address(0) - (1 << 21));\n"
                            "y[omp_get_thread_num()] = *deep == 0x5EC2E7;\n*deep = 0x5EC2E7;\n}"));
  ASSERT_TRUE(started.has_value()) << started.error().detail;
  m_cell = std::move(*started);
  const auto entry = m_cell->bind("kernel");
  ASSERT_TRUE(entry.has_value());
  const auto found = [&] {
    std::fill(floats(1).begin(), floats(1).end(), 0.0F);
    const auto ns = m_cell->call(*entry, m_arguments, kLimit);
    EXPECT_TRUE(ns.has_value()) << ns.error().detail;
    return std::vector<float>{floats(1)[0], floats(1)[1]};
  };
  EXPECT_EQ(found(), (std::vector<float>{0.0F, 0.0F}));
  EXPECT_EQ(found(), (std::vector<float>{1.0F, 1.0F})) << "kept, where it is not renewed";
  EXPECT_FALSE(m_cell->renew());
  EXPECT_EQ(found(), (std::vector<float>{0.0F, 0.0F}));
}

TEST_F(CellTest, ComputesInMemoryOfItsOwn) {
  auto started = start(body("for (int i = 0; i < 1000; ++i) y[i] = y[i] == y[i] ? -1 : x[i] + 1;"));
  ASSERT_TRUE(started.has_value()) << started.error().detail;
  m_cell = std::move(*started);
  const auto entry = m_cell->bind("kernel");
  ASSERT_TRUE(entry.has_value());
  const std::vector<std::size_t> input{0};
  const std::vector<std::size_t> output{1};
  for (const std::uint32_t place : {1U, 2U}) {
    std::fill(floats(0).begin(), floats(0).end(), static_cast<float>(place));
    ASSERT_FALSE(m_cell->copyIn(input, place));
  }
  std::fill(floats(0).begin(), floats(0).end(), 50.0F);
  for (const std::uint32_t place : {1U, 2U}) {
    ASSERT_FALSE(m_cell->clear());
    std::fill(floats(1).begin(), floats(1).end(), 7.0F);
    ASSERT_FALSE(m_cell->warm());
    ASSERT_TRUE(m_cell->call(*entry, m_arguments, kLimit, place).has_value());
    EXPECT_EQ(floats(1)[5], 7.0F) << "not before it is copied";
    ASSERT_FALSE(m_cell->copyOut(output));
    EXPECT_EQ(std::count(floats(1).begin(), floats(1).end(), static_cast<float>(place) + 1.0F), 1000)
        << "the inputs of its place, and no result of the call before";
  }
}

TEST_F(CellTest, GuardsMemoryOfItsOwn) {
  const auto outcomeIn = [this](std::string_view source) -> DeviceStatus {
    auto started = start(source);
    EXPECT_TRUE(started.has_value()) << started.error().detail;
    m_cell = std::move(*started);
    const std::vector<std::size_t> input{0};
    EXPECT_FALSE(m_cell->copyIn(input, 3));
    const auto ns = m_cell->call(*m_cell->bind("kernel"), m_arguments, kLimit, 3);
    return ns ? m_cell->inspect() : DeviceStatus(ns.error());
  };
  EXPECT_FALSE(outcomeIn(body("y[999] = x[0];")).has_value());
  EXPECT_EQ(outcomeIn(body("y[1000] = 1;"))->kind, FailureKind::BesideBuffer);
  EXPECT_EQ(outcomeIn(body("y[-1] = 1;"))->kind, FailureKind::BesideBuffer);
  EXPECT_EQ(outcomeIn(body("y[9000] = 1;"))->kind, FailureKind::BesideBuffer);
  EXPECT_EQ(outcomeIn(body("x[5] = 1;"))->kind, FailureKind::WroteInput);
}

TEST_F(CellTest, SetsBuffersToZero) {
  auto started = start(body(""));
  ASSERT_TRUE(started.has_value()) << started.error().detail;
  m_cell = std::move(*started);
  std::fill(floats(1).begin(), floats(1).end(), 7.0F);
  ASSERT_TRUE(m_cell->zero(1).has_value());
  EXPECT_EQ(std::count(floats(1).begin(), floats(1).end(), 0.0F), 1000);
  const auto input = m_cell->zero(0);
  EXPECT_FALSE(input.has_value()) << "inputs are not for writing";
}

TEST_F(CellTest, TellsKindsOfEndsApart) {
  const auto kindOf = [this](std::string_view source) {
    EXPECT_NE(outcome(source), "");
    return m_cell->renew()->kind;
  };
  EXPECT_EQ(kindOf(body("x[0] = 1;")), FailureKind::WroteInput);
  EXPECT_EQ(kindOf(body("y[1024] = 1;")), FailureKind::BesideBuffer);
  EXPECT_EQ(kindOf(body("*(volatile int*)8 = 1;")), FailureKind::Crashed);
  EXPECT_EQ(kindOf(body("fork();")), FailureKind::Forbidden);
  EXPECT_EQ(kindOf(body("y[0] = __rdtsc();")), FailureKind::Forbidden);
  EXPECT_EQ(outcome(body("volatile int forever = 1; while (forever) {}"), 0.2), "it did not end within 0.2 s");
  EXPECT_EQ(m_cell->renew()->kind, FailureKind::TimedOut);
}

// The object with the counter's bytes in it pays for it with some microseconds a call, others do not.
TEST_F(CellTest, IsCalledAndBackInAFewMicroseconds) {
  ASSERT_EQ(outcome(body("")), "");
  const auto ns = m_cell->timeEmptyCalls(501);
  ASSERT_TRUE(ns.has_value());
  EXPECT_LT(*ns, 200e3) << "far from what it takes on an idle machine, for one that is not idle";
}

TEST_F(CellTest, LeavesNoProcessBehind) {
  ASSERT_EQ(outcome(body("")), "");
  const pid_t process = m_cell->process();
  ASSERT_EQ(::kill(process, 0), 0);
  m_cell.reset();
  EXPECT_EQ(::kill(process, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST_F(CellTest, SaysThatSomebodyKilledIt) {
  ASSERT_EQ(outcome(body("")), "");
  ASSERT_EQ(::kill(m_cell->process(), SIGKILL), 0);
  const auto failed = m_cell->renew();
  ASSERT_TRUE(failed.has_value());
  EXPECT_THAT(failed->detail, HasSubstr("ended by signal 9"));
}

}  // namespace
}  // namespace swage::device
