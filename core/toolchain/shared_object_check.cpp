// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/shared_object_check.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "core/base/sha256.h"
#include "core/toolchain/compile_failure.h"

namespace swage::toolchain {
namespace {

// Functions of libm, without the suffixes of their float and long double forms.
constexpr std::array<std::string_view, 57> kMathFunctions{
    "acos",      "acosh",     "asin", "asinh",     "atan",  "atan2",  "atanh",     "cbrt",    "ceil",   "copysign",
    "cos",       "cosh",      "erf",  "erfc",      "exp",   "exp10",  "exp2",      "expm1",   "fabs",   "fdim",
    "floor",     "fma",       "fmax", "fmin",      "fmod",  "frexp",  "hypot",     "ilogb",   "ldexp",  "lgamma",
    "llrint",    "llround",   "log",  "log10",     "log1p", "log2",   "logb",      "lrint",   "lround", "modf",
    "nearbyint", "nextafter", "pow",  "remainder", "rint",  "round",  "roundeven", "scalbln", "scalbn", "sin",
    "sincos",    "sinh",      "sqrt", "tan",       "tanh",  "tgamma", "trunc"};

constexpr std::array<std::string_view, 13> kOtherFunctions{"memcpy",
                                                           "memmove",
                                                           "memset",
                                                           "memcmp",
                                                           "__memcpy_chk",
                                                           "__memmove_chk",
                                                           "__memset_chk",
                                                           "__stack_chk_fail",
                                                           "__tls_get_addr",
                                                           "__cxa_finalize",
                                                           "__gmon_start__",
                                                           "_ITM_deregisterTMCloneTable",
                                                           "_ITM_registerTMCloneTable"};

// Arithmetic on half precision that the compiler takes from its own library where the processor has none.
constexpr std::array<std::string_view, 6> kHalfFunctions{"__eqhf2",       "__nehf2",      "__extendhfsf2",
                                                         "__extendhfdf2", "__truncsfhf2", "__truncdfhf2"};

constexpr std::array<std::string_view, 9> kOpenMpQueries{
    "omp_get_thread_num", "omp_get_num_threads", "omp_get_max_threads", "omp_get_num_procs",   "omp_in_parallel",
    "omp_get_level",      "omp_get_team_num",    "omp_get_num_teams",   "omp_get_thread_limit"};

// Functions of libgomp that leave the loop machinery: other devices, memory outside of the plan, and the old halves of
// a parallel region, between which a kernel could return and let the other threads work on.
constexpr std::array<std::string_view, 6> kRefusedOpenMp{"GOMP_target", "GOMP_offload", "GOMP_alloc",
                                                         "GOMP_free",   "GOMP_plugin",  "GOMP_parallel_end"};

bool isHalfOfARegion(std::string_view symbol) {
  return symbol.starts_with("GOMP_parallel") && symbol.ends_with("_start");
}

constexpr std::array<std::string_view, 8> kLibraries{"libc.so.6",       "libm.so.6",           "libmvec.so.1",
                                                     "libgomp.so.1",    "libgcc_s.so.1",       "libstdc++.so.6",
                                                     "libpthread.so.0", "ld-linux-x86-64.so.2"};

bool contains(std::span<const std::string_view> list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

bool startsWithAny(std::span<const std::string_view> prefixes, std::string_view item) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [item](std::string_view prefix) { return item.starts_with(prefix); });
}

bool isMathFunction(std::string_view symbol) {
  return contains(kMathFunctions, symbol) || ((symbol.ends_with('f') || symbol.ends_with('l')) &&
                                              contains(kMathFunctions, symbol.substr(0, symbol.size() - 1)));
}

std::optional<std::string> importRefusal(const ElfImage& image) {
  for (const ElfSymbol& symbol : image.dynamicSymbols) {
    if (symbol.section == SHN_UNDEF && !symbol.name.empty() && !isAllowedImport(symbol.name)) {
      return fmt::format("calls '{}', which a cpu candidate may not", symbol.name);
    }
    if (symbol.type == STT_GNU_IFUNC && symbol.section != SHN_UNDEF) {
      return fmt::format("'{}' is chosen by code that runs when the kernel is loaded", symbol.name);
    }
  }
  for (const std::string& library : image.neededLibraries) {
    if (!contains(kLibraries, library)) {
      return fmt::format("needs the library '{}', which a cpu candidate may not", library);
    }
  }
  return std::nullopt;
}

// The C runtime itself brings one pointer in each array; global constructors add to them.
std::optional<std::string> startCodeRefusal(const ElfImage& image) {
  for (const std::string_view name : {".init_array", ".fini_array"}) {
    const ElfSection* section = image.find(name);
    if (section != nullptr && section->size > sizeof(void*)) {
      return "has global constructors or destructors, which a kernel may not";
    }
  }
  for (const std::string_view name : {".preinit_array", ".ctors", ".dtors"}) {
    if (image.find(name) != nullptr) {
      return fmt::format("has a section '{}' of code that runs at load, which a kernel may not", name);
    }
  }
  return std::nullopt;
}

// Only .text is looked at instruction by instruction; what the C runtime and the linker put into the others is short,
// or made of imports.
std::optional<std::string> otherCodeRefusal(const ElfImage& image) {
  constexpr std::array<std::string_view, 4> kOfLinker{".text", ".plt", ".plt.got", ".plt.sec"};
  constexpr std::uint64_t kRuntimeBytes = 32;
  for (const ElfSection& section : image.sections) {
    const bool isOfRuntime = (section.name == ".init" || section.name == ".fini") && section.size <= kRuntimeBytes;
    if ((section.flags & SHF_EXECINSTR) != 0 && !contains(kOfLinker, section.name) && !isOfRuntime) {
      return fmt::format("has code in section '{}', which a kernel may not", section.name);
    }
  }
  return std::nullopt;
}

const ElfSymbol* findFunction(const ElfImage& image, std::string_view name) {
  for (const ElfSymbol& symbol : image.dynamicSymbols) {
    if (symbol.name == name && symbol.type == STT_FUNC && symbol.section != SHN_UNDEF) {
      return &symbol;
    }
  }
  return nullptr;
}

// By what the linker was told, not by name: data can be put into a section of any name. What only the loader writes is
// read-only before the kernel runs.
bool isWritable(const ElfSection& section) {
  constexpr std::array<std::string_view, 6> kOfLoader{".data.rel.ro", ".init_array", ".fini_array",
                                                      ".dynamic",     ".got",        ".got.plt"};
  return (section.flags & SHF_WRITE) != 0 && !contains(kOfLoader, section.name);
}

bool isWritable(const ElfImage& image, const ElfSymbol& symbol) {
  const ElfSection* section = image.find(image.sectionName(symbol));
  return section != nullptr && isWritable(*section);
}

// crtbegin's two variables, and the lock of a named critical section, which no source can name.
bool isOfRuntime(std::string_view symbol) {
  return symbol == "completed.0" || symbol == "__dso_handle" || symbol.starts_with(".gomp_critical_user_");
}

// Where data of the C runtime and of OpenMP's offloading begins and ends. An array of no elements has no size either,
// and reaches into what lies behind it.
bool isMarkOfRuntime(std::string_view symbol) {
  constexpr std::array<std::string_view, 6> kMarks{"__dso_handle",        "__TMC_END__",         "__offload_func_table",
                                                   "__offload_funcs_end", "__offload_var_table", "__offload_vars_end"};
  return contains(kMarks, symbol);
}

bool isData(const ElfSymbol& symbol) {
  return symbol.type == STT_OBJECT || symbol.type == STT_TLS;
}

// What of a section no symbol with a size accounts for, beyond what alignment takes.
std::uint64_t namelessBytes(const ElfImage& image, const ElfSection& section) {
  constexpr std::uint64_t kPadded = 16;
  std::uint64_t named = kPadded;
  for (const ElfSymbol& symbol : image.symbols) {
    if (symbol.type != STT_SECTION && image.sectionName(symbol) == section.name) {
      named += std::max(symbol.size, kPadded);
    }
  }
  return section.size - std::min(section.size, named);
}

bool isHashedSection(std::string_view name) {
  return name == ".text" || name == ".plt" || name == ".rodata" || name.starts_with(".rodata.") || name == ".data" ||
         name == ".rela.plt" || name == ".rela.dyn" || name == ".tdata";
}

}  // namespace

bool isAllowedImport(std::string_view symbol) {
  // Vector forms of libm: _ZGVdN8v_expf.
  if (symbol.starts_with("_ZGV")) {
    return isMathFunction(symbol.substr(std::min(symbol.size(), symbol.find('_', 4) + 1)));
  }
  if (symbol.starts_with("GOMP_")) {
    return !startsWithAny(kRefusedOpenMp, symbol) && !isHalfOfARegion(symbol);
  }
  return isMathFunction(symbol) || contains(kOtherFunctions, symbol) || contains(kHalfFunctions, symbol) ||
         contains(kOpenMpQueries, symbol);
}

std::optional<std::string> findObjectRefusal(const ElfImage& image, const std::vector<std::string>& entries) {
  if (auto refusal = importRefusal(image)) {
    return refusal;
  }
  if (auto refusal = startCodeRefusal(image)) {
    return refusal;
  }
  if (auto refusal = otherCodeRefusal(image)) {
    return refusal;
  }
  for (const std::string& entry : entries) {
    if (findFunction(image, entry) == nullptr) {
      return fmt::format("has no function 'extern \"C\" void {}(void**)'", entry);
    }
  }
  return std::nullopt;
}

std::optional<std::string> findWritableData(const ElfImage& image) {
  std::uint64_t total = 0;
  std::string first;
  for (const ElfSymbol& symbol : image.symbols) {
    if (!isData(symbol) || !isWritable(image, symbol)) {
      continue;
    }
    if (symbol.size == 0 && !isMarkOfRuntime(symbol.name)) {
      return fmt::format("has writable module data without a size ('{}'), which reaches into what lies behind it",
                         symbol.name);
    }
    if (symbol.size > 0 && !isOfRuntime(symbol.name)) {
      total += symbol.size;
      first = first.empty() ? symbol.name : first;
    }
  }
  for (const ElfSection& section : image.sections) {
    const std::uint64_t nameless = total == 0 && isWritable(section) ? namelessBytes(image, section) : 0;
    if (nameless > 0) {
      total += nameless;
      first = section.name;
    }
  }
  return total == 0 ? std::nullopt : std::optional(writableDataRefusal(total, first));
}

std::string sharedObjectHash(const ElfImage& image, const std::vector<std::string>& entries) {
  std::string content;
  for (const ElfSection& section : image.sections) {
    if (isHashedSection(section.name)) {
      content += fmt::format("{}:{}:", section.name, section.size);
      content += section.bytes;
    }
  }
  for (const ElfSymbol& symbol : image.dynamicSymbols) {
    if (symbol.section == SHN_UNDEF) {
      content += symbol.name + '\n';
    }
  }
  for (const std::string& entry : entries) {
    const ElfSymbol* symbol = findFunction(image, entry);
    content += fmt::format("@{}\n", symbol == nullptr ? 0 : symbol->value);
  }
  return sha256Hex(content);
}

}  // namespace swage::toolchain
