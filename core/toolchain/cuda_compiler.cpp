// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/cuda_compiler.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/toolchain/capped_log.h"
#include "core/toolchain/classify_ptx.h"
#include "core/toolchain/compile_failure.h"
#include "core/toolchain/cubin.h"
#include "core/toolchain/flags.h"
#include "core/toolchain/source_check.h"

namespace swage::toolchain {
namespace {

using domain::CompiledBinary;
using domain::CompileFailed;
using domain::CompileFailureReason;
using domain::CompileOutcome;
using domain::CompileRequest;
using domain::KernelFacts;

// NVRTC keeps a little memory of every program.
constexpr int kCompilationsPerHelper = 300;

// Sources of so many kernels are compiled by several threads: 93 kernels took 5.2 s instead of 7.0 s on two busy cores.
// NVRTC makes the same code for any number of threads above one, but other code with one thread, so the number of
// threads does not depend on the machine.
constexpr std::size_t kSplitEntries = 8;
constexpr std::string_view kSplitOption = "--split-compile=8";
constexpr int kFirstWithSplit = 13;  // version of CUDA

struct HelperBinds {
  Bind program;
  Bind nvrtc;  // a folder
  std::vector<Bind> libraries;
  std::vector<Bind> includes;
};

HelperBinds bindsOf(const CudaCompiler::Options& options) {
  HelperBinds binds;
  binds.program = {options.helperProgram, "/swage/bin/swage-compiler", Access::ReadOnly};
  binds.nvrtc = {std::filesystem::path(options.nvrtc).parent_path().string(), "/nvrtc", Access::ReadOnly};
  for (const std::string& library : options.helperLibraries) {
    const std::string name = std::filesystem::path(library).filename().string();
    binds.libraries.push_back({library, "/swage/lib/" + name, Access::ReadOnly});
  }
  for (const std::string& folder : options.includes) {
    binds.includes.push_back({folder, fmt::format("/include/{}", binds.includes.size()), Access::ReadOnly});
  }
  return binds;
}

// LD_LIBRARY_PATH of the helper.
std::string libraryFolders(const HelperBinds& binds, SandboxMode mode) {
  std::vector<std::string> folders{insidePath(mode, binds.nvrtc)};
  for (const Bind& library : binds.libraries) {
    std::string folder = std::filesystem::path(insidePath(mode, library)).parent_path().string();
    if (std::find(folders.begin(), folders.end(), folder) == folders.end()) {
      folders.push_back(std::move(folder));
    }
  }
  return fmt::format("{}", fmt::join(folders, ":"));
}

std::optional<std::string> missingEntry(const std::vector<KernelFacts>& kernels, const CompileRequest& request) {
  for (const std::string& entry : request.entries) {
    const bool found = std::any_of(kernels.begin(), kernels.end(),
                                   [&entry](const KernelFacts& facts) { return facts.entry == entry; });
    if (!found) {
      return fmt::format("the source has no kernel 'extern \"C\" __global__ void {}(...)'", entry);
    }
  }
  return std::nullopt;
}

// Why the helper ended, where it did.
std::optional<ProcessEnd> endOf(const std::variant<NvrtcOutput, ProcessEnd>& answer) {
  const auto* end = std::get_if<ProcessEnd>(&answer);
  return end != nullptr ? std::optional(*end) : std::nullopt;
}

bool splits(const CompileRequest& request, const std::string& version) {
  int major = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  return request.entries.size() >= kSplitEntries && major >= kFirstWithSplit;
}

// What NVRTC says of itself and not of the source: every other source would fail of it too.
std::optional<Error> ownTrouble(std::string_view log, const CompileRequest& request) {
  if (log.find("nvrtc-builtins") != std::string_view::npos) {
    return Error(ErrorKind::Environment, "NVRTC lacks its builtins: " + std::string(log),
                 "libnvrtc-builtins.so must lie beside libnvrtc.so and be of the same version: install "
                 "nvidia-cuda-nvrtc again");
  }
  if (log.find("invalid value for --gpu-architecture") != std::string_view::npos) {
    return Error(ErrorKind::Environment,
                 fmt::format("this NVRTC cannot compile for the device's architecture {}", request.architecture),
                 "use an NVRTC of a CUDA version that knows the device: `swage doctor` shows which is used");
  }
  return std::nullopt;
}

}  // namespace

CompileOutcome CudaCompiler::describe(const CompileRequest& request, BuiltCode code) const {
  const auto image = parseElf(code.bytes);
  if (!image) {
    return refused(image.error().message());
  }
  CompiledBinary binary;
  binary.kernels = classifyPtx(code.listing, request.entries);
  if (const auto missing = missingEntry(binary.kernels, request)) {
    return refused(*missing);
  }
  if (const auto writable = findWritableGlobals(*image, code.listing)) {
    return refused("the kernel " + *writable);
  }
  if (const std::string call = findHeapCall(code.listing); !call.empty()) {
    return refused("the kernel " + call);
  }
  const auto resources = parseResourceReport(code.log);
  for (KernelFacts& facts : binary.kernels) {
    if (const auto found = resources.find(facts.entry); found != resources.end()) {
      facts.registers = found->second.registers;
      facts.spillBytes = found->second.spillBytes;
      facts.staticSharedBytes = found->second.staticSharedBytes;
    }
  }
  binary.log = cappedText(cleanedLog(withoutResourceReport(code.log), {}));
  binary.binaryHash = cubinHash(*image, request.entries);
  binary.bytes = std::move(code.bytes);
  binary.assembly = std::move(code.listing);
  return binary;
}

Result<std::unique_ptr<Backend>> CudaCompiler::open(Options options) {
  std::error_code error;
  if (options.nvrtc.empty()) {
    return Error(ErrorKind::Environment, "no NVRTC library was given, so CUDA sources cannot be compiled",
                 "give libnvrtc.so with --nvrtc; PyTorch's CUDA build brings one");
  }
  // The real file: the folder that is bound must hold it and its builtins, not links to elsewhere.
  options.nvrtc = std::filesystem::canonical(options.nvrtc, error).string();
  if (error) {
    return Error(ErrorKind::Environment, fmt::format("cannot use the NVRTC library: {}", error.message()),
                 "give the path of libnvrtc.so with --nvrtc");
  }
  for (std::string& folder : options.includes) {
    folder = std::filesystem::canonical(folder, error).string();
    if (error) {
      return Error(ErrorKind::Environment, fmt::format("cannot use the CUDA headers: {}", error.message()),
                   "give the folder of cuda_fp16.h with --cuda-include");
    }
  }
  return std::unique_ptr<Backend>(new CudaCompiler(std::move(options)));
}

Result<> CudaCompiler::ensureHelper() {
  if (m_helper && m_helper->served() < kCompilationsPerHelper) {
    return {};
  }
  m_helper.reset();
  const HelperBinds binds = bindsOf(m_options);
  SandboxSpec spec;
  spec.mode = m_options.sandbox;
  spec.bubblewrap = m_options.bubblewrap;
  spec.binds = {binds.program, binds.nvrtc};
  spec.binds.insert(spec.binds.end(), binds.libraries.begin(), binds.libraries.end());
  spec.binds.insert(spec.binds.end(), binds.includes.begin(), binds.includes.end());
  spec.environment = {{"LD_LIBRARY_PATH", libraryFolders(binds, spec.mode)}};
  const std::string library =
      insidePath(spec.mode, binds.nvrtc) + "/" + std::filesystem::path(m_options.nvrtc).filename().string();
  auto helper = NvrtcHelper::start(
      sandboxCommand(spec, {insidePath(spec.mode, binds.program), "--nvrtc-helper", library}), outerEnvironment(spec));
  if (!helper) {
    return std::move(helper).error();
  }
  m_helper = std::move(*helper);
  return {};
}

std::vector<std::string> CudaCompiler::compilerOptions(const CompileRequest& request) const {
  std::vector<std::string> options = cudaFlags().defaults(request.architecture);
  for (const Bind& bind : bindsOf(m_options).includes) {
    options.push_back("-I" + insidePath(m_options.sandbox, bind));
  }
  options.insert(options.end(), request.flags.begin(), request.flags.end());
  return options;
}

std::optional<std::string> CudaCompiler::findDefect(const CompileRequest& request) const {
  const auto defect = findFlagDefect(cudaFlags(), request);
  return defect ? defect : findRefusal(cudaSourceRules(), request.source);
}

BuildOutcome CudaCompiler::build(const CompileRequest& request, const ProcessLimits& limits) {
  if (const auto ready = ensureHelper(); !ready) {
    return environmentFailure(ready.error());
  }
  const bool isSplit = m_maySplit && splits(request, m_helper->version());
  auto answer = compile(request, limits, isSplit ? Threads::Several : Threads::One);
  // NVRTC aborts where it cannot start threads.
  if (isSplit && answer && endOf(*answer) == ProcessEnd::Signalled) {
    answer = compile(request, limits, Threads::One);
    m_maySplit = !answer || endOf(*answer).has_value();  // else the threads were to blame, not the source
  }
  if (!answer) {
    return environmentFailure(answer.error());
  }
  if (const auto end = endOf(*answer)) {
    return limitFailure(*end, limits, {});
  }
  auto& output = std::get<NvrtcOutput>(*answer);
  if (!output.succeeded) {
    if (const auto trouble = ownTrouble(output.log, request)) {
      return environmentFailure(*trouble);
    }
    return CompileFailed{CompileFailureReason::Error, cappedText(cleanedLog(withoutResourceReport(output.log), {}))};
  }
  return BuiltCode{std::move(output.cubin), std::move(output.ptx), std::move(output.log)};
}

Result<CudaCompiler::Answer> CudaCompiler::compile(const CompileRequest& request, const ProcessLimits& limits,
                                                   Threads threads) {
  SWAGE_TRY(ensureHelper());
  std::vector<std::string> options = compilerOptions(request);
  if (threads == Threads::Several) {
    options.emplace_back(kSplitOption);
  }
  Answer answer = m_helper->compile(request.source, options, limits);
  if (endOf(answer)) {
    m_helper.reset();
  }
  return answer;
}

}  // namespace swage::toolchain
