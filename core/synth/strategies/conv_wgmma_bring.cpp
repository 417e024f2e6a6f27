// SPDX-License-Identifier: Apache-2.0
// The warps of a convolution by wgmma that bring patches, as text.
#include <algorithm>
#include <cstdlib>

#include "core/synth/strategies/conv_wgmma_places.h"

namespace swage::synth {
namespace {

// Low halves have bits down to 2^-24. So the first tile is scaled so that inputs up to 31 are held well, and the
// largest number that a tile may have at least leaves 2^-32 of it.
constexpr int kExactExponent = 10;
constexpr int kLeastExponent = 8;

class HaloBring : private HaloPart {
 public:
  explicit HaloBring(HaloText& text) : HaloPart(text), m_places(text) {}

  // --- the warps that bring patches
  void gather() {
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.comment("--- The other warps bring patches: 8 channels of a pixel in 16 bytes.");
    m_code.line("const int thread = threadIdx.x - {};", m_tiles.groups() * 128 + 32);
    m_places.name();
    nameScale();
    if (m_tiles.isStreamed()) {
      gatherStreamed();
      m_writer.leave(outside);
      return;
    }
    m_text.openTiles();
    m_text.passOverEmpty();
    if (!m_text.isScaled()) {
      syncGatherers();  // else they have met when they judged the tile before
    }
    m_places.write();
    syncGatherers();
    if (m_text.isScaled()) {
      openPass();
    }
    m_text.openSteps();
    m_code.line("const unsigned int to = memory + slot * {};", m_layout.patchBytes);
    gatherStep();
    finishStep();
    m_code.close();
    if (m_text.isScaled()) {
      m_code.close();
    }
    m_code.close();
    m_writer.leave(outside);
  }

  // A tile is brought with a scale, and once more if that does not suit it.
  void openPass() {
    m_code.open("for (bool is_last = false, is_again = false; !is_last;)");
    m_code.line("const float scale = __int_as_float((exponent + 127) << 23);");
    m_code.line("unsigned int largest = 0;  // magnitude that this thread has seen");
  }

  // The patch of a step is there.
  void finishStep() {
    if (m_text.isScaled()) {
      m_code.open("if (step == {})", m_layout.steps - 1);
      judge();
      m_code.close();
    }
    m_code.line("publishShared();");
    m_code.line("__syncwarp();");
    m_code.open("if (lane == 0)");
    m_code.line("arriveAt(full + slot * 8, 0);");
    m_code.close();
    m_code.line("advance();");
  }

  // --- the same, where some rounds of numbers are always on their way, past the registers and across tiles
  void gatherStreamed() {
    m_code.comment(fmt::format("Each thread has {} rounds of {} numbers on their way, also to the next tile.",
                               m_tiles.ahead, m_layout.itemsAtOnce(m_tiles) * 8));
    m_code.line("float* const arriving = reinterpret_cast<float*>(behind + {}) + thread;", m_layout.arriving);
    m_code.line("int asked = 0, asked_step = 0, asked_round = 0;  // what is loaded next");
    m_code.line("int round_at = 0, table = 0;  // its place in shared memory, and the table of its tile");
    m_code.line("bool is_more = true, is_fresh = true;  // tiles are left; nothing of this one has been loaded");
    writeLayOut();
    writeAsk();
    const KernelWriter::Scope outside = m_writer.scope();
    m_text.openTiles();
    m_text.passOverEmpty();
    openPass();
    m_code.open("if (is_fresh)");
    m_code.line("asked = i - 1, asked_step = {}, asked_round = 0, round_at = 0;", m_layout.steps);
    m_code.line("is_more = true;");
    m_code.pragma("#pragma unroll 1");
    m_code.open("for (int n = 0; n < {}; ++n)", m_tiles.ahead);
    m_code.line("ask();");
    m_code.close();
    m_code.close();
    m_code.open("for (int step = 0; step < {}; ++step)", m_layout.steps);
    m_code.line("const unsigned int to = memory + slot * {};", m_layout.patchBytes);
    gatherRounds();
    finishStep();
    m_code.close();
    m_code.line("is_fresh = !is_last;");
    m_code.open("if (is_fresh)");
    m_code.line("waitForCopies<0>();  // numbers of the next tile, which come again");
    m_code.close();
    m_code.close();
    m_code.close();
    m_writer.leave(outside);
  }

  // A function that writes where the pixels of the next tile lie, if there is one.
  void writeLayOut() {
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.open("const auto lay_out = [&]");
    m_code.line("Tile_{} tile;", m_text.number);
    m_code.open("for (is_more = find_{0}(++asked, tile); is_more; is_more = find_{0}(++asked, tile))", m_text.number);
    if (m_text.isBatched()) {
      m_code.line("const int batch = tile.batch;");
      m_writer.decode("batch", m_problem.batch);
    }
    m_text.passOverEmpty();
    m_code.line("table = {} - table;", m_layout.allPixels);
    m_places.write();
    m_code.line("break;");
    m_code.close();
    syncGatherers();
    m_code.close(";");
    m_writer.leave(outside);
  }

  // A function that asks for a round.
  void writeAsk() {
    const std::int64_t atOnce = m_layout.itemsAtOnce(m_tiles);
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.open("const auto ask = [&]");
    m_code.open("if (is_more && asked_step == {})", m_layout.steps);
    m_code.line("asked_step = 0;");
    m_code.line("lay_out();");
    m_code.close();
    m_code.open("if (is_more)");
    const std::int64_t ofRound = m_tiles.gatherers() * atOnce;
    m_code.line("const int step = asked_step, first = thread + asked_round * {};", ofRound);
    m_code.line("const unsigned int at = sharedAddress(arriving + round_at * {});", ofRound * 8);
    m_text.nameFar();
    bringItems(atOnce);
    if (m_layout.rounds(m_tiles) > 1) {
      m_code.line("asked_round = asked_round == {} ? 0 : asked_round + 1;", m_layout.rounds(m_tiles) - 1);
      m_code.line("asked_step += asked_round == 0;");
    } else {
      m_code.line("++asked_step;");
    }
    m_code.close();
    m_code.line("commitCopies();");
    m_code.line("round_at = round_at == {} ? 0 : round_at + 1;", m_tiles.ahead - 1);
    m_code.close(";");
    m_writer.leave(outside);
  }

  // All threads go through all rounds, also those that have nothing left to bring in the last one.
  void gatherRounds() {
    const std::int64_t atOnce = m_layout.itemsAtOnce(m_tiles);
    const std::int64_t ofRound = m_tiles.gatherers() * atOnce;
    m_code.pragma("#pragma unroll 1");
    m_code.open("for (int first = thread; first < {} + thread; first += {})", m_layout.rounds(m_tiles) * ofRound,
                ofRound);
    m_code.line("waitForCopies<{}>();", m_tiles.ahead - 1);
    m_code.line("float gathered[{}];", atOnce * 8);
    m_code.pragma("#pragma unroll");
    m_code.open("for (int e = 0; e < {}; ++e)", atOnce * 8);
    m_code.line("gathered[e] = arriving[(round_at * {} + e) * {}];", atOnce * 8, m_tiles.gatherers());
    m_code.close();
    shorten(atOnce);
    declarePacked(atOnce);
    packItems(atOnce);
    m_code.line("ask();");
    storeItems(atOnce);
    m_code.close();
  }

  void syncGatherers() { m_code.line("syncThreads<{}>(15);", m_tiles.gatherers()); }

  void nameScale() {
    if (m_text.isScaled()) {
      m_code.line("unsigned int* const largest_of = reinterpret_cast<unsigned int*>(behind + {});",
                  HaloLayout::kLargest);
      m_code.line("int exponent = {}, pass = 0;  // numbers are multiplied by 2^exponent",
                  m_tiles.isExact() ? kExactExponent : 0);
    }
  }

  // A thread takes 8 channels of a pixel as one item, several items at once; threads side by side take neighbours.
  void gatherStep() {
    const std::int64_t atOnce = m_layout.itemsAtOnce(m_tiles);
    m_code.pragma("#pragma unroll 1");
    m_code.open("for (int first = thread; first < {}; first += {})", items(), m_tiles.gatherers() * atOnce);
    m_code.line("{} gathered[{}];", m_text.storage(), atOnce * 8);
    bringItems(atOnce);
    shorten(atOnce);
    storeItems(atOnce);
    m_code.close();
    if (items() < m_tiles.gatherers()) {
      waitForSlot();  // of threads that have brought nothing, which must not run ahead
    }
  }

  // Into the slot, when it is free.
  void storeItems(std::int64_t atOnce) {
    waitForSlot();
    openItems(atOnce);
    const bool hasRest = items() % (m_tiles.gatherers() * atOnce) != 0 && (atOnce > 1 || m_tiles.isStreamed());
    if (hasRest) {
      m_code.open("if (first + i * {} < {})", m_tiles.gatherers(), items());
    }
    if (m_tiles.isStreamed()) {
      storePacked("packed[i]", "low[i]");
    } else {
      m_code.line("unsigned int packed[4]{};", m_tiles.isExact() ? ", low[4]" : "");
      packNumbers("packed", "low");
      storePacked("packed", "low");
    }
    if (hasRest) {
      m_code.close();
    }
    m_code.close();
  }

  [[nodiscard]] std::int64_t items() const { return m_layout.allPixels * m_tiles.pieces(); }

  void bringItems(std::int64_t atOnce) {
    openItems(atOnce);
    m_code.line("const int item = first{};", atOnce > 1 ? fmt::format(" + i * {}", m_tiles.gatherers()) : "");
    m_code.line("const int pixel = item{};", m_tiles.pieces() > 1 ? fmt::format(" % {}", m_layout.allPixels) : "");
    bringItem(items() % m_tiles.gatherers() != 0 || items() / m_tiles.gatherers() % atOnce != 0);
    m_code.close();
  }

  void declarePacked(std::int64_t atOnce) {
    m_code.line("unsigned int packed[{0}][4]{1};", atOnce,
                m_tiles.isExact() ? fmt::format(", low[{}][4]", atOnce) : "");
  }

  void packItems(std::int64_t atOnce) {
    openItems(atOnce);
    packNumbers("packed[i]", "low[i]");
    m_code.close();
  }

  // Until the patch that was there has been multiplied: numbers may be on their way before.
  void waitForSlot() { m_code.line("waitFor(empty + slot * 8, turn ^ 1);"); }

  void openItems(std::int64_t atOnce) {
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 0; i < {}; ++i)", atOnce);
  }

  // Loads the 8 channels of an item.
  void bringItem(bool hasRest) {
    const HaloDim* const far = m_problem.far();
    const std::int64_t elements = m_problem.input().strides[m_problem.channel] != 0
                                      ? m_problem.input().strides[m_problem.channel]
                                      : channelElements();
    const std::string_view wide = m_writer.index() != "int" ? "LL" : "";
    const std::string channel = fmt::format(
        "{}{}", m_text.firstChannel(), m_tiles.pieces() > 1 ? fmt::format(" + item / {} * 8", m_layout.allPixels) : "");
    m_code.line("const int channel = {};", channel);
    std::string start = fmt::format("places[{}] + channel * {}{}", m_places.at(), elements, wide);
    std::string isThere =
        fmt::format("{}[{}] {} 0", m_problem.twin ? "twins" : "places", m_places.at(), m_problem.twin ? "!=" : ">=");
    if (far != nullptr) {
      start += fmt::format(" + far * {}{}", far->step * far->elements, wide);
      isThere = fmt::format("{}inside(deep[{}] + far * {}, {})",
                            m_problem.twin ? fmt::format("twins[{}] != 0 && ", m_places.at()) : "", m_places.at(),
                            far->step, far->extent);
    }
    if (hasRest) {
      isThere =
          fmt::format("first + i * {} < {} && {}", m_tiles.gatherers(), m_layout.allPixels * m_tiles.pieces(), isThere);
    }
    const bool hasTail = m_problem.channels % 8 != 0;
    if (!hasTail && !m_problem.twin && m_problem.channels < m_problem.paddedChannels()) {
      isThere += fmt::format(" && channel < {}", m_problem.channels);
    }
    m_code.line("const bool is_there = {};", isThere);
    if (m_problem.twin) {
      m_code.line("const int there = is_there ? twins[{}] : 0;", m_places.at());
    }
    m_code.line("const {}* const corner = {} + ({});", m_text.storage(), m_writer.parameterOf(m_problem.input()),
                start);
    m_code.pragma("#pragma unroll");
    m_code.open("for (int e = 0; e < 8; ++e)");
    if (m_problem.twin) {
      const std::int64_t twin = m_problem.twinStep * m_problem.across().elements;
      bringNumber(fmt::format("(there >> e / 4 & 1) != 0 && e % 4 < {}", m_problem.channels),
                  fmt::format("e / 4 * {} + e % 4 * {}{}", twin, elements, wide));
    } else {
      bringNumber("is_there" + (hasTail ? fmt::format(" && channel + e < {}", m_problem.channels) : ""),
                  fmt::format("e * {}{}", elements, wide));
    }
    m_code.close();
  }

  void bringNumber(const std::string& isThere, const std::string& offset) {
    if (m_tiles.isStreamed()) {
      m_code.line("copyFloat(at + (i * 8 + e) * {}, corner + {}, {});", m_tiles.gatherers() * 4, offset, isThere);
      return;
    }
    m_code.line("gathered[i * 8 + e] = {} ? corner[{}] : {};", isThere, offset,
                m_text.isScaled() ? "0.0f" : fmt::format("{}{{}}", m_text.storage()));
  }

  // What halves hold well is scaled so.
  void shorten(std::int64_t atOnce) {
    if (!m_text.isScaled()) {
      return;
    }
    m_code.pragma("#pragma unroll");
    m_code.open("for (int e = 0; e < {}; ++e)", atOnce * 8);
    m_code.line("gathered[e] *= scale;");
    m_code.line("largest = max(largest, magnitude(gathered[e]));");
    m_code.close();
  }

  // The 8 channels of an item as halves.
  void packNumbers(std::string_view packed, std::string_view low) {
    m_code.pragma("#pragma unroll");
    m_code.open("for (int e = 0; e < 4; ++e)");
    if (m_text.isScaled()) {
      m_code.line("{}[e] = {}(gathered[i * 8 + e * 2], gathered[i * 8 + e * 2 + 1]);", packed, packing(m_tiles.mode));
      if (m_tiles.isExact()) {
        m_code.line("{}[e] = packLow({}[e], gathered[i * 8 + e * 2], gathered[i * 8 + e * 2 + 1]);", low, packed);
      }
    } else {
      m_code.line(
          "{}[e] = gathered[i * 8 + e * 2].bits | static_cast<unsigned int>(gathered[i * 8 + e * 2 + 1].bits) << "
          "16;",
          packed);
    }
    m_code.close();
  }

  // Lays out an item in the patch.
  void storePacked(std::string_view packed, std::string_view low) {
    m_code.line("storePiece(to + (first + i * {}) * 16, {});", m_tiles.gatherers(), packed);
    if (m_tiles.isExact()) {
      m_code.line("storePiece(to + (first + i * {}) * 16 + {}, {});", m_tiles.gatherers(),
                  m_layout.allPixels * m_tiles.depth * 2, low);
    }
  }

  // Where channels are padded, a bound has their distance.
  [[nodiscard]] std::int64_t channelElements() const {
    for (const Bound& bound : m_problem.input().bounds) {
      if (bound.factors[m_problem.channel] != 0) {
        return bound.stride;
      }
    }
    return 0;
  }

  void judge() {
    m_code.comment(fmt::format(
        "Halves hold what is at most 2^15 well, if the largest is at least 2^{}. Else the tile is made again with a "
        "scale that brings it near 2^14, and so are those that follow.",
        m_tiles.isExact() ? kLeastExponent : -2));
    m_code.line("largest = __reduce_max_sync(0xffffffffu, largest);");
    m_code.open("if (lane == 0)");
    m_code.line("atomicMax(&largest_of[pass % 3], largest);");
    m_code.close();
    syncGatherers();
    m_code.line("const unsigned int all = largest_of[pass % 3];");
    m_code.line("const bool is_fine = all <= 0x01000000u || (all >= 0x{:x}u && all < 0x8f000000u);  // or all is zero",
                static_cast<unsigned>(128 + (m_tiles.isExact() ? kLeastExponent : -2)) << 24U);
    m_code.line("is_last = is_fine || is_again;");
    m_code.open("if (thread == 0)");
    m_code.line("largest_of[(pass + 2) % 3] = 0;");
    m_code.line("verdict[slot] = is_last ? __int_as_float((127 - exponent) << 23) : 0.0f;");
    m_code.close();
    m_code.open("if (!is_last)");
    m_code.line("exponent = max(-126, min(126, exponent + 142 - static_cast<int>(all >> 24)));");
    m_code.close();
    m_code.line("is_again = true;");
    m_code.line("++pass;");
  }

  HaloPlaces m_places;
};

}  // namespace

void writeHaloBring(HaloText& text) {
  text.code.open("if (threadIdx.x < {})", text.tiles.groups() * 128 + 32);
  writeHaloBringWeights(text);
  text.code.otherwise();
  HaloBring(text).gather();
  text.code.close();
}

}  // namespace swage::synth
