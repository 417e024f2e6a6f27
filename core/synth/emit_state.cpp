// SPDX-License-Identifier: Apache-2.0
#include "core/synth/emit_state.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "core/synth/emit_scalar.h"

namespace swage::synth {
namespace {

class StateEmitter {
 public:
  StateEmitter(const RegionProgram& program, int stage)
      : m_program(program), m_stage(stage), m_reducers(reducersOf(program, stage)) {}

  std::string run() {
    types();
    overLanes("identity", [&](int reducer) { return stateIdentity(m_program, reducer, "s", "l"); });
    accumulate();
    overLanes("merge", [&](int reducer) { return stateMerge(m_program, reducer, "s", "l", "other", "l"); });
    joinLanes();
    laneOf();
    totals();
    return std::move(m_text);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    m_text += fmt::format(format, std::forward<Args>(args)...);
    m_text += '\n';
  }

  // Whether long runs lose something: yes, no, or as the target keeps sums of float32.
  [[nodiscard]] std::string_view sums() const {
    std::string_view loses = "false";
    for (const int reducer : m_reducers) {
      const std::vector<StateField> lost = lostFields(m_program, reducer);
      if (!lost.empty() && lost.front().type != kSumOfFloat) {
        return "true";
      }
      loses = lost.empty() ? loses : "kSum32Loses";
    }
    return loses;
  }

  void fields(const std::vector<StateField>& fields) {
    for (const StateField& field : fields) {
      line("  {} {}[L];", field.type, field.name);
    }
  }

  void types() {
    if (m_stage == 0) {
      line("template <int K, int L>\nstruct State;\ntemplate <int K, int L>\nstruct Total;");
    }
    line("template <int L>\nstruct State<{}, L> {{", m_stage);
    line("  using One = State<{0}, 1>;\n  using Sum = Total<{0}, L>;", m_stage);
    line("  static constexpr bool kSums = {};", sums());
    for (const int reducer : m_reducers) {
      fields(stateFields(m_program, reducer));
    }
    line("}};");
    line("template <int L>\nstruct Total<{0}, L> {{\n  State<{0}, L> s;", m_stage);
    for (const int reducer : m_reducers) {
      fields(lostFields(m_program, reducer));
    }
    line("}};");
  }

  using Body = std::function<std::string(int reducer)>;

  void bodies(const Body& body) {
    for (const int reducer : m_reducers) {
      m_text += body(reducer) + "\n";
    }
  }

  // A function of one state, or of two where the second one is the `other`.
  void overLanes(std::string_view name, const Body& body) {
    line("template <int L>\nSWAGE_FN void {}([[maybe_unused]] State<{}, L>& s{}) {{", name, m_stage,
         name == "merge" ? fmt::format(", [[maybe_unused]] const State<{}, L>& other", m_stage) : std::string());
    line("  SWAGE_UNROLL for (int l = 0; l < L; ++l) {{");
    bodies(body);
    line("  }}\n}}");
  }

  void accumulate() {
    line(
        "template <int L>\nSWAGE_FN void accumulate([[maybe_unused]] State<{}, L>& s, [[maybe_unused]] int l, "
        "[[maybe_unused]] const Element& e, [[maybe_unused]] const Group& q, [[maybe_unused]] Index r, "
        "[[maybe_unused]] float inverse) {{",
        m_stage);
    std::vector<int> inputs;
    inputs.reserve(m_reducers.size());
    for (const int reducer : m_reducers) {
      inputs.push_back(inputOf(reducer));
    }
    const ScalarWriter writer(m_program, inputs);
    m_text += writer.statements();
    bodies([&](int reducer) { return stateAccumulate(m_program, reducer, "s", "l", writer.name(inputOf(reducer))); });
    line("}}");
  }

  // In pairs: the error of a sum grows with the number of halvings, not of lanes, and the halves are vectors.
  void joinLanes() {
    line("template <int L>\nSWAGE_FN State<{0}, 1> joinLanes([[maybe_unused]] const State<{0}, L>& s) {{", m_stage);
    line("  if constexpr (L == 1) {{\n    return s;\n  }} else {{");
    line("    static_assert(L % 2 == 0);\n    State<{}, L / 2> half;", m_stage);
    line("    SWAGE_UNROLL for (int l = 0; l < L / 2; ++l) {{");
    for (const int reducer : m_reducers) {
      for (const StateField& field : stateFields(m_program, reducer)) {
        line("    half.{0}[l] = s.{0}[l];", field.name);
      }
      line("{}", stateMerge(m_program, reducer, "half", "l", "s", "L / 2 + l"));
    }
    line("    }}\n    return joinLanes(half);\n  }}\n}}");
  }

  void laneOf() {
    line(
        "template <int L>\nSWAGE_FN State<{0}, 1> laneOf([[maybe_unused]] const State<{0}, L>& s, "
        "[[maybe_unused]] int l) {{\n  State<{0}, 1> one;",
        m_stage);
    for (const int reducer : m_reducers) {
      for (const StateField& field : stateFields(m_program, reducer)) {
        line("  one.{0}[0] = s.{0}[l];", field.name);
      }
    }
    line("  return one;\n}}");
  }

  void totals() {
    line("template <int L>\nSWAGE_FN void identity([[maybe_unused]] Total<{}, L>& t) {{\n  identity(t.s);", m_stage);
    line("  SWAGE_UNROLL for (int l = 0; l < L; ++l) {{");
    for (const int reducer : m_reducers) {
      for (const StateField& field : lostFields(m_program, reducer)) {
        line("    t.{}[l] = 0;", field.name);
      }
    }
    line("  }}\n}}");
    line(
        "template <int L>\nSWAGE_FN void add([[maybe_unused]] Total<{0}, L>& t, [[maybe_unused]] const State<{0}, L>& "
        "s) {{\n  SWAGE_UNROLL for (int l = 0; l < L; ++l) {{",
        m_stage);
    bodies([&](int reducer) { return totalAdd(m_program, reducer, "t", "s", "l"); });
    line("  }}\n}}");
    line("template <int L>\nSWAGE_FN State<{0}, L> settled([[maybe_unused]] const Total<{0}, L>& t) {{", m_stage);
    line("  State<{}, L> s = t.s;\n  SWAGE_UNROLL for (int l = 0; l < L; ++l) {{", m_stage);
    bodies([&](int reducer) { return totalSettle(m_program, reducer, "s", "t", "l"); });
    line("  }}\n  return s;\n}}");
  }

  [[nodiscard]] int inputOf(int reducer) const { return m_program.reducers[static_cast<std::size_t>(reducer)].input; }

  const RegionProgram& m_program;
  int m_stage;
  std::vector<int> m_reducers;
  std::string m_text;
};

}  // namespace

std::vector<int> reducersOf(const RegionProgram& program, int stage) {
  std::vector<int> found;
  for (int i = 0; i < static_cast<int>(program.reducers.size()); ++i) {
    if (program.reducers[static_cast<std::size_t>(i)].stage == stage) {
      found.push_back(i);
    }
  }
  return found;
}

std::string stateText(const RegionProgram& program, int stage) {
  return StateEmitter(program, stage).run();
}

}  // namespace swage::synth
