// SPDX-License-Identifier: Apache-2.0
#include "core/synth/emit/cuda_rows.h"

#include <algorithm>
#include <limits>
#include <set>

#include "core/synth/emit/frame.h"
#include "core/synth/emit/group_values.h"

namespace swage::synth::cuda {
namespace {

constexpr std::size_t kWidth = 108;

std::string heldAt(const Batch& all) {
  return all.count > 1 ? all.subscript() : "[0]";
}

}  // namespace

RowText::RowText(const Instance& instance)
    : m_instance(instance),
      m_region(instance.region),
      m_writer(
          instance, Dialect::of(domain::Language::CudaCpp),
          {"row",     "k",     "first", "u",    "v",   "step",  "one_over_n", "lane", "begin",  "end",  "cache",
           "scratch", "slice", "part",  "some", "all", "bring", "block",      "gang", "member", "half", "arrived"}),
      m_code(m_writer.code()),
      m_elements(m_writer, m_region, instance.value("vector_width", 1)),
      m_groupAxes(freeAxes(m_region)),
      m_foldAxes(foldedAxes(m_region)),
      m_groups(m_region.groupCount()),
      m_length(m_region.reducedCount()),
      m_streaming(instance.value("streaming") != 0 ? Caching::Leave : Caching::Stay) {
  if (m_groupAxes.size() > 1 || m_foldAxes.size() > 1 || m_groups * m_length > kMostNarrow) {
    m_writer.countUnsigned();
  }
  for (int stage = 0; stage < m_region.stageCount(); ++stage) {
    m_stages.push_back(std::make_unique<StageText>(m_writer, m_region, stage, width()));
  }
}

std::string RowText::rowsText() const {
  return fmt::format("{} rows of {}", extentsText(m_region, m_groupAxes), extentsText(m_region, m_foldAxes));
}

void RowText::openGroup(const std::string& number) {
  if (m_groupAxes.empty()) {
    return;
  }
  m_code.line("const {} row = {};", m_writer.index(), number);
  m_writer.decode("row", m_groupAxes);
}

void RowText::settle(int ready) {
  m_writer.computeOnce(groupValues(m_region, ready));
}

void RowText::storeGroup(const std::string& condition) {
  // One value for all groups is written by the first one only.
  const auto isOne = [&](const Store& store) {
    const std::vector<std::int64_t>& strides = m_region.operands[static_cast<std::size_t>(store.operand)].strides;
    return m_groups > 1 && std::all_of(strides.begin(), strides.end(), [](std::int64_t stride) { return stride == 0; });
  };
  std::vector<Store> each;
  std::vector<Store> one;
  for (const Store& store : m_region.groupStores) {
    (isOne(store) ? one : each).push_back(store);
  }
  const auto write = [&](const std::vector<Store>& stores, const std::string& whose) {
    if (stores.empty()) {
      return;
    }
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.open("if ({})", whose);
    m_writer.compute(storedPrims(stores));
    m_writer.store(stores);
    m_code.close();
    m_writer.leave(outside);
  };
  write(each, condition);
  write(one, "row == 0 && " + condition);
}

void RowText::explainFold(std::size_t index, std::string_view how) {
  m_code.comment(index == 0 ? how : "The same for the next fold, which needs the result of the one before.");
}

void RowText::explainGroup() {
  if (!m_region.groupStores.empty()) {
    m_code.comment("One thread stores what there is one of for a row.");
  }
}

std::vector<int> RowText::storedLoads() const {
  return m_elements.loadsFor(storedPrims(m_region.elementStores));
}

bool RowText::usesIndex(const std::vector<int>& prims) const {
  std::vector<bool> needed(m_region.prims.size(), false);
  for (const int prim : prims) {
    markNeeded(m_region, prim, needed);
  }
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (needed[i] && m_region.prims[i].kind == Prim::Kind::Index) {
      return true;
    }
  }
  return false;
}

Position RowText::positionIn(const StageText& stage) const {
  return stage.needsPlace() || usesIndex(stage.inputs()) ? Position::Used : Position::Unused;
}

void RowText::declare(StageText& stage, bool isLong) {
  stage.declare();
  if (isLong) {
    std::string& total = m_totals[&stage];
    total = m_writer.unique("total");
    stage.declareTotal(total);
  }
}

void RowText::restart(StageText& stage) {
  stage.clear();
  if (const auto total = m_totals.find(&stage); total != m_totals.end()) {
    m_code.line("{} = {{}};", total->second);
  }
}

void RowText::accumulate(StageText& stage, const std::vector<int>& loads, const std::string& subscript,
                         const std::string& inverse) {
  m_elements.openLanes(loads, subscript);
  m_writer.compute(stage.inputs());
  stage.accumulate(width() > 1 ? "[v]" : "", inverse);
  m_elements.closeLanes();
}

void RowText::accumulateStep(StageText& stage, const std::vector<int>& loads, const std::string& subscript,
                             std::int64_t steps, bool isLong) {
  if (stage.needsInverse()) {
    const std::string seen = isLong ? fmt::format("step % {} + 1", StageText::kRun) : "step + 1";
    m_code.line("const float one_over_n = inverseOf({});", steps == 1 ? "1" : seen);
  }
  accumulate(stage, loads, subscript, "one_over_n");
}

void RowText::endRun(StageText& stage) {
  stage.addToTotal(m_totals.at(&stage), stage.lanesJoined());
  stage.clear();
}

std::string RowText::own(StageText& stage, bool isLong) {
  if (!isLong) {
    return stage.lanesJoined();
  }
  stage.addToTotal(m_totals.at(&stage), stage.lanesJoined());
  return stage.settled(m_totals.at(&stage));
}

std::string RowText::parts(const StageText& stage, std::int64_t count, Sharing sharing) {
  std::string& name = m_parts[stage.type()];
  if (name.empty() || sharing == Sharing::Own) {
    name = m_writer.unique("parts");
    m_code.line("__shared__ {} {}[{}];", stage.type(), name, count);
  }
  return name;
}

void RowText::found(StageText& stage, std::size_t index, const std::string& call) {
  const std::string name = stage.resultName("row");
  const std::string text = fmt::format("const {} {} = {};", stage.type(), name, call);
  if (text.size() <= kWidth) {
    m_code.line("{}", text);
  } else {
    m_code.line("const {} {} =", stage.type(), name);
    m_code.line("    {};", call);
  }
  stage.bindResults(name);
  settle(static_cast<int>(index));
}

RowText::Walk RowText::walk(std::string begin, std::string end, std::int64_t threads, std::int64_t vectors,
                            std::int64_t unroll) const {
  Walk walk;
  walk.begin = std::move(begin);
  walk.end = std::move(end);
  walk.threads = threads;
  walk.steps = stepsOf(vectors, threads);
  walk.unroll = std::min(unroll, walk.steps);
  walk.isWhole = vectors % (threads * walk.unroll) == 0;
  return walk;
}

// Opens the loop over batches, or a block where there is one; the caller closes it.
Batch RowText::openBatches(const Walk& walk) {
  const std::int64_t distance = walk.threads * width();
  const std::string name = walk.unroll > 1 ? "first" : "k";
  const bool isGuarded = !walk.isWhole && walk.unroll == 1;
  if (walk.steps <= walk.unroll) {
    if (m_declared != name + walk.begin) {
      m_code.line("const {} {} = {};", m_writer.index(), name, walk.begin);
      m_declared = name + walk.begin;
    }
    if (isGuarded) {
      m_code.open("if ({} < {})", name, walk.end);
    } else {
      m_code.openBlock();
    }
  } else {
    m_code.open("for ({0} {1} = {2}; {1} < {3}; {1} += {4})", m_writer.index(), name, walk.begin, walk.end,
                distance * walk.unroll);
  }
  return {.first = name,
          .distance = distance,
          .count = walk.unroll,
          .end = walk.isWhole || walk.unroll == 1 ? "" : walk.end,
          .axes = m_foldAxes};
}

void RowText::fetch(const Walk& walk, const std::vector<int>& loads, const std::string& subscript, Caching streamed) {
  if (walk.fetch) {
    walk.fetch(loads, subscript);
  } else {
    m_elements.load(loads, subscript, streamed);
  }
}

void RowText::walkOnce(const Walk& walk, const std::function<void()>& body) {
  const Batch batch = openBatches(walk);
  forEach(m_writer, batch, Position::Used, body);
  m_code.close();
}

void RowText::reduceBatches(StageText& stage, const Walk& walk, Caching streamed) {
  const bool isLongRun = isLong(stage, walk.steps);
  const bool counts = isLongRun || stage.needsInverse();
  const std::vector<int> loads = loadsOf(stage);
  declare(stage, isLongRun);
  const std::string steps = counts ? m_writer.unique("steps") : "";
  if (counts) {
    m_code.line("int {} = 0;", steps);
  }
  const Batch batch = openBatches(walk);
  const auto take = [&] {
    if (stage.needsInverse()) {
      m_code.line("const float one_over_n = inverseOf(++{});", steps);
    } else if (counts) {
      m_code.line("++{};", steps);
    }
    accumulate(stage, loads, batch.subscript(), "one_over_n");
  };
  if (walk.unroll > 1) {
    m_elements.declare(loads, walk.unroll);
    forEach(m_writer, batch, Position::Used, [&] { fetch(walk, loads, batch.subscript(), streamed); });
    forEach(m_writer, batch, positionIn(stage), take);
  } else {
    forEach(m_writer, batch, Position::Used, [&] {
      fetch(walk, loads, "", streamed);
      take();
    });
  }
  if (isLongRun) {
    m_code.open("if ({} >= {})", steps, StageText::kRun);
    endRun(stage);
    m_code.line("{} = 0;", steps);
    m_code.close();
  }
  m_code.close();
}

void RowText::mapBatches(const Walk& walk, Caching streamed) {
  const std::vector<int> loads = storedLoads();
  const Batch batch = openBatches(walk);
  if (walk.unroll > 1) {
    m_elements.declare(loads, walk.unroll);
    forEach(m_writer, batch, Position::Used, [&] { fetch(walk, loads, batch.subscript(), streamed); });
    forEach(m_writer, batch, Position::Used, [&] { m_elements.evaluate(loads, batch.subscript(), results()); });
  } else {
    forEach(m_writer, batch, Position::Used, [&] {
      fetch(walk, loads, "", streamed);
      m_elements.evaluate(loads, "", results());
    });
  }
  m_code.close();
}

void RowText::hold(const Batch& all) {
  std::vector<int> wanted = storedPrims(m_region.elementStores);
  for (const Fold& fold : m_region.folds) {
    wanted.push_back(fold.input);
  }
  const std::vector<int> loads = m_elements.loadsFor(wanted);
  m_elements.declare(loads, std::max<std::int64_t>(all.count, 1));
  forEach(m_writer, all, Position::Used, [&] { m_elements.load(loads, heldAt(all), Caching::Leave); });
}

void RowText::reduceHeld(StageText& stage, const Batch& all, std::int64_t steps) {
  reduceSteps(stage, all, steps, true);
}

void RowText::reduceRead(StageText& stage, const Batch& all, std::int64_t steps) {
  reduceSteps(stage, all, steps, false);
}

void RowText::reduceSteps(StageText& stage, const Batch& all, std::int64_t steps, bool isHeld) {
  const bool isLongRun = isLong(stage, steps);
  const std::vector<int> loads = loadsOf(stage);
  declare(stage, isLongRun);
  const auto endStep = [&] {
    if (isLongRun) {
      m_code.open("if (step % {} == {})", StageText::kRun, StageText::kRun - 1);
      endRun(stage);
      m_code.close();
    }
  };
  const auto take = [&] {
    if (!isHeld) {
      m_elements.load(loads, "", Caching::Leave);
    }
    accumulateStep(stage, loads, isHeld ? heldAt(all) : "", all.count, isLongRun);
  };
  forEach(m_writer, all, isHeld ? positionIn(stage) : Position::Used, take, endStep);
}

void RowText::mapHeld(const Batch& all) {
  forEach(m_writer, all, Position::Used, [&] { m_elements.evaluate(storedLoads(), heldAt(all), results()); });
}

void RowText::mapRead(const Batch& all) {
  const std::vector<int> loads = storedLoads();
  forEach(m_writer, all, Position::Used, [&] {
    m_elements.load(loads, "", Caching::Leave);
    m_elements.evaluate(loads, "", results());
  });
}

// The type of positions in a group, with a sign.
std::string RowText::position() const {
  return m_writer.index().ends_with("long long") ? "long long" : "int";
}

// `number` as a position, but for those behind the end of the group.
std::string RowText::atMost(const std::string& number) const {
  const bool isWide = position() != "int";
  return fmt::format("min({}, {}{})", isWide ? fmt::format("(long long)({})", number) : number, m_length,
                     isWide ? "LL" : "");
}

RowText::Slices RowText::slicesOf(std::int64_t count) const {
  return {count, stepsOf(vectors(), count), vectors() % count == 0};
}

void RowText::openSlice(const Slices& slices, const std::string& number, End end) {
  const std::string begin = fmt::format("{}{} * {}", cast(), number, slices.vectors * width());
  const std::string last = fmt::format("begin + {}", slices.vectors * width());
  m_code.line("const {} begin = {};", position(), slices.areEqual ? begin : atMost(begin));
  if (end == End::Used) {
    m_code.line("const {} end = {};", position(), slices.areEqual ? last : atMost(last));
  }
}

}  // namespace swage::synth::cuda
