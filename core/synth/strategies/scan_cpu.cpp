// SPDX-License-Identifier: Apache-2.0
// Scans on a processor. What is added up or multiplied is kept in double, as PyTorch does.
#include <algorithm>

#include "core/synth/emit/cpu_loops.h"
#include "core/synth/emit/frame.h"
#include "core/synth/sizes.h"
#include "core/synth/strategies/scan.h"

namespace swage::synth::cpu {
namespace {

Compute computedIn(const Region& region) {
  const FoldKind kind = scanOf(region).kind;
  const Compute type = region.prims[static_cast<std::size_t>(scanOf(region).input)].type;
  const bool isRounded = kind == FoldKind::Sum || kind == FoldKind::Product;
  return isRounded && type == Compute::F32 ? Compute::F64 : type;
}

// What both ways write alike. `laid` outlives it.
class CpuScanText {
 public:
  CpuScanText(const Instance& instance, const Laid& laid)
      : m_region(laid.region),
        m_isBackwards(laid.way == Way::Backwards),
        m_instance{instance.pattern, laid.region, instance.parameters, instance.device, instance.model},
        m_writer(m_instance, Dialect::of(domain::Language::Cpp),
                 {"block", "sequence", "plane", "first", "position", "running", "scanned", "count", "r", "i", "x",
                  "column"}),
        m_code(m_writer.code()),
        m_join(m_writer.dialect(), scanOf(m_region).kind, computedIn(m_region)),
        m_length(scanLength(m_region)) {}

 protected:
  // What is scanned, in the type it is computed in.
  [[nodiscard]] Expression input() {
    const int prim = scanOf(m_region).input;
    m_writer.compute({prim});
    Expression value = m_writer.value(prim);
    return isWide() ? Expression{fmt::format("double({})", value.text)} : value;
  }
  [[nodiscard]] std::string result(const std::string& running) const {
    return isWide() ? fmt::format("float({})", running) : running;
  }
  [[nodiscard]] bool isWide() const {
    return computedIn(m_region) != m_region.prims[static_cast<std::size_t>(scanOf(m_region).input)].type;
  }
  [[nodiscard]] std::string endText() const { return m_isBackwards ? " from the end" : ""; }

  const Region& m_region;
  bool m_isBackwards;
  Instance m_instance;
  KernelWriter m_writer;
  Code& m_code;
  Joining m_join;
  std::int64_t m_length;
};

// Several sequences at a time, so that one addition need not wait for the one before it.
class RowText : public CpuScanText {
 public:
  RowText(const Instance& instance, const Laid& laid)
      : CpuScanText(instance, laid),
        m_rows(std::min(instance.value("rows", 1), sequencesOf(laid.region))),
        m_tile(std::min(instance.value("tile", 1), m_length)),
        m_isStreaming(instance.value("streaming") != 0 && m_tile == instance.value("tile", 1)),
        m_sequences(sequencesOf(laid.region)) {}

  KernelText run(const std::string& entry) {
    m_code.comment(fmt::format("{} sequences of {}{}: {} of them at a time go through tiles of {} positions.",
                               m_sequences, m_length, endText(), m_rows, m_tile));
    openCppKernel(m_writer, entry);
    m_code.pragma("#pragma omp parallel for schedule(static)");
    m_code.open("for (long long block = 0; block < {}; ++block)", divideUp(m_sequences, m_rows));
    m_code.line("{} running[{}];", m_join.type(), m_rows);
    m_code.line("{} scanned[{}][{}];", m_join.type(), m_rows, m_tile);
    m_code.open("for (int r = 0; r < {}; ++r)", m_rows);
    m_code.line("running[r] = {};", m_join.neutral());
    m_code.close();
    openTiles();
    read();
    scan();
    store();
    m_code.close();
    m_code.close();
    if (m_isStreaming) {
      m_code.line("_mm_sfence();");
    }
    m_code.close();
    return m_writer.finish();
  }

 private:
  void openTiles() {
    const bool isWhole = m_length % m_tile == 0;
    if (m_isBackwards) {
      m_code.open("for (long long first = {}; first >= 0; first -= {})", (m_length - 1) / m_tile * m_tile, m_tile);
    } else {
      m_code.open("for (long long first = 0; first < {}; first += {})", m_length, m_tile);
    }
    m_count = isWhole ? std::to_string(m_tile) : "count";
    if (!isWhole) {
      m_code.line("const long long count = std::min({}LL, {} - first);", m_tile, m_length);
    }
  }

  // A block that has fewer sequences goes through its last one several times.
  void openRows() {
    m_outside = m_writer.scope();
    m_code.open("for (int r = 0; r < {}; ++r)", m_rows);
    const std::string sequence = m_rows == 1 ? "block" : fmt::format("block * {} + r", m_rows);
    m_code.line("const long long sequence = {};",
                m_sequences % m_rows == 0 ? sequence : fmt::format("std::min({}, {}LL)", sequence, m_sequences - 1));
    if (const std::vector<std::size_t> batch = axesOf(m_region, AxisRole::Batch); !batch.empty()) {
      m_writer.decode("sequence", batch);
    }
  }
  void closeRows() {
    m_code.close();
    m_writer.leave(m_outside);
  }

  void read() {
    openRows();
    m_code.pragma("#pragma omp simd");
    m_code.open("for (int i = 0; i < {}; ++i)", m_count);
    m_writer.bindAxis(scanAxis(m_region), "(first + i)");
    m_code.line("scanned[r][i] = {};", input().text);
    m_code.close();
    closeRows();
  }

  void scan() {
    if (m_isBackwards) {
      m_code.open("for (int i = int({}) - 1; i >= 0; --i)", m_count);
    } else {
      m_code.open("for (int i = 0; i < {}; ++i)", m_count);
    }
    m_code.open("for (int r = 0; r < {}; ++r)", m_rows);
    m_code.line("running[r] = {};", m_join("running[r]", "scanned[r][i]"));
    m_code.line("scanned[r][i] = running[r];");
    m_code.close();
    m_code.close();
  }

  void store() {
    openRows();
    ElementLoops loops(m_writer, m_region, m_isStreaming, [this](const std::string& /*column*/) {
      bindRunning(m_writer, m_region, result("scanned[r][i]"));
    });
    loops.tile("first", m_count, std::to_string(m_tile), "i");
    closeRows();
  }

  std::int64_t m_rows;
  std::int64_t m_tile;
  bool m_isStreaming;
  std::int64_t m_sequences;
  std::string m_count;
  KernelWriter::Scope m_outside;
};

// Neighbouring sequences in the lanes of vectors.
class ColumnText : public CpuScanText {
 public:
  ColumnText(const Instance& instance, const Laid& laid)
      : CpuScanText(instance, laid),
        m_columns(laid.region.axes.back().extent),
        m_tile(std::min(instance.value("tile", 1), m_columns)) {}

  KernelText run(const std::string& entry) {
    const std::int64_t across = divideUp(m_columns, m_tile);
    const bool isWhole = m_columns % m_tile == 0;
    const std::string count = isWhole ? std::to_string(m_tile) : "count";
    m_code.comment(fmt::format("Sequences of {}{}, {} neighbours at a time.", m_length, endText(), m_tile));
    openCppKernel(m_writer, entry);
    std::vector<std::size_t> planes = axesOf(m_region, AxisRole::Batch);
    planes.pop_back();
    m_code.pragma("#pragma omp parallel for schedule(static)");
    m_code.open("for (long long block = 0; block < {}; ++block)", positions(m_region, planes) * across);
    m_code.line("const long long first = {};", across > 1 ? fmt::format("block % {} * {}", across, m_tile) : "0");
    if (!isWhole) {
      m_code.line("const long long count = std::min({}LL, {} - first);", m_tile, m_columns);
    }
    if (!planes.empty()) {
      m_code.line("const long long plane = block / {};", across);
      m_writer.decode("plane", planes);
    }
    m_code.line("{} running[{}];", m_join.type(), m_tile);
    m_code.open("for (int i = 0; i < {}; ++i)", m_tile);
    m_code.line("running[i] = {};", m_join.neutral());
    m_code.close();
    walk(count);
    m_code.close();
    m_code.close();
    return m_writer.finish();
  }

 private:
  void walk(const std::string& count) {
    if (m_isBackwards) {
      m_code.open("for (long long position = {}; position >= 0; --position)", m_length - 1);
    } else {
      m_code.open("for (long long position = 0; position < {}; ++position)", m_length);
    }
    m_code.pragma("#pragma omp simd");
    m_code.open("for (int i = 0; i < {}; ++i)", count);
    m_writer.bindAxis(scanAxis(m_region), "position");
    m_writer.bindAxis(m_region.axes.size() - 1, "(first + i)");
    m_code.line("running[i] = {};", m_join("running[i]", operand(input(), Expression::Term)));
    bindRunning(m_writer, m_region, result("running[i]"));
    m_writer.compute(storedPrims(m_region.elementStores));
    m_writer.store(m_region.elementStores);
    m_code.close();
    m_code.close();
  }

  std::int64_t m_columns;
  std::int64_t m_tile;
};

class CpuScan : public Strategy {
 public:
  explicit CpuScan(std::string id) : Strategy(domain::Language::Cpp, std::move(id)) {}

  [[nodiscard]] Launch launch(const Instance& /*instance*/, const std::string& entry) const final {
    Launch launch;
    launch.step.entry = entry;
    return launch;
  }

  [[nodiscard]] domain::Cell aims(const Instance& instance) const final {
    return {instance.value("streaming") != 0 ? domain::DataMovement::Pipelined : domain::DataMovement::Wide,
            domain::Arithmetic::Packed, domain::Decomposition::OneLaunch};
  }

 private:
  [[nodiscard]] Result<> fits(const Instance& instance) const final {
    constexpr std::int64_t kMostStack = 128 << 10;
    const std::int64_t bytes = 8 * instance.value("rows", 1) * instance.value("tile", 1);
    return bytes > kMostStack ? Result<>(unfit("tiles need too much stack")) : Result<>();
  }
};

class ScanRows final : public CpuScan {
 public:
  ScanRows() : CpuScan("scan") {}

  [[nodiscard]] Example example() const override { return examples::cumulativeSum({1024, 4096}, 1); }
  [[nodiscard]] bool accepts(const Region& region) const override {
    return isScan(region) && scanAxis(region) + 1 == region.axes.size();
  }

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    const Laid laid = laidOut(instance.region);
    return RowText(instance, laid).run(launch.step.entry);
  }
};

class ScanColumns final : public CpuScan {
 public:
  ScanColumns() : CpuScan("scan_columns") {}

  [[nodiscard]] Example example() const override { return examples::cumulativeSum({1024, 4096}, 0); }
  [[nodiscard]] bool accepts(const Region& region) const override {
    return isScan(region) && scanAxis(region) + 1 < region.axes.size();
  }

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    const Laid laid = laidOut(instance.region);
    return ColumnText(instance, laid).run(launch.step.entry);
  }
};

}  // namespace

void addScans(StrategyTable& table) {
  table.add(std::make_unique<ScanRows>());
  table.add(std::make_unique<ScanColumns>());
}

}  // namespace swage::synth::cpu
