// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/synth/strategies/product_onepass.h"

// What the text of a product that splits its operands while it brings them is written from.
namespace swage::synth {

struct OnepassText {
  OnepassText(const Instance& instance, ProductShape product, int numberOfRegion);

  const Region& region;
  ProductShape shape;
  OnepassTiles tiles;
  OnepassSchedule schedule;
  OnepassSource left;
  OnepassSource right;
  int number;
  KernelWriter writer;
  Code& code;
  bool storesRows;  // whole rows of a tile, by the copy engine

  [[nodiscard]] bool isCut() const { return schedule.parts > 1; }
  [[nodiscard]] bool isBatched() const { return shape.batchCount > 1; }
  // All: the operands, what follows the product, and the results.
  [[nodiscard]] std::vector<std::size_t> usedBuffers() const;
  // Of both large kernels.
  [[nodiscard]] std::string parameters(bool isProduct) const;
};

// One of the parts below, with what it reads of the text at hand.
class OnepassPart {
 protected:
  explicit OnepassPart(OnepassText& text)
      : m_text(text),
        m_region(text.region),
        m_shape(text.shape),
        m_tiles(text.tiles),
        m_schedule(text.schedule),
        m_left(text.left),
        m_right(text.right),
        m_number(text.number),
        m_writer(text.writer),
        m_code(text.code) {}
  ~OnepassPart() = default;

  [[nodiscard]] bool isCut() const { return m_text.isCut(); }
  [[nodiscard]] bool isBatched() const { return m_text.isBatched(); }
  [[nodiscard]] bool copiesRows() const { return isCut() || m_text.storesRows; }
  // "min(x, 7)" where x may be larger.
  [[nodiscard]] static std::string clamped(const std::string& value, std::int64_t last, bool isNeeded);
  void openPieces(const std::string& name, std::int64_t count);
  void setRegisters(std::int64_t count);
  // One thread of so many tells that all of them are ready.
  void arrive(const std::string& barrier, int threads);

  OnepassText& m_text;
  const Region& m_region;
  const ProductShape& m_shape;
  const OnepassTiles& m_tiles;
  const OnepassSchedule& m_schedule;
  const OnepassSource& m_left;
  const OnepassSource& m_right;
  int m_number;
  KernelWriter& m_writer;
  Code& m_code;
};

// The branch of the warp groups that bring; what becomes of a tile's sums; and the last kernel.
void writeOnepassBring(OnepassText& text);
void writeOnepassResults(OnepassText& text);
void writeOnepassFinish(OnepassText& text, const std::string& entry);

}  // namespace swage::synth
