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
  StateEmitter(const Region& program, int stage)
      : m_program(program), m_stage(stage), m_folds(foldsOf(program, stage)) {}

  std::string run() {
    types();
    overLanes("identity", [&](int fold) { return stateIdentity(m_program, fold, "s", "l"); });
    accumulate();
    overLanes("merge", [&](int fold) { return stateMerge(m_program, fold, "s", "l", "other", "l"); });
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
    for (const int fold : m_folds) {
      const std::vector<StateField> lost = lostFields(m_program, fold);
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
    for (const int fold : m_folds) {
      fields(stateFields(m_program, fold));
    }
    line("}};");
    line("template <int L>\nstruct Total<{0}, L> {{\n  State<{0}, L> s;", m_stage);
    for (const int fold : m_folds) {
      fields(lostFields(m_program, fold));
    }
    line("}};");
  }

  using Body = std::function<std::string(int fold)>;

  void bodies(const Body& body) {
    for (const int fold : m_folds) {
      m_text += body(fold) + "\n";
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
    inputs.reserve(m_folds.size());
    for (const int fold : m_folds) {
      inputs.push_back(inputOf(fold));
    }
    const ScalarWriter writer(m_program, inputs);
    m_text += writer.statements();
    bodies([&](int fold) { return stateAccumulate(m_program, fold, "s", "l", writer.name(inputOf(fold))); });
    line("}}");
  }

  // In pairs: the error of a sum grows with the number of halvings, not of lanes, and the halves are vectors.
  void joinLanes() {
    line("template <int L>\nSWAGE_FN State<{0}, 1> joinLanes([[maybe_unused]] const State<{0}, L>& s) {{", m_stage);
    line("  if constexpr (L == 1) {{\n    return s;\n  }} else {{");
    line("    static_assert(L % 2 == 0);\n    State<{}, L / 2> half;", m_stage);
    line("    SWAGE_UNROLL for (int l = 0; l < L / 2; ++l) {{");
    for (const int fold : m_folds) {
      for (const StateField& field : stateFields(m_program, fold)) {
        line("    half.{0}[l] = s.{0}[l];", field.name);
      }
      line("{}", stateMerge(m_program, fold, "half", "l", "s", "L / 2 + l"));
    }
    line("    }}\n    return joinLanes(half);\n  }}\n}}");
  }

  void laneOf() {
    line(
        "template <int L>\nSWAGE_FN State<{0}, 1> laneOf([[maybe_unused]] const State<{0}, L>& s, "
        "[[maybe_unused]] int l) {{\n  State<{0}, 1> one;",
        m_stage);
    for (const int fold : m_folds) {
      for (const StateField& field : stateFields(m_program, fold)) {
        line("  one.{0}[0] = s.{0}[l];", field.name);
      }
    }
    line("  return one;\n}}");
  }

  void totals() {
    line("template <int L>\nSWAGE_FN void identity([[maybe_unused]] Total<{}, L>& t) {{\n  identity(t.s);", m_stage);
    line("  SWAGE_UNROLL for (int l = 0; l < L; ++l) {{");
    for (const int fold : m_folds) {
      for (const StateField& field : lostFields(m_program, fold)) {
        line("    t.{}[l] = 0;", field.name);
      }
    }
    line("  }}\n}}");
    line(
        "template <int L>\nSWAGE_FN void add([[maybe_unused]] Total<{0}, L>& t, [[maybe_unused]] const State<{0}, L>& "
        "s) {{\n  SWAGE_UNROLL for (int l = 0; l < L; ++l) {{",
        m_stage);
    bodies([&](int fold) { return totalAdd(m_program, fold, "t", "s", "l"); });
    line("  }}\n}}");
    line("template <int L>\nSWAGE_FN State<{0}, L> settled([[maybe_unused]] const Total<{0}, L>& t) {{", m_stage);
    line("  State<{}, L> s = t.s;\n  SWAGE_UNROLL for (int l = 0; l < L; ++l) {{", m_stage);
    bodies([&](int fold) { return totalSettle(m_program, fold, "s", "t", "l"); });
    line("  }}\n  return s;\n}}");
  }

  [[nodiscard]] int inputOf(int fold) const { return m_program.folds[static_cast<std::size_t>(fold)].input; }

  const Region& m_program;
  int m_stage;
  std::vector<int> m_folds;
  std::string m_text;
};

}  // namespace

std::vector<int> foldsOf(const Region& program, int stage) {
  std::vector<int> found;
  for (int i = 0; i < static_cast<int>(program.folds.size()); ++i) {
    if (program.folds[static_cast<std::size_t>(i)].stage == stage) {
      found.push_back(i);
    }
  }
  return found;
}

std::string stateText(const Region& program, int stage) {
  return StateEmitter(program, stage).run();
}

}  // namespace swage::synth
