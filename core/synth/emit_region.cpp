// SPDX-License-Identifier: Apache-2.0
#include "core/synth/emit_region.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/synth/emit_scalar.h"
#include "core/synth/emit_state.h"
#include "core/synth/region_shape.h"

namespace swage::synth {
namespace {

std::size_t asIndex(int value) {
  return static_cast<std::size_t>(value);
}

std::string_view storageType(domain::ScalarType type) {
  switch (type) {
    case domain::ScalarType::Bool: return "Bool8";
    case domain::ScalarType::UInt8: return "unsigned char";
    case domain::ScalarType::Int8: return "signed char";
    case domain::ScalarType::Int16: return "short";
    case domain::ScalarType::Int32: return "int";
    case domain::ScalarType::Int64: return "I64";
    case domain::ScalarType::Float16: return "F16";
    case domain::ScalarType::BFloat16: return "BF16";
    case domain::ScalarType::Float32: return "float";
    case domain::ScalarType::Float64: return "double";
  }
  return "float";
}

class Emitter {
 public:
  Emitter(const Region& program, std::string entry)
      : m_program(program), m_entry(std::move(entry)), m_loops(loopsOf(program)) {
    assignBuffers();
  }

  KernelText run() {
    constants();
    parameters();
    bases();
    elements();
    groups();
    for (int stage = 0; stage < std::max(1, m_program.stageCount()); ++stage) {
      m_text += stateText(m_program, stage);
      finishFunction(stage, foldsOf(m_program, stage));
    }
    outputs();
    keptFunctions();
    return {std::move(m_text), std::move(m_buffers)};
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    m_text += fmt::format(format, std::forward<Args>(args)...);
    m_text += '\n';
  }

  // One parameter for each tensor; a value read in two ways is one parameter.
  void assignBuffers() {
    for (const bool output : {false, true}) {
      for (std::size_t i = 0; i < m_program.operands.size(); ++i) {
        const Operand& operand = m_program.operands[i];
        if (operand.output != output || !isUsed(static_cast<int>(i))) {
          continue;
        }
        const auto known = std::find_if(m_buffers.begin(), m_buffers.end(), [&](const KernelBuffer& buffer) {
          return buffer.value == operand.value && buffer.output == output;
        });
        m_bufferOf[static_cast<int>(i)] = static_cast<int>(known - m_buffers.begin());
        if (known == m_buffers.end()) {
          m_buffers.push_back({operand.value, output});
        }
      }
    }
  }

  [[nodiscard]] bool isUsed(int operand) const {
    const auto loads = [&](const Prim& prim) { return prim.kind == Prim::Kind::Load && prim.operand == operand; };
    const auto stores = [&](const Store& store) { return store.operand == operand; };
    return std::any_of(m_program.prims.begin(), m_program.prims.end(), loads) ||
           std::any_of(m_program.elementStores.begin(), m_program.elementStores.end(), stores) ||
           std::any_of(m_program.groupStores.begin(), m_program.groupStores.end(), stores);
  }

  // Whether element offsets and indices fit in 32 bits, where division is much cheaper.
  [[nodiscard]] bool fitsIn32Bits() const {
    std::int64_t last = m_program.groupCount() * m_program.reducedCount();
    for (const Operand& operand : m_program.operands) {
      std::int64_t extent = 0;
      for (std::size_t axis = 0; axis < m_program.axes.size(); ++axis) {
        extent += (m_program.axes[axis].extent - 1) * std::max<std::int64_t>(operand.strides[axis], 0);
      }
      last = std::max(last, extent + 1);
    }
    return last < (std::int64_t{1} << 31);
  }

  void constants() {
    line("using Index = {};", fitsIn32Bits() ? "NarrowIndex" : "WideIndex");
    line("constexpr Index kGroups = {};", m_loops.groups);
    line("constexpr Index kOuter = {};", m_loops.outer);
    line("constexpr Index kInner = {};", m_loops.inner);
    line("constexpr int kStages = {};", m_program.stageCount());
    line("constexpr int kElementStores = {};", m_program.elementStores.size());
    line("constexpr int kGroupStores = {};", m_program.groupStores.size());
    line("");
  }

  void parameters() {
    std::string parameters;
    std::string pass;
    std::string unpack;
    for (std::size_t i = 0; i < m_buffers.size(); ++i) {
      const std::string type = fmt::format("{}{}* SWAGE_RESTRICT", m_buffers[i].output ? "" : "const ",
                                           storageType(bufferType(static_cast<int>(i))));
      parameters += fmt::format("{}{} p{}", i == 0 ? "" : ", ", type, i);
      pass += fmt::format("{}p{}", i == 0 ? "" : ", ", i);
      unpack += fmt::format("{0} p{1} = *static_cast<{2}{3}**>(arguments[{1}]); ", type, i,
                            m_buffers[i].output ? "" : "const ", storageType(bufferType(static_cast<int>(i))));
    }
    line(
        "#undef SWAGE_ENTRY\n#undef SWAGE_ENTRY_FINISH\n#undef SWAGE_PARAMETERS\n#undef SWAGE_PASS\n#undef "
        "SWAGE_UNPACK");
    line("#define SWAGE_ENTRY {}", m_entry);
    line("#define SWAGE_ENTRY_FINISH {}_finish", m_entry);
    line("#define SWAGE_PARAMETERS {}", parameters);
    line("#define SWAGE_PASS {}", pass);
    line("#define SWAGE_UNPACK {}", unpack);
    line("");
  }

  [[nodiscard]] domain::ScalarType bufferType(int buffer) const {
    for (const auto& [operand, index] : m_bufferOf) {
      if (index == buffer) {
        return m_program.operands[asIndex(operand)].dtype;
      }
    }
    return domain::ScalarType::Float32;
  }

  // Offsets of every operand at innermost coordinate 0.
  void bases() {
    line("struct Base {{");
    for (const auto& [operand, buffer] : m_bufferOf) {
      line("  Index a{} = 0;", operand);
    }
    line("}};");
    line("SWAGE_FN Base baseAt([[maybe_unused]] Index group, [[maybe_unused]] Index outer) {{");
    line("  Base base;");
    walkAxes("group", false);
    walkAxes("outer", true);
    line("  return base;\n}}\n");
  }

  // Cuts a linear index into coordinates, innermost first, and adds what each contributes.
  void walkAxes(std::string_view variable, bool reduced) {
    std::vector<std::size_t> axes;
    for (std::size_t axis = 0; axis + 1 < m_program.axes.size(); ++axis) {
      if (m_program.axes[axis].isFolded() == reduced) {
        axes.push_back(axis);
      }
    }
    for (std::size_t position = axes.size(); position-- > 0;) {
      const std::size_t axis = axes[position];
      const bool outermost = position == 0;
      line("  {{");
      line("    const Index c = {}{};", variable, outermost ? "" : fmt::format(" % {}u", m_program.axes[axis].extent));
      for (const auto& [operand, buffer] : m_bufferOf) {
        const std::int64_t stride = m_program.operands[asIndex(operand)].strides[axis];
        if (stride != 0) {
          line("    base.a{} += c * {}u;", operand, stride);
        }
      }
      if (!outermost) {
        line("    {} /= {}u;", variable, m_program.axes[axis].extent);
      }
      line("  }}");
    }
  }

  [[nodiscard]] std::int64_t innerStride(int operand) const {
    return m_program.operands[asIndex(operand)].innerStride();
  }

  // "p0[base.a3 + i]" with the stride of the innermost axis.
  [[nodiscard]] std::string place(int operand) const {
    const std::int64_t stride = innerStride(operand);
    const std::string inner = stride == 0 ? "" : stride == 1 ? " + i" : fmt::format(" + i * {}u", stride);
    return fmt::format("p{}[base.a{}{}]", m_bufferOf.at(operand), operand, inner);
  }

  void elements() {
    const std::vector<int> loads = elementLoads(m_program);
    line("struct Element {{");
    for (const int load : loads) {
      line("  {} x{};", computeName(m_program.prims[asIndex(load)].type), load);
    }
    line("}};");
    loadFunction("load", loads);
    std::vector<int> streamed;
    std::vector<int> other;
    for (const int load : loads) {
      const Operand& operand = m_program.operands[asIndex(m_program.prims[asIndex(load)].operand)];
      (differsForEachElement(m_program, operand) ? streamed : other).push_back(load);
    }
    loadFunction("loadOther", other);
    vectorLoadFunction("loadVector", loads, "loadChunk");
    // For data that a later stage reads again: it should stay in the second-level cache.
    vectorLoadFunction("loadAgainVector", loads, "loadCached");
    vectorLoadFunction("loadOtherVector", other, "loadChunk");
    line("constexpr int kStreamed = {};", streamed.size());
    cacheFunctions(streamed);
    line("");
  }

  // Operand by number, for patterns that keep streamed elements on chip as floats. Written for every region, because
  // the branches of a pattern that do not use them are compiled too.
  void cacheFunctions(const std::vector<int>& streamed) {
    line("SWAGE_FN float streamed([[maybe_unused]] const Element& e, [[maybe_unused]] int which) {{");
    for (std::size_t i = 0; i < streamed.size(); ++i) {
      line("  if (which == {}) {{ return float(e.x{}); }}", i, streamed[i]);
    }
    line("  return 0.0f;\n}}");
    line(
        "SWAGE_FN void setStreamed([[maybe_unused]] Element& e, [[maybe_unused]] int which, "
        "[[maybe_unused]] float value) {{");
    for (std::size_t i = 0; i < streamed.size(); ++i) {
      line("  if (which == {}) {{ e.x{} = {}(value); }}", i, streamed[i],
           computeName(m_program.prims[asIndex(streamed[i])].type));
    }
    line("}}");
    line(
        "template <int V>\nSWAGE_FN void copyStreamed(SWAGE_PARAMETERS, [[maybe_unused]] const Base& base, "
        "[[maybe_unused]] Index i, [[maybe_unused]] float* to, [[maybe_unused]] Index row) {{");
    for (std::size_t which = 0; canCopyElements(m_program) && which < streamed.size(); ++which) {
      line("  copyAsync<V>(to + {}u * row, &{});", which, place(m_program.prims[asIndex(streamed[which])].operand));
    }
    line("}}");
  }

  void loadFunction(std::string_view name, const std::vector<int>& loads) {
    line(
        "SWAGE_FN void {}(SWAGE_PARAMETERS, [[maybe_unused]] const Base& base, [[maybe_unused]] Index i, "
        "[[maybe_unused]] Element& e) {{",
        name);
    for (const int load : loads) {
      line("  e.x{} = toCompute({});", load, place(m_program.prims[asIndex(load)].operand));
    }
    line("}}");
  }

  // V neighbours at once; contiguous operands become one wide load.
  void vectorLoadFunction(std::string_view name, const std::vector<int>& loads, std::string_view streamedMove) {
    line(
        "template <int V>\nSWAGE_FN void {}(SWAGE_PARAMETERS, [[maybe_unused]] const Base& base, "
        "[[maybe_unused]] Index i, [[maybe_unused]] Element (&e)[V]) {{",
        name);
    for (const int load : loads) {
      const int operand = m_program.prims[asIndex(load)].operand;
      if (innerStride(operand) == 1) {
        line("  {{\n    {} chunk[V];\n    {}<V>(&{}, chunk);", storageType(m_program.operands[asIndex(operand)].dtype),
             differsForEachElement(m_program, m_program.operands[asIndex(operand)]) ? streamedMove : "loadCached",
             place(operand));
        line("    SWAGE_UNROLL for (int v = 0; v < V; ++v) {{ e[v].x{} = toCompute(chunk[v]); }}\n  }}", load);
      } else if (innerStride(operand) == 0) {
        line("  {{\n    const auto same = toCompute({});", place(operand));
        line("    SWAGE_UNROLL for (int v = 0; v < V; ++v) {{ e[v].x{} = same; }}\n  }}", load);
      } else {
        line(
            "  SWAGE_UNROLL for (int v = 0; v < V; ++v) {{ e[v].x{} = toCompute(p{}[base.a{} + (i + Index(v)) * {}u]); "
            "}}",
            load, m_bufferOf.at(operand), operand, innerStride(operand));
      }
    }
    line("}}");
  }

  // Group-level prims that the other functions read: kept in a struct, computed as soon as they can be.
  void groups() {
    std::set<int> fields;
    for (int i = 0; i < static_cast<int>(m_program.prims.size()); ++i) {
      const Prim& prim = m_program.prims[asIndex(i)];
      if (!prim.perElement && prim.kind != Prim::Kind::Constant) {
        fields.insert(i);
      }
    }
    m_groupFields = fields;
    line("struct Group {{");
    for (const int field : fields) {
      line("  {} g{} = 0;", computeName(m_program.prims[asIndex(field)].type), field);
    }
    line("}};");
    line("SWAGE_FN Group groupAt(SWAGE_PARAMETERS, [[maybe_unused]] const Base& base, [[maybe_unused]] Index i) {{");
    line("  Group q;");
    groupValues(-1);
    line("  return q;\n}}\n");
  }

  void groupValues(int ready) {
    ScalarWriter writer(m_program, {});
    for (const int field : m_groupFields) {
      const Prim& prim = m_program.prims[asIndex(field)];
      if (prim.ready != ready || prim.kind == Prim::Kind::Folded) {
        continue;
      }
      if (prim.kind == Prim::Kind::Load) {
        line("  q.g{} = toCompute({});", field, place(prim.operand));
      } else {
        line("  q.g{} = {};", field, writer.call(field, [](int arg) { return fmt::format("q.g{}", arg); }));
      }
    }
  }

  void finishFunction(int stage, const std::vector<int>& folds) {
    line("SWAGE_FN void finish([[maybe_unused]] const State<{}, 1>& s, [[maybe_unused]] Group& q) {{", stage);
    for (const int field : m_groupFields) {
      const Prim& prim = m_program.prims[asIndex(field)];
      if (prim.kind == Prim::Kind::Folded && std::find(folds.begin(), folds.end(), prim.fold) != folds.end()) {
        line("  q.g{} = {};", field, stateResult(m_program, prim.fold, prim.slot, "s"));
      }
    }
    groupValues(stage);
    line("}}\n");
  }

  void outputs() {
    line("struct Outputs {{");
    for (std::size_t i = 0; i < m_program.elementStores.size(); ++i) {
      line("  {} y{};", storageType(operandOf(m_program.elementStores[i]).dtype), i);
    }
    line("}};");
    line(
        "SWAGE_FN void evaluate([[maybe_unused]] const Element& e, [[maybe_unused]] const Group& q, "
        "[[maybe_unused]] Index r, [[maybe_unused]] Outputs& out) {{");
    std::vector<int> results;
    for (const Store& store : m_program.elementStores) {
      results.push_back(store.prim);
    }
    ScalarWriter writer(m_program, results);
    m_text += writer.statements();
    for (std::size_t i = 0; i < m_program.elementStores.size(); ++i) {
      line("  out.y{} = fromCompute<{}>({});", i, storageType(operandOf(m_program.elementStores[i]).dtype),
           writer.name(m_program.elementStores[i].prim));
    }
    line("}}");
    storeFunctions();
    groupStoreFunction();
  }

  // Accumulation of the last stage that hands out the value worth keeping, and evaluation that takes it back. Regions
  // without such a value get functions that ignore it, because every branch of a pattern is compiled.
  void keptFunctions() {
    const int kept = keptPrim(m_program);
    const int stage = std::max(0, m_program.stageCount() - 1);
    line("constexpr bool kHasKept = {};", kept >= 0);
    line(
        "template <int L>\nSWAGE_FN void accumulateKeeping(State<{}, L>& s, int l, const Element& e, const Group& q, "
        "Index r, float inverse, [[maybe_unused]] float& kept) {{",
        stage);
    line("  accumulate(s, l, e, q, r, inverse);");
    if (kept >= 0) {
      ScalarWriter writer(m_program, {kept});
      m_text += writer.statements();
      line("  kept = {};", writer.name(kept));
    }
    line("}}");
    line(
        "SWAGE_FN void evaluateKept([[maybe_unused]] const Element& e, [[maybe_unused]] const Group& q, "
        "[[maybe_unused]] Index r, [[maybe_unused]] float kept, [[maybe_unused]] Outputs& out) {{");
    std::vector<int> results;
    for (const Store& store : m_program.elementStores) {
      results.push_back(store.prim);
    }
    ScalarWriter writer(m_program, results, kept);
    m_text += writer.statements();
    for (std::size_t i = 0; i < m_program.elementStores.size(); ++i) {
      line("  out.y{} = fromCompute<{}>({});", i, storageType(operandOf(m_program.elementStores[i]).dtype),
           writer.name(m_program.elementStores[i].prim));
    }
    line("}}");
  }

  [[nodiscard]] const Operand& operandOf(const Store& store) const {
    return m_program.operands[asIndex(store.operand)];
  }

  void storeFunctions() {
    line(
        "SWAGE_FN void store(SWAGE_PARAMETERS, [[maybe_unused]] const Base& base, [[maybe_unused]] Index i, "
        "[[maybe_unused]] const Outputs& out) {{");
    for (std::size_t i = 0; i < m_program.elementStores.size(); ++i) {
      line("  {} = out.y{};", place(m_program.elementStores[i].operand), i);
    }
    line("}}");
    line(
        "template <int V, bool Streaming>\nSWAGE_FN void storeVector(SWAGE_PARAMETERS, [[maybe_unused]] const Base& "
        "base, "
        "[[maybe_unused]] Index i, [[maybe_unused]] const Outputs (&out)[V]) {{");
    for (std::size_t k = 0; k < m_program.elementStores.size(); ++k) {
      const int operand = m_program.elementStores[k].operand;
      if (innerStride(operand) == 1) {
        line("  {{\n    {} chunk[V];\n    SWAGE_UNROLL for (int v = 0; v < V; ++v) {{ chunk[v] = out[v].y{}; }}",
             storageType(m_program.operands[asIndex(operand)].dtype), k);
        line("    storeChunk<V, Streaming>(&{}, chunk);\n  }}", place(operand));
      } else {
        line("  SWAGE_UNROLL for (int v = 0; v < V; ++v) {{ p{}[base.a{} + (i + Index(v)) * {}u] = out[v].y{}; }}",
             m_bufferOf.at(operand), operand, innerStride(operand), k);
      }
    }
    line("}}");
  }

  void groupStoreFunction() {
    line(
        "SWAGE_FN void storeGroup(SWAGE_PARAMETERS, [[maybe_unused]] const Base& base, [[maybe_unused]] Index group, "
        "[[maybe_unused]] Index i, [[maybe_unused]] const Group& q) {{");
    for (const Store& store : m_program.groupStores) {
      const Prim& prim = m_program.prims[asIndex(store.prim)];
      const std::string value =
          prim.kind == Prim::Kind::Constant ? constantText(prim) : fmt::format("q.g{}", store.prim);
      // One value for all groups is written by the first one only.
      const std::vector<std::int64_t>& strides = operandOf(store).strides;
      const bool shared = std::all_of(strides.begin(), strides.end(), [](std::int64_t stride) { return stride == 0; });
      line("  {}{} = fromCompute<{}>({});", shared ? "if (group == 0 && i == 0) " : "", place(store.operand),
           storageType(operandOf(store).dtype), value);
    }
    line("}}");
  }

  const Region& m_program;
  std::string m_entry;
  Loops m_loops;
  std::string m_text;
  std::vector<KernelBuffer> m_buffers;
  std::map<int, int> m_bufferOf;  // operand -> parameter
  std::set<int> m_groupFields;
};

}  // namespace

KernelText emitRegion(const Region& program, const std::string& entry) {
  return Emitter(program, entry).run();
}

}  // namespace swage::synth
