// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/synth/strategies/attention_mma.h"

namespace swage::synth {

// Writes the functions that bring tiles of queries, keys and values into shared memory, for the kernel of attention by
// mma.sync. What it is made with must outlive it.
class AttentionCopies {
 public:
  AttentionCopies(const Region& region, const AttentionShape& shape, const AttentionTiles& tiles,
                  const AttentionSources& sources, domain::ScalarType type, KernelWriter& writer)
      : m_region(region),
        m_shape(shape),
        m_tiles(tiles),
        m_sources(sources),
        m_type(type),
        m_writer(writer),
        m_code(writer.code()) {}

  // bringQueries(), bringKeys(first_key), bringValues(first_key)
  void write();
  // The number of a line among those of all batches of the operand.
  [[nodiscard]] std::string lineOf(const AttentionSource& source, const std::string& line) const;

 private:
  // How a tile is copied: threads side by side take pieces of 16 bytes of one line, and then lines further down, so
  // that all that a thread copies lies at fixed distances from its first piece.
  struct Tile {
    const AttentionSource& source;
    std::string name;   // in shared memory
    std::string first;  // its first line in the operand
    std::string line;   // what a line is
    std::string along;  // and what lies in it
    std::int64_t lines = 0;
    std::int64_t count = 0;   // lines of the operand
    std::int64_t width = 0;   // numbers of a line in shared memory
    std::int64_t extent = 0;  // of these, in the operand
    std::int64_t pitch = 0;
    std::int64_t bytes = 0;  // of one part
    std::size_t lineAxis = 0;
  };

  [[nodiscard]] Tile queryTile() const;
  [[nodiscard]] Tile keyTile() const;
  [[nodiscard]] Tile valueTile() const;
  [[nodiscard]] std::string batchOf(const AttentionSource& source) const;
  void bring(const Tile& tile, const std::string& function);
  std::int64_t placeFirst(const Tile& tile);
  void copyPiece(const Tile& tile, std::int64_t stride, std::int64_t piece);
  void splitQueries();
  void readQuery(std::int64_t pieces);

  const Region& m_region;
  const AttentionShape& m_shape;
  const AttentionTiles& m_tiles;
  const AttentionSources& m_sources;
  domain::ScalarType m_type;
  KernelWriter& m_writer;
  Code& m_code;
};

// " + 16"; empty for nothing.
[[nodiscard]] inline std::string plusOffset(std::int64_t offset) {
  return offset == 0 ? "" : fmt::format(" + {}", offset);
}

}  // namespace swage::synth
