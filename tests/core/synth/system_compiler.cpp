// SPDX-License-Identifier: Apache-2.0
#include "tests/core/synth/system_compiler.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "core/base/files.h"
#include "tests/support/temp_dir.h"

namespace swage::synth {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFlags = "-std=c++20 -march=native -fopenmp -fno-math-errno -fno-trapping-math -fno-exceptions ";

// What the compiler printed; `failed` says whether it gave up.
std::string runCompiler(const std::string& arguments, const fs::path& folder, bool& failed) {
  const fs::path log = folder / "log";
  const std::string command = "g++ " + std::string(kFlags) + arguments + " >" + log.string() + " 2>&1";
  failed = std::system(command.c_str()) != 0;
  return readTextFile(log).value_or(std::string("no log"));
}

// The buffers of a plan, aligned as PyTorch's allocator does it, with a guard behind each.
class Buffers {
 public:
  explicit Buffers(const std::vector<domain::TensorType>& types) : m_types(types) {
    for (const domain::TensorType& type : types) {
      m_blocks.emplace_back(bytesOf(type) + kAlignment + kGuard, kUntouched);
    }
  }

  void* at(domain::ValueId id) {
    Bytes& block = m_blocks[static_cast<std::size_t>(id.value())];
    void* start = block.data();
    std::size_t room = block.size();
    return std::align(kAlignment, 1, start, room);
  }
  Bytes read(domain::ValueId id) {
    const auto* start = static_cast<const unsigned char*>(at(id));
    return {start, start + bytesOf(m_types[static_cast<std::size_t>(id.value())])};
  }
  void expectGuardsIntact() {
    for (std::size_t i = 0; i < m_blocks.size(); ++i) {
      const auto* end =
          static_cast<const unsigned char*>(at(domain::ValueId(static_cast<std::int32_t>(i)))) + bytesOf(m_types[i]);
      EXPECT_TRUE(std::all_of(end, end + kGuard, [](unsigned char byte) { return byte == kUntouched; }))
          << "written behind the end of buffer " << i;
    }
  }

 private:
  static constexpr std::size_t kAlignment = 64;
  static constexpr std::size_t kGuard = 64;
  static constexpr unsigned char kUntouched = 0xA5;

  static std::size_t bytesOf(const domain::TensorType& type) { return static_cast<std::size_t>(type.byteCount()); }

  std::vector<domain::TensorType> m_types;
  std::vector<Bytes> m_blocks;
};

using Entry = void (*)(void**);

void launch(void* library, const domain::KernelStep& step, Buffers& buffers) {
  const auto entry = reinterpret_cast<Entry>(::dlsym(library, step.entry.c_str()));
  if (entry == nullptr) {
    ADD_FAILURE() << "the library has no '" << step.entry << "'";
    return;
  }
  std::vector<void*> addresses;
  for (const domain::KernelArgument& argument : step.arguments) {
    addresses.push_back(buffers.at(std::get<domain::ValueId>(argument)));
  }
  std::vector<void*> arguments;
  for (void*& address : addresses) {
    arguments.push_back(&address);
  }
  entry(arguments.data());
}

}  // namespace

std::vector<Bytes> runOnCpu(const domain::Program& program, const std::vector<Bytes>& inputs) {
  const testing::TempDir folder;
  const fs::path source = folder / "program.cpp";
  const fs::path binary = folder / "program.so";
  if (!writeFileAtomically(source, program.source)) {
    ADD_FAILURE() << "cannot write the source";
    return {};
  }
  bool failed = false;
  const std::string log =
      runCompiler("-O3 -shared -fPIC -o " + binary.string() + " " + source.string(), folder.path(), failed);
  // Never unloaded: the threads of the OpenMP runtime that came with it live on.
  void* library = failed ? nullptr : ::dlopen(binary.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    ADD_FAILURE() << log << "\n" << program.source;
    return {};
  }
  Buffers buffers(program.plan.buffers);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::copy(inputs[i].begin(), inputs[i].end(), static_cast<unsigned char*>(buffers.at(program.plan.inputs[i])));
  }
  for (const domain::PlanStep& step : program.plan.steps) {
    if (const auto* kernel = std::get_if<domain::KernelStep>(&step)) {
      launch(library, *kernel, buffers);
    } else {
      ADD_FAILURE() << "a step that is no kernel";
    }
  }
  buffers.expectGuardsIntact();
  std::vector<Bytes> results;
  for (const domain::ValueId output : program.plan.outputs) {
    results.push_back(buffers.read(output));
  }
  return results;
}

}  // namespace swage::synth
