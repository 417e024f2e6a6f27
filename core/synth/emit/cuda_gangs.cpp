// SPDX-License-Identifier: Apache-2.0
#include "core/synth/emit/cuda_gangs.h"

#include <algorithm>

namespace swage::synth::cuda {

double meetingsOfGroup(const Instance& instance) {
  return std::max(1, instance.region.stageCount() - (instance.value("fused") != 0 ? 1 : 0));
}

GangText::GangText(const Instance& instance, Gangs gangs)
    : RowText(instance), m_gangs(gangs), m_threads(instance.value("threads", 32)) {}

void GangText::openGang() {
  if (m_gangs.gangs == 1) {
    m_code.line("const int member = blockIdx.x;");
  } else {
    m_code.line("const int gang = blockIdx.x / {};", m_gangs.blocks);
    m_code.line("const int member = blockIdx.x % {};", m_gangs.blocks);
  }
  if (m_gangs.blocks > 1) {
    m_code.line("const int lane = threadIdx.x % 32;");
    m_code.line("unsigned int arrived = 0;  // at the counter of the gang, when all have met");
    if (hasRounds()) {
      m_code.line("int half = 0;  // of the memory: what slow blocks still read is not overwritten");
    }
  }
}

void GangText::defineStages(std::int64_t steps) {
  for (std::size_t i = 0; i < stages(); ++i) {
    const bool hasTotals = m_gangs.blocks > 1 || isLong(stage(i), steps);
    stage(i).define(hasTotals ? StageText::Totals::Yes : StageText::Totals::No);
    m_places.push_back(parts(stage(i), m_threads / 32));
  }
}

void GangText::openRows() {
  if (hasRounds()) {
    m_code.open("for ({0} row = {1}; row < {2}; row += {3})", m_writer.index(), gang(), m_groups, m_gangs.gangs);
    m_writer.decode("row", m_groupAxes);
  } else {
    openGroup(gang());
  }
}

void GangText::closeRows() {
  if (hasRounds()) {
    if (m_gangs.blocks > 1) {
      m_code.line("half = 1 - half;");
    }
    m_code.close();
  }
}

// Where the blocks of the gang leave what they found in a stage.
std::string GangText::statesOf(std::size_t stage) const {
  std::string text = hasRounds() ? "half" : "0";
  if (stages() > 1) {
    text = hasRounds() ? fmt::format("(half * {} + {})", stages(), stage) : fmt::format("{}", stage);
  }
  if (m_gangs.gangs > 1) {
    text = text == "0" ? "gang" : fmt::format("({} * {} + gang)", text, m_gangs.gangs);
  }
  const std::int64_t first = kCounterBytes * m_gangs.gangs;
  return text == "0" ? fmt::format("scratch + {}", first)
                     : fmt::format("scratch + {} + {} * {}", first, text, kGangStateBytes * m_gangs.blocks);
}

void GangText::joinGang(std::size_t index, const std::string& own) {
  StageText& stage = this->stage(index);
  const std::string& places = m_places[index];
  if (m_gangs.blocks == 1) {
    found(stage, index, fmt::format("reduceBlock({}, {}, {}, {})", own, places, stage.none(), stage.join()));
    return;
  }
  const std::string states = m_writer.unique("states");
  const std::string total = m_writer.unique("gang_total");
  m_code.line("unsigned char* {} = {};", states, statesOf(index));
  m_code.line("arrived += {};", m_gangs.blocks);
  m_code.line("shareWithGang({}, {}, {},", own, places, stage.none());
  m_code.line("              {}, {} + member * {}, scratch{}, arrived);", stage.join(), states, kGangStateBytes,
              m_gangs.gangs == 1 ? "" : fmt::format(" + gang * {}", kCounterBytes));
  stage.declareTotal(total);
  m_code.open("for (int block = lane; block < {}; block += 32)", m_gangs.blocks);
  stage.addToTotal(total, fmt::format("ofBlock<{}>({} + block * {})", stage.type(), states, kGangStateBytes));
  m_code.close();
  found(stage, index, fmt::format("reduceWarp({}, {})", stage.settled(total), stage.join()));
}

void GangText::mapBackwards(const Walk& slice) {
  const std::vector<int> loads = storedLoads();
  const std::string type = m_writer.index().ends_with("long long") ? "long long" : "int";
  const std::string name = slice.unroll > 1 ? "first" : "k";
  const std::int64_t distance = slice.threads * width();
  m_code.open("for ({0} {1} = end - {2} - {0}(threadIdx.x){3}; {1} >= begin; {1} -= {4})",
              type == "int" ? type : "(" + type + ")", name, width(), timesWidth(), distance * slice.unroll);
  const Batch batch{.first = name,
                    .distance = distance,
                    .count = slice.unroll,
                    .end = slice.isWhole || slice.unroll == 1 ? "" : "begin",
                    .axes = m_foldAxes,
                    .backwards = true};
  if (slice.unroll > 1) {
    m_elements.declare(loads, slice.unroll);
    forEach(m_writer, batch, Position::Used, [&] { m_elements.load(loads, batch.subscript(), Caching::Stay); });
    forEach(m_writer, batch, Position::Used, [&] { m_elements.evaluate(loads, batch.subscript(), results()); });
  } else {
    forEach(m_writer, batch, Position::Used, [&] {
      m_elements.load(loads, "", Caching::Stay);
      m_elements.evaluate(loads, "", results());
    });
  }
  m_code.close();
}

}  // namespace swage::synth::cuda
