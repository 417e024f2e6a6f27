// SPDX-License-Identifier: Apache-2.0
// Folds in order, with a result at every position.
#include <algorithm>

#include "core/synth/emit/frame.h"
#include "core/synth/sizes.h"
#include "core/synth/strategies/builtin.h"

namespace swage::synth {
namespace {

const Fold& foldOf(const Region& region) {
  return region.folds.front();
}

// A region that scans one value along one axis.
bool isScan(const Region& region) {
  if (region.kind() != NestKind::Scan || region.folds.size() != 1 || axesOf(region, AxisRole::Scan).size() != 1 ||
      !region.groupStores.empty()) {
    return false;
  }
  return foldOf(region).kind == FoldKind::Sum || foldOf(region).kind == FoldKind::Product;
}

std::size_t scanAxis(const Region& region) {
  return axesOf(region, AxisRole::Scan).front();
}

void bindRunning(KernelWriter& writer, const Region& region, const std::string& value) {
  for (std::size_t prim = 0; prim < region.prims.size(); ++prim) {
    if (region.prims[prim].kind == Prim::Kind::Folded) {
      writer.bind(static_cast<int>(prim), {value});
    }
  }
}

// Writes the kernel in which a block goes along one sequence.
class BlockScan {
 public:
  explicit BlockScan(const Instance& instance)
      : m_region(instance.region),
        m_threads(instance.value("threads", 32)),
        m_items(instance.value("items", 1)),
        m_writer(instance, Dialect::of(domain::Language::CudaCpp),
                 {"sequence", "first", "position", "x", "before", "carry", "lane", "warp", "of_warps", "all", "v", "d",
                  "other"}),
        m_code(m_writer.code()) {
    const Prim& input = m_region.prims[static_cast<std::size_t>(foldOf(m_region).input)];
    m_type = m_writer.dialect().typeName(input.type);
    m_sign = foldOf(m_region).kind == FoldKind::Sum ? "+" : "*";
    m_neutral = m_writer.dialect().constant(foldOf(m_region).kind == FoldKind::Sum ? 0.0 : 1.0, input.type);
  }

  KernelText run(const std::string& entry) {
    const std::int64_t length = m_region.axes[scanAxis(m_region)].extent;
    m_code.comment(
        fmt::format("A block goes along one sequence of {}, {} positions at a time: each thread scans {}, the "
                    "warps and then the block scan what their threads found, and what came before is carried.",
                    length, m_threads * m_items, m_items));
    openCudaKernel(m_writer, entry, m_threads);
    m_code.line("__shared__ {} of_warps[{}];", m_type, m_threads / 32);
    m_code.line("const int lane = threadIdx.x % 32;");
    m_code.line("const int warp = threadIdx.x / 32;");
    m_code.line("const {} sequence = blockIdx.x;", m_writer.index());
    if (const std::vector<std::size_t> batch = axesOf(m_region, AxisRole::Batch); !batch.empty()) {
      m_writer.decode("sequence", batch);
    }
    m_code.line("{} carry = {};", m_type, m_neutral);
    m_code.open("for (int first = 0; first < {}; first += {})", length, m_threads * m_items);
    scanOwn(length);
    scanWarp();
    scanBlock();
    store(length);
    m_code.line("carry = carry {} all;", m_sign);
    m_code.line("__syncthreads();  // of_warps has been read by all");
    m_code.close();
    m_code.close();
    return m_writer.finish();
  }

 private:
  void openItems(std::int64_t length) {
    m_code.pragma("#pragma unroll");
    m_code.open("for (int v = 0; v < {}; ++v)", m_items);
    m_code.line("const {} position = first + int(threadIdx.x) * {} + v;", m_writer.index(), m_items);
    m_code.open("if (position < {})", length);
    m_writer.bindAxis(scanAxis(m_region), "position");
  }

  void scanOwn(std::int64_t length) {
    const KernelWriter::Scope outside = m_writer.scope();
    const int input = foldOf(m_region).input;
    m_code.line("{} x[{}];", m_type, m_items);
    m_code.line("{} own = {};", m_type, m_neutral);
    openItems(length);
    m_writer.compute({input});
    m_code.line("own = own {} {};", m_sign, operand(m_writer.value(input), Expression::Term));
    m_code.close();
    m_code.line("x[v] = own;");
    m_code.close();
    m_writer.leave(outside);
  }

  void scanWarp() {
    m_code.line("{} through = own;  // from the first thread of the warp to this one", m_type);
    m_code.pragma("#pragma unroll");
    m_code.open("for (int d = 1; d < 32; d *= 2)");
    m_code.line("const {} other = __shfl_up_sync(0xffffffffu, through, d);", m_type);
    m_code.line("through = lane >= d ? other {} through : through;", m_sign);
    m_code.close();
    m_code.line("{} before = __shfl_up_sync(0xffffffffu, through, 1);", m_type);
    m_code.line("before = lane == 0 ? {} : before;", m_neutral);
    m_code.open("if (lane == 31)");
    m_code.line("of_warps[warp] = through;");
    m_code.close();
    m_code.line("__syncthreads();");
  }

  void scanBlock() {
    m_code.line("{} all = {};", m_type, m_neutral);
    m_code.line("{} earlier = {};  // warps", m_type, m_neutral);
    m_code.pragma("#pragma unroll");
    m_code.open("for (int v = 0; v < {}; ++v)", m_threads / 32);
    m_code.line("earlier = v == warp ? all : earlier;");
    m_code.line("all = all {} of_warps[v];", m_sign);
    m_code.close();
    m_code.line("before = carry {0} earlier {0} before;", m_sign);
  }

  void store(std::int64_t length) {
    const KernelWriter::Scope outside = m_writer.scope();
    openItems(length);
    bindRunning(m_writer, m_region, fmt::format("(before {} x[v])", m_sign));
    m_writer.compute(storedPrims(m_region.elementStores));
    m_writer.store(m_region.elementStores);
    m_code.close();
    m_code.close();
    m_writer.leave(outside);
  }

  const Region& m_region;
  std::int64_t m_threads;
  std::int64_t m_items;
  KernelWriter m_writer;
  Code& m_code;
  std::string m_type;
  std::string m_sign;
  std::string m_neutral;
};

std::int64_t sequencesOf(const Region& region) {
  return positions(region, axesOf(region, AxisRole::Batch));
}

class CudaScan final : public Strategy {
 public:
  CudaScan() : Strategy(domain::Language::CudaCpp, "scan") {}

  [[nodiscard]] bool accepts(const Region& region) const override {
    return isScan(region) && scanAxis(region) + 1 == region.axes.size();
  }

  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    Launch launch;
    launch.step.entry = entry;
    launch.step.block.x = static_cast<std::uint32_t>(instance.value("threads", 1));
    launch.step.grid.x = static_cast<std::uint32_t>(sequencesOf(instance.region));
    return launch;
  }

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    return BlockScan(instance).run(launch.step.entry);
  }

 private:
  [[nodiscard]] Result<> fits(const Instance& instance) const override {
    if (sequencesOf(instance.region) > kMaxGrid || instance.region.axes[scanAxis(instance.region)].extent > kMaxGrid) {
      return unfit("there are more sequences than blocks of a grid");
    }
    return {};
  }
};

// One sequence to a thread of a GPU, or to a lane of a processor's vectors.
class ScanColumns final : public Strategy {
 public:
  explicit ScanColumns(domain::Language language) : Strategy(language, "scan_columns") {}

  [[nodiscard]] bool accepts(const Region& region) const override { return isScan(region); }

  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    Launch launch;
    launch.step.entry = entry;
    if (language() == domain::Language::CudaCpp) {
      const std::int64_t threads = instance.value("threads", 1);
      launch.step.block.x = static_cast<std::uint32_t>(threads);
      launch.step.grid.x = static_cast<std::uint32_t>((sequencesOf(instance.region) + threads - 1) / threads);
    }
    return launch;
  }

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    const Region& region = instance.region;
    KernelWriter writer(instance, Dialect::of(language()),
                        {"sequence", "position", "running", "lost", "next", "added"});
    Code& code = writer.code();
    const std::int64_t sequences = sequencesOf(region);
    const std::int64_t length = region.axes[scanAxis(region)].extent;
    code.comment(fmt::format("One of {} sequences of {} to a thread.", sequences, length));
    if (language() == domain::Language::CudaCpp) {
      const std::int64_t threads = instance.value("threads", 1);
      openCudaKernel(writer, launch.step.entry, threads);
      code.line("const {0} sequence = {1}blockIdx.x * {2} + threadIdx.x;", writer.index(),
                writer.index() == "int" ? "" : "(long long)", threads);
      if (sequences % threads != 0) {
        code.open("if (sequence >= {})", sequences);
        code.line("return;");
        code.close();
      }
    } else {
      openCppKernel(writer, launch.step.entry);
      code.pragma("#pragma omp parallel for simd schedule(static)");
      code.open("for (long long sequence = 0; sequence < {}; ++sequence)", sequences);
    }
    if (const std::vector<std::size_t> batch = axesOf(region, AxisRole::Batch); !batch.empty()) {
      writer.decode("sequence", batch);
    }
    writeSequence(writer, region, length);
    code.close();
    if (language() == domain::Language::Cpp) {
      code.close();
    }
    return writer.finish();
  }

  [[nodiscard]] domain::Cell aims(const Instance& instance) const override {
    return language() == domain::Language::CudaCpp
               ? Strategy::aims(instance)
               : domain::Cell{domain::DataMovement::Wide, domain::Arithmetic::Packed, domain::Decomposition::OneLaunch};
  }

 private:
  [[nodiscard]] Result<> fits(const Instance& instance) const override {
    if (sequencesOf(instance.region) > kMaxGrid) {
      return unfit("there are more sequences than threads of a grid");
    }
    return {};
  }

  // A sum keeps beside it what rounding took from it (Knuth 1969), on a processor it is double instead.
  void writeSequence(KernelWriter& writer, const Region& region, std::int64_t length) const {
    Code& code = writer.code();
    const int input = foldOf(region).input;
    const Compute compute = region.prims[static_cast<std::size_t>(input)].type;
    const std::string_view type = writer.dialect().typeName(compute);
    const bool isSum = foldOf(region).kind == FoldKind::Sum;
    const bool isWide = language() == domain::Language::Cpp && isSum && compute == Compute::F32;
    const bool isCompensated = language() == domain::Language::CudaCpp && isSum;
    code.line("{} running = {};", isWide ? "double" : type,
              writer.dialect().constant(isSum ? 0.0 : 1.0, isWide ? Compute::F64 : compute));
    if (isCompensated) {
      code.line("{} lost = {};", type, writer.dialect().constant(0.0, compute));
    }
    code.open("for ({0} position = 0; position < {1}; ++position)", writer.index(), length);
    writer.bindAxis(scanAxis(region), "position");
    writer.compute({input});
    if (isCompensated) {
      code.line("const {} next = {};", type, writer.value(input).text);
      code.line("const {} total = running + next;", type);
      code.line("const {} added = total - running;", type);
      code.line("lost += (running - (total - added)) + (next - added);");
      code.line("running = total;");
    } else {
      code.line("running {}= {};", isSum ? "+" : "*", writer.value(input).text);
    }
    bindRunning(writer, region,
                isWide          ? "float(running)"
                : isCompensated ? "(lost == lost ? running + lost : running)"
                                : "running");
    writer.compute(storedPrims(region.elementStores));
    writer.store(region.elementStores);
    code.close();
  }
};

}  // namespace

void addScans(StrategyTable& table) {
  table.add(std::make_unique<CudaScan>());
  table.add(std::make_unique<ScanColumns>(domain::Language::CudaCpp));
  table.add(std::make_unique<ScanColumns>(domain::Language::Cpp));
}

}  // namespace swage::synth
