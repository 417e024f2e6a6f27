// SPDX-License-Identifier: Apache-2.0
// The kernels of attention by mma.sync as text.
#include "core/synth/strategies/attention_mma.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/synth/sizes.h"
#include "core/synth/strategies/attention_copies.h"

namespace swage::synth {
namespace {

constexpr int kWeightShift = 14;  // exponentials are split times 2^14, so that their low halves have all bits

// Names that the kernel gives to its variables.
const std::initializer_list<std::string_view> kOwnNames{
    "shared",       "queries",   "keys",        "values",  "key_scales", "row_scales", "lane",      "warp_row",
    "first_row",    "first_key", "batch",       "row",     "column",     "key",        "depth",     "line",
    "piece",        "to",        "i",           "k",       "r",          "c",          "h",         "j",
    "score",        "total",     "weight",      "weights", "largest",    "remaining",  "most",      "base",
    "sum",          "query",     "value",       "recent",  "end",        "share",      "is_inside", "are_finite",
    "bringQueries", "bringKeys", "bringValues", "found",   "scale",      "exponent",   "is_finite", "count",
    "start",        "rest",      "queries_at",  "keys_at", "values_at",  "products",   "changed",   "is_less",
    "parts",        "scales",    "minor",       "added",   "from",       "x",          "bits",      "d",
    "exponents"};

// Writes the passes and the kernel.
class MmaAttention {
 public:
  MmaAttention(const Instance& instance, AttentionShape shape)
      : m_region(instance.region),
        m_shape(std::move(shape)),
        m_tiles(instance, m_shape),
        m_sources(m_region, m_shape, m_tiles),
        m_type(m_sources.key.operand != nullptr ? m_sources.key.operand->dtype : m_sources.key.parts->format().type),
        m_writer(instance, Dialect::of(domain::Language::CudaCpp), kOwnNames),
        m_code(m_writer.code()),
        m_copies(m_region, m_shape, m_tiles, m_sources, m_type, m_writer) {
    m_writer.numberApart();
    for (AttentionSource* source : sources()) {
      if (source->parts) {
        source->planes = m_writer.unique(source->name + "_parts");
        source->exponents = m_writer.unique(source->name + "_exponents");
      }
    }
  }

  KernelText run(const Launch& launch) {
    std::vector<std::string> entries{launch.step.entry};
    for (const domain::KernelStep& step : launch.more) {
      entries.push_back(step.entry);
    }
    std::vector<std::vector<LaunchArgument>> arguments;
    std::vector<LaunchArgument> scratch;
    for (const AttentionSource* source : sources()) {
      if (source->parts) {
        m_code.comment(source->parts->describe());
        source->parts->write(m_writer, entries[arguments.size()], source->planes, source->exponents);
        std::vector<LaunchArgument> own;
        for (const std::size_t buffer : m_writer.buffersOf(source->prim)) {
          own.push_back({LaunchArgument::Kind::Buffer, buffer});
        }
        for (std::size_t i = 0; i < source->parts->scratch().size(); ++i) {
          scratch.push_back({LaunchArgument::Kind::Scratch, scratch.size()});
          own.push_back(scratch.back());
        }
        arguments.push_back(std::move(own));
      }
    }
    writeKernel(entries[arguments.size()]);
    arguments.emplace_back();
    for (const std::size_t buffer : usedBuffers()) {
      arguments.back().push_back({LaunchArgument::Kind::Buffer, buffer});
    }
    arguments.back().insert(arguments.back().end(), scratch.begin(), scratch.end());
    KernelText text = m_writer.finish();
    text.arguments = std::move(arguments);
    return text;
  }

 private:
  [[nodiscard]] std::vector<AttentionSource*> sources() { return {&m_sources.query, &m_sources.key, &m_sources.value}; }
  [[nodiscard]] bool isSplit() const { return m_tiles.isSplit(); }
  [[nodiscard]] std::int64_t rowBlocks() const { return m_tiles.warpRows / 16; }
  // Whether scores are products times a number, which the powers of two then take in.
  [[nodiscard]] bool isPlain() const { return m_shape.factor > 0.0; }
  // What scores in registers are multiplied with in the exponent.
  [[nodiscard]] double inExponent() const { return isPlain() ? (isSplit() ? 1.0 : m_shape.factor * kLog2E) : kLog2E; }
  [[nodiscard]] std::string multiplier() const {
    return m_type == domain::ScalarType::Float16 ? "multiplyHalf" : "multiplyBFloat16";
  }
  static std::string number(double value) {
    return Dialect::of(domain::Language::CudaCpp).constant(value, Compute::F32);
  }

  // All that is not only split by a pass: with infinities the operands themselves are read.
  [[nodiscard]] std::vector<std::size_t> usedBuffers() {
    std::set<std::size_t> used = m_writer.buffersOf(m_shape.score);
    for (const Store& store : m_region.groupStores) {
      used.merge(m_writer.buffersOf(store.prim));
    }
    for (const AttentionSource* source : sources()) {
      if (source->operand != nullptr || isSplit()) {
        used.merge(m_writer.buffersOf(source->prim));
      }
    }
    for (std::size_t i = 0; i < m_writer.buffers().size(); ++i) {
      if (m_writer.buffers()[i].output) {
        used.insert(i);
      }
    }
    return {used.begin(), used.end()};
  }

  void describe() {
    m_code.comment(describeAttention(m_region, m_shape));
    m_code.comment(fmt::format(
        "A block takes {} queries, each warp {} of them, along the keys, {} at a time. Scores are made on tensor cores "
        "while values are copied into shared memory; then their exponentials, less the largest score so far, weigh the "
        "values, while the next keys are copied. Sums shrink when a larger score is found.",
        m_tiles.rows, m_tiles.warpRows, m_tiles.keys));
    if (isSplit()) {
      m_code.comment(
          "Numbers are high + low, two halves with a scale; products are high * high + high * low + low * high.");
    }
  }

  void writeKernel(const std::string& entry) {
    describe();
    std::string scratch;
    for (const AttentionSource* source : sources()) {
      if (source->parts) {
        scratch += fmt::format(", const {}* __restrict__ {}", m_writer.dialect().storageName(m_type), source->planes);
        scratch += isSplit() ? fmt::format(", const int* __restrict__ {}", source->exponents) : "";
      }
    }
    m_code.open("extern \"C\" __global__ void __launch_bounds__({}{}) {}({}{})", m_tiles.threads(),
                m_tiles.blocks > 1 ? fmt::format(", {}", m_tiles.blocks) : "", entry,
                m_writer.parameters(usedBuffers()), scratch);
    place();
    declareSums();
    m_code.blank();
    m_copies.write();
    m_code.blank();
    loop();
    m_code.blank();
    finish();
    if (isSplit()) {
      m_code.blank();
      finishNotFinite();
    }
    m_code.close();
  }

  void place() {
    const std::int64_t down = divideUp(m_shape.rowCount, m_tiles.rows);
    m_code.line("extern __shared__ __align__(128) unsigned char shared[];");
    if (isSplit()) {
      m_code.line("__shared__ float key_scales[{}];", m_tiles.keys);
      m_code.line("__shared__ int exponents[{}];", m_tiles.rows);
    }
    m_code.line("const unsigned int queries = sharedAddress(shared);");
    m_code.line("const unsigned int keys = queries + {};", m_tiles.parts() * m_tiles.queryBytes());
    m_code.line("const unsigned int values = keys + {};", m_tiles.parts() * m_tiles.keyBytes());
    m_code.line("const int lane = threadIdx.x % 32;");
    m_code.line("const int warp_row = threadIdx.x / 32 * {};", m_tiles.warpRows);
    const bool isBatched = m_shape.batchCount > 1;
    if (m_shape.isCausal) {
      // Otherwise the last blocks to start would be those with the most keys.
      m_code.line("const int first_row = ({} - static_cast<int>(blockIdx.x){}) * {};  // the longest ones first",
                  down - 1, isBatched ? fmt::format(" / {}", m_shape.batchCount) : "", m_tiles.rows);
    } else {
      m_code.line("const int first_row = static_cast<int>(blockIdx.x){} * {};",
                  isBatched ? fmt::format(" % {}", down) : "", m_tiles.rows);
    }
    if (isBatched) {
      m_code.line("const int batch = blockIdx.x {};",
                  m_shape.isCausal ? fmt::format("% {}", m_shape.batchCount) : fmt::format("/ {}", down));
      m_writer.decode("batch", m_shape.batch);
    }
    m_code.comment("The rows that a lane gives to ldmatrix: of 16 lines by 16 of the depth, or 16 keys by 16 columns.");
    m_code.line("const unsigned int queries_at = queries + (warp_row + lane % 16) * {} + lane / 16 * 16;",
                m_tiles.depthPitch());
    m_code.line("const unsigned int keys_at = keys + lane % 16 * {} + lane / 16 * 16;", m_tiles.depthPitch());
    m_code.line("const unsigned int values_at = values + (lane / 16 * 8 + lane % 8) * {} + lane / 8 % 2 * 16;",
                m_tiles.columnPitch());
  }

  void declareSums() {
    m_code.line("float total[{}][{}][4] = {{}};  // [16 rows][8 columns][of a thread]", rowBlocks(),
                m_tiles.columns / 8);
    m_code.line("float weights[{}][2] = {{}};  // sums of exponentials, of this thread", rowBlocks());
    m_code.line("float largest[{}][2];  // of the scores, as powers of two{}", rowBlocks(),
                isSplit() ? fmt::format(", less {}", kWeightShift) : "");
    openRows();
    m_code.line("largest[r][h] = -kInfinity;");
    closeRows();
  }

  void findRowScales() {
    m_code.line("__syncwarp();");
    m_code.line("float row_scales[{}][2];", rowBlocks());
    openRows();
    m_code.line("row_scales[r][h] = ldexpf({}, exponents[warp_row + r * 16 + h * 8 + lane / 4]);",
                number(isPlain() ? m_shape.factor * kLog2E : 1.0));
    closeRows();
  }

  // Of both rows of a thread in each block of 16.
  void openRows() {
    m_code.pragma("#pragma unroll");
    m_code.open("for (int r = 0; r < {}; ++r)", rowBlocks());
    m_code.pragma("#pragma unroll");
    m_code.open("for (int h = 0; h < 2; ++h)");
  }
  void closeRows() {
    m_code.close();
    m_code.close();
  }
  // Of numbers of a thread for each 8 keys or columns.
  void openElements(std::int64_t columns) {
    m_code.pragma("#pragma unroll");
    m_code.open("for (int r = 0; r < {}; ++r)", rowBlocks());
    m_code.pragma("#pragma unroll");
    m_code.open("for (int c = 0; c < {}; ++c)", columns / 8);
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 0; i < 4; ++i)");
  }
  void closeElements() {
    closeRows();
    m_code.close();
  }

  // One behind the last key that some query of the block looks at.
  [[nodiscard]] std::string endOfKeys() const {
    if (!m_shape.isCausal) {
      return std::to_string(m_shape.keyCount);
    }
    return m_shape.keyCount >= m_shape.rowCount && m_shape.rowCount % m_tiles.rows == 0
               ? fmt::format("first_row + {}", m_tiles.rows)
               : fmt::format("min(first_row + {}, {})", m_tiles.rows, m_shape.keyCount);
  }

  void loop() {
    m_code.line("bringKeys(0);");
    if (isSplit()) {
      m_code.line("commitCopies();");
      m_code.line("bringQueries();");
      findRowScales();
    } else {
      m_code.line("bringQueries();");
      m_code.line("commitCopies();");
    }
    if (m_tiles.keepsQueries) {
      m_code.line("waitForCopies<0>();");
      m_code.line("__syncthreads();");
      m_code.line("unsigned int query[{}][{}][{}][4];", m_tiles.parts(), rowBlocks(), m_tiles.depth / 16);
      m_code.pragma("#pragma unroll");
      m_code.open("for (int k = 0; k < {}; ++k)", m_tiles.depth / 16);
      loadQueries(m_tiles.parts(), "[k]", "k * 32");
      m_code.close();
    }
    m_code.line("const int end = {};", endOfKeys());
    m_code.open("for (int first_key = 0; first_key < end; first_key += {})", m_tiles.keys);
    m_code.comment("Here the keys of this step are there, and every warp is done with the values before.");
    m_code.line("waitForCopies<0>();");
    m_code.line("__syncthreads();");
    m_code.line("bringValues(first_key);");
    m_code.line("commitCopies();");
    makeScores();
    changeScores();
    m_code.comment("Here the values are there, and every warp is done with the keys.");
    m_code.line("waitForCopies<0>();");
    m_code.line("__syncthreads();");
    m_code.open("if (first_key + {} < end)", m_tiles.keys);
    m_code.line("bringKeys(first_key + {});", m_tiles.keys);
    m_code.close();
    m_code.line("commitCopies();");
    weigh();
    addValues();
    m_code.close();
  }

  void loadQueries(std::int64_t parts, const std::string& place, const std::string& offset) {
    m_code.pragma("#pragma unroll");
    m_code.open("for (int r = 0; r < {}; ++r)", rowBlocks());
    for (std::int64_t part = 0; part < parts; ++part) {
      m_code.line("loadMatrices(query[{}][r]{}, queries_at{} + r * {} + {});", part, place,
                  plusOffset(part * m_tiles.queryBytes()), 16 * m_tiles.depthPitch(), offset);
    }
    m_code.close();
  }

  // Pairs of a left and a right part that are multiplied. Tensor cores cut off what is small beside a sum, so the small
  // products, which are exact enough anyway, are added up before the large one, or beside it.
  using Pairs = std::vector<std::pair<int, int>>;
  static Pairs smallPairs() { return {{1, 0}, {0, 1}}; }
  static Pairs largePair() { return {{0, 0}}; }

  // sum += left * right of 16 keys or columns, for all rows.
  void multiply(const Pairs& pairs, const std::string& left, const std::string& right, const std::string& first,
                const std::string& second) {
    for (const auto& [l, r] : pairs) {
      m_code.pragma("#pragma unroll");
      m_code.open("for (int r = 0; r < {}; ++r)", rowBlocks());
      const std::string of = fmt::format(fmt::runtime(left), l);
      m_code.line("{0}({1}, {2}, {3}[{4}][0], {3}[{4}][2]);", multiplier(), first, of, right, r);
      m_code.line("{0}({1}, {2}, {3}[{4}][1], {3}[{4}][3]);", multiplier(), second, of, right, r);
      m_code.close();
    }
  }

  void makeScores() {
    m_code.line("float score[{}][{}][4] = {{}};", rowBlocks(), m_tiles.keys / 8);
    if (isSplit()) {
      addScores(smallPairs(), 2);
    }
    addScores(largePair(), 1);
  }

  void addScores(const Pairs& pairs, std::int64_t parts) {
    m_code.pragma("#pragma unroll");
    m_code.open("for (int k = 0; k < {}; ++k)", m_tiles.depth / 16);
    if (!m_tiles.keepsQueries) {
      m_code.line("unsigned int query[{}][{}][4];", parts, rowBlocks());
      loadQueries(parts, "", "k * 32");
    }
    m_code.pragma("#pragma unroll");
    m_code.open("for (int c = 0; c < {}; ++c)", m_tiles.keys / 16);
    m_code.line("unsigned int key[{}][4];", parts);
    for (std::int64_t part = 0; part < parts; ++part) {
      m_code.line("loadMatrices(key[{}], keys_at{} + c * {} + k * 32);", part, plusOffset(part * m_tiles.keyBytes()),
                  16 * m_tiles.depthPitch());
    }
    multiply(pairs, m_tiles.keepsQueries ? "query[{}][r][k]" : "query[{}][r]", "key", "score[r][2 * c]",
             "score[r][2 * c + 1]");
    m_code.close();
    m_code.close();
  }

  void placeScore() {
    m_code.line("const int row = first_row + warp_row + r * 16 + i / 2 * 8 + lane / 4;");
    m_code.line("const int key = first_key + c * 8 + lane % 4 * 2 + i % 2;");
  }

  // From products to what the softmax is taken of, and away with what does not take part.
  void changeScores() {
    const std::string scaled = "score[r][c][i] * row_scales[r][i / 2] * key_scales[c * 8 + lane % 4 * 2 + i % 2]";
    const bool hasTail = m_shape.keyCount % m_tiles.keys != 0;
    if (!isPlain()) {
      changeAnyScores(isSplit() ? "(" + scaled + ")" : "score[r][c][i]");
    } else if (isSplit()) {
      openElements(m_tiles.keys);
      m_code.line("score[r][c][i] = {};", scaled);
      closeElements();
    }
    if (!m_shape.isCausal && (!hasTail || !isPlain())) {
      return;
    }
    const std::string lastKey = std::to_string(m_shape.keyCount - 1);
    const std::string last = !m_shape.isCausal ? lastKey : hasTail ? fmt::format("min(row, {})", lastKey) : "row";
    const std::string lastOfWarp = !m_shape.isCausal ? lastKey
                                   : hasTail         ? fmt::format("min(first_row + warp_row, {})", lastKey)
                                                     : "first_row + warp_row";
    m_code.open("if (first_key + {} > {})", m_tiles.keys - 1, lastOfWarp);
    openElements(m_tiles.keys);
    placeScore();
    m_code.line("score[r][c][i] = key > {} ? -kInfinity : score[r][c][i];", last);
    closeElements();
    m_code.close();
  }

  void changeAnyScores(const std::string& products) {
    const KernelWriter::Scope outside = m_writer.scope();
    openElements(m_tiles.keys);
    placeScore();
    std::string condition;
    if (m_shape.rowCount % m_tiles.rows != 0) {
      condition = fmt::format("row < {}", m_shape.rowCount);
    }
    if (m_shape.keyCount % m_tiles.keys != 0) {
      condition += fmt::format("{}key < {}", condition.empty() ? "" : " && ", m_shape.keyCount);
    }
    m_writer.decode("row", m_shape.rows);
    m_writer.decode("key", m_shape.keys);
    m_code.line("float changed = -kInfinity;");
    if (!condition.empty()) {
      m_code.open("if ({})", condition);
    }
    m_writer.bind(m_shape.products, {products});
    m_writer.compute({m_shape.score});
    m_code.line("changed = {};", m_writer.value(m_shape.score).text);
    if (!condition.empty()) {
      m_code.close();
    }
    m_code.line("score[r][c][i] = changed;");
    closeElements();
    m_writer.leave(outside);
  }

  // "x * 0.25f - base"
  [[nodiscard]] std::string exponent(const std::string& of, const std::string& base) const {
    const double factor = inExponent();
    return factor == 1.0 ? fmt::format("{} - {}", of, base) : fmt::format("{} * {} - {}", of, number(factor), base);
  }

  // Four lanes have the scores of a row.
  void meet(const std::string& what, const std::string& join) {
    for (const int lanes : {1, 2}) {
      m_code.line(fmt::runtime("{0} = " + join + ";"), what,
                  fmt::format("__shfl_xor_sync(0xffffffffu, {}, {})", what, lanes));
    }
  }

  void weigh() {
    m_code.line("float remaining[{}][2];  // of the sums so far", rowBlocks());
    if (!isSplit()) {
      m_code.line("bool is_less = false;");
    }
    openRows();
    m_code.line("float most = score[r][0][2 * h];");
    m_code.pragma("#pragma unroll");
    m_code.open("for (int c = 0; c < {}; ++c)", m_tiles.keys / 8);
    m_code.line("most = fmaxf(most, fmaxf(score[r][c][2 * h], score[r][c][2 * h + 1]));");
    m_code.close();
    meet("most", "fmaxf({0}, {1})");
    // Rounded up, so that no exponent is above zero however large scores are.
    const std::string scaled = inExponent() == 1.0 ? "most" : fmt::format("__fmul_ru(most, {})", number(inExponent()));
    if (isSplit()) {
      const std::string shift = number(kWeightShift);
      m_code.comment(fmt::format(
          "Weights are at most 2^{}, also where scores are so large that floats are farther apart.", kWeightShift));
      m_code.line("const float upper = {};", scaled);
      m_code.line("const float lower = upper - {};", shift);
      m_code.line("most = fmaxf(largest[r][h], upper - lower > {} ? upper : lower);", shift);
    } else {
      // Shrinking them costs as much as a tenth of the products.
      m_code.line("most = {0} - largest[r][h] > {1} ? {0} : largest[r][h];  // weights may be 2^{2:.0f}", scaled,
                  number(kLargestWeight), kLargestWeight);
    }
    m_code.line("const float base = most == -kInfinity ? 0.0f : most;");
    m_code.line("remaining[r][h] = powerOfTwo(largest[r][h] - base);");
    if (!isSplit()) {
      m_code.line("is_less |= most != largest[r][h];");
    }
    m_code.line("largest[r][h] = most;");
    m_code.line("float sum = 0.0f;");
    m_code.pragma("#pragma unroll");
    m_code.open("for (int c = 0; c < {}; ++c)", m_tiles.keys / 8);
    m_code.pragma("#pragma unroll");
    m_code.open("for (int j = 2 * h; j < 2 * h + 2; ++j)");
    m_code.line("score[r][c][j] = powerOfTwo({});", exponent("score[r][c][j]", "base"));
    m_code.line("sum += score[r][c][j];");
    m_code.close();
    m_code.close();
    m_code.line("weights[r][h] = weights[r][h] * remaining[r][h] + sum;");
    closeRows();
    shorten();
  }

  // Exponentials become the left operand of the next product: where they are in registers is where it must be.
  void shorten() {
    m_code.line("unsigned int weight[{}][{}][{}][4];", m_tiles.parts(), rowBlocks(), m_tiles.keys / 16);
    m_code.pragma("#pragma unroll");
    m_code.open("for (int r = 0; r < {}; ++r)", rowBlocks());
    m_code.pragma("#pragma unroll");
    m_code.open("for (int c = 0; c < {}; ++c)", m_tiles.keys / 8);
    if (isSplit()) {
      m_code.line("const SplitFour parts = splitFour(score[r][c], 1.0f);");
      m_code.pragma("#pragma unroll");
      m_code.open("for (int h = 0; h < 2; ++h)");
      m_code.line("weight[0][r][c / 2][c % 2 * 2 + h] = parts.high[h];");
      m_code.line("weight[1][r][c / 2][c % 2 * 2 + h] = parts.low[h];");
    } else {
      m_code.pragma("#pragma unroll");
      m_code.open("for (int h = 0; h < 2; ++h)");
      m_code.line("weight[0][r][c / 2][c % 2 * 2 + h] = {}(score[r][c][2 * h], score[r][c][2 * h + 1]);",
                  m_type == domain::ScalarType::Float16 ? "packHalves" : "packBFloat16s");
    }
    m_code.close();
    m_code.close();
    m_code.close();
  }

  void loadValues() {
    m_code.line("unsigned int value[{}][4];", m_tiles.parts());
    for (std::int64_t part = 0; part < m_tiles.parts(); ++part) {
      m_code.line("loadTransposed(value[{}], values_at{} + k * {} + c * 32);", part,
                  plusOffset(part * m_tiles.valueBytes()), 16 * m_tiles.columnPitch());
    }
  }

  void openSteps() {
    m_code.pragma("#pragma unroll");
    m_code.open("for (int k = 0; k < {}; ++k)", m_tiles.keys / 16);
  }
  void openColumns() {
    m_code.pragma("#pragma unroll");
    m_code.open("for (int c = 0; c < {}; ++c)", m_tiles.columns / 16);
  }

  void addValues() {
    if (!isSplit()) {
      m_code.open("if (__any_sync(0xffffffffu, is_less))");
      openElements(m_tiles.columns);
      m_code.line("total[r][c][i] *= remaining[r][i / 2];");
      closeElements();
      m_code.close();
      openSteps();
      openColumns();
      loadValues();
      multiply(largePair(), "weight[{}][r][k]", "value", "total[r][2 * c]", "total[r][2 * c + 1]");
      m_code.close();
      m_code.close();
      return;
    }
    openColumns();
    m_code.line("float recent[{}][2][4] = {{}};", rowBlocks());
    m_code.line("float minor[{}][2][4] = {{}};  // products with low halves", rowBlocks());
    openSteps();
    loadValues();
    multiply(smallPairs(), "weight[{}][r][k]", "value", "minor[r][0]", "minor[r][1]");
    multiply(largePair(), "weight[{}][r][k]", "value", "recent[r][0]", "recent[r][1]");
    m_code.close();
    m_code.pragma("#pragma unroll");
    m_code.open("for (int r = 0; r < {}; ++r)", rowBlocks());
    m_code.pragma("#pragma unroll");
    m_code.open("for (int j = 0; j < 2; ++j)");
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 0; i < 4; ++i)");
    m_code.line("const float added = recent[r][j][i] + minor[r][j][i];");
    m_code.line("total[r][2 * c + j][i] = total[r][2 * c + j][i] * remaining[r][i / 2] + added;");
    m_code.close();
    m_code.close();
    m_code.close();
    m_code.close();
  }

  [[nodiscard]] std::string insideResult() const {
    std::string condition;
    if (m_shape.rowCount % m_tiles.rows != 0) {
      condition = fmt::format("row < {}", m_shape.rowCount);
    }
    if (m_shape.columnCount != m_tiles.columns) {
      condition += fmt::format("{}column < {}", condition.empty() ? "" : " && ", m_shape.columnCount);
    }
    return condition;
  }

  // What follows, and the results, at `row` and `column`.
  void storeResult(const std::string& total, const std::string& weights) {
    m_writer.decode("row", m_shape.rows);
    m_writer.decode("column", m_shape.columns);
    bindResult(total, weights);
    m_writer.compute(storedPrims(m_region.groupStores));
    m_writer.store(m_region.groupStores);
  }

  void bindResult(const std::string& total, const std::string& weights) {
    m_writer.bind(m_shape.total, {total});
    if (m_shape.weights >= 0) {
      m_writer.bind(m_shape.weights, {weights});
    }
  }

  void finish() {
    const KernelWriter::Scope outside = m_writer.scope();
    openRows();
    meet("weights[r][h]", "{0} + {1}");
    if (isSplit()) {
      m_code.line("weights[r][h] *= {};", number(std::ldexp(1.0, -kWeightShift)));
    }
    closeRows();
    if (hasPairs()) {
      storePairs();
    } else {
      storeEach();
    }
    m_writer.leave(outside);
  }

  // Whether both columns of a thread are neighbours in memory and can be stored at once.
  [[nodiscard]] bool hasPairs() const {
    return m_shape.columnCount % 2 == 0 &&
           std::all_of(m_region.groupStores.begin(), m_region.groupStores.end(), [&](const Store& store) {
             const Operand& out = m_region.operands[static_cast<std::size_t>(store.operand)];
             for (std::size_t axis = 0; axis < out.strides.size(); ++axis) {
               const bool isColumn = axis == m_shape.columns[0];
               if (isColumn ? out.strides[axis] != 1 : out.strides[axis] % 2 != 0) {
                 return false;
               }
             }
             return out.offset % 2 == 0;
           });
  }

  void storePairs() {
    m_code.pragma("#pragma unroll");
    m_code.open("for (int c = 0; c < {}; ++c)", m_tiles.columns / 8);
    m_code.line("const int column = c * 8 + lane % 4 * 2;");
    if (isSplit()) {
      m_code.line("const float scales[2] = {{{}, {}}};", shareOf("1.0f", "column"), shareOf("1.0f", "column + 1"));
    }
    openRows();
    m_code.line("const int row = first_row + warp_row + r * 16 + h * 8 + lane / 4;");
    const std::string condition = insideResult();
    if (!condition.empty()) {
      m_code.open("if ({})", condition);
    }
    std::vector<std::vector<std::string>> texts(m_region.groupStores.size());
    m_writer.decode("row", m_shape.rows);
    const KernelWriter::Scope before = m_writer.scope();
    for (const int side : {1, 0}) {
      // Names are kept, values are others.
      KernelWriter::Scope same = m_writer.scope();
      same.prims = before.prims;
      m_writer.leave(std::move(same));
      m_writer.bindAxis(m_shape.columns[0], side == 0 ? "column" : "(column + 1)");
      const std::string total = fmt::format("total[r][c][2 * h + {}]", side);
      bindResult(isSplit() ? fmt::format("({} * scales[{}])", total, side) : total, "weights[r][h]");
      m_writer.compute(storedPrims(m_region.groupStores));
      for (std::size_t i = 0; i < texts.size(); ++i) {
        texts[i].insert(texts[i].begin(), m_writer.stored(m_region.groupStores[i]));
      }
    }
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const Operand& out = m_region.operands[static_cast<std::size_t>(m_region.groupStores[i].operand)];
      const std::string type = std::string(m_writer.dialect().storageName(out.dtype));
      m_code.line("store<{0}, 2>(&{1}, Vec<{0}, 2>{{{2}, {3}}});", type, m_writer.element(out), texts[i][0],
                  texts[i][1]);
    }
    if (!condition.empty()) {
      m_code.close();
    }
    closeRows();
    m_code.close();
  }

  // The sum of a column without the scales that it was made with.
  [[nodiscard]] std::string shareOf(const std::string& total, const std::string& column) const {
    return isSplit() ? fmt::format("ldexpf({}, {}[{}] - {})", total, m_sources.value.exponents,
                                   m_copies.lineOf(m_sources.value, column), kWeightShift)
                     : total;
  }

  void storeEach() {
    openElements(m_tiles.columns);
    m_code.line("const int row = first_row + warp_row + r * 16 + i / 2 * 8 + lane / 4;");
    m_code.line("const int column = c * 8 + lane % 4 * 2 + i % 2;");
    const std::string condition = insideResult();
    if (!condition.empty()) {
      m_code.open("if ({})", condition);
    }
    storeResult(shareOf("total[r][c][i]", "column"), "weights[r][i / 2]");
    if (!condition.empty()) {
      m_code.close();
    }
    closeElements();
  }

  void finishNotFinite() {
    m_code.comment(
        "Where an operand has an infinity or NaN, its line has counted as zeros: all is made anew, in float.");
    m_code.line("int found = 0;");
    const std::int64_t threads = m_tiles.threads();
    const auto look = [&](std::int64_t count, const std::string& exponent) {
      m_code.open("for (int i = threadIdx.x; i < {}; i += {})", count, threads);
      m_code.line("found = max(found, {});", exponent);
      m_code.close();
    };
    look(m_tiles.rows, "exponents[i]");
    look(m_shape.keyCount, fmt::format("{}[{}]", m_sources.key.exponents, m_copies.lineOf(m_sources.key, "i")));
    look(m_shape.columnCount, fmt::format("{}[{}]", m_sources.value.exponents, m_copies.lineOf(m_sources.value, "i")));
    m_code.line("const bool are_finite = __syncthreads_or(found == kNotFinite) == 0;");
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.open("for (int i = threadIdx.x; !are_finite && i < {}; i += {})", m_tiles.rows * m_shape.columnCount,
                threads);
    m_code.line("const int row = first_row + i / {};", m_shape.columnCount);
    m_code.line("const int column = i % {};", m_shape.columnCount);
    const bool hasTail = m_shape.rowCount % m_tiles.rows != 0;
    if (hasTail) {
      m_code.open("if (row < {})", m_shape.rowCount);
    }
    m_code.line("float most = -kInfinity, sum = 0.0f, share = 0.0f;");
    addSlowly();
    storeResult("share", "sum");
    if (hasTail) {
      m_code.close();
    }
    m_code.close();
    m_writer.leave(outside);
  }

  void addSlowly() {
    const KernelWriter::Scope outside = m_writer.scope();
    m_writer.decode("row", m_shape.rows);
    m_writer.decode("column", m_shape.columns);
    m_code.open("for (int key = 0; key < {}; ++key)", m_shape.isCausal
                                                          ? fmt::format("min(row + 1, {})", m_shape.keyCount)
                                                          : std::to_string(m_shape.keyCount));
    m_writer.decode("key", m_shape.keys);
    m_code.line("float products = 0.0f;");
    const KernelWriter::Scope key = m_writer.scope();
    m_code.open("for (int depth = 0; depth < {}; ++depth)", m_shape.depthCount);
    m_writer.decode("depth", m_shape.depth);
    m_writer.compute({m_shape.query, m_shape.key});
    m_code.line("products += {} * {};", operand(m_writer.value(m_shape.query), Expression::Term),
                operand(m_writer.value(m_shape.key), Expression::Term, Side::Right));
    m_code.close();
    m_writer.leave(key);
    m_writer.bind(m_shape.products, {"products"});
    m_writer.compute({m_shape.score, m_shape.value});
    m_code.line("const float score = {};", m_writer.value(m_shape.score).text);
    m_code.line("const float base = fmaxf(most, score) == -kInfinity ? 0.0f : fmaxf(most, score);");
    m_code.line("const float remaining = expf(most - base);");
    m_code.line("const float weight = expf(score - base);");
    m_code.line("sum = sum * remaining + weight;");
    m_code.line("share = share * remaining + weight * {};",
                operand(m_writer.value(m_shape.value), Expression::Term, Side::Right));
    m_code.line("most = fmaxf(most, score);");
    m_code.close();
    m_writer.leave(outside);
  }

  const Region& m_region;
  AttentionShape m_shape;
  AttentionTiles m_tiles;
  AttentionSources m_sources;
  domain::ScalarType m_type;
  KernelWriter m_writer;
  Code& m_code;
  AttentionCopies m_copies;
};

}  // namespace

KernelText writeAttention(const Instance& instance, const Launch& launch) {
  return MmaAttention(instance, *attentionShape(instance.region)).run(launch);
}

}  // namespace swage::synth
