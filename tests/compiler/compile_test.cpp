// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include <fmt/format.h>

#include "core/domain/source_map.h"
#include "core/toolchain/capped_log.h"
#include "core/toolchain/compile_failure.h"
#include "core/toolchain/header_cache.h"
#include "tests/compiler/test_toolchain.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::toolchain {
namespace {

using domain::CompileFailureReason;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using testing::IsError;
using ::testing::Not;
using ::testing::StartsWith;
using testing::TempDir;

std::string scaling(const std::string& name, const std::string& factor, const std::string& comment = {}) {
  return fmt::format(
      "// {2}\n#include <cmath>\nextern \"C\" void {0}(void** arguments) {{\n"
      "  const float* in = *static_cast<const float**>(arguments[0]);\n"
      "  float* out = *static_cast<float**>(arguments[1]);\n"
      "  for (int i = 0; i < 64; ++i) out[i] = {1};\n}}\n",
      name, factor, comment);
}

TEST(CompileCpu, GivesAnObjectThatRuns) {
  const TempDir folder;
  const auto binary = compiled(cpuRequest(scaling("kernel", "in[i] * 3.0f")));
  std::ofstream(folder / "kernel.so", std::ios::binary) << binary.bytes;
  void* library = ::dlopen((folder / "kernel.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  auto* entry = reinterpret_cast<void (*)(void**)>(::dlsym(library, "kernel"));
  ASSERT_NE(entry, nullptr);
  std::array<float, 64> in{};
  std::array<float, 64> out{};
  in[5] = 2.0F;
  float* inAddress = in.data();
  float* outAddress = out.data();
  std::array<void*, 2> arguments{&inAddress, &outAddress};
  entry(arguments.data());
  EXPECT_EQ(out[5], 6.0F);
  ::dlclose(library);
}

TEST(CompileCpu, HashIsOfWhatRunsAndNotOfTextOrNames) {
  const auto first = compiled(cpuRequest(scaling("kernel", "in[i] * 3.0f")));
  const auto comment = compiled(cpuRequest(scaling("kernel", "in[i] * 3.0f", "another comment")));
  EXPECT_EQ(first.binaryHash.size(), 64U);
  EXPECT_EQ(first.binaryHash, comment.binaryHash);
  auto renamed = cpuRequest(scaling("another_name", "in[i] * 3.0f"));
  renamed.entries = {"another_name"};
  EXPECT_EQ(first.binaryHash, compiled(renamed).binaryHash);
}

TEST(CompileCpu, HashSeesConstantsAndCalledFunctions) {
  const auto first = compiled(cpuRequest(scaling("kernel", "in[i] * 3.0f")));
  EXPECT_NE(first.binaryHash, compiled(cpuRequest(scaling("kernel", "in[i] * 5.0f"))).binaryHash);
  EXPECT_NE(compiled(cpuRequest(scaling("kernel", "sinf(in[i])"))).binaryHash,
            compiled(cpuRequest(scaling("kernel", "cosf(in[i])"))).binaryHash);
}

TEST(CompileCpu, SaysWhichLinesItsCodeCameFromAndNoPathOfThisMachine) {
  const domain::CompiledBinary binary =
      compiled(cpuRequest("extern \"C\" void kernel(void** arguments) {\n"
                          "  float* out = *static_cast<float**>(arguments[0]);\n"
                          "  for (int i = 0; i < 4096; ++i) {\n"
                          "    out[i] = 3.0f * out[i];\n"
                          "  }\n"
                          "}\n"));
  const domain::SourceMap map = domain::mapListing(binary.assembly);
  EXPECT_FALSE(map.listingLines(4).empty()) << binary.assembly;
  EXPECT_EQ(binary.bytes.find(std::filesystem::temp_directory_path().string() + "/"), std::string::npos);
}

TEST(CompileCpu, GivesTheDisassemblyOfTheEntryAndItsParallelRegions) {
  const auto binary = compiled(cpuRequest(dataFile("cpu/vector.cpp")));
  EXPECT_THAT(binary.assembly, HasSubstr("<kernel>:"));
  EXPECT_THAT(binary.assembly, HasSubstr("<kernel._omp_fn.0>:"));
  EXPECT_GT(binary.seconds, 0.0);
}

TEST(CompileCpu, TakesAllowedFlags) {
  auto request = cpuRequest(dataFile("cpu/vector.cpp"));
  request.architecture = "x86-64-v4";
  request.flags = {"-mprefer-vector-width=512"};
  EXPECT_EQ(compiled(request).kernels[0].evidence.count("arith.zmm"), 1U);
  request.flags = {"-ffast-math"};
  EXPECT_THAT(failed(request).log, HasSubstr("the flag '-ffast-math' is not allowed for C++"));
}

TEST(CompileCpu, GivesTheCompilersWordsWithoutPaths) {
  const auto failure = failed(cpuRequest("extern \"C\" void kernel(void**) { undeclared(); }\n"));
  EXPECT_EQ(failure.reason, CompileFailureReason::Error);
  EXPECT_THAT(failure.log, HasSubstr("source.cpp:1:"));
  EXPECT_THAT(failure.log, ContainsRegex("undeclared.* was not declared"));
  EXPECT_THAT(failure.log, Not(HasSubstr("/in/")));
  EXPECT_THAT(failure.log, Not(HasSubstr("swage-compile-")));
}

TEST(CompileCpu, NamesACallThatAKernelMayNotMake) {
  const std::vector<std::pair<std::string, std::string>> calls{
      {"open", "extern \"C\" int open(const char*, int, ...);\nvoid f() { open(\"x\", 0); }"},
      {"system", "extern \"C\" int system(const char*);\nvoid f() { system(\"true\"); }"},
      {"socket", "extern \"C\" int socket(int, int, int);\nvoid f() { socket(1, 1, 0); }"},
      {"fork", "extern \"C\" int fork();\nvoid f() { fork(); }"},
      {"dlopen", "extern \"C\" void* dlopen(const char*, int);\nvoid f() { dlopen(\"x\", 1); }"},
      {"omp_set_num_threads", "#include <omp.h>\nvoid f() { omp_set_num_threads(64); }"}};
  for (const auto& [symbol, code] : calls) {
    const auto failure = failed(cpuRequest(code + "\nextern \"C\" void kernel(void**) { f(); }\n"));
    EXPECT_EQ(failure.reason, CompileFailureReason::Refused);
    EXPECT_THAT(failure.log, StartsWith(fmt::format("the kernel calls '{}'", symbol)));
  }
}

TEST(CompileCpu, RefusesGlobalConstructors) {
  const auto failure = failed(cpuRequest(
      "struct S { S(); int x; };\nint counter = 1;\n__attribute__((noinline)) S::S() : x(counter++) {}\nS global;\n"
      "extern \"C\" void kernel(void**) {}\n"));
  EXPECT_THAT(failure.log, HasSubstr("global constructors"));
}

TEST(CompileCpu, NamesAMissingEntry) {
  auto request = cpuRequest(scaling("other", "in[i]"));
  EXPECT_THAT(failed(request).log, HasSubstr("has no function 'extern \"C\" void kernel(void**)'"));
  request.entries = {"kernel; rm"};
  EXPECT_THAT(failed(request).log, HasSubstr("cannot be the name of a kernel"));
}

TEST(CompileCpu, RefusesAHeaderBeforeCompiling) {
  const auto failure = failed(cpuRequest("#include <fstream>\nextern \"C\" void kernel(void**) {}\n"));
  EXPECT_THAT(failure.log, HasSubstr("line 1: #include of 'fstream' is not allowed"));
}

// Four million classes: more than any limit of these tests allows.
const std::string kTemplateBomb =
    "template <long N> struct B { B<2 * N> a; B<2 * N + 1> b; };\n"
    "template <long N> requires(N > 4000000) struct B<N> {};\nB<1> bomb;\n"
    "extern \"C\" void kernel(void**) {}\n";

TEST(CompileCpu, EndsATemplateBombAtTheTimeLimit) {
  ProcessLimits limits;
  limits.seconds = 0.7;
  const auto failure = failed(cpuRequest(kTemplateBomb), limits);
  EXPECT_EQ(failure.reason, CompileFailureReason::Timeout);
  EXPECT_THAT(failure.log, HasSubstr("it ran longer than 0.7 s"));
}

TEST(CompileCpu, EndsAMemoryBombAtTheMemoryLimit) {
  ProcessLimits limits;
  limits.memoryBytes = std::int64_t{200} << 20;
  const auto failure = failed(cpuRequest(kTemplateBomb), limits);
  EXPECT_EQ(failure.reason, CompileFailureReason::MemoryLimit);
  EXPECT_THAT(failure.log, HasSubstr("more than 200 MiB of memory"));
}

TEST(CompileCpu, EndsAnObjectThatFillsItsDisk) {
  const auto failure =
      failed(cpuRequest("char big[600u << 20] = {1};\n"
                        "extern \"C\" void kernel(void** a) { big[*static_cast<long*>(a[0])] = 2; }\n"));
  EXPECT_EQ(failure.reason, CompileFailureReason::OutputLimit) << failure.log;
}

TEST(CompileCpu, CapsALogFlood) {
  std::string source;
  for (int i = 0; i < 4000; ++i) {
    source += fmt::format("#warning \"flood number {}\"\n", i);
  }
  const auto failure = failed(cpuRequest(source + "extern \"C\" void kernel(void**) { undeclared(); }\n"));
  EXPECT_EQ(failure.reason, CompileFailureReason::Error);
  EXPECT_LE(failure.log.size(), kMaxLogBytes);
  EXPECT_THAT(failure.log, HasSubstr("flood number 0"));
  EXPECT_THAT(failure.log, HasSubstr("bytes of output left out"));
  EXPECT_THAT(failure.log, ContainsRegex("undeclared.* was not declared"));
}

TEST(CompileCpu, ReportsAMissingCompilerAsItsOwnTrouble) {
  ToolchainOptions options = testOptions();
  options.cxx = "no-such-compiler";
  options.nvrtc.clear();
  EXPECT_THAT(Compiler::open(options),
              IsError(ErrorKind::Environment, HasSubstr("cannot find the C++ compiler 'no-such-compiler'")));
}

TEST(CompileCuda, GivesCubinAndPtx) {
  SWAGE_NEEDS_NVRTC();
  const auto binary = compiled(cudaRequest(dataFile("cuda/naive.cu")));
  EXPECT_THAT(binary.bytes, StartsWith("\x7F"
                                       "ELF"));
  EXPECT_THAT(binary.assembly, HasSubstr(".visible .entry kernel("));
  EXPECT_EQ(binary.log, "");
  EXPECT_EQ(binary.binaryHash.size(), 64U);
}

TEST(CompileCuda, HashIsOfWhatRunsAndNotOfTextOrNames) {
  SWAGE_NEEDS_NVRTC();
  const std::string source = dataFile("cuda/naive.cu");
  const auto first = compiled(cudaRequest(source));
  EXPECT_EQ(first.binaryHash, compiled(cudaRequest("// a comment\n" + source)).binaryHash);
  std::string renamedSource = source;
  renamedSource.replace(renamedSource.find("kernel"), 6, "renamed");
  auto renamed = cudaRequest(renamedSource);
  renamed.entries = {"renamed"};
  EXPECT_EQ(first.binaryHash, compiled(renamed).binaryHash);
  std::string changed = source;
  changed.replace(changed.find("2.0f"), 4, "3.0f");
  EXPECT_NE(first.binaryHash, compiled(cudaRequest(changed)).binaryHash);
}

// A kernel that has `count` numbers in registers at once.
std::string kernelOf(int number, int count) {
  return fmt::format(
      "extern \"C\" __global__ void k{0}(const float* in, float* out) {{\n"
      "  float x[{1}];\n"
      "#pragma unroll\n"
      "  for (int i = 0; i < {1}; ++i) x[i] = in[threadIdx.x + i * 256];\n"
      "  __syncthreads();\n"
      "#pragma unroll\n"
      "  for (int i = 0; i < {1}; ++i) out[threadIdx.x + i * 256] = x[i] * x[({1} - 1 - i + {0}) % {1}];\n}}\n",
      number, count);
}

// Several threads compile them, and their reports must not be mixed up.
TEST(CompileCuda, TellsTheRegistersOfEachOfManyKernels) {
  SWAGE_NEEDS_NVRTC();
  domain::CompileRequest together = cudaRequest("");
  together.entries.clear();
  std::vector<int> registers;
  for (int i = 0; i < 12; ++i) {
    const std::string source = kernelOf(i, 4 + i % 5 * 16);
    together.source += source;
    together.entries.push_back(fmt::format("k{}", i));
    domain::CompileRequest alone = cudaRequest(source);
    alone.entries = {together.entries.back()};
    registers.push_back(compiled(alone).kernels.at(0).registers);
  }
  const auto first = compiled(together);
  ASSERT_EQ(first.kernels.size(), registers.size());
  for (std::size_t i = 0; i < registers.size(); ++i) {
    EXPECT_EQ(first.kernels[i].entry, together.entries[i]);
    EXPECT_EQ(first.kernels[i].registers, registers[i]) << i;
  }
  EXPECT_GT(registers[4], registers[0] + 32);
  EXPECT_EQ(compiled(together).binaryHash, first.binaryHash);
}

// It aborts then, for example where a user has as many threads as allowed.
TEST(CompileCuda, UsesOneThreadWhereNvrtcCannotStartMore) {
  SWAGE_NEEDS_NVRTC();
  const TempDir folder;
  const std::filesystem::path library = std::filesystem::canonical(SWAGE_TEST_NVRTC);
  for (const auto& each : std::filesystem::directory_iterator(library.parent_path())) {
    if (each.path().filename().string().starts_with("libnvrtc")) {
      std::filesystem::copy_file(each.path(), folder / each.path().filename());
    }
  }
  std::ofstream(folder / "wrapper.cpp") << "#include <dlfcn.h>\n#include <cstdlib>\n#include <cstring>\n"
                                           "extern \"C\" int nvrtcCompileProgram(void* program, int count,\n"
                                           "                                   const char* const* options) {\n"
                                           "  for (int i = 0; i < count; ++i) {\n"
                                           "    if (std::strncmp(options[i], \"--split-compile\", 15) == 0) {\n"
                                           "      std::abort();\n    }\n  }\n"
                                           "  using Compile = int (*)(void*, int, const char* const*);\n"
                                           "  return reinterpret_cast<Compile>(dlsym(RTLD_NEXT, \n"
                                           "      \"nvrtcCompileProgram\"))(program, count, options);\n}\n";
  const std::string wrapped = (folder / "libwrapped.so").string();
  ASSERT_EQ(std::system(fmt::format("g++ -shared -fPIC -o {} {} -Wl,--no-as-needed {} '-Wl,-rpath,$ORIGIN'", wrapped,
                                    (folder / "wrapper.cpp").string(), (folder / library.filename()).string())
                            .c_str()),
            0);
  ToolchainOptions options = testOptions();
  options.nvrtc = wrapped;
  auto compiler = Compiler::open(options);
  ASSERT_TRUE(compiler.has_value());
  domain::CompileRequest request = cudaRequest("");
  request.entries.clear();
  for (int i = 0; i < 8; ++i) {
    request.source += kernelOf(i, 4);
    request.entries.push_back(fmt::format("k{}", i));
  }
  for (int i = 0; i < 2; ++i) {
    const auto outcome = compiler->compile(request, {});
    const auto* binary = std::get_if<domain::CompiledBinary>(&outcome);
    ASSERT_NE(binary, nullptr) << std::get<domain::CompileFailed>(outcome).log;
    EXPECT_EQ(binary->kernels.size(), 8U);
  }
}

TEST(CompileCuda, CompilesForEveryArchitectureThatNvrtcKnows) {
  SWAGE_NEEDS_NVRTC();
  for (const std::string architecture : {"sm_80", "sm_90", "sm_100"}) {
    auto request = cudaRequest(dataFile("cuda/naive.cu"));
    request.architecture = architecture;
    EXPECT_THAT(compiled(request).assembly, HasSubstr(".target " + architecture));
  }
}

TEST(CompileCuda, GivesTheCompilersWords) {
  SWAGE_NEEDS_NVRTC();
  const auto failure = failed(cudaRequest("extern \"C\" __global__ void kernel() { undeclared(); }\n"));
  EXPECT_EQ(failure.reason, CompileFailureReason::Error);
  EXPECT_THAT(failure.log, HasSubstr("source.cu(1): error: identifier \"undeclared\" is undefined"));
}

TEST(CompileCuda, NamesAMissingEntryAndARefusedHeader) {
  SWAGE_NEEDS_NVRTC();
  EXPECT_THAT(failed(cudaRequest("__global__ void kernel() {}\n")).log, HasSubstr("the source has no kernel"));
  EXPECT_THAT(failed(cudaRequest("#include <curand_kernel.h>\n")).log, HasSubstr("'curand_kernel.h'"));
}

TEST(CompileCuda, SurvivesATemplateBombAndServesTheNextRequest) {
  SWAGE_NEEDS_NVRTC();
  ProcessLimits limits;
  limits.seconds = 1.0;
  const std::string bomb =
      "template <long N> struct B { static const long v = B<2 * N>::v + B<2 * N + 1>::v; };\n"
      "template <long N> requires(N > 4000000) struct B<N> { static const long v = 1; };\n"
      "extern \"C\" __global__ void kernel(long* p) { *p = B<1>::v; }\n";
  const auto failure = failed(cudaRequest(bomb), limits);
  EXPECT_EQ(failure.reason, CompileFailureReason::Timeout);
  EXPECT_EQ(compiled(cudaRequest(dataFile("cuda/naive.cu"))).kernels.size(), 1U);
}

TEST(CompileCuda, EndsAMemoryBombAtTheMemoryLimit) {
  SWAGE_NEEDS_NVRTC();
  ProcessLimits limits;
  limits.memoryBytes = std::int64_t{400} << 20;
  const auto failure =
      failed(cudaRequest("template <long N> struct B { static const long v = B<2 * N>::v + B<2 * N + 1>::v; };\n"
                         "template <long N> requires(N > 4000000) struct B<N> { static const long v = 1; };\n"
                         "extern \"C\" __global__ void kernel(long* p) { *p = B<1>::v; }\n"),
             limits);
  EXPECT_EQ(failure.reason, CompileFailureReason::MemoryLimit);
}

TEST(CompileCuda, ReportsAMissingLibraryAsItsOwnTrouble) {
  ToolchainOptions options = testOptions();
  options.nvrtc = "/nowhere/libnvrtc.so";
  auto compiler = Compiler::open(options);
  ASSERT_TRUE(compiler.has_value());
  EXPECT_THAT(compiler->missing(domain::Language::CudaCpp), HasSubstr("cannot use the NVRTC library"));
  EXPECT_EQ(compiler->missing(domain::Language::Cpp), "");
  const auto outcome = compiler->compile(cudaRequest(dataFile("cuda/naive.cu")), {});
  ASSERT_TRUE(std::holds_alternative<domain::CompileFailed>(outcome));
  EXPECT_EQ(std::get<domain::CompileFailed>(outcome).reason, CompileFailureReason::Environment);
  EXPECT_THAT(std::get<domain::CompileFailed>(outcome).log, HasSubstr("hint: "));
}

TEST(CompileCuda, ReportsMissingBuiltinsAsItsOwnTrouble) {
  SWAGE_NEEDS_NVRTC();
  SWAGE_NEEDS_SANDBOX();  // elsewhere the loader may find those of an installed toolkit
  const TempDir folder;
  const std::filesystem::path library = std::filesystem::canonical(SWAGE_TEST_NVRTC);
  std::filesystem::copy_file(library, folder / library.filename());
  ToolchainOptions options = testOptions();
  options.nvrtc = (folder / library.filename()).string();
  auto compiler = Compiler::open(options);
  ASSERT_TRUE(compiler.has_value());
  const auto outcome = compiler->compile(cudaRequest(dataFile("cuda/naive.cu")), {});
  ASSERT_TRUE(std::holds_alternative<domain::CompileFailed>(outcome));
  EXPECT_EQ(std::get<domain::CompileFailed>(outcome).reason, CompileFailureReason::Environment);
  EXPECT_THAT(std::get<domain::CompileFailed>(outcome).log, HasSubstr("NVRTC lacks its builtins"));
}

TEST(CompileCuda, ReportsAnArchitectureThatNvrtcDoesNotKnowAsItsOwnTrouble) {
  SWAGE_NEEDS_NVRTC();
  auto request = cudaRequest(dataFile("cuda/naive.cu"));
  request.architecture = "sm_999";
  const auto failure = failed(request);
  EXPECT_EQ(failure.reason, CompileFailureReason::Environment);
  EXPECT_THAT(failure.log, HasSubstr("cannot compile for the device's architecture sm_999"));
}

TEST(CompileCuda, ReportsALibraryThatIsNotNvrtcAsItsOwnTrouble) {
  const TempDir folder;
  std::ofstream(folder / "libnvrtc.so") << "not a library";
  ToolchainOptions options = testOptions();
  options.nvrtc = (folder / "libnvrtc.so").string();
  auto compiler = Compiler::open(options);
  ASSERT_TRUE(compiler.has_value());
  const auto outcome = compiler->compile(cudaRequest(dataFile("cuda/naive.cu")), {});
  ASSERT_TRUE(std::holds_alternative<domain::CompileFailed>(outcome));
  EXPECT_THAT(std::get<domain::CompileFailed>(outcome).log, HasSubstr("cannot load NVRTC"));
  EXPECT_EQ(std::get<domain::CompileFailed>(outcome).reason, CompileFailureReason::Environment);
}

TEST(CompileCpu, PrecompiledHeadersChangeNothingOfTheCode) {
  const TempDir folder;
  ToolchainOptions options = testOptions();
  options.headerCache = (folder / "headers").string();
  auto compiler = Compiler::open(options);
  ASSERT_TRUE(compiler);
  const auto request = cpuRequest(std::string(HeaderCache::headers()) + scaling("kernel", "std::sqrt(in[i]) * 3.0f"));
  for (int i = 0; i < 2; ++i) {  // makes the entry, and uses it
    const auto outcome = compiler->compile(request, {});
    const auto* binary = std::get_if<domain::CompiledBinary>(&outcome);
    ASSERT_NE(binary, nullptr) << std::get<domain::CompileFailed>(outcome).log;
    EXPECT_EQ(binary->assembly, compiled(request).assembly);
    EXPECT_EQ(binary->binaryHash, compiled(request).binaryHash);
  }
  const auto entries = std::filesystem::directory_iterator(options.headerCache);
  EXPECT_TRUE(std::filesystem::exists(entries->path() / "headers.h.gch"));
}

TEST(CompileCpu, WithPrecompiledHeadersErrorsAreWhereTheyWere) {
  const TempDir folder;
  ToolchainOptions options = testOptions();
  options.headerCache = (folder / "headers").string();
  auto compiler = Compiler::open(options);
  ASSERT_TRUE(compiler);
  auto request = cpuRequest(std::string(HeaderCache::headers()) + scaling("kernel", "nowhere"));
  const auto outcome = compiler->compile(request, {});
  EXPECT_EQ(std::get<domain::CompileFailed>(outcome).log, failed(request).log);
  request.source = scaling("kernel", "immintrin");  // includes none of them
  EXPECT_EQ(std::get<domain::CompileFailed>(compiler->compile(request, {})).log, failed(request).log);
}

TEST(HeaderCache, KeepsFewEntriesAndRemembersWhatCannotBeMade) {
  const TempDir folder;
  const HeaderCache cache(folder / "headers");
  EXPECT_EQ(cache.find("a"), std::nullopt);
  EXPECT_TRUE(cache.keep("bad", {}).empty());
  EXPECT_EQ(cache.find("bad"), std::filesystem::path());
  for (const char* key : {"a", "b", "c", "d", "e", "f"}) {
    EXPECT_EQ(cache.keep(key, "precompiled"), folder / "headers" / key);
  }
  EXPECT_TRUE(cache.find("f"));
  const auto count = std::distance(std::filesystem::directory_iterator(folder / "headers"), {});
  EXPECT_LE(count, 5);
}

TEST(HeaderCache, SuitsSourcesThatIncludeNoOthers) {
  EXPECT_TRUE(HeaderCache::suits("// a comment\n" + std::string(HeaderCache::headers()) + "int a;\n"));
  EXPECT_TRUE(HeaderCache::suits("int a;\n#include <cmath>\n"));
  EXPECT_FALSE(HeaderCache::suits("#include <cmath>\n#include <vector>\n"));
  EXPECT_FALSE(HeaderCache::suits("int a;\n"));
  EXPECT_NE(HeaderCache::keyOf("/usr/bin/g++", {"-O2"}), HeaderCache::keyOf("/usr/bin/g++", {"-O3"}));
}

}  // namespace
}  // namespace swage::toolchain
