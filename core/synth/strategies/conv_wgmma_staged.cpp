// SPDX-License-Identifier: Apache-2.0
// Results of a convolution by wgmma that go through shared memory on their way out: phases, and long rows.
#include "core/synth/strategies/conv_wgmma_results.h"

namespace swage::synth {

void HaloResults::stage() {
  const KernelWriter::Scope outside = m_writer.scope();
  m_code.line("__syncwarp();");
  unroll("i", m_layout.stagedBlocks);
  m_code.line("const int j = k * {} + i;", m_layout.stagedBlocks);
  const std::int64_t phases = m_problem.phases;
  m_code.line("float* const to = &staged[lane / 4 * {} + {}];", m_layout.stagedStride,
              phases == 1 ? "i * 8 + lane % 4 * 2" : fmt::format("(i * 8 + lane % 4 * 2) * {}", phases));
  const auto sum = [&](std::string_view phase, const std::string& more) {
    return sumsOf("j", more, phase) + (!lacksScale()   ? std::string()
                                       : joinsPhases() ? fmt::format(" * scales[{}]", phase)
                                                       : " * scale");
  };
  if (phases == 1) {
    m_code.line("const Vec<float, 2> both{{{{{}, {}}}}};", sum("", ""), sum("", " + 1"));
    m_code.line("store<float, 2>(to, both);");
  } else if (phases == 2) {
    m_code.line("const Vec<float, 4> both{{{{{}, {}, {}, {}}}}};", sum("0", ""), sum("1", ""), sum("0", " + 1"),
                sum("1", " + 1"));
    m_code.line("store<float, 4>(to, both);");
  } else {
    m_text.openPhases("#pragma unroll");
    const std::string at = m_problem.phaseStep == 1 ? "p" : fmt::format("p * {} % {}", m_problem.phaseStep, phases);
    m_code.line("to[{}] = {};", at, sum("p", ""));
    m_code.line("to[{} + {}] = {};", at, phases, sum("p", " + 1"));
    m_code.close();
  }
  m_code.close();
  m_code.line("__syncwarp();");
  m_writer.leave(outside);
}

std::string HaloResults::slotOfTurn() const {
  return neighbours() == 1 ? "i * 32 + lane" : fmt::format("(i * 32 + lane) * {}", neighbours());
}

void HaloResults::openSlot(const std::string& number) {
  const std::int64_t phases = m_problem.phases;
  m_code.line("const int slot_at = {}, in = slot_at % {};", number, slots());
  openChannel(fmt::format("slot_at / {}", slots()));
  openRow();
  if (joinsPhases()) {
    std::int64_t inverse = 1;
    while (inverse * m_problem.phaseStep % phases != 1) {
      ++inverse;
    }
    m_code.line("const int p = in % {}{};", phases, inverse == 1 ? "" : fmt::format(" * {} % {}", inverse, phases));
    m_writer.bindAxis(*m_problem.phase, "p");
  }
  m_code.line("const {} x_at = x_first + k * {} + in{};", m_writer.index(), m_layout.stagedBlocks * kOfBlock,
              joinsPhases() ? fmt::format(" / {}", phases) : "");
  bind(false);
  if (!m_isFinished) {
    writeFinish();
  }
}

void HaloResults::writeSlots() {
  const std::int64_t turns = slots() / 4 / neighbours();
  m_code.line("float found[{}];", slots() / 4);
  unroll("i", turns);
  m_code.line("const int slot_at = {};", slotOfTurn());
  const std::string place = fmt::format("staged[slot_at / {0} * {1} + slot_at % {0}]", slots(), m_layout.stagedStride);
  const std::string one = neighbours() == 1 ? "found[i]" : fmt::format("found[i * {} + e]", neighbours());
  if (neighbours() > 1) {
    m_code.line("Vec<float, {0}> some = load<float, {0}>(&{1});", neighbours(), place);
    unroll("e", neighbours());
  }
  m_code.line("{} = {};", one, neighbours() > 1 ? "some[e]" : place);
  if (lacksScale()) {
    m_code.line("odd += {} * 0.0f;", one);
  }
  if (neighbours() > 1) {
    m_code.close();
  }
  m_code.close();
  m_code.line("makeHere(found);");
  unroll("i", turns);
  const KernelWriter::Scope outside = m_writer.scope();
  openSlot(slotOfTurn());
  if (neighbours() > 1) {
    storeNeighbours(one);
  } else {
    storeOneIf(isThere(false), one, false);
  }
  m_code.close();
  m_writer.leave(outside);
}

void HaloResults::storeNeighbours(const std::string& one) {
  const std::string_view type = m_writer.dialect().storageName(result().dtype);
  m_code.open("if ({})", isThere(false));
  m_code.line("Vec<{}, {}> values;", type, neighbours());
  unroll("e", neighbours());
  m_code.line("values[e] = {};", m_isFinished ? one : fmt::format("finish({}, {})", one, argumentsAt("x_at + e")));
  m_code.close();
  m_code.line("store<{}, {}>(&{}, values);", type, neighbours(), m_writer.element(result()));
  m_code.close();
}

}  // namespace swage::synth
