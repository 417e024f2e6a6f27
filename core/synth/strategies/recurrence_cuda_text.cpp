// SPDX-License-Identifier: Apache-2.0
#include "core/synth/emit/frame.h"
#include "core/synth/strategies/recurrence_cuda.h"

namespace swage::synth::cuda {
namespace {

constexpr std::int64_t kLoadsAtOnce = 4;  // of four numbers, by a thread that waits for them

// Writes one kernel.
class RecurrenceText {
 public:
  RecurrenceText(const Instance& instance, int number)
      : m_region(instance.region),
        m_recurrence(*instance.region.recurrence),
        m_tiles(instance),
        m_number(number),
        m_writer(instance, Dialect::of(domain::Language::CudaCpp),
                 {"layer",        "step",           "time",          "unit",          "sequence",
                  "first_unit",   "first_sequence", "shared",        "lane",          "group",
                  "before",       "below",          "state_sums",    "input_sums",    "given",
                  "bias",         "state",          "own",           "gate",          "row",
                  "input",        "forget",         "output",        "reset",         "update",
                  "candidate",    "total",          "next",          "mine",          "handed",
                  "products",     "input_bias",     "hidden_weight", "hidden_bias",   "result",
                  "last",         "last_cell",      "input_weight",  "place",         "initial",
                  "initial_cell", "logistic",       "state_weights", "input_weights", "i",
                  "exchanged",    "from",           "initial_at",    "cell_at"}),
        m_code(m_writer.code()) {}

  KernelText run(const std::string& entry) {
    writeFunctions();
    m_code.comment(describeRecurrence(m_recurrence));
    m_code.comment(fmt::format(
        "A block keeps the weights of {} units{} and makes their states, step by step. It hands them on through memory "
        "that was zero before: a number that is there has come.{}",
        m_tiles.units, m_recurrence.layers.size() > 1 ? m_tiles.hasInputs ? " of a layer" : " of a direction" : "",
        m_tiles.hasInputs ? " A layer is at a step when the one below is at the next." : ""));
    if (isRoundedSomewhere()) {
      m_code.comment(m_tiles.isRounded(false)
                         ? "What is multiplied is rounded to TF32, as PyTorch does by default."
                         : "Inputs and their weights are rounded to TF32, as PyTorch does by default.");
    }
    openCudaKernel(m_writer, entry, m_tiles.threads, fmt::format(", {}", m_tiles.together()),
                   "unsigned int* __restrict__ exchanged" + argumentsOfPlaces());
    writePlaces();
    writePointers();
    writeStart();
    m_code.open("for (int step = 0; step < {}; ++step)", m_recurrence.steps);
    writeStep();
    m_code.close();
    m_code.close();
    return m_writer.finish();
  }

 private:
  [[nodiscard]] std::string function(const char* name) const { return fmt::format("{}_{}", name, m_number); }
  [[nodiscard]] std::int64_t gates() const { return gateCount(m_recurrence.cell); }
  [[nodiscard]] std::int64_t inStep() const { return m_recurrence.batch * m_recurrence.units; }
  using Member = std::function<Placed(const RecurrentLayer&)>;
  [[nodiscard]] bool has(const Member& member) const {
    return isAnywhere(m_recurrence, [&](const RecurrentLayer& layer) { return member(layer).isThere(); });
  }
  static Member whole(int RecurrentLayer::*member) {
    return [member](const RecurrentLayer& layer) { return Placed{layer.*member}; };
  }
  static Member at(Placed RecurrentLayer::*member) {
    return [member](const RecurrentLayer& layer) { return layer.*member; };
  }

  [[nodiscard]] std::string argumentsOfPlaces() const {
    std::string text;
    for (const PlacedByArgument& each : placedByArguments(m_recurrence)) {
      text += fmt::format(", long long {}", each.argument);
    }
    return text;
  }

  // --- rounding to TF32. What states are multiplied as is handed on; where only inputs are rounded, those who read
  // them as inputs do it.
  [[nodiscard]] bool isRoundedSomewhere() const { return m_tiles.isRounded(false) || m_tiles.isRounded(true); }
  [[nodiscard]] bool isRoundedOnArrival() const {
    return m_tiles.hasInputs && !m_tiles.isRounded(false) && m_tiles.isRounded(true);
  }
  [[nodiscard]] std::string rounded(bool ofInputs, const std::string& number) const {
    return m_tiles.isRounded(ofInputs) ? fmt::format("roundToTf32({})", number) : number;
  }
  // The argument of function templates that are told whether to round.
  [[nodiscard]] const char* roundingOf(bool ofInputs) const {
    return !isRoundedSomewhere() ? "" : m_tiles.isRounded(ofInputs) ? "<true>" : "<false>";
  }

  // --- functions in front of the kernel

  void writeFunctions() {
    const bool hasShared = !m_tiles.isInRegisters(false) || (m_tiles.hasInputs && !m_tiles.isInRegisters(true));
    if (m_tiles.isInRegisters(false)) {
      m_code.comment("A thread's share of the weights.");
      m_code.open("struct {}", function("InRegisters"));
      m_code.line("float4 weights[{}][{}];", m_tiles.rowsEach, m_tiles.steps);
      m_code.line("__device__ float4& operator()(int row, int i) {{ return weights[row][i]; }}");
      m_code.close(";");
    }
    if (hasShared) {
      m_code.comment("A thread's share of the weights, in shared memory.");
      m_code.open("struct {}", function("InShared"));
      m_code.line("float4* weights;");
      m_code.line(
          "__device__ float4& operator()(int row, int i) {{ return weights[(row * {} + i) * {} + threadIdx.x]; }}",
          m_tiles.steps, m_tiles.threads);
      m_code.close(";");
    }
    m_code.blank();
    writeKeep();
    writeMultiply();
    writeAwait();
  }

  void writeKeep() {
    m_code.comment("Brings the weights of a block to where they stay; rows and columns that there are not are zeros.");
    m_code.line("template <{}class Weights>", isRoundedSomewhere() ? "bool IsRounded, " : "");
    m_code.open("__device__ inline void {}(Weights& kept, const float* weight, int first_unit)", function("keep"));
    m_code.pragma("#pragma unroll");
    m_code.open("for (int r = 0; r < {}; ++r)", m_tiles.rowsEach);
    m_code.line("const int row = threadIdx.x / {} * {} + r;", m_tiles.lanes, m_tiles.rowsEach);
    m_code.line("const int unit = first_unit + row % {};", m_tiles.units);
    m_code.line("const float* const from = weight + (row / {} * {} + unit) * {};", m_tiles.units, m_recurrence.units,
                m_recurrence.units);
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 0; i < {}; ++i)", m_tiles.steps);
    m_code.line("const int column = (i * {0} + threadIdx.x % {0}) * 4;", m_tiles.lanes);
    const auto at = [&](int next) {
      const std::string condition =
          m_tiles.pitch == m_recurrence.units ? "" : fmt::format(" && column + {} < {}", next, m_recurrence.units);
      return fmt::format("isThere{} ? from[column + {}] : 0.0f", condition, next);
    };
    m_code.line("const bool isThere = row < {} && unit < {};", m_tiles.rows, m_recurrence.units);
    m_code.line("kept(r, i) = make_float4({}, {},", at(0), at(1));
    m_code.line("                         {}, {});", at(2), at(3));
    if (isRoundedSomewhere()) {
      m_code.open("if (IsRounded)");
      m_code.line("kept(r, i) = roundToTf32(kept(r, i));");
      m_code.close();
    }
    m_code.close();
    m_code.close();
    m_code.close();
    m_code.blank();
  }

  void writeMultiply() {
    m_code.comment(
        fmt::format("The products of all rows of the block with the states of {} sequences.", m_tiles.sequences));
    m_code.line("template <class Weights>");
    m_code.open("__device__ inline void {}(Weights& kept, const float* states, float* sums)", function("multiply"));
    m_code.line("const int lane = threadIdx.x % {};", m_tiles.lanes);
    m_code.line("float sum[{}] = {{}};", m_tiles.sumsEach());
    m_code.pragma(m_tiles.kept == Kept::Shared && m_tiles.steps * m_tiles.sumsEach() > 160 ? "#pragma unroll 2"
                                                                                           : "#pragma unroll");
    m_code.open("for (int i = 0; i < {}; ++i)", m_tiles.steps);
    m_code.line("const float* const from = states + (i * {} + lane) * 4;", m_tiles.lanes);
    for (std::int64_t r = 0; r < m_tiles.rowsEach; ++r) {
      m_code.line("const float4 row{0} = kept({0}, i);", r);
    }
    m_code.pragma("#pragma unroll");
    m_code.open("for (int s = 0; s < {}; ++s)", m_tiles.sequences);
    m_code.line("const float4 x = *reinterpret_cast<const float4*>(from + s * {});", m_tiles.pitch);
    for (std::int64_t r = 0; r < m_tiles.rowsEach; ++r) {
      const std::string sum = r == 0 ? "sum[s]" : fmt::format("sum[{} + s]", r * m_tiles.sequences);
      m_code.line("{0} = row{1}.w * x.w + (row{1}.z * x.z + (row{1}.y * x.y + (row{1}.x * x.x + {0})));", sum, r);
    }
    m_code.close();
    m_code.close();
    m_code.line("int mine = {};", m_tiles.sumsEach());
    m_code.line("const int first = sumOverLanes<{}, {}>(sum, lane, mine);", m_tiles.lanes, m_tiles.sumsEach());
    m_code.line("float* const to = sums + threadIdx.x / {} * {} + first;", m_tiles.lanes, m_tiles.sumsEach());
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 0; i < {}; ++i)", leftEach());
    m_code.open("if (i < mine)");
    m_code.line("to[i] = sum[i];");
    m_code.close();
    m_code.close();
    m_code.close();
    m_code.blank();
  }

  // Sums that a lane has when all lanes of its row have met.
  [[nodiscard]] std::int64_t leftEach() const {
    std::int64_t left = m_tiles.sumsEach();
    for (std::int64_t lanes = m_tiles.lanes; lanes > 1; lanes /= 2) {
      left = divideUp(left, 2);
    }
    return left;
  }

  void writeAwait() {
    const std::int64_t wide = m_tiles.hasVectors() ? 4 : 1;
    const std::int64_t count = m_tiles.sequences * m_recurrence.units / wide;
    const std::int64_t loads = std::min(kLoadsAtOnce, divideUp(count, m_tiles.threads));
    m_code.comment("Waits for the states of a step, and brings them into shared memory.");
    if (isRoundedOnArrival()) {
      m_code.line("template <bool IsRounded>");
    }
    m_code.open("__device__ inline void {}(const unsigned int* from, float* to)", function("awaitStates"));
    const bool isOneRound = loads * m_tiles.threads >= count;
    if (!isOneRound) {
      m_code.open("for (int first = 0; first < {}; first += {})", count, loads * m_tiles.threads);
    }
    m_code.line("{} x[{}];", wide == 4 ? "float4" : "float", loads);
    m_code.line("bool isThere;");
    m_code.line("do {{");
    m_code.line("  isThere = true;");
    m_code.pragma("#pragma unroll");
    m_code.line("  for (int i = 0; i < {}; ++i) {{", loads);
    m_code.line("    const int place = {}i * {} + threadIdx.x;", isOneRound ? "" : "first + ", m_tiles.threads);
    m_code.line("    if (place < {}) {{", count);
    m_code.line("      isThere = peekNumbers(from + place{}, x[i]) && isThere;", wide == 4 ? " * 4" : "");
    m_code.line("    }}");
    m_code.line("  }}");
    m_code.line("}} while (!isThere);");
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 0; i < {}; ++i)", loads);
    m_code.line("const int place = ({}i * {} + threadIdx.x){};", isOneRound ? "" : "first + ", m_tiles.threads,
                wide == 4 ? " * 4" : "");
    m_code.open("if (place < {})", count * wide);
    const std::string to = m_tiles.pitch == m_recurrence.units
                               ? "to + place"
                               : fmt::format("to + place / {0} * {1} + place % {0}", m_recurrence.units, m_tiles.pitch);
    m_code.line("*reinterpret_cast<{}*>({}) = {};", wide == 4 ? "float4" : "float", to,
                isRoundedOnArrival() ? "IsRounded ? roundToTf32(x[i]) : x[i]" : "x[i]");
    m_code.close();
    m_code.close();
    if (!isOneRound) {
      m_code.close();
    }
    m_code.close();
    m_code.blank();
  }

  // --- the kernel

  void writePlaces() {
    m_code.line("extern __shared__ __align__(128) unsigned char shared[];");
    if (m_recurrence.layers.size() > 1) {
      m_code.line("const int layer = blockIdx.x / {};{}", m_tiles.parts * m_tiles.slices,
                  m_tiles.hasInputs ? "" : "  // or direction");
    }
    m_code.line("const int first_unit = blockIdx.x % {} * {};", m_tiles.slices, m_tiles.units);
    if (m_tiles.parts > 1) {
      const std::int64_t last = m_recurrence.batch - m_tiles.sequences;
      m_code.line("const int first_sequence = min(int(blockIdx.x / {} % {} * {}), {});", m_tiles.slices, m_tiles.parts,
                  m_tiles.sequences, last);
    } else {
      m_code.line("const int first_sequence = 0;");
    }
    std::int64_t offset = 0;
    const auto place = [&](const char* name, std::int64_t size, const char* what) {
      m_code.line("float* const {} = reinterpret_cast<float*>(shared){};  // {}", name,
                  offset == 0 ? "" : fmt::format(" + {}", offset), what);
      offset += size;
    };
    place("before", m_tiles.statesSize(), "states of the step before");
    place("state_sums", m_tiles.sumsSize(), "what they bring to each row");
    if (m_tiles.hasInputs) {
      place("below", m_tiles.statesSize(), "states of the layer below");
      place("input_sums", m_tiles.sumsSize(), "what they bring to each row");
    }
    weights("state_weights", false, offset);
    if (m_tiles.hasInputs) {
      weights("input_weights", true, offset);
    }
  }

  void weights(const char* name, bool ofInputs, std::int64_t& offset) {
    if (m_tiles.isInRegisters(ofInputs)) {
      m_code.line("{} {};", function("InRegisters"), name);
      return;
    }
    m_code.line("{} {}{{reinterpret_cast<float4*>(shared) + {}}};", function("InShared"), name, offset / 4);
    offset += m_tiles.weightsSize(ofInputs);
  }

  void pointer(const char* name, const Member& member, bool isOutput = false) {
    if (has(member)) {
      m_code.line("{}float* const {} = {};", isOutput ? "" : "const ", name, pointerOf(m_writer, m_region, member));
    }
  }

  // The states before the first step.
  void pointerToFirst(const char* name, Placed RecurrentLayer::*member) {
    for (const PlacedByArgument& each : placedByArguments(m_recurrence)) {
      if (each.member == member) {
        const std::string start = pointerOf(m_writer, m_region, [&](const RecurrentLayer& layer) {
          Placed placed = layer.*member;
          placed.offset -= each.first;
          return placed;
        });
        m_code.line("const float* const {} = ({}) + {};", name, start, each.argument);
        return;
      }
    }
    pointer(name, at(member));
  }

  void writePointers() {
    m_code.blank();
    pointer("products", at(&RecurrentLayer::products));
    pointer("input_weight", whole(&RecurrentLayer::inputWeight));
    pointer("input_bias", whole(&RecurrentLayer::inputBias));
    pointer("hidden_weight", whole(&RecurrentLayer::hiddenWeight));
    pointer("hidden_bias", whole(&RecurrentLayer::hiddenBias));
    pointerToFirst("initial", &RecurrentLayer::initial);
    pointerToFirst("initial_cell", &RecurrentLayer::initialCell);
    pointer("result", at(&RecurrentLayer::result), true);
    pointer("last", at(&RecurrentLayer::last), true);
    pointer("last_cell", at(&RecurrentLayer::lastCell), true);
    const std::string start =
        fmt::format("{}first_sequence * {}",
                    m_recurrence.layers.size() > 1 ? fmt::format("layer * {} + ", m_recurrence.steps * inStep()) : "",
                    m_recurrence.units);
    m_code.line("unsigned int* const handed = exchanged + {};", start);
    m_code.blank();
  }

  // Opens a loop over what a thread computes the gates of; sequence, unit, and place in the sums are known inside.
  void openOwned() {
    m_code.pragma("#pragma unroll");
    m_code.open("for (int own = 0; own < {}; ++own)", m_tiles.owned);
    m_code.line("const int place = threadIdx.x{};",
                m_tiles.owned == 1 ? "" : fmt::format(" + own * {}", m_tiles.threads));
    m_code.line("const int unit = first_unit + place % {};", m_tiles.units);
    m_code.line("const int sequence = first_sequence + place / {};", m_tiles.units);
    std::string condition;
    if (m_tiles.owned * m_tiles.threads != m_tiles.units * m_tiles.sequences) {
      condition = fmt::format("place < {}", m_tiles.units * m_tiles.sequences);
    }
    if (m_recurrence.units % m_tiles.units != 0) {
      condition += fmt::format("{}unit < {}", condition.empty() ? "" : " && ", m_recurrence.units);
    }
    m_code.open("if ({})", condition.empty() ? "true" : condition);
  }
  void closeOwned() {
    m_code.close();
    m_code.close();
  }

  void writeStart() {
    m_code.line("{}{}(state_weights, hidden_weight, first_unit);", function("keep"), roundingOf(false));
    if (m_tiles.hasInputs) {
      m_code.open("if (layer > 0)");
      m_code.line("{}{}(input_weights, input_weight, first_unit);", function("keep"), roundingOf(true));
      m_code.close();
    }
    if (m_tiles.pitch != m_recurrence.units) {
      m_code.open("for (int i = threadIdx.x; i < {}; i += {})", m_tiles.statesSize(), m_tiles.threads);
      m_code.line("before[i] = 0.0f;{}", m_tiles.hasInputs ? " below[i] = 0.0f;" : "");
      m_code.close();
      m_code.line("__syncthreads();");
    }
    m_code.open("for (int i = threadIdx.x; i < {}; i += {})", m_tiles.sequences * m_recurrence.units, m_tiles.threads);
    m_code.line("const int sequence = first_sequence + i / {};", m_recurrence.units);
    m_code.line("const int unit = i % {};", m_recurrence.units);
    const std::string first =
        fmt::format("initial[{}]", placeOf(m_recurrence, at(&RecurrentLayer::initial), {"0", "sequence", "unit"}));
    m_code.line("before[i / {0} * {1} + unit] = {2};", m_recurrence.units, m_tiles.pitch, rounded(false, first));
    m_code.close();
    const bool hasBias = has(whole(&RecurrentLayer::hiddenBias));
    if (!hasBias && !keepsState(m_recurrence.cell)) {
      return;
    }
    if (hasBias) {
      m_code.line("float bias[{}][{}];", m_tiles.owned, gates());
    }
    if (keepsState(m_recurrence.cell)) {
      m_code.line("float state[{}];{}", m_tiles.owned, m_recurrence.cell == CellKind::Lstm ? "  // of the cells" : "");
    }
    openOwned();
    if (hasBias) {
      m_code.pragma("#pragma unroll");
      m_code.open("for (int gate = 0; gate < {}; ++gate)", gates());
      m_code.line("bias[own][gate] = hidden_bias[gate * {} + unit];", m_recurrence.units);
      m_code.close();
    }
    if (keepsState(m_recurrence.cell)) {
      const bool isLstm = m_recurrence.cell == CellKind::Lstm;
      m_code.line("state[own] = {}[{}];", isLstm ? "initial_cell" : "initial",
                  placeOf(m_recurrence, at(isLstm ? &RecurrentLayer::initialCell : &RecurrentLayer::initial),
                          {"0", "sequence", "unit"}));
    }
    closeOwned();
  }

  void writeStep() {
    const bool isTurned = isAnywhere(m_recurrence, [](const RecurrentLayer& layer) { return layer.isReversed; });
    m_code.line("const int time = {};",
                isTurned ? fmt::format("layer == 1 ? {} - step : step", m_recurrence.steps - 1) : "step");
    writeGiven();
    if (m_tiles.hasInputs) {
      m_code.open("if (layer > 0)");
      m_code.line("{}{}(handed - {} + step * {}, below);", function("awaitStates"),
                  isRoundedOnArrival() ? roundingOf(true) : "", m_recurrence.steps * inStep(), inStep());
      m_code.line("__syncthreads();");
      m_code.line("{}(input_weights, below, input_sums);", function("multiply"));
      m_code.close();
    }
    m_code.open("if (step > 0)");
    m_code.line("{}{}(handed + (step - 1) * {}, before);", function("awaitStates"),
                isRoundedOnArrival() ? roundingOf(false) : "", inStep());
    m_code.close();
    m_code.line("__syncthreads();");
    m_code.line("{}(state_weights, before, state_sums);", function("multiply"));
    m_code.line("__syncthreads();");
    writeNext();
  }

  // What the inputs bring, as far as it is known before anybody is waited for.
  void writeGiven() {
    m_code.line("float given[{}][{}];", m_tiles.owned, gates());
    openOwned();
    m_code.pragma("#pragma unroll");
    m_code.open("for (int gate = 0; gate < {}; ++gate)", gates());
    m_code.line("const int row = gate * {} + unit;", m_recurrence.units);
    const std::string products =
        fmt::format("products[{}]", placeOf(m_recurrence, at(&RecurrentLayer::products), {"time", "sequence", "row"}));
    const bool hasBias = has(whole(&RecurrentLayer::inputBias));
    m_code.line("given[own][gate] = {};",
                m_tiles.hasInputs ? fmt::format("layer == 0 ? {} : {}", products, hasBias ? "input_bias[row]" : "0.0f")
                                  : products);
    m_code.close();
    closeOwned();
  }

  [[nodiscard]] std::string sumAt(std::int64_t gate) const {
    return fmt::format("place % {0} * {1} + place / {0}{2}", m_tiles.units, m_tiles.sequences,
                       gate == 0 ? "" : fmt::format(" + {}", gate * m_tiles.units * m_tiles.sequences));
  }

  void writeNext() {
    openOwned();
    if (m_tiles.hasInputs) {
      m_code.open("if (layer > 0)");
      m_code.pragma("#pragma unroll");
      m_code.open("for (int gate = 0; gate < {}; ++gate)", gates());
      m_code.line("given[own][gate] += input_sums[{} + gate * {}];", sumAt(0), m_tiles.units * m_tiles.sequences);
      m_code.close();
      m_code.close();
    }
    const bool hasBias = has(whole(&RecurrentLayer::hiddenBias));
    writeGates(m_code, m_recurrence.cell,
               {[](std::int64_t gate) { return fmt::format("given[own][{}]", gate); },
                [&](std::int64_t gate) {
                  return fmt::format("state_sums[{}]{}", sumAt(gate),
                                     hasBias ? fmt::format(" + bias[own][{}]", gate) : "");
                },
                "state[own]"});
    m_code.line("publishNumber(handed + step * {} + place / {} * {} + unit, {});", inStep(), m_tiles.units,
                m_recurrence.units, rounded(false, "next"));
    const auto store = [&](const char* to, Placed RecurrentLayer::*member, const char* value,
                           const std::string& condition) {
      if (has(at(member))) {
        if (!condition.empty()) {
          m_code.open("if ({})", condition);
        }
        m_code.line("{}[{}] = {};", to, placeOf(m_recurrence, at(member), {"time", "sequence", "unit"}), value);
        if (!condition.empty()) {
          m_code.close();
        }
      }
    };
    const std::string isEnd = fmt::format("step == {}", m_recurrence.steps - 1);
    store("result", &RecurrentLayer::result, "next",
          m_tiles.hasInputs ? fmt::format("layer == {}", m_recurrence.layers.size() - 1) : std::string());
    store("last", &RecurrentLayer::last, "next", isEnd);
    store("last_cell", &RecurrentLayer::lastCell, "state[own]", isEnd);
    closeOwned();
  }

  const Region& m_region;
  const Recurrence& m_recurrence;
  RecurrenceTiles m_tiles;
  int m_number;
  KernelWriter m_writer;
  Code& m_code;
};

}  // namespace

KernelText writeRecurrence(const Instance& instance, const std::string& entry, int number) {
  return RecurrenceText(instance, number).run(entry);
}

}  // namespace swage::synth::cuda
