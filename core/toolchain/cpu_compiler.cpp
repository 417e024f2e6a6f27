// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/cpu_compiler.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <variant>

#include <fmt/format.h>

#include "core/base/files.h"
#include "core/toolchain/capped_log.h"
#include "core/toolchain/classify_x86.h"
#include "core/toolchain/compile_failure.h"
#include "core/toolchain/flags.h"
#include "core/toolchain/header_cache.h"
#include "core/toolchain/job_directory.h"
#include "core/toolchain/shared_object_check.h"
#include "core/toolchain/source_check.h"

namespace swage::toolchain {
namespace {

using domain::CompiledBinary;
using domain::CompileFailed;
using domain::CompileOutcome;
using domain::CompileRequest;

constexpr std::size_t kMaxObjectBytes = std::size_t{64} << 20U;
constexpr std::size_t kMaxAssemblyBytes = std::size_t{4} << 20U;
constexpr std::size_t kMaxPreprocessedBytes = std::size_t{64} << 20U;
constexpr std::size_t kMaxPrecompiledBytes = std::size_t{256} << 20U;

// The full path of a program, looked for as a shell does.
std::string findProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return ::access(name.c_str(), X_OK) == 0 ? std::filesystem::absolute(name).string() : std::string();
  }
  const char* variable = ::secure_getenv("PATH");
  std::string_view path = variable == nullptr ? "/usr/local/bin:/usr/bin:/bin" : variable;
  while (!path.empty()) {
    const std::size_t end = path.find(':');
    std::string candidate = fmt::format("{}/{}", path.substr(0, end), name);
    if (candidate.starts_with('/') && ::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
    path.remove_prefix(end == std::string_view::npos ? path.size() : end + 1);
  }
  return {};
}

Error missing(const std::string& what, const std::string& name, const std::string& hint) {
  return Error(ErrorKind::Environment, fmt::format("cannot find the {} '{}'", what, name), hint);
}

bool isUnderUsr(const std::string& path) {
  return path.starts_with("/usr/") || path.starts_with("/bin/");
}

// What the tools need beside /usr: the links of Debian's alternatives, and the installation of a compiler that lives
// elsewhere, which is taken to be the folder above its `bin`.
std::vector<Bind> toolBinds(const std::string& program) {
  std::vector<Bind> binds;
  std::error_code ignored;
  if (std::filesystem::exists("/etc/alternatives", ignored)) {
    binds.push_back({"/etc/alternatives", "/etc/alternatives", Access::ReadOnly});
  }
  const std::filesystem::path real = std::filesystem::canonical(program, ignored);
  for (const std::filesystem::path& path : {std::filesystem::path(program), real}) {
    if (!path.empty() && !isUnderUsr(path.string())) {
      const std::string prefix = path.parent_path().parent_path().string();
      binds.push_back({prefix, prefix, Access::ReadOnly});
    }
  }
  return binds;
}

// One tool run on one input folder, with one output folder where it has one.
struct ToolRun {
  SandboxSpec spec;
  Bind in;
  Bind out;
};

ToolRun makeRun(const CpuCompiler::Options& options, const std::string& tool, const std::filesystem::path& in,
                const std::filesystem::path& out) {
  ToolRun run;
  run.spec.mode = options.sandbox;
  run.spec.bubblewrap = options.bubblewrap;
  run.spec.binds = toolBinds(tool);
  run.in = {in.string(), "/in", Access::ReadOnly};
  run.spec.binds.push_back(run.in);
  if (!out.empty()) {
    run.out = {out.string(), "/out", Access::Writable};
    run.spec.binds.push_back(run.out);
    run.spec.workingDirectory = "/out";
  }
  return run;
}

std::vector<std::string> allFlags(const CompileRequest& request) {
  std::vector<std::string> flags = cppFlags().defaults(request.architecture);
  flags.insert(flags.end(), request.flags.begin(), request.flags.end());
  return flags;
}

// What a compiler makes of the headers alone; empty: nothing.
std::string precompile(const CpuCompiler::Options& options, const std::string& cxx,
                       const std::vector<std::string>& flags, const ProcessLimits& limits) {
  const auto job = JobDirectory::create();
  if (!job || !writeFileAtomically(job->in() / "headers.h", HeaderCache::headers())) {
    return {};
  }
  const ToolRun run = makeRun(options, cxx, job->in(), job->out());
  std::vector<std::string> command{cxx};
  // Nothing is linked.
  std::copy_if(flags.begin(), flags.end(), std::back_inserter(command),
               [](const std::string& flag) { return flag != "-shared" && !flag.starts_with("-Wl,"); });
  command.insert(command.end(), {"-x", "c++-header", insidePath(options.sandbox, run.in) + "/headers.h", "-o",
                                 insidePath(options.sandbox, run.out) + "/headers.h.gch"});
  const auto result = runLimited(sandboxCommand(run.spec, command), outerEnvironment(run.spec), limits);
  if (!result || failureOf(*result, limits, {})) {
    return {};
  }
  return readUntrustedFile(job->out() / "headers.h.gch", kMaxPrecompiledBytes).value_or(std::string());
}

// The folder with the precompiled headers for these flags; empty: there is none.
std::filesystem::path precompiledHeaders(const CpuCompiler::Options& options, const std::string& cxx,
                                         const std::vector<std::string>& flags, std::string_view source,
                                         const ProcessLimits& limits) {
  if (options.headerCache.empty() || !HeaderCache::suits(source)) {
    return {};
  }
  const HeaderCache cache(options.headerCache);
  const std::string key = HeaderCache::keyOf(cxx, flags);
  if (auto known = cache.find(key)) {
    return *known;
  }
  return cache.keep(key, precompile(options, cxx, flags, limits));
}

// Why the text that was compiled is refused, once its macros are what they stand for.
std::optional<std::string> preprocessedRefusal(const JobDirectory& job, const std::string& source) {
  std::error_code failure;
  for (const auto& left : std::filesystem::directory_iterator(job.out(), failure)) {
    if (left.path().extension() == ".ii") {
      const auto text = readUntrustedFile(left.path(), kMaxPreprocessedBytes);
      return text ? findRefusal(cppSourceRules(), ownPart(*text, source)) : std::optional(text.error().message());
    }
  }
  return "the compiler left no preprocessed source";
}

// A failure, or the log of a compilation that worked.
using BuildResult = std::variant<std::string, CompileFailed>;

BuildResult compileAndLink(const CpuCompiler::Options& options, const std::string& cxx, const JobDirectory& job,
                           const CompileRequest& request, const ProcessLimits& limits) {
  ToolRun run = makeRun(options, cxx, job.in(), job.out());
  const std::vector<std::string> flags = allFlags(request);
  std::vector<std::string> command{cxx};
  command.insert(command.end(), flags.begin(), flags.end());
  const auto headers = precompiledHeaders(options, cxx, flags, request.source, limits);
  if (headers.empty()) {
    // The preprocessed source stays beside the object that is made of it.
    std::replace(command.begin(), command.end(), std::string("-pipe"), std::string("-save-temps=obj"));
  } else {
    run.spec.binds.push_back({headers.string(), "/headers", Access::ReadOnly});
    command.insert(command.end(), {"-include", insidePath(options.sandbox, run.spec.binds.back()) + "/headers.h"});
  }
  for (const Bind* folder : {&run.in, &run.out}) {
    command.push_back("-fdebug-prefix-map=" + insidePath(options.sandbox, *folder) + "=.");
  }
  command.push_back(insidePath(options.sandbox, run.in) + "/source.cpp");
  command.insert(command.end(), {"-o", insidePath(options.sandbox, run.out) + "/kernel.so"});
  const auto result = runLimited(sandboxCommand(run.spec, command), outerEnvironment(run.spec), limits);
  if (!result) {
    return environmentFailure(result.error());
  }
  const std::string prefix = insidePath(options.sandbox, run.in) + "/";
  if (auto failure = failureOf(*result, limits, prefix)) {
    return std::move(*failure);
  }
  if (const auto refusal = headers.empty() ? preprocessedRefusal(job, prefix + "source.cpp") : std::nullopt) {
    return refused(*refusal);
  }
  return cleanedLog(result->output, prefix);
}

using ListingResult = std::variant<std::string, CompileFailed>;

ListingResult disassemble(const CpuCompiler::Options& options, const std::string& objdump, const JobDirectory& job,
                          ProcessLimits limits) {
  const ToolRun run = makeRun(options, objdump, job.out(), {});
  limits.outputBytes = std::int64_t{32} << 20;
  limits.keptOutputBytes = limits.outputBytes;
  const std::vector<std::string> command{objdump,
                                         "-d",
                                         "-l",
                                         "-w",
                                         "-M",
                                         "intel",
                                         "--no-show-raw-insn",
                                         "-j",
                                         ".text",
                                         insidePath(options.sandbox, run.in) + "/kernel.so"};
  auto result = runLimited(sandboxCommand(run.spec, command), outerEnvironment(run.spec), limits);
  if (!result) {
    return environmentFailure(result.error());
  }
  if (auto failure = failureOf(*result, limits, {})) {
    return std::move(*failure);
  }
  return std::move(result->output);
}

}  // namespace

CompileOutcome CpuCompiler::describe(const CompileRequest& request, BuiltCode code) const {
  const std::vector<AsmFunction> functions = parseDisassembly(code.listing);
  const auto image = parseElf(code.bytes);
  if (!image) {
    return refused(image.error().message());
  }
  if (const auto refusal = findObjectRefusal(*image, request.entries)) {
    return refused("the kernel " + *refusal);
  }
  if (const std::string call = findSystemCall(functions); !call.empty()) {
    return refused("the kernel " + call);
  }
  if (const std::string call = findComputedCall(functions); !call.empty()) {
    return refused("the kernel " + call);
  }
  if (const auto writable = findWritableData(*image)) {
    return refused("the kernel " + *writable);
  }
  CompiledBinary binary;
  binary.kernels = classifyX86(functions, request.entries);
  binary.assembly = cappedText(listingOf(functions, request.entries), kMaxAssemblyBytes);
  binary.binaryHash = sharedObjectHash(*image, request.entries);
  binary.log = std::move(code.log);
  binary.bytes = std::move(code.bytes);
  return binary;
}

Result<std::unique_ptr<Backend>> CpuCompiler::open(const Options& options) {
  std::string cxx = findProgram(options.cxx);
  if (cxx.empty()) {
    return missing("C++ compiler", options.cxx, "install g++ (Debian: apt install g++), or name another with --cxx");
  }
  std::string objdump = findProgram("objdump");
  if (objdump.empty()) {
    return missing("disassembler", "objdump", "install binutils (Debian: apt install binutils)");
  }
  return std::unique_ptr<Backend>(new CpuCompiler(options, std::move(cxx), std::move(objdump)));
}

std::optional<std::string> CpuCompiler::findDefect(const CompileRequest& request) const {
  const auto defect = findFlagDefect(cppFlags(), request);
  return defect ? defect : findRefusal(cppSourceRules(), request.source);
}

BuildOutcome CpuCompiler::build(const CompileRequest& request, const ProcessLimits& limits) {
  const auto job = JobDirectory::create();
  if (!job) {
    return environmentFailure(job.error());
  }
  if (const auto written = writeFileAtomically(job->in() / "source.cpp", request.source); !written) {
    return environmentFailure(written.error());
  }
  BuildResult built = compileAndLink(m_options, m_cxx, *job, request, limits);
  if (auto* failed = std::get_if<CompileFailed>(&built)) {
    return std::move(*failed);
  }
  auto bytes = readUntrustedFile(job->out() / "kernel.so", kMaxObjectBytes);
  if (!bytes) {
    return refused(bytes.error().message());
  }
  ListingResult listing = disassemble(m_options, m_objdump, *job, limits);
  if (auto* failed = std::get_if<CompileFailed>(&listing)) {
    return std::move(*failed);
  }
  return BuiltCode{.bytes = std::move(*bytes),
                   .listing = std::move(std::get<std::string>(listing)),
                   .log = std::move(std::get<std::string>(built))};
}

}  // namespace swage::toolchain
