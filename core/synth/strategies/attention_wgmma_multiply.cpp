// SPDX-License-Identifier: Apache-2.0
// The warp groups of attention by wgmma that multiply, step by step along the keys, as text.
#include "core/synth/strategies/attention_wgmma_text.h"

namespace swage::synth {
namespace {

class AttentionMultiply : private AttentionPart {
 public:
  explicit AttentionMultiply(AttentionText& text) : AttentionPart(text) {}

  void write() {
    m_code.comment("--- The others: what a thread has of 64 queries.");
    declare();
    m_code.blank();
    writeSteps();
    m_code.blank();
    goAlong();
  }

 private:
  void declare() {
    m_code.line("takeRegisters<{}>();", m_tiles.registers());
    m_code.line("const int lane = threadIdx.x % 32;");
    m_code.line("const int warp = threadIdx.x / 32;  // each has 16 queries, each thread two, 8 apart");
    m_code.line("const unsigned long long query = tileDescriptor(query_tile + group * 8192);");
    m_code.line("float score[{}], total[{}];  // of 8 keys or columns each thread has 2 of both queries",
                m_tiles.keys / 2, m_tiles.columns / 2);
    m_code.line("unsigned int weight[{}][4];  // exponentials of the scores, in pairs of halves", m_tiles.keys / 16);
    m_code.line("float largest[2], remaining[2]{};  // of both queries: scores as powers of two, what is left of sums",
                m_text.hasWeights() ? ", weights[2]" : "");
    m_code.line("bool is_less = false;");
    m_code.open("const auto release = [&](unsigned int barrier)");
    m_code.open("if (threadIdx.x % 128 == 0)");
    m_code.line("arriveAt(barrier, 0);");
    m_code.close();
    m_code.close(";");
  }

  // Of a descriptor: from one 16 of the depth to the next, in blocks of 64.
  [[nodiscard]] std::string along(std::int64_t blockBytes, std::int64_t blocks) const {
    return blocks == 1 ? "k * 2" : fmt::format("k / 4 * {} + k % 4 * 2", blockBytes / 16);
  }

  // What happens in each step, as functions.
  void writeSteps() {
    m_code.open("const auto makeScores = [&](int of)");
    m_code.line("const unsigned long long key = tileDescriptor(key_tiles + of * {});", m_tiles.keyBytes());
    m_code.line("openProducts(score);");
    m_code.pragma("#pragma unroll");
    m_code.open("for (int k = 0; k < {}; ++k)", m_tiles.depth / 16);
    m_code.line("scores_{}(score, query + {}, key + {}, k > 0);", m_text.number,
                along(m_tiles.queryBlockBytes(), m_tiles.depthBlocks()),
                along(m_tiles.keyBlockBytes(), m_tiles.depthBlocks()));
    m_code.close();
    m_code.line("closeProducts();");
    m_code.close(";");

    m_code.open("const auto addValues = [&](int of, bool keep)");
    m_code.line("const unsigned long long value = tileDescriptor(value_tiles + of * {}, {});", m_tiles.valueBytes(),
                m_tiles.keyBlockBytes());
    m_code.line("openProducts(total);");
    m_code.pragma("#pragma unroll");
    m_code.open("for (int k = 0; k < {}; ++k)", m_tiles.keys / 16);
    m_code.line("values_{}(total, weight[k], value + k * 128, k > 0 || keep);", m_text.number);
    m_code.close();
    m_code.line("closeProducts();");
    m_code.close(";");

    writeAttentionScores(m_text);

    m_code.open("const auto shorten = [&]");
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 0; i < {}; ++i)", m_tiles.keys / 4);
    m_code.line("weight[i / 4][i % 4] = {}(score[2 * i], score[2 * i + 1]);", m_text.packing());
    m_code.close();
    m_code.close(";");

    m_code.open("const auto shrink = [&]");
    m_code.open("if (__any_sync(0xffffffffu, is_less))");
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 0; i < {}; ++i)", m_tiles.columns / 2);
    m_code.line("total[i] *= remaining[i / 2 % 2];");
    m_code.close();
    m_code.close();
    m_code.close(";");
  }

  void bringPieces(const std::string& step) {
    if (!m_tiles.pieces.empty()) {
      m_code.line("bringPieces({});", step == "0" ? step : fmt::format("{} * {}", step, m_tiles.keys));
    }
  }

  void goAlong() {
    const KernelWriter::Scope outside = m_writer.scope();
    if (m_tiles.takesTurns) {
      m_code.open("if (group == {})", m_tiles.groups - 1);
      m_code.line("giveTurn(0);");
      m_code.close();
    }
    if (m_schedule.isTaken) {
      m_code.open("for (int i = 0;; ++i)");
      m_code.line("waitFor(has_query, i % 2);");
      m_code.open("if (!find_{}(taken, tile))", m_text.number);
      m_code.line("return;");
      m_code.close();
    } else {
      m_code.open("for (int i = 0; find_{}({}, tile); ++i)", m_text.number, m_text.numberOfOwn());
      m_code.line("waitFor(has_query, i % 2);");
    }
    m_code.line("largest[0] = largest[1] = -kInfinity;");
    if (m_text.hasWeights()) {
      m_code.line("weights[0] = weights[1] = 0.0f;");
    }
    if (m_tiles.overlaps) {
      stepsThatOverlap();
    } else {
      stepsOneByOne();
    }
    writeAttentionResults(m_text);
    m_code.close();
    m_writer.leave(outside);
  }

  void change(const std::string& step) {
    if (m_text.changesScores()) {
      m_code.line("changeScores({});", step == "0" ? step : fmt::format("{} * {}", step, m_tiles.keys));
    }
  }

  void stepsThatOverlap() {
    bringPieces("0");
    m_code.line("waitFor(has_keys + slot * 8, phase);");
    m_code.line("makeScores(slot);");
    m_code.line("waitForProducts<0>(score);");
    releaseKeys("0");
    change("0");
    m_code.line("weigh();");
    m_code.line("waitFor(has_values + slot * 8, phase);");
    m_code.line("shorten();");
    m_code.pragma("#pragma unroll 1");
    m_code.open("for (int step = 1; step < {}; ++step)", m_text.stepsText());
    m_code.line("const int before = slot;");
    m_code.line("advance();");
    bringPieces("step");
    m_code.line("waitFor(has_keys + slot * 8, phase);");
    if (m_tiles.takesTurns) {
      m_code.line("takeTurn(group);");
    }
    m_code.line("makeScores(slot);");
    m_code.line("addValues(before, step > 1);");
    if (m_tiles.takesTurns) {
      m_code.line("giveTurn({});", m_tiles.groups == 2 ? "1 - group" : fmt::format("(group + 1) % {}", m_tiles.groups));
    }
    m_code.comment("The scores are there; until the values have been added, too, exponentials are made.");
    m_code.line("waitForProducts<1>(score);");
    releaseKeys("step");
    change("step");
    m_code.line("weigh();");
    m_code.line("makeHere(score);");
    m_code.line("waitFor(has_values + slot * 8, phase);");
    m_code.line("waitForProducts<0>(total);");
    m_code.line("release(no_values + before * 8);");
    m_code.line("shrink();");
    m_code.line("shorten();");
    m_code.close();
    m_code.line("addValues(slot, {});", m_shape.isCausal ? "tile.steps > 1" : m_text.steps() > 1 ? "true" : "false");
    m_code.line("waitForProducts<0>(total);");
    m_code.line("release(no_values + slot * 8);");
    m_code.line("advance();");
  }

  void stepsOneByOne() {
    m_code.pragma("#pragma unroll 1");
    m_code.open("for (int step = 0; step < {}; ++step)", m_text.stepsText());
    bringPieces("step");
    m_code.line("waitFor(has_keys + slot * 8, phase);");
    m_code.line("makeScores(slot);");
    m_code.line("waitForProducts<0>(score);");
    releaseKeys("step");
    change("step");
    m_code.line("weigh();");
    m_code.line("shorten();");
    m_code.open("if (step > 0)");
    m_code.line("shrink();");
    m_code.close();
    m_code.line("waitFor(has_values + slot * 8, phase);");
    m_code.line("addValues(slot, step > 0);");
    m_code.line("waitForProducts<0>(total);");
    m_code.line("release(no_values + slot * 8);");
    m_code.line("advance();");
    m_code.close();
  }

  // After the last step the query is needed no more, so that the next one comes while exponentials are made.
  void releaseKeys(const std::string& step) {
    m_code.line("release(no_keys + slot * 8);");
    if (step == "0" && !m_shape.isCausal && m_text.steps() > 1) {
      return;
    }
    m_code.open("if ({} == {})", step == "0" ? m_text.stepsText() : step + " + 1",
                step == "0" ? "1" : m_text.stepsText());
    m_code.line("release(no_query);");
    m_code.close();
  }
};

}  // namespace

void writeAttentionMultiply(AttentionText& text) {
  AttentionMultiply(text).write();
}

}  // namespace swage::synth
