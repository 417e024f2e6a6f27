// SPDX-License-Identifier: Apache-2.0
// The warp of a convolution by wgmma that has weights brought, as text.
#include <algorithm>

#include <fmt/ranges.h>

#include "core/synth/strategies/conv_wgmma_text.h"

namespace swage::synth {
namespace {

class HaloBringWeights : private HaloPart {
 public:
  explicit HaloBringWeights(HaloText& text) : HaloPart(text) {}

  void run() {
    m_code.comment("--- One thread has the copy engine bring weights.");
    const KernelWriter::Scope outside = m_writer.scope();
    if (m_layout.isKept) {
      bringAllWeights();
      m_writer.leave(outside);
      return;
    }
    m_code.line("int stage = 0, phase = 0;");
    m_text.openTiles("lane == 0 && ");
    m_text.passOverEmpty();
    if (m_text.isScaled()) {
      m_code.open("for (bool is_last = false; !is_last;)");
    }
    m_text.openSteps();
    const int phases = m_text.openPhases("#pragma unroll 1");
    m_code.line("const {0}* const from = {1} + {2};", m_text.partStorage(), m_text.planes, weightsOfTile());
    m_text.openTaps();
    m_code.line("const unsigned int ready = full + {} + stage * 8;", HaloLayout::kFullStage);
    m_code.line("waitFor(full + {} + stage * 8, phase ^ 1);", HaloLayout::kEmptyStage);
    m_code.line("expectBytes(ready, {});", m_tiles.stageBytes());
    bringStage("stages + stage * " + std::to_string(m_tiles.stageBytes()), "tap");
    m_text.advanceStage();
    for (int i = 0; i < 1 + phases; ++i) {
      m_code.close();
    }
    if (m_text.isScaled()) {
      m_code.line("waitFor(full + slot * 8, turn);");
      m_code.line("is_last = verdict[slot] != 0.0f;  // of the last patch: else the tile is made again");
      m_code.line("arriveAt(empty + slot * 8, 0);");
      m_code.line("advance();");
      m_code.close();
    }
    m_code.close();
    m_code.close();
    m_writer.leave(outside);
  }

 private:
  [[nodiscard]] std::string weightsOfTile() const {
    const std::int64_t plane = m_weights.lines * m_weights.depth;
    const std::string batch = m_text.weightsBatch("p");
    return fmt::format("{}tile.column * 8", batch.empty() ? "" : fmt::format("{} * {}LL + ", batch, plane));
  }

  // Those of one place of the window, for the channels of a step.
  void bringStage(const std::string& to, const std::string& tap) {
    const std::int64_t ofPlace = m_problem.paddedChannels() / 8;
    const std::string place = m_problem.far() == nullptr ? tap : fmt::format("(far * {} + {})", m_layout.taps, tap);
    m_code.line("const int piece = {} * {} + {} / 8;", place, ofPlace, m_text.firstChannel());
    m_code.open("for (int c = 0; c < {}; ++c)", m_tiles.pieces());
    for (std::int64_t half = 0; half < m_tiles.halves(); ++half) {
      m_code.line("bringBytes({}{} + c * {}, from + (piece + c) * {}LL{}, {}, ready);", to,
                  half > 0 ? fmt::format(" + {}", m_tiles.halfBytes()) : "", m_tiles.columns * 16, m_weights.lines * 8,
                  half > 0 ? fmt::format(" + {}LL", m_weights.elements()) : "", m_tiles.columns * 16);
    }
    m_code.close();
  }

  void bringAllWeights() {
    m_code.open("if (lane == 0 && find_{}(0, tile))", m_text.number);
    if (m_text.isBatched()) {
      m_code.line("const int batch = tile.batch;");
    }
    m_code.line("const unsigned int ready = full + {};", HaloLayout::kFullStage);
    m_code.line("expectBytes(ready, {});", m_layout.stages / m_layout.ofPatch * m_layout.taps * m_tiles.stageBytes());
    m_text.openSteps();
    const int phases = m_text.openPhases("#pragma unroll 1");
    m_code.line("const {0}* const from = {1} + {2};", m_text.partStorage(), m_text.planes, weightsOfTile());
    m_text.openTaps(HaloText::EmptyPlaces::Kept);
    const std::string to = fmt::format("stages + {} * {}", m_text.stageNumber(), m_tiles.stageBytes());
    const std::vector<std::int64_t> numbers = order();
    const bool isSorted = m_tiles.isPaired() && !std::is_sorted(numbers.begin(), numbers.end());
    if (isSorted) {
      m_code.line("constexpr int order[{}] = {{{}}};  // of places, as their pixels begin", m_layout.taps,
                  fmt::join(numbers, ", "));
    }
    bringStage(to, isSorted ? "order[tap]" : "tap");
    for (int i = 0; i < 3 + phases; ++i) {
      m_code.close();
    }
  }

  // Numbers of places, as their pixels begin.
  [[nodiscard]] std::vector<std::int64_t> order() const {
    std::vector<std::int64_t> numbers;
    for (const HaloPlace& place : m_layout.sortedPlaces(m_problem)) {
      numbers.push_back(place.y * m_problem.across().places + place.x);
    }
    return numbers;
  }
};

}  // namespace

void writeHaloBringWeights(HaloText& text) {
  HaloBringWeights(text).run();
}

}  // namespace swage::synth
