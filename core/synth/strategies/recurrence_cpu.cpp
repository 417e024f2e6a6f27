// SPDX-License-Identifier: Apache-2.0
// Recurrent layers on a processor: threads share the units of a step, and meet after each.
#include "core/synth/emit/frame.h"
#include "core/synth/sizes.h"
#include "core/synth/strategies/recurrence.h"

namespace swage::synth::cpu {
namespace {

// Writes one kernel.
class CpuRecurrenceText {
 public:
  CpuRecurrenceText(const Instance& instance, int number)
      : m_region(instance.region),
        m_recurrence(*instance.region.recurrence),
        m_together(instance.value("together", 1)),
        m_dots(fmt::format("dots_{}", number)),
        m_hasInputs(m_recurrence.isStack()),
        m_writer(instance, Dialect::of(domain::Language::Cpp),
                 {"layer",    "step",         "time",       "unit",          "sequence",    "first",
                  "states",   "cells",        "before",     "below",         "next",        "input",
                  "forget",   "output",       "reset",      "update",        "total",       "candidate",
                  "logistic", "dots",         "sums",       "input_sums",    "count",       "at",
                  "s",        "row",          "gate",       "given",         "state",       "made",
                  "products", "input_weight", "input_bias", "hidden_weight", "hidden_bias", "result",
                  "last",     "last_cell"}),
        m_code(m_writer.code()) {}

  KernelText run(const std::string& entry) {
    writeFunctions();
    m_code.comment(describeRecurrence(m_recurrence));
    m_code.comment("Threads share the units of a step, and wait for each other before the next.");
    openCppKernel(m_writer, entry);
    const std::int64_t states = (m_recurrence.steps + 1) * m_recurrence.batch * m_recurrence.units;
    m_code.line("float* const states = *static_cast<float**>(arguments[{}]);", m_writer.buffers().size());
    if (m_recurrence.cell == CellKind::Lstm) {
      m_code.line("float* const cells = states + {};", states * static_cast<std::int64_t>(m_recurrence.layers.size()));
    }
    m_code.pragma("#pragma omp parallel");
    m_code.open("for (int layer = 0; layer < {}; ++layer)", m_recurrence.layers.size());
    choosePointers(states);
    start();
    m_code.open("for (long long step = 0; step < {}; ++step)", m_recurrence.steps);
    m_code.line("const float* const before = made + step * {};", inStep());
    if (m_hasInputs) {
      m_code.line("const float* const below = before - {};", states - inStep());
    }
    writeTime();
    m_code.pragma("#pragma omp for schedule(static)");
    m_code.open("for (long long unit = 0; unit < {}; ++unit)", m_recurrence.units);
    m_code.open("for (long long first = 0; first < {}; first += {})", m_recurrence.batch, m_together);
    writeUnit();
    m_code.close();
    m_code.close();
    m_code.close();
    m_code.close();
    m_code.close();
    return m_writer.finish();
  }

 private:
  [[nodiscard]] std::int64_t inStep() const { return m_recurrence.batch * m_recurrence.units; }
  [[nodiscard]] bool has(bool (*is)(const RecurrentLayer&)) const { return isAnywhere(m_recurrence, is); }

  void writeFunctions() {
    m_code.comment(fmt::format("A row of weights with {} states, which lie one after another.", m_together));
    m_code.open("static inline void {}(const float* row, const float* states, long long count, float* sums)", m_dots);
    for (std::int64_t i = 0; i < m_together; ++i) {
      m_code.line("const float* const state{} = states + (count > {} ? {} : 0);", i, i, i * m_recurrence.units);
      m_code.line("float sum{} = 0;", i);
    }
    std::string list;
    for (std::int64_t i = 0; i < m_together; ++i) {
      list += fmt::format("{}sum{}", i == 0 ? "" : ", ", i);
    }
    m_code.pragma(fmt::format("#pragma omp simd reduction(+ : {})", list));
    m_code.open("for (long long k = 0; k < {}; ++k)", m_recurrence.units);
    for (std::int64_t i = 0; i < m_together; ++i) {
      m_code.line("sum{0} += row[k] * state{0}[k];", i);
    }
    m_code.close();
    for (std::int64_t i = 0; i < m_together; ++i) {
      m_code.line("sums[{0}] = sum{0};", i);
    }
    m_code.close();
    m_code.blank();
  }

  void pointer(const char* name, const std::function<Placed(const RecurrentLayer&)>& member, bool isOutput = false) {
    if (isAnywhere(m_recurrence, [&](const RecurrentLayer& layer) { return member(layer).isThere(); })) {
      m_code.line("{}float* const {} = {};", isOutput ? "" : "const ", name, pointerOf(m_writer, m_region, member));
    }
  }

  void choosePointers(std::int64_t states) {
    m_code.line("float* const made = states + layer * {};  // the state before the first step, and after each", states);
    const auto weight = [&](const char* name, int RecurrentLayer::*member) {
      pointer(name, [member](const RecurrentLayer& layer) { return Placed{layer.*member}; });
    };
    pointer("products", [](const RecurrentLayer& layer) { return layer.products; });
    weight("input_weight", &RecurrentLayer::inputWeight);
    weight("input_bias", &RecurrentLayer::inputBias);
    weight("hidden_weight", &RecurrentLayer::hiddenWeight);
    weight("hidden_bias", &RecurrentLayer::hiddenBias);
    pointer(
        "result", [](const RecurrentLayer& layer) { return layer.result; }, true);
    pointer(
        "last", [](const RecurrentLayer& layer) { return layer.last; }, true);
    pointer(
        "last_cell", [](const RecurrentLayer& layer) { return layer.lastCell; }, true);
  }

  // The states before the first step.
  void start() {
    m_code.pragma("#pragma omp for schedule(static)");
    m_code.open("for (long long at = 0; at < {}; ++at)", inStep());
    m_code.line("const long long sequence = at / {};", m_recurrence.units);
    m_code.line("const long long unit = at % {};", m_recurrence.units);
    const auto initial = [&](const char* to, const std::function<Placed(const RecurrentLayer&)>& member) {
      m_code.line("{} = ({})[{}];", to, pointerOf(m_writer, m_region, member),
                  placeOf(m_recurrence, member, {"0", "sequence", "unit"}));
    };
    initial("made[at]", [](const RecurrentLayer& layer) { return layer.initial; });
    if (m_recurrence.cell == CellKind::Lstm) {
      initial("cells[at]", [](const RecurrentLayer& layer) { return layer.initialCell; });
    }
    m_code.close();
  }

  void writeTime() {
    const bool isTurned = has([](const RecurrentLayer& layer) { return layer.isReversed; });
    m_code.line("const long long time = {};",
                isTurned ? fmt::format("layer == 1 ? {} - step : step", m_recurrence.steps - 1) : "step");
  }

  void writeUnit() {
    const std::int64_t gates = gateCount(m_recurrence.cell);
    m_code.line("const long long count = first + {0} < {1} ? {0} : {1} - first;", m_together, m_recurrence.batch);
    m_code.line("float sums[{}][{}];", gates, m_together);
    if (m_hasInputs) {
      m_code.line("float input_sums[{}][{}];", gates, m_together);
    }
    m_code.open("for (int gate = 0; gate < {}; ++gate)", gates);
    m_code.line("const long long row = gate * {} + unit;", m_recurrence.units);
    m_code.line("{1}(hidden_weight + row * {0}, before + first * {0}, count, sums[gate]);", m_recurrence.units, m_dots);
    if (m_hasInputs) {
      m_code.open("if (layer > 0)");
      m_code.line("{1}(input_weight + row * {0}, below + first * {0}, count, input_sums[gate]);", m_recurrence.units,
                  m_dots);
      m_code.close();
    }
    m_code.close();
    m_code.open("for (long long s = 0; s < count; ++s)");
    m_code.line("const long long sequence = first + s;");
    m_code.line("const long long at = sequence * {} + unit;", m_recurrence.units);
    writeInputs(gates);
    const bool hasHiddenBias = has([](const RecurrentLayer& layer) { return layer.hiddenBias >= 0; });
    writeGates(m_code, m_recurrence.cell,
               {[](std::int64_t gate) { return fmt::format("given[{}]", gate); },
                [&](std::int64_t gate) {
                  return fmt::format("sums[{}][s]", gate) +
                         (hasHiddenBias ? fmt::format(" + hidden_bias[{} + unit]", gate * m_recurrence.units) : "");
                },
                m_recurrence.cell == CellKind::Lstm ? "cells[at]" : "state"});
    m_code.line("made[(step + 1) * {} + at] = next;", inStep());
    writeStores();
    m_code.close();
  }

  // What the inputs bring to each gate.
  void writeInputs(std::int64_t gates) {
    if (m_recurrence.cell == CellKind::Gru) {
      m_code.line("float state = before[at];");
    }
    m_code.line("float given[{}];", gates);
    m_code.open("for (int gate = 0; gate < {}; ++gate)", gates);
    m_code.line("const long long row = gate * {} + unit;", m_recurrence.units);
    const std::string products = fmt::format(
        "products[{}]",
        placeOf(m_recurrence, [](const RecurrentLayer& layer) { return layer.products; }, {"time", "sequence", "row"}));
    const bool hasBias = has([](const RecurrentLayer& layer) { return layer.inputBias >= 0; });
    m_code.line("given[gate] = {};", m_hasInputs ? fmt::format("layer == 0 ? {} : input_sums[gate][s]{}", products,
                                                               hasBias ? " + input_bias[row]" : "")
                                                 : products);
    m_code.close();
  }

  void writeStores() {
    const auto store = [&](const char* to, const std::function<Placed(const RecurrentLayer&)>& member,
                           const char* value, const std::string& condition) {
      if (!isAnywhere(m_recurrence, [&](const RecurrentLayer& layer) { return member(layer).isThere(); })) {
        return;
      }
      if (!condition.empty()) {
        m_code.open("if ({})", condition);
      }
      m_code.line("{}[{}] = {};", to, placeOf(m_recurrence, member, {"time", "sequence", "unit"}), value);
      if (!condition.empty()) {
        m_code.close();
      }
    };
    const std::string isEnd = fmt::format("step == {}", m_recurrence.steps - 1);
    const std::string isTop = m_hasInputs ? fmt::format("layer == {}", m_recurrence.layers.size() - 1) : std::string();
    store(
        "result", [](const RecurrentLayer& layer) { return layer.result; }, "next", isTop);
    store(
        "last", [](const RecurrentLayer& layer) { return layer.last; }, "next", isEnd);
    store(
        "last_cell", [](const RecurrentLayer& layer) { return layer.lastCell; }, "cells[at]", isEnd);
  }

  const Region& m_region;
  const Recurrence& m_recurrence;
  std::int64_t m_together;
  std::string m_dots;  // the function
  bool m_hasInputs;
  KernelWriter m_writer;
  Code& m_code;
};

class CpuRecurrence final : public Strategy {
 public:
  CpuRecurrence() : Strategy(domain::Language::Cpp, "recurrence") {}

  [[nodiscard]] Example example() const override { return examples::recurrent(); }
  [[nodiscard]] bool accepts(const Region& region) const override { return region.recurrence.has_value(); }

  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    const Recurrence& recurrence = *instance.region.recurrence;
    const std::int64_t inStep = recurrence.batch * recurrence.units;
    const auto layers = static_cast<std::int64_t>(recurrence.layers.size());
    const std::int64_t cells = recurrence.cell == CellKind::Lstm ? inStep : 0;
    Launch launch;
    launch.step.entry = entry;
    launch.scratch.push_back(
        domain::contiguousTensor(domain::ScalarType::Float32, {layers * (recurrence.steps + 1) * inStep + cells}));
    return launch;
  }

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch, int number) const override {
    return CpuRecurrenceText(instance, number).run(launch.step.entry);
  }

 private:
  [[nodiscard]] Result<> fits(const Instance& instance) const override {
    if (instance.value("together", 1) >= 2 * instance.region.recurrence->batch) {
      return unfit("there are fewer sequences");
    }
    return {};
  }
};

}  // namespace

void addRecurrence(StrategyTable& table) {
  table.add(std::make_unique<CpuRecurrence>());
}

}  // namespace swage::synth::cpu
