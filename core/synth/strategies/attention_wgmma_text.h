// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/synth/strategies/attention_wgmma.h"

// The parts of the kernel of attention by wgmma, and what their texts share.
namespace swage::synth {

// The kernel being written, in its names: `tile`, `slot` and `phase` of keys and values, `step`, `group`, `warp`,
// `lane`.
struct AttentionText {
  AttentionText(const Instance& instance, AttentionShape attention, int kernel);

  const Region& region;
  AttentionShape shape;
  WarpGroupTiles tiles;
  AttentionSchedule schedule;
  AttentionMap query;
  AttentionMap key;
  AttentionMap value;
  int number;
  KernelWriter writer;
  Code& code;

  [[nodiscard]] bool isHalf() const { return query.operand->dtype == domain::ScalarType::Float16; }
  [[nodiscard]] std::string packing() const { return isHalf() ? "packHalves" : "packBFloat16s"; }
  [[nodiscard]] bool isBatched() const { return shape.batchCount > 1; }
  [[nodiscard]] bool hasRowTail() const { return shape.rowCount % tiles.rows() != 0; }
  // Whether exponentials are summed, too.
  [[nodiscard]] bool hasWeights() const { return shape.weights >= 0; }
  // Whether scores are something else than products.
  [[nodiscard]] bool changesScores() const;
  [[nodiscard]] std::int64_t steps() const;
  [[nodiscard]] std::string stepsText() const { return shape.isCausal ? "tile.steps" : std::to_string(steps()); }
  // Of the tile that a block makes as number i.
  [[nodiscard]] std::string numberOfOwn() const { return fmt::format("blockIdx.x + i * {}", schedule.blocks); }
  [[nodiscard]] const Operand& operandOf(int prim) const;

  // Joins what the four lanes have that share a query; `join` is a format of two values.
  void meet(const std::string& what, const std::string& join);
};

// One of the parts below, with what it reads of the text at hand.
class AttentionPart {
 protected:
  explicit AttentionPart(AttentionText& text)
      : m_text(text),
        m_region(text.region),
        m_shape(text.shape),
        m_tiles(text.tiles),
        m_schedule(text.schedule),
        m_writer(text.writer),
        m_code(text.code) {}
  ~AttentionPart() = default;

  AttentionText& m_text;
  const Region& m_region;
  const AttentionShape& m_shape;
  const WarpGroupTiles& m_tiles;
  const AttentionSchedule& m_schedule;
  KernelWriter& m_writer;
  Code& m_code;
};

// What the warp groups do that multiply; of it the functions for scores in their registers, and what is stored.
void writeAttentionMultiply(AttentionText& text);
void writeAttentionScores(AttentionText& text);
void writeAttentionResults(AttentionText& text);

}  // namespace swage::synth
