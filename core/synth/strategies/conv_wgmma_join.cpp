// SPDX-License-Identifier: Apache-2.0
// What tiles of a convolution by wgmma find of their positions, and the kernel that joins it.
#include <algorithm>

#include "core/synth/emit/cuda_folds.h"
#include "core/synth/sizes.h"
#include "core/synth/strategies/conv_wgmma_text.h"

namespace swage::synth {
namespace {

using Axes = std::vector<std::size_t>;

// The kernel that joins what tiles have found.
class HaloJoin : private HaloPart {
 public:
  explicit HaloJoin(HaloText& text)
      : HaloPart(text), m_findings(m_problem, m_layout), m_stage(m_writer, m_region, 1, 1) {}

  void write(const std::string& entry, const std::vector<std::size_t>& buffers) {
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.blank();
    m_code.comment(fmt::format(
        "Joins what {} tiles have found{}; in an order that is always the same.", m_findings.tilesOfGroup,
        m_findings.isByChannels() ? std::string() : fmt::format(" of {} channels", m_findings.channelsOfGroup)));
    const std::string more = m_writer.parameters(buffers);
    m_code.open("extern \"C\" __global__ void __launch_bounds__({}) {}({}{}const float* __restrict__ {})", threads(),
                entry, more, more.empty() ? "" : ", ", m_text.findings);
    m_code.line("const {} row = blockIdx.x / {};", m_writer.index(), m_findings.blocksOfTile());
    m_stage.define(cuda::StageText::Totals::Yes);
    m_stage.declareTotal("some");
    if (m_findings.isByChannels()) {
      joinChannels();
    } else {
      joinGroup();
    }
    m_code.close();
    m_writer.leave(outside);
  }

 private:
  [[nodiscard]] std::int64_t threads() const { return m_findings.threads(); }
  [[nodiscard]] Axes keptOf(const Axes& axes) const {
    Axes kept;
    std::copy_if(axes.begin(), axes.end(), std::back_inserter(kept),
                 [this](std::size_t axis) { return !m_region.axes[axis].isFoldedLater; });
    return kept;
  }

  // What one tile has found of a channel.
  void take(const std::string& tile, const std::string& channel) {
    m_code.line("const float* const found_of = {} + (row * {} + {}) * {} + {};", m_text.findings,
                m_findings.tilesOfGroup, tile, m_findings.numbers * m_findings.channels, channel);
    std::string numbers;
    for (std::int64_t i = 0; i < m_findings.numbers; ++i) {
      numbers += fmt::format("{}found_of[{}]", i == 0 ? "" : ", ", i * m_findings.channels);
    }
    m_code.line("const {} of = {};", m_stage.type(), m_findings.numbers == 1 ? numbers : "{" + numbers + "}");
    m_stage.addToTotal("some", "of");
  }

  void store(const std::string& condition) {
    m_writer.decode("row", keptOf(m_shape.rows));
    m_writer.decode("column", keptOf(m_shape.columns));
    m_stage.bindResults("all");
    m_code.open("if ({})", condition);
    m_writer.compute(storedPrims(m_problem.foldStores));
    m_writer.store(m_problem.foldStores);
    m_code.close();
  }

  // Threads side by side take neighbouring channels, and then a warp has all of one.
  void joinChannels() {
    constexpr std::int64_t kChannels = HaloFindings::kOfBlock;
    const std::int64_t last = m_findings.channels - 1;
    m_code.line("const int first = blockIdx.x % {} * {};", m_findings.blocksOfTile(), kChannels);
    m_code.pragma("#pragma unroll 4");
    m_code.open("for (int i = threadIdx.x / {0}; i < {1}; i += {2})", kChannels, m_findings.tilesOfGroup,
                threads() / kChannels);
    take("i", fmt::format("min(first + static_cast<int>(threadIdx.x % {}), {})", kChannels, last));
    m_code.close();
    m_code.line("__shared__ {} parts[{}];", m_stage.type(), threads());
    m_code.line("parts[threadIdx.x] = {};", m_stage.settled("some"));
    m_code.line("__syncthreads();");
    m_code.line("const int lane = threadIdx.x % 32;");
    m_code.line("const {} column = first + threadIdx.x / 32;", m_writer.index());
    m_code.open("if (threadIdx.x < {} && column < {})", 32 * kChannels, m_findings.channels);
    m_code.line("{} of = parts[lane * {} + threadIdx.x / 32];", m_stage.type(), kChannels);
    if (threads() > 32 * kChannels) {
      m_code.open("for (int i = lane + 32; i < {}; i += 32)", threads() / kChannels);
      m_code.line("of = {};", m_stage.joined("of", fmt::format("parts[i * {} + threadIdx.x / 32]", kChannels)));
      m_code.close();
    }
    m_code.line("const {} all = reduceWarp(of, {});", m_stage.type(), m_stage.join());
    store("lane == 0");
    m_code.close();
  }

  void joinGroup() {
    const std::int64_t channels = m_findings.channelsOfGroup;
    m_code.line("const {} column = blockIdx.x % {};", m_writer.index(), m_findings.blocksOfTile());
    m_code.pragma("#pragma unroll 4");
    m_code.open("for (int i = threadIdx.x; i < {}; i += {})", channels * m_findings.tilesOfGroup, threads());
    take(fmt::format("i / {}", channels), fmt::format("column * {0} + i % {0}", channels));
    m_code.close();
    m_code.line("__shared__ {} parts[{}];", m_stage.type(), threads() / 32);
    m_code.line("const {} all = reduceBlock({}, parts, {}, {});", m_stage.type(), m_stage.settled("some"),
                m_stage.none(), m_stage.join());
    store("threadIdx.x == 0");
  }

  HaloFindings m_findings;
  cuda::StageText m_stage;
};

}  // namespace

HaloFindings::HaloFindings(const HaloProblem& problem, const HaloLayout& layout)
    : channels(problem.shape.columnCount), tiles(layout.places * problem.batchCount), tilesOfGroup(tiles) {
  const Region& region = problem.region;
  for (const Fold& fold : region.folds) {
    numbers += !fold.later ? 0 : fold.kind == FoldKind::MomentPair ? 3 : 1;
  }
  for (const HaloDim& dim : problem.dims) {
    if (!region.axes[dim.position].isFoldedLater) {
      tilesOfGroup /= dim.positions;
    }
  }
  for (const std::size_t axis : problem.shape.columns) {
    channelsOfGroup *= region.axes[axis].isFoldedLater ? region.axes[axis].extent : 1;
  }
}

std::int64_t HaloFindings::blocksOfTile() const {
  return isByChannels() ? divideUp(channels, kOfBlock) : channels / channelsOfGroup;
}

std::int64_t HaloFindings::threads() const {
  constexpr std::int64_t kLeast = 32 * kOfBlock;  // a warp for each result
  constexpr std::int64_t kMost = 1024;
  const std::int64_t items = tilesOfGroup * (isByChannels() ? kOfBlock : channelsOfGroup);
  std::int64_t threads = kLeast;
  while (threads < kMost && threads * 4 < items) {
    threads *= 2;
  }
  return threads;
}

domain::KernelStep HaloFindings::step(const std::string& entry) const {
  domain::KernelStep step;
  step.entry = entry;
  step.block.x = static_cast<std::uint32_t>(threads());
  step.grid.x = static_cast<std::uint32_t>(tiles / tilesOfGroup * blocksOfTile());
  return step;
}

void writeHaloJoin(HaloText& text, const std::string& entry, const std::vector<std::size_t>& buffers) {
  HaloJoin(text).write(entry, buffers);
}

}  // namespace swage::synth
