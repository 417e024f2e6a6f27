// SPDX-License-Identifier: Apache-2.0
#include "tests/core/synth/emulator.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <deque>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/files.h"
#include "tests/core/synth/lab.h"
#include "tests/support/temp_dir.h"

namespace swage::synth {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kGuard = 256;
constexpr unsigned char kUntouched = 0xFF;  // NaN of every floating type

void replaceAll(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// wgmma, which the text has as an instruction (writeWarpGroupMultiply).
void emulateWarpGroups(std::string& text) {
  constexpr std::string_view kBegin = "asm volatile(\"{.reg .pred keep;";
  constexpr std::string_view kMajors = "keep, 1, 1, ";
  constexpr std::string_view kEnd = "\"r\"(keep));";
  for (std::size_t at = text.find(kBegin); at != std::string::npos; at = text.find(kBegin, at)) {
    const std::size_t majors = text.find(kMajors, at) + kMajors.size();
    const std::size_t end = text.find(kEnd, majors) + kEnd.size();
    const std::string call =
        text[majors + 1] == ';'
            ? fmt::format("emulation::multiplyRegisters(s, left, right, keep, {});", text[majors])
            : fmt::format("emulation::multiplyTiles(s, left, right, keep, {}, {});", text[majors], text[majors + 3]);
    text.replace(at, end - at, call);
  }
}

// The one dynamic array is the emulation's; others are shared by all threads of a block that runs alone.
std::string emulatedSource(std::string source) {
  replaceAll(source, "extern __shared__ __align__(128) unsigned char shared[];",
             "unsigned char* const shared = emulation::sharedMemory;");
  replaceAll(source, "const __grid_constant__ TensorMap ", "const TensorMap& ");
  replaceAll(source, "__shared__", "static");
  emulateWarpGroups(source);
  return fmt::format("#include \"{}\"\n{}", SWAGE_TEST_EMULATION_HEADER, source);
}

void* compile(const domain::Program& program, const fs::path& folder) {
  const std::string file = (folder / "program").string();
  if (!writeFileAtomically(file + ".cpp", emulatedSource(program.source))) {
    return nullptr;
  }
  const std::string command =
      fmt::format("g++ {1} -shared -o {0}.so {0}.cpp > {0}.log 2>&1", file, SWAGE_TEST_EMULATION_FLAGS);
  if (std::system(command.c_str()) != 0) {
    ADD_FAILURE() << readTextFile(file + ".log").value_or("") << "\n" << program.source;
    return nullptr;
  }
  return ::dlopen((file + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
}

class Buffers {
 public:
  explicit Buffers(const std::vector<domain::TensorType>& types) {
    for (const domain::TensorType& type : types) {
      const auto bytes = static_cast<std::size_t>(type.byteCount());
      m_sizes.push_back(bytes);
      m_blocks.emplace_back(bytes + 2 * kGuard, kUntouched);
    }
  }
  void* at(domain::ValueId id) {
    void* start = m_blocks[static_cast<std::size_t>(id.value())].data() + 1;
    std::size_t room = kGuard;
    return std::align(128, 1, start, room);
  }
  [[nodiscard]] std::size_t bytes(domain::ValueId id) const { return m_sizes[static_cast<std::size_t>(id.value())]; }
  void expectGuardsIntact() {
    for (std::size_t i = 0; i < m_blocks.size(); ++i) {
      const domain::ValueId id(static_cast<std::int32_t>(i));
      const unsigned char* begin = static_cast<const unsigned char*>(at(id));
      const unsigned char* end = m_blocks[i].data() + m_blocks[i].size();
      const auto isUntouched = [](unsigned char byte) { return byte == kUntouched; };
      EXPECT_TRUE(std::all_of(static_cast<const unsigned char*>(m_blocks[i].data()), begin, isUntouched) &&
                  std::all_of(begin + bytes(id), end, isUntouched))
          << "written outside of buffer " << i;
    }
  }

 private:
  std::vector<std::size_t> m_sizes;
  std::vector<Bytes> m_blocks;
};

// As emulation::TensorMap, which this must lie like.
struct EmulatedMap {
  void* data = nullptr;
  int rank = 0;
  int bytes = 0;
  bool isSwizzled = false;
  std::array<std::int64_t, 5> sizes{};
  std::array<std::int64_t, 5> strides{};
  std::array<int, 5> box{};
};

EmulatedMap emulatedMap(const domain::TensorMap& map, Buffers& buffers) {
  EXPECT_TRUE(map.swizzle == domain::MapSwizzle::None || map.swizzle == domain::MapSwizzle::Bytes128);
  EmulatedMap emulated;
  emulated.bytes = static_cast<int>(domain::byteSize(map.element));
  emulated.data = static_cast<unsigned char*>(buffers.at(map.buffer)) + map.offset * emulated.bytes;
  emulated.rank = static_cast<int>(map.sizes.size());
  emulated.isSwizzled = map.swizzle == domain::MapSwizzle::Bytes128;
  for (std::size_t i = 0; i < map.sizes.size(); ++i) {
    emulated.sizes[i] = map.sizes[i];
    emulated.strides[i] = i == 0 ? emulated.bytes : map.strides[i - 1];
    emulated.box[i] = static_cast<int>(map.box[i]);
  }
  return emulated;
}

void launch(void* library, const domain::KernelStep& step, Buffers& buffers) {
  using Emulate = void (*)(void*, unsigned, unsigned, void**, std::size_t);
  void* kernel = ::dlsym(library, step.entry.c_str());
  const auto emulate = reinterpret_cast<Emulate>(::dlsym(library, "swage_emulate"));
  ASSERT_NE(kernel, nullptr) << step.entry;
  ASSERT_NE(emulate, nullptr);
  std::vector<void*> pointers;
  std::deque<EmulatedMap> maps;
  for (const domain::KernelArgument& argument : step.arguments) {
    if (const auto* map = std::get_if<domain::TensorMap>(&argument)) {
      pointers.push_back(&maps.emplace_back(emulatedMap(*map, buffers)));
    } else if (const auto* number = std::get_if<std::int64_t>(&argument)) {
      pointers.push_back(reinterpret_cast<void*>(*number));  // NOLINT: kernels are called with words
    } else {
      pointers.push_back(buffers.at(std::get<domain::ValueId>(argument)));
    }
  }
  if (step.cooperative) {
    using Together = void (*)(void*, unsigned, unsigned, std::size_t, void**, std::size_t);
    const auto together = reinterpret_cast<Together>(::dlsym(library, "swage_emulate_together"));
    together(kernel, step.grid.x, step.block.x, step.dynamicSharedBytes, pointers.data(), pointers.size());
    return;
  }
  emulate(kernel, step.grid.x, step.block.x, pointers.data(), pointers.size());
}

}  // namespace

const patterns::Catalogue& emulatedCatalogue() {
  static const patterns::Catalogue catalogue = [] {
    const testing::TempDir folder;
    fs::copy(patternsFolder(), folder / "patterns", fs::copy_options::recursive);
    fs::copy_file(fs::path(SWAGE_TEST_EMULATION) / "helpers.cuh", folder / "patterns" / "cuda" / "helpers.cuh",
                  fs::copy_options::overwrite_existing);
    auto loaded = patterns::Catalogue::load(folder / "patterns");
    SWAGE_ASSERT(loaded.has_value());
    return std::move(*loaded);
  }();
  return catalogue;
}

std::vector<Bytes> runEmulated(const domain::Program& program, const std::vector<Bytes>& inputs) {
  const testing::TempDir folder;
  void* library = compile(program, folder.path());
  if (library == nullptr) {
    ADD_FAILURE() << "the program cannot be loaded";
    return {};
  }
  Buffers buffers(program.plan.buffers);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::copy(inputs[i].begin(), inputs[i].end(), static_cast<unsigned char*>(buffers.at(program.plan.inputs[i])));
  }
  for (const domain::PlanStep& step : program.plan.steps) {
    if (const auto* zero = std::get_if<domain::ZeroStep>(&step)) {
      std::memset(buffers.at(zero->buffer), 0, buffers.bytes(zero->buffer));
    } else {
      launch(library, std::get<domain::KernelStep>(step), buffers);
    }
  }
  buffers.expectGuardsIntact();
  std::vector<Bytes> results;
  for (const domain::ValueId output : program.plan.outputs) {
    const auto* start = static_cast<const unsigned char*>(buffers.at(output));
    results.emplace_back(start, start + buffers.bytes(output));
  }
  ::dlclose(library);
  return results;
}

}  // namespace swage::synth
