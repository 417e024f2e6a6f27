// SPDX-License-Identifier: Apache-2.0
// Reductions along the innermost axis, a group in the shared memory of a gang of blocks, replaced as it is written.
#include <algorithm>
#include <cmath>

#include "core/synth/emit/cuda_gangs.h"
#include "core/synth/emit/frame.h"
#include "core/synth/strategies/cuda_loops.h"
#include "core/synth/strategies/loop_estimates.h"

namespace swage::synth::cuda {
namespace {

// A load may take this many steps, and the lookahead, before it is waited for.
constexpr std::int64_t kBehind = 4;

// How groups are laid out. A gang is as small as shared memory allows: fewer blocks have to meet, and more gangs cover
// each other's waiting. Its blocks are then all that the gangs leave to each.
struct Residence {
  Gangs gangs{.gangs = 0};  // none: a group does not fit
  std::int64_t steps = 0;   // vectors of a thread
  std::int64_t bytes = 0;   // shared memory of a block
};

Residence residenceOf(const Instance& instance) {
  const std::int64_t threads = instance.value("threads", 1);
  const std::int64_t perMultiprocessor = instance.value("blocks_per_multiprocessor", 1);
  const std::int64_t lookahead = instance.value("lookahead");
  const RowShape shape = rowShape(instance);
  const std::int64_t slotBytes = cachedBytes(instance, threads);
  // The kernel's own states: one for each warp and stage.
  const std::int64_t own =
      std::max(1, instance.region.stageCount()) * divideUp(threads, kWarp) * kStateBytes + kReservedSharedBytes;
  const std::int64_t mostBytes =
      std::min(instance.device.sharedBytesPerBlock,
               (instance.device.sharedBytesPerBlock + kReservedSharedBytes) / perMultiprocessor) -
      own;
  const std::int64_t mostSteps = slotBytes > 0 ? mostBytes / slotBytes - lookahead : 0;
  const std::int64_t blocks = instance.device.multiprocessors * perMultiprocessor;
  Residence residence;
  if (mostSteps < 1 || shape.groups < 1) {
    return residence;
  }
  const std::int64_t smallest = divideUp(shape.vectors, mostSteps * threads);
  residence.gangs.gangs = std::min(blocks / smallest, shape.groups);
  if (residence.gangs.gangs > 0) {
    residence.gangs.blocks = blocks / residence.gangs.gangs;
    residence.steps = divideUp(divideUp(shape.vectors, residence.gangs.blocks), threads);
    residence.bytes = (residence.steps + lookahead) * slotBytes;
  }
  return residence;
}

// What a thread waits for in each step besides memory: less where all elements are in shared memory, and much where
// those that all groups share are too many for the first-level cache.
double secondsOfStep(const Region& region) {
  constexpr std::int64_t kCached = std::int64_t{64} << 10;
  double seconds = 4e-8;
  for (const int load : elementLoads(region)) {
    const Operand& operand =
        region.operands[static_cast<std::size_t>(region.prims[static_cast<std::size_t>(load)].operand)];
    if (differsForEachElement(region, operand)) {
      continue;
    }
    auto bytes = static_cast<std::int64_t>(domain::byteSize(operand.dtype));
    for (std::size_t axis = 0; axis < operand.strides.size(); ++axis) {
      bytes *= region.axes[axis].isFolded() && operand.strides[axis] != 0 ? region.axes[axis].extent : 1;
    }
    seconds = std::max(seconds, bytes > kCached ? 5.5e-7 : 8.5e-8);
  }
  return seconds;
}

// Writes one kernel.
class RowResidentText final : private GangText {
 public:
  explicit RowResidentText(const Instance& instance)
      : GangText(instance, residenceOf(instance).gangs),
        m_lookahead(instance.value("lookahead")),
        m_slices(slicesOf(gangs().blocks)),
        m_steps(stepsOf(m_slices.vectors, threads())),
        m_slots(m_steps + m_lookahead),
        m_isWhole(m_slices.areEqual && m_slices.vectors % threads() == 0) {
    for (const char* name : {"asked_row", "asked_step", "asked_slot", "ask", "slot", "place", "following", "behind",
                             "next", "accumulate"}) {
      static_cast<void>(m_writer.unique(name));
    }
  }

  KernelText run(const std::string& entry) {
    m_code.comment(fmt::format(
        "{}, each to a gang of {} blocks, {} at a time. A block keeps its slice of a row in shared memory; as it "
        "stores one vector, it asks for one of the next row, so that copies are always under way.",
        rowsText(), gangs().blocks, gangs().gangs));
    openCudaKernel(m_writer, entry, threads(), fmt::format(", {}", m_instance.value("blocks_per_multiprocessor", 1)),
                   "unsigned char* scratch");
    openCache();
    openGang();
    openSlice(m_slices, "member", m_isWhole ? End::Unused : End::Used);
    m_code.line("const {} first = begin + threadIdx.x{};", m_writer.index(), timesWidth());
    defineStages(m_steps);
    m_code.blank();
    if (hasRounds()) {
      defineAsk();
    }
    declare(stage(0), isLong(stage(0), m_steps));
    defineAccumulate();
    m_code.blank();
    bringFirst();
    m_code.line("int slot = 0;  // of the first vector of the row");
    openRows();
    reduceRow();
    storeGroup(gangs().blocks > 1 ? "threadIdx.x == 0 && member == 0" : "threadIdx.x == 0");
    mapRow();
    closeRows();
    m_code.close();
    return m_writer.finish();
  }

 private:
  [[nodiscard]] std::vector<int> cached() const { return m_elements.streamed(elementLoads(m_region)); }
  [[nodiscard]] bool isManyRows() const { return !m_groupAxes.empty(); }
  [[nodiscard]] std::string row(const std::string& number) const { return isManyRows() ? number + ", " : ""; }

  void openCache() {
    std::string contents;
    for (const int load : cached()) {
      contents += fmt::format("{}{}", contents.empty() ? "" : ", then of ", m_elements.parameterOf(load));
    }
    m_code.line("extern __shared__ __align__(16) float cache[];  // {} slots of each thread: vectors of {}", m_slots,
                contents);
    m_code.line("const auto place = [](int slot) {{ return (slot * {} + int(threadIdx.x)) * {}; }};", threads(),
                width());
    m_code.line("const auto following = [](int slot) {{ return slot + 1 == {} ? 0 : slot + 1; }};", m_slots);
  }

  [[nodiscard]] std::string cacheAt(std::size_t which, const std::string& slot) const {
    const std::int64_t floats = m_slots * threads() * width() * static_cast<std::int64_t>(which);
    return which == 0 ? fmt::format("cache[place({})]", slot) : fmt::format("cache[{} + place({})]", floats, slot);
  }

  // The position of a step, inside a block that is entered where there is one; returns whether a block was opened.
  bool openStep(const std::string& step, const std::string& condition) {
    m_code.line("const {} k = first + {} * {};", m_writer.index(), step, threads() * width());
    std::string whole = condition;
    if (!m_isWhole) {
      whole += whole.empty() ? "k < end" : " && k < end";
    }
    if (!whole.empty()) {
      m_code.open("if ({})", whole);
    }
    if (!m_foldAxes.empty()) {
      m_writer.decode("k", m_foldAxes);
    }
    return !whole.empty();
  }

  void closeIf(bool isOpen) {
    if (isOpen) {
      m_code.close();
    }
  }

  void defineAsk() {
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.comment("Asks for the next vector.");
    m_code.line("{} asked_row = {};", m_writer.index(), gang());
    m_code.line("int asked_step = 0;");
    m_code.line("int asked_slot = 0;");
    m_code.open("const auto ask = [&]");
    const bool isOpen = openStep("asked_step", fmt::format("asked_row < {}", m_groups));
    m_writer.decode("asked_row", m_groupAxes);
    copy("asked_slot");
    closeIf(isOpen);
    m_code.line("commitCopies();");
    m_code.line("asked_slot = following(asked_slot);");
    m_code.open("if (++asked_step == {})", m_steps);
    m_code.line("asked_step = 0;");
    m_code.line("asked_row += {};", gangs().gangs);
    m_code.close();
    m_code.close(";");
    m_writer.leave(outside);
  }

  void copy(const std::string& slot) {
    const std::vector<int> loads = cached();
    for (std::size_t i = 0; i < loads.size(); ++i) {
      m_code.line("copyFloats(&{}, {});", cacheAt(i, slot), m_elements.address(loads[i]));
    }
  }

  // Elements of the step in the slot, and those that every row reads.
  void fetch(const std::vector<int>& loads, const std::string& slot) {
    const std::vector<int> kept = cached();
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (std::find(loads.begin(), loads.end(), kept[i]) != loads.end()) {
        m_elements.loadFrom(kept[i], cacheAt(i, slot));
      }
    }
    m_elements.load(m_elements.shared(loads), "", Caching::Stay);
  }

  // One step of a stage, at `k`, from `slot`.
  void reduceStep(StageText& stage) {
    const KernelWriter::Scope outside = m_writer.scope();
    const std::vector<int> loads = loadsOf(stage);
    const bool isLongRun = isLong(stage, m_steps);
    const bool isOpen = openStep("step", "");
    fetch(loads, "slot");
    accumulateStep(stage, loads, "", m_steps, isLongRun);
    closeIf(isOpen);
    if (isLongRun) {
      m_code.open("if (step % {} == {})", StageText::kRun, StageText::kRun - 1);
      endRun(stage);
      m_code.close();
    }
    m_writer.leave(outside);
  }

  // The first stage is found for the next row while this one is stored, so it is a function.
  void defineAccumulate() {
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.open("const auto accumulate = [&]({}int step, int slot)",
                isManyRows() ? fmt::format("{} row, ", m_writer.index()) : "");
    if (isManyRows()) {
      m_writer.decode("row", m_groupAxes);
    }
    settle(-1);
    reduceStep(stage(0));
    m_code.close(";");
    m_writer.leave(outside);
  }

  void wait(std::int64_t pending) {
    m_code.line("asm volatile(\"cp.async.wait_group {};\" ::: \"memory\");{}", pending,
                pending == 0 ? "" : fmt::format("  // all but the last {} have come", pending));
  }

  void bringFirst() {
    if (hasRounds()) {
      m_code.open("for (int i = 0; i < {}; ++i)", m_slots);
      m_code.line("ask();");
      m_code.close();
      wait(m_lookahead);
    } else {
      bringAll();
    }
    m_code.open("for (int step = 0; step < {}; ++step)", m_steps);
    m_code.line("accumulate({}step, step);", row(gang()));
    m_code.close();
    m_code.blank();
  }

  // Of the one row that a gang has.
  void bringAll() {
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.open("for (int step = 0; step < {}; ++step)", m_steps);
    const bool isOpen = openStep("step", "");
    if (isManyRows()) {
      m_writer.decode(gang(), m_groupAxes);
    }
    copy("step");
    closeIf(isOpen);
    m_code.close();
    m_writer.leave(outside);
    m_code.line("commitCopies();");
    wait(0);
  }

  void reduceRow() {
    settle(-1);
    joinGang(0, own(stage(0), isLong(stage(0), m_steps)));
    for (std::size_t i = 1; i < stages(); ++i) {
      StageText& stage = this->stage(i);
      declare(stage, isLong(stage, m_steps));
      m_code.open("for (int step = 0, at = slot; step < {}; ++step, at = following(at))", m_steps);
      m_code.line("const int slot = at;");
      reduceStep(stage);
      m_code.close();
      joinGang(i, own(stage, isLong(stage, m_steps)));
    }
  }

  void mapStep() {
    const KernelWriter::Scope outside = m_writer.scope();
    const std::vector<int> loads = storedLoads();
    const bool isOpen = openStep("step", "");
    fetch(loads, "slot");
    m_elements.evaluate(loads, "", results());
    closeIf(isOpen);
    m_writer.leave(outside);
  }

  // Stores the row, and brings and reduces the next one meanwhile.
  void mapRow() {
    if (hasRounds()) {
      m_code.blank();
      restart(stage(0));
      m_code.line("const {} next = row + {};", m_writer.index(), gangs().gangs);
      m_code.line("int behind = (slot + {}) % {};  // of the vectors of the next row", m_steps, m_slots);
    }
    m_code.open("for (int step = 0; step < {}; ++step)", m_steps);
    if (storesElements()) {
      mapStep();
    }
    if (hasRounds()) {
      m_code.line("ask();");
    }
    m_code.line("slot = following(slot);");
    if (hasRounds()) {
      m_code.open("if (next < {} && step >= {})", m_groups, kBehind);
      wait(m_lookahead + kBehind);
      m_code.line("accumulate(next, step - {}, behind);", kBehind);
      m_code.line("behind = following(behind);");
      m_code.close();
    }
    m_code.close();
    if (hasRounds()) {
      wait(m_lookahead);
      m_code.open("for (int step = {}; next < {} && step < {}; ++step)", std::max<std::int64_t>(m_steps - kBehind, 0),
                  m_groups, m_steps);
      m_code.line("accumulate(next, step, behind);");
      m_code.line("behind = following(behind);");
      m_code.close();
    }
  }

  std::int64_t m_lookahead;
  Slices m_slices;
  std::int64_t m_steps;
  std::int64_t m_slots;
  bool m_isWhole;  // every thread has a vector in every step
};

class RowResident final : public LoopStrategy {
 public:
  RowResident() : LoopStrategy("row_resident", Form::Row) {}

  [[nodiscard]] Example example() const override { return examples::rows({4096, 262144}); }
  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    const Residence residence = residenceOf(instance);
    Launch launch = oneLaunch(entry);
    launch.step.block.x = narrow(instance.value("threads", 1));
    launch.step.grid.x = narrow(residence.gangs.gangs * residence.gangs.blocks);
    launch.step.cooperative = true;
    launch.step.dynamicSharedBytes = narrow(residence.bytes);
    launch.scratch.push_back(bytes(gangBytes(residence.gangs, std::max(1, instance.region.stageCount()))));
    launch.zeroScratch = true;
    return launch;
  }

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    return RowResidentText(instance).run(launch.step.entry);
  }

  [[nodiscard]] std::optional<double> estimate(const Instance& instance) const override {
    const RowShape shape = rowShape(instance);
    const Residence residence = residenceOf(instance);
    const std::int64_t gangs = std::max<std::int64_t>(1, residence.gangs.gangs);
    const double rounds = static_cast<double>(divideUp(shape.groups, gangs));
    const double steps = static_cast<double>(std::max<std::int64_t>(1, residence.steps));
    // Fitted on an H200 to groups of 1 to 1.5 MB, and to those of 8 and 16 MB with blocks that met in another way, 5 %
    // slower. Nothing is asked of memory while all blocks of a gang meet, nor for the first vectors of a group; and a
    // step takes longer where it also reads what is not in shared memory.
    constexpr double kMeeting = 1.2e-6;
    constexpr double kOfMember = 5e-8;
    constexpr double kUneven = 4e-7;           // where some blocks have less than others
    constexpr double kUnderWay = 26.0 * 1024;  // bytes that keep memory busy, of a multiprocessor
    const double perMultiprocessor = static_cast<double>(instance.value("blocks_per_multiprocessor", 1));
    const double members = static_cast<double>(residence.gangs.blocks) / perMultiprocessor;
    const double meeting = residence.gangs.blocks > 1 ? kMeeting + kOfMember * members : 0.0;
    const double underWay = static_cast<double>(instance.value("lookahead") + kBehind) * perMultiprocessor *
                            static_cast<double>(cachedBytes(instance, instance.value("threads", 1)));
    const bool isEven = shape.vectors % (residence.gangs.blocks * instance.value("threads", 1)) == 0;
    const double ofGroup = meetingsOfGroup(instance) * meeting + (isEven ? 0.0 : kUneven) +
                           steps * secondsOfStep(instance.region) / perMultiprocessor;
    const double stretch =
        (1.0 + 0.25 * static_cast<double>(kBehind) / steps) * std::sqrt(std::max(1.0, kUnderWay / underWay));
    return secondsOfGroups(instance, {.blocks = instance.device.multiprocessors,
                                      .threads = instance.value("threads", 1),
                                      .isKept = true,
                                      .idle = rounds * ofGroup,
                                      .stretch = stretch,
                                      .isPersistent = true});
  }

 private:
  [[nodiscard]] Result<> fitsPattern(const Instance& instance) const override {
    const std::int64_t resident = instance.value("threads", 1) * instance.value("blocks_per_multiprocessor", 1);
    if (!canCacheElements(instance.region) || !canCopyElements(instance.region) ||
        streamedLoads(instance.region) == 0) {
      return unfit("its elements cannot be copied into shared memory");
    }
    if (resident > kThreadsPerMultiprocessor || resident * 32 > kRegistersPerMultiprocessor) {
      return unfit("so many blocks do not run on one multiprocessor at once");
    }
    const Residence residence = residenceOf(instance);
    if (residence.gangs.gangs == 0) {
      return unfit("a group does not fit into the shared memory of the device");
    }
    if (residence.steps < 2 || residence.gangs.blocks > kMaxGangBlocks) {
      return unfit("a group is too short for a gang of blocks");
    }
    return {};
  }
};

}  // namespace

void addRowResident(StrategyTable& table) {
  table.add(std::make_unique<RowResident>());
}

}  // namespace swage::synth::cuda
