// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>

#include <gmock/gmock.h>

#include "core/base/files.h"
#include "core/toolchain/compile_failure.h"
#include "core/toolchain/process.h"
#include "core/toolchain/text_pipe.h"
#include "core/wire/codec.h"
#include "core/wire/exit_code.h"
#include "tests/compiler/test_toolchain.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

// swage-compiler as the engine sees it: a process that speaks frames.
namespace swage::toolchain {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using ::testing::StartsWith;
using testing::TempDir;

class Program {
 public:
  explicit Program(std::vector<std::string> arguments, const std::string& program = compilerProgram()) {
    std::signal(SIGPIPE, SIG_IGN);
    arguments.insert(arguments.begin(), program);
    auto toProgram = openPipe();
    auto fromProgram = openPipe();
    EXPECT_THAT(toProgram, IsOk());
    EXPECT_THAT(fromProgram, IsOk());
    m_errors = Fd(::open((m_folder / "errors").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    auto child = LimitedChild::start(arguments, {{"PATH", "/usr/bin:/bin"}},
                                     {toProgram->read.get(), fromProgram->write.get(), m_errors.get()}, {},
                                     LimitedChild::CpuLimit::None);
    EXPECT_THAT(child, IsOk());
    m_child.emplace(std::move(*child));
    m_input = std::move(toProgram->write);
    m_output = std::move(fromProgram->read);
  }

  void send(const wire::Message& message) { sendBytes(wire::encodeFrame(message)); }
  void sendBytes(std::string_view bytes) { (void)writeAll(m_input.get(), bytes); }
  void closeInput() { m_input.reset(); }

  // The next frame; nothing at the end of the stream or after 30 s.
  std::optional<wire::Message> receive() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    std::array<char, 65536> buffer{};
    while (std::chrono::steady_clock::now() < deadline) {
      auto message = m_reader.next();
      if (!message) {
        ADD_FAILURE() << message.error().message();
        return std::nullopt;
      }
      if (*message) {
        return std::move(*message);
      }
      pollfd polled{m_output.get(), POLLIN, 0};
      if (::poll(&polled, 1, 100) <= 0) {
        continue;
      }
      const ssize_t count = ::read(m_output.get(), buffer.data(), buffer.size());
      if (count <= 0) {
        return std::nullopt;
      }
      m_reader.feed({buffer.data(), static_cast<std::size_t>(count)});
    }
    ADD_FAILURE() << "no frame came";
    return std::nullopt;
  }

  template <class T>
  std::optional<T> receiveA() {
    auto message = receive();
    if (!message || !std::holds_alternative<T>(*message)) {
      return std::nullopt;
    }
    return std::get<T>(std::move(*message));
  }

  // Waits for the program to end by itself.
  int exitCode() {
    pollfd polled{m_child->endDescriptor(), POLLIN, 0};
    EXPECT_EQ(::poll(&polled, 1, 30000), 1) << "the program does not end";
    const int status = m_child->killAndReap();
    EXPECT_TRUE(WIFEXITED(status));
    return WEXITSTATUS(status);
  }
  std::string errors() { return readTextFile(m_folder / "errors").value_or(std::string()); }

 private:
  TempDir m_folder;
  Fd m_errors;
  std::optional<LimitedChild> m_child;
  Fd m_input;
  Fd m_output;
  wire::FrameReader m_reader;
};

std::vector<std::string> usualArguments() {
  const ToolchainOptions options = testOptions();
  std::vector<std::string> arguments{options.sandbox == SandboxMode::Bubblewrap ? "--sandbox=bwrap" : "--sandbox=none"};
  if (hasNvrtc()) {
    arguments.insert(arguments.end(), {"--nvrtc", options.nvrtc});
  }
  for (const std::string& folder : options.cudaIncludes) {
    arguments.insert(arguments.end(), {"--cuda-include", folder});
  }
  return arguments;
}

wire::Compile compileFrame(std::uint64_t request, const domain::CompileRequest& what) {
  wire::Compile frame;
  frame.request = request;
  frame.what = what;
  return frame;
}

TEST(CompilerProgram, GreetsAnswersInOrderAndEndsAtEndOfFile) {
  Program program(usualArguments());
  const auto hello = program.receiveA<wire::Hello>();
  ASSERT_TRUE(hello.has_value());
  EXPECT_EQ(hello->program, "swage-compiler");
  EXPECT_EQ(hello->protocol, wire::kProtocolVersion);
  program.send(wire::Hello{});
  program.send(compileFrame(7, cpuRequest(dataFile("cpu/vector.cpp"))));
  program.send(compileFrame(8, cpuRequest("extern \"C\" void kernel(void**) { undeclared(); }")));
  const auto first = program.receiveA<wire::Compiled>();
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->request, 7U);
  EXPECT_TRUE(std::holds_alternative<domain::CompiledBinary>(first->outcome));
  const auto second = program.receiveA<wire::Compiled>();
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->request, 8U);
  EXPECT_TRUE(std::holds_alternative<domain::CompileFailed>(second->outcome));
  program.closeInput();
  EXPECT_EQ(program.exitCode(), static_cast<int>(wire::ExitCode::Ok));
}

TEST(CompilerProgram, CompilesCudaThroughItsOwnHelper) {
  SWAGE_NEEDS_NVRTC();
  Program program(usualArguments());
  ASSERT_TRUE(program.receiveA<wire::Hello>().has_value());
  program.send(wire::Hello{});
  program.send(compileFrame(1, cudaRequest(dataFile("cuda/naive.cu"))));
  const auto answer = program.receiveA<wire::Compiled>();
  ASSERT_TRUE(answer.has_value());
  EXPECT_TRUE(std::holds_alternative<domain::CompiledBinary>(answer->outcome));
  program.send(wire::Shutdown{});
  EXPECT_EQ(program.exitCode(), static_cast<int>(wire::ExitCode::Ok));
}

// Where this process has libfmt from.
std::string pathOfFmt() {
  std::string path;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* into) {
        if (std::string_view(info->dlpi_name).find("/libfmt.so.") != std::string_view::npos) {
          *static_cast<std::string*>(into) = info->dlpi_name;
        }
        return 0;
      },
      &path);
  return path;
}

// The program and one of its libraries, unpacked as bin/ and lib/ into another folder. The copy needs that library by a
// name that this machine does not have, so that it cannot be the system's.
std::string unpackInto(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder / "bin");
  std::filesystem::create_directories(folder / "lib");
  const std::filesystem::path fmt = pathOfFmt();
  std::string renamed = fmt.filename().string();
  renamed.back() = 'x';
  std::filesystem::copy_file(fmt, folder / "lib" / renamed);
  std::string bytes = readTextFile(compilerProgram()).value_or(std::string());
  const std::size_t place = bytes.find('\0' + fmt.filename().string() + '\0');
  EXPECT_NE(place, std::string::npos) << "the program does not need " << fmt;
  bytes.replace(place + 1, renamed.size(), renamed);
  const std::filesystem::path program = folder / "bin/swage-compiler";
  EXPECT_THAT(writeFileAtomically(program, bytes), IsOk());
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  return program.string();
}

TEST(CompilerProgram, FindsItsLibrariesWhereverItIsUnpackedAlsoInTheSandbox) {
  SWAGE_NEEDS_SANDBOX();
  SWAGE_NEEDS_NVRTC();
  const TempDir folder;
  Program program(usualArguments(), unpackInto(folder.path()));
  ASSERT_TRUE(program.receiveA<wire::Hello>().has_value()) << program.errors();
  program.send(wire::Hello{});
  program.send(compileFrame(1, cudaRequest(dataFile("cuda/naive.cu"))));
  const auto answer = program.receiveA<wire::Compiled>();
  ASSERT_TRUE(answer.has_value());
  const auto* failure = std::get_if<domain::CompileFailed>(&answer->outcome);
  EXPECT_EQ(failure, nullptr) << failure->log;
}

TEST(CompilerProgram, HonoursTheLimitsOfARequestAndGoesOn) {
  Program program(usualArguments());
  ASSERT_TRUE(program.receiveA<wire::Hello>().has_value());
  program.send(wire::Hello{});
  auto slow = compileFrame(1, cpuRequest("template <long N> struct B { B<2 * N> a; B<2 * N + 1> b; };\n"
                                         "template <long N> requires(N > 4000000) struct B<N> {};\nB<1> bomb;\n"
                                         "extern \"C\" void kernel(void**) {}\n"));
  slow.limitSeconds = 0.5;
  program.send(slow);
  const auto answer = program.receiveA<wire::Compiled>();
  ASSERT_TRUE(answer.has_value());
  ASSERT_TRUE(std::holds_alternative<domain::CompileFailed>(answer->outcome));
  EXPECT_EQ(std::get<domain::CompileFailed>(answer->outcome).reason, domain::CompileFailureReason::Timeout);
  program.send(compileFrame(2, cpuRequest(dataFile("cpu/scalar.cpp"))));
  const auto next = program.receiveA<wire::Compiled>();
  ASSERT_TRUE(next.has_value());
  EXPECT_TRUE(std::holds_alternative<domain::CompiledBinary>(next->outcome));
}

TEST(CompilerProgram, TellsTheEngineWhenATargetHasNoToolchain) {
  Program program({"--sandbox=none"});
  ASSERT_TRUE(program.receiveA<wire::Hello>().has_value());
  program.send(wire::Hello{});
  program.send(compileFrame(1, cudaRequest(dataFile("cuda/naive.cu"))));
  const auto answer = program.receiveA<wire::Compiled>();
  ASSERT_TRUE(answer.has_value());
  ASSERT_TRUE(std::holds_alternative<domain::CompileFailed>(answer->outcome));
  EXPECT_EQ(std::get<domain::CompileFailed>(answer->outcome).reason, domain::CompileFailureReason::Environment);
}

TEST(CompilerProgram, EndsWithOneClearLineWhenNothingCanBeCompiled) {
  Program program({"--sandbox=none", "--cxx", "no-such-compiler"});
  EXPECT_EQ(program.exitCode(), static_cast<int>(wire::ExitCode::Environment));
  EXPECT_THAT(program.errors(), HasSubstr("cannot find the C++ compiler 'no-such-compiler'"));
  EXPECT_THAT(program.errors(), HasSubstr("hint: install g++"));
}

// As where the system has no user namespaces.
TEST(CompilerProgram, EnclosesCompilersByLandlockWhereBubblewrapCannotBeUsed) {
  if (!checkEnclosure(compilerProgram())) {
    GTEST_SKIP() << "this system has no Landlock";
  }
  Program program({"--bwrap", "/nowhere/bwrap"});
  ASSERT_TRUE(program.receiveA<wire::Hello>().has_value()) << program.errors();
  program.send(wire::Hello{});
  program.send(compileFrame(1, cpuRequest(dataFile("cpu/vector.cpp"))));
  program.send(compileFrame(2, cpuRequest("#include \"/etc/passwd\"\nextern \"C\" void kernel(void**) {}")));
  const auto first = program.receiveA<wire::Compiled>();
  ASSERT_TRUE(first.has_value());
  EXPECT_TRUE(std::holds_alternative<domain::CompiledBinary>(first->outcome));
  const auto second = program.receiveA<wire::Compiled>();
  ASSERT_TRUE(second.has_value());
  EXPECT_TRUE(std::holds_alternative<domain::CompileFailed>(second->outcome));
  program.send(wire::Shutdown{});
  EXPECT_EQ(program.exitCode(), static_cast<int>(wire::ExitCode::Ok));
  EXPECT_THAT(program.errors(), HasSubstr("compilers run under Landlock"));
}

TEST(CompilerProgram, RefusesToRunWithoutASandboxUnlessTold) {
  Program program({"--sandbox=bwrap", "--bwrap", "/nowhere/bwrap"});
  EXPECT_EQ(program.exitCode(), static_cast<int>(wire::ExitCode::SandboxUnavailable));
  EXPECT_THAT(program.errors(), HasSubstr("sandbox unavailable"));
  EXPECT_THAT(program.errors(), HasSubstr("apt install bubblewrap"));
  EXPECT_THAT(program.errors(), ::testing::Not(HasSubstr("--sandbox"))) << "an option that `swage` does not have";
}

TEST(CompilerProgram, SaysByItsExitCodeAloneWhetherItCanWork) {
  std::vector<std::string> arguments = usualArguments();
  arguments.emplace_back("--check");
  Program usable(arguments);
  EXPECT_EQ(usable.exitCode(), static_cast<int>(wire::ExitCode::Ok)) << usable.errors();
  Program unprotected({"--sandbox=bwrap", "--bwrap", "/nowhere/bwrap", "--check"});
  EXPECT_EQ(unprotected.exitCode(), static_cast<int>(wire::ExitCode::SandboxUnavailable));
  Program helpless({"--check", "--sandbox=none", "--cxx", "no-such-compiler"});
  EXPECT_EQ(helpless.exitCode(), static_cast<int>(wire::ExitCode::Environment));
}

TEST(CompilerProgram, EndsWhenTheOtherSideBreaksTheProtocol) {
  {
    Program program({"--sandbox=none"});
    program.sendBytes("this is no frame at all, but it is long enough for a header");
    EXPECT_EQ(program.exitCode(), static_cast<int>(wire::ExitCode::ProtocolFailed));
  }
  {
    Program program({"--sandbox=none"});
    program.send(wire::Hello{wire::kProtocolVersion + 1, "engine", ""});
    EXPECT_EQ(program.exitCode(), static_cast<int>(wire::ExitCode::ProtocolFailed));
    EXPECT_THAT(program.errors(), HasSubstr("use programs of one version"));
  }
  {
    Program program({"--sandbox=none"});
    program.send(compileFrame(1, cpuRequest("")));
    EXPECT_EQ(program.exitCode(), static_cast<int>(wire::ExitCode::ProtocolFailed));
  }
}

TEST(CompilerProgram, NamesAWrongOption) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--colour", "red"}, {"--sandbox=maybe"}, {"--nvrtc"}}) {
    Program program(arguments);
    EXPECT_EQ(program.exitCode(), static_cast<int>(wire::ExitCode::Usage));
    EXPECT_THAT(program.errors(), HasSubstr(arguments[0].substr(0, arguments[0].find('='))));
  }
}

}  // namespace
}  // namespace swage::toolchain
