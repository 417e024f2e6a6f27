// SPDX-License-Identifier: Apache-2.0
#include "core/synth/strategies/attention_copies.h"

#include <numeric>

#include "core/synth/sizes.h"

namespace swage::synth {

void AttentionCopies::write() {
  if (m_tiles.isSplit()) {
    splitQueries();
  } else {
    bring(queryTile(), "bringQueries");
  }
  bring(keyTile(), "bringKeys");
  bring(valueTile(), "bringValues");
}

// A line of all batches.
std::string AttentionCopies::lineOf(const AttentionSource& source, const std::string& line) const {
  const std::string batch = batchOf(source);
  const std::int64_t lines = source.parts->lineExtent();
  return batch.empty() ? line : fmt::format("({}) * {} + {}", batch, lines, line);
}

// A block reads its queries once, so that they need no pass: each warp splits its own.
void AttentionCopies::splitQueries() {
  const KernelWriter::Scope outside = m_writer.scope();
  const std::int64_t pieces = divideUp(m_tiles.depth, 128);  // of a lane: four neighbours each
  m_code.comment(
      "Splits a query into halves, whose scale brings the largest magnitude to 2^14. The bits of magnitudes are "
      "ordered as these are.");
  m_code.open("const auto bringQueries = [&]()");
  m_code.pragma("#pragma unroll 16");
  m_code.open("for (int i = 0; i < {}; ++i)", m_tiles.warpRows);
  m_code.line("const int line = warp_row + i;");
  m_code.line("const int row = first_row + line;");
  m_code.line("float x[{}][4];", pieces);
  m_code.line("unsigned int bits = 0;");
  m_writer.decode("row", m_shape.rows);
  readQuery(pieces);
  m_code.pragma("#pragma unroll");
  m_code.open("for (int d = 16; d > 0; d /= 2)");
  m_code.line("bits = max(bits, __float_as_uint(__shfl_xor_sync(0xffffffffu, __uint_as_float(bits), d)));");
  m_code.close();
  m_code.line("const bool is_finite = bits < 0x7f800000u;");
  m_code.line("const int exponent = is_finite ? min(141 - static_cast<int>(bits >> 23), 126) : 0;");
  m_code.open("if (lane == 0)");
  m_code.line("exponents[line] = is_finite ? -exponent : kNotFinite;");
  m_code.close();
  m_code.pragma("#pragma unroll");
  m_code.open("for (int j = 0; j < {}; ++j)", pieces);
  m_code.open("if (j * 128 + lane * 4 < {})", m_tiles.depth);
  m_code.line("const SplitFour parts = splitFour(x[j], is_finite ? __int_as_float((exponent + 127) << 23) : 0.0f);");
  m_code.line("const unsigned int to = queries + line * {} + j * 256 + lane * 8;", m_tiles.depthPitch());
  m_code.line("storeFour(to, parts.high);");
  m_code.line("storeFour(to + {}, parts.low);", m_tiles.queryBytes());
  m_code.close();
  m_code.close();
  m_code.close();
  m_code.close(";");
  m_writer.leave(outside);
}

void AttentionCopies::readQuery(std::int64_t pieces) {
  m_code.pragma("#pragma unroll");
  m_code.open("for (int j = 0; j < {}; ++j)", pieces);
  m_code.pragma("#pragma unroll");
  m_code.open("for (int h = 0; h < 4; ++h)");
  m_code.line("const int depth = j * 128 + lane * 4 + h;");
  m_code.line("x[j][h] = 0.0f;");
  std::string condition;
  if (m_shape.rowCount % m_tiles.rows != 0) {
    condition = fmt::format("row < {}", m_shape.rowCount);
  }
  if (m_shape.depthCount % 128 != 0) {
    condition += fmt::format("{}depth < {}", condition.empty() ? "" : " && ", m_shape.depthCount);
  }
  if (!condition.empty()) {
    m_code.open("if ({})", condition);
  }
  m_writer.decode("depth", m_shape.depth);
  m_writer.compute({m_shape.query});
  m_code.line("x[j][h] = {};", m_writer.value(m_shape.query).text);
  if (!condition.empty()) {
    m_code.close();
  }
  m_code.line("bits = max(bits, __float_as_uint(x[j][h]) & 0x7fffffffu);");
  m_code.close();
  m_code.close();
}

// The number of the operand's own batch: heads may share it.
std::string AttentionCopies::batchOf(const AttentionSource& source) const {
  if (source.shape.batch.size() == m_shape.batch.size()) {
    return m_shape.batchCount > 1 ? "batch" : "";
  }
  std::string text;
  for (const std::size_t axis : source.shape.batch) {
    const std::string& at = m_writer.coordinate(axis);
    text = text.empty() ? at : fmt::format("({}) * {} + {}", text, m_region.axes[axis].extent, at);
  }
  return text;
}

AttentionCopies::Tile AttentionCopies::queryTile() const {
  return {m_sources.query,
          "queries",
          "first_row",
          "row",
          "depth",
          m_tiles.rows,
          m_shape.rowCount,
          m_tiles.depth,
          m_shape.depthCount,
          m_tiles.depthPitch(),
          m_tiles.queryBytes(),
          m_shape.rows.empty() ? 0 : m_shape.rows[0]};
}
AttentionCopies::Tile AttentionCopies::keyTile() const {
  return {m_sources.key,
          "keys",
          "first_key",
          "key",
          "depth",
          m_tiles.keys,
          m_shape.keyCount,
          m_tiles.depth,
          m_shape.depthCount,
          m_tiles.depthPitch(),
          m_tiles.keyBytes(),
          m_shape.keys[0]};
}
AttentionCopies::Tile AttentionCopies::valueTile() const {
  return {m_sources.value,
          "values",
          "first_key",
          "key",
          "column",
          m_tiles.keys,
          m_shape.keyCount,
          m_tiles.columns,
          m_shape.columnCount,
          m_tiles.columnPitch(),
          m_tiles.valueBytes(),
          m_shape.keys[0]};
}

void AttentionCopies::bring(const Tile& tile, const std::string& function) {
  const std::int64_t pieces = tile.width / 8;
  const std::int64_t across = std::gcd(pieces, m_tiles.threads());
  const std::int64_t down = m_tiles.threads() / across;
  const KernelWriter::Scope outside = m_writer.scope();
  m_code.open("const auto {} = [&]({})", function, tile.first == "first_key" ? "int first_key" : "");
  m_code.line("const int line = threadIdx.x / {};", across);
  m_code.line("const int piece = threadIdx.x % {};", across);
  if (down > tile.lines) {
    m_code.open("if (line < {})", tile.lines);
  }
  m_code.line("const unsigned int to = {} + line * {} + piece * 16;", tile.name, tile.pitch);
  const std::int64_t stride = placeFirst(tile);
  m_code.pragma("#pragma unroll");
  m_code.open("for (int i = 0; i < {}; i += {})", tile.lines, down);
  for (std::int64_t piece = 0; piece < pieces; piece += across) {
    copyPiece(tile, stride, piece);
  }
  m_code.close();
  if (down > tile.lines) {
    m_code.close();
  }
  if (m_tiles.isSplit() && tile.name == "keys") {
    m_code.open("if (threadIdx.x < {})", m_tiles.keys);
    m_code.line("key_scales[threadIdx.x] = ldexpf(1.0f, {}[{}]);", tile.source.exponents,
                lineOf(tile.source, "first_key + threadIdx.x"));
    m_code.close();
  }
  m_code.close(";");
  m_writer.leave(outside);
}

// Where the first piece of a thread lies; from one line to the next there are so many elements.
std::int64_t AttentionCopies::placeFirst(const Tile& tile) {
  const AttentionSource& source = tile.source;
  const std::string type = std::string(m_writer.dialect().storageName(m_type));
  if (source.parts) {
    const bool isValue = tile.name == "values";
    const std::int64_t extent = isValue ? source.parts->depthExtent() : source.parts->lineExtent();
    const std::int64_t width = isValue ? source.parts->lineExtent() : source.parts->depthExtent();
    const std::string batch = batchOf(source);
    m_code.line("const {}* const from = {} + {}({} + line) * {} + piece * 8;", type, source.planes,
                batch.empty() ? "" : fmt::format("({}) * {}LL + ", batch, extent * width), tile.first, width);
    return width;
  }
  m_code.line("const int {} = {} + line;", tile.line, tile.first);
  m_code.line("const int {} = piece * 8;", tile.along);
  m_writer.decode(tile.line, tile.line == "row" ? m_shape.rows : m_shape.keys);
  m_writer.decode(tile.along, tile.along == "column" ? m_shape.columns : m_shape.depth);
  m_code.line("const {}* const from = &{};", type, m_writer.element(*source.operand));
  return tile.line == "row" && m_shape.rows.empty() ? 0 : source.operand->strides[tile.lineAxis];
}

// `piece`: behind the first of the thread, in line i.
void AttentionCopies::copyPiece(const Tile& tile, std::int64_t stride, std::int64_t piece) {
  const std::string to = fmt::format("to + i * {}{}", tile.pitch, plusOffset(piece * 16));
  const std::string from = fmt::format("from + i * {}{}", stride, plusOffset(piece * 8));
  if (tile.source.parts) {
    for (std::int64_t part = 0; part < m_tiles.parts(); ++part) {
      m_code.line("copyAsync({}{}, {}{});", to, plusOffset(part * tile.bytes), from,
                  plusOffset(part * tile.source.parts->planeElements()));
    }
    return;
  }
  std::string condition;
  if (tile.count % tile.lines != 0) {
    condition = fmt::format("{} + i < {}", tile.line, tile.count);
  }
  if (tile.extent < tile.width) {
    condition +=
        fmt::format("{}{}{} < {}", condition.empty() ? "" : " && ", tile.along, plusOffset(piece * 8), tile.extent);
  }
  if (condition.empty()) {
    m_code.line("copyAsync({}, {});", to, from);
  } else {
    m_code.openBlock();
    m_code.line("const bool is_inside = {};", condition);
    m_code.line("copyAsync({}, is_inside ? {} : {}, is_inside);", to, from, m_writer.parameterOf(*tile.source.operand));
    m_code.close();
  }
}

}  // namespace swage::synth
