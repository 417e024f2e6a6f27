// SPDX-License-Identifier: Apache-2.0
#include "core/device/cell_module.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace swage::device {
namespace {

using std::chrono::steady_clock;

constexpr std::int64_t kCopiedAtOnce = std::int64_t{4} << 20;  // by one thread
constexpr double kStartSeconds = 30.0;

double nsSince(steady_clock::time_point start) {
  return std::chrono::duration<double, std::nano>(steady_clock::now() - start).count();
}

void copy(void* target, const void* source, std::size_t bytes) {
  auto* const to = static_cast<char*>(target);
  const auto* const from = static_cast<const char*>(source);
  const auto size = static_cast<std::int64_t>(bytes);
#pragma omp parallel for schedule(static) if (size > kCopiedAtOnce)
  for (std::int64_t begin = 0; begin < size; begin += kCopiedAtOnce) {
    std::memcpy(to + begin, from + begin, static_cast<std::size_t>(std::min(kCopiedAtOnce, size - begin)));
  }
}

std::size_t extentBytes(const domain::TensorType& type) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    if (type.shape[i] == 0) {
      return 0;
    }
    last += (type.shape[i] - 1) * type.strides[i];
  }
  return static_cast<std::size_t>((last + 1) * static_cast<std::int64_t>(domain::byteSize(type.dtype)));
}

// The bits of a number that is passed by value, in the low bytes.
template <class T>
std::uint64_t bitsAt(const void* value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, value, sizeof(T));
  return bits;
}

std::uint64_t bitsOf(const domain::KernelArgument& argument, const void* value) {
  if (std::holds_alternative<domain::Int32>(argument)) {
    return bitsAt<std::int32_t>(value);
  }
  return std::holds_alternative<float>(argument) ? bitsAt<float>(value) : bitsAt<std::uint64_t>(value);
}

}  // namespace

// What goes on in this process while one lives is not the kernel's time.
class CellModule::Outside {
 public:
  explicit Outside(CellRegister& cells) : m_cells(cells), m_start(steady_clock::now()) {}
  ~Outside() { m_cells.outsideNs += nsSince(m_start) - m_insideNs; }
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;
  void setInside(double ns) { m_insideNs = ns; }

 private:
  CellRegister& m_cells;
  steady_clock::time_point m_start;
  double m_insideNs = 0.0;
};

// Either the cell's threads run or this process' do, also of those that only look for work: both have the same
// processors. While one lives it is the cell's turn.
class CellModule::Turn {
 public:
  explicit Turn(CellModule& module) : m_module(module) { m_module.m_cells.team.pause(m_module.m_cells.isTiming); }
  ~Turn() {
    if (!m_module.m_hasTurn) {
      m_module.leave();
    }
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  CellModule& m_module;
};

class CellModule::CellKernel final : public Kernel {
 public:
  CellKernel(CellModule& module, int entry, domain::KernelStep step)
      : m_module(module), m_entry(entry), m_step(std::move(step)) {}
  [[nodiscard]] DeviceStatus launch(void** arguments) override { return m_module.launch(m_entry, m_step, arguments); }

 private:
  CellModule& m_module;
  int m_entry;
  domain::KernelStep m_step;
};

DeviceResult<std::unique_ptr<KernelModule>> CellModule::load(const Options& options, const std::string& binary,
                                                             const domain::LaunchPlan& plan, CellRegister& cells) {
  KernelCell::Options wanted{
      .program = options.program, .buffers = {}, .threads = options.threads, .limitSeconds = kStartSeconds};
  std::map<std::size_t, Place> places;
  for (const domain::ValueId id : domain::buffersOfKernels(plan)) {
    const bool isInput = std::find(plan.inputs.begin(), plan.inputs.end(), id) != plan.inputs.end();
    const auto index = static_cast<std::size_t>(id.value());
    places[index] = {wanted.buffers.size(), isInput};
    wanted.buffers.push_back({extentBytes(plan.buffers.at(index)), isInput});
  }
  cells.team.pause(false);
  auto cell = KernelCell::start(wanted, binary);
  cells.team.resume();
  if (!cell) {
    return tl::make_unexpected(std::move(cell).error());
  }
  std::unique_ptr<CellModule> module(new CellModule(std::move(*cell), cells));
  module->m_places = std::move(places);
  module->m_cell->rest();
  cells.modules.insert(module.get());
  return module;
}

CellModule::~CellModule() {
  m_cells.team.resume();
  m_cells.modules.erase(this);
  if (m_cells.current == this) {
    m_cells.current = nullptr;
  }
}

DeviceResult<std::unique_ptr<Kernel>> CellModule::bind(const domain::KernelStep& step) {
  for (const domain::KernelArgument& argument : step.arguments) {
    if (std::holds_alternative<domain::TensorMap>(argument)) {
      return tl::make_unexpected(
          DeviceFailure{fmt::format("'{}' takes a tensor map, which a CPU has not", step.entry)});
    }
  }
  auto known = m_entries.find(step.entry);
  if (known == m_entries.end()) {
    const Turn turn(*this);
    const auto entry = m_cell->bind(step.entry);
    if (!entry) {
      return tl::make_unexpected(entry.error());
    }
    known = m_entries.emplace(step.entry, *entry).first;
  }
  return std::make_unique<CellKernel>(*this, known->second, step);
}

void CellModule::beginChecked() {
  m_place = kCellShared;
  m_isRunning = true;
  m_cells.current = this;
}

DeviceStatus CellModule::beginTimed(std::size_t set, std::span<const Input> inputs) {
  m_place = static_cast<std::uint32_t>(set % (kCellPlaces - 1)) + 1;
  m_isRunning = true;
  m_cells.current = this;
  leave();
  std::vector<std::size_t> brought;
  if (m_sets.insert(set).second) {
    for (const Input& input : inputs) {
      const auto place = m_places.find(input.buffer);
      if (place != m_places.end()) {
        const auto shared = m_cell->buffer(place->second.buffer);
        copy(shared.data(), input.from, shared.size());
        brought.push_back(place->second.buffer);
      }
    }
  }
  // On the processors whose caches are flushed afterwards.
  const Turn turn(*this);
  DeviceStatus failed = m_cell->place(m_cells.team.processors());
  failed = failed ? failed : m_cell->copyIn(brought, m_place);
  if (failed) {
    m_sets.erase(set);
    return failed;
  }
  return m_cell->clear();
}

void CellModule::end() {
  leave();
  m_isRunning = false;
  m_place = kCellShared;
  if (m_cells.current == this) {
    m_cells.current = nullptr;
  }
}

DeviceStatus CellModule::bring(std::size_t buffer, const void* from) {
  const Outside outside(m_cells);
  leave();
  const Place& place = m_places.at(buffer);
  const auto shared = m_cell->buffer(place.buffer);
  copy(shared.data(), from, shared.size());
  if (m_place == kCellShared) {
    return {};
  }
  if (place.isInput) {
    m_sets.clear();  // another one than stands in its set
  }
  const Turn turn(*this);
  return m_cell->copyIn(std::span(&place.buffer, 1), m_place);
}

DeviceStatus CellModule::take(std::size_t buffer, void* to) {
  const Outside outside(m_cells);
  const Place& place = m_places.at(buffer);
  if (m_place != kCellShared) {
    const Turn turn(*this);
    if (DeviceStatus failed = m_cell->copyOut(std::span(&place.buffer, 1))) {
      return failed;
    }
  }
  leave();
  const auto shared = m_cell->buffer(place.buffer);
  copy(to, shared.data(), shared.size());
  return {};
}

DeviceStatus CellModule::zero(std::size_t buffer) {
  const Place& place = m_places.at(buffer);
  if (place.isInput) {
    return DeviceFailure{.detail = fmt::format("a step sets input {} to zero", buffer),
                         .kind = FailureKind::WroteInput};
  }
  Outside outside(m_cells);
  if (DeviceStatus failed = takeTurn()) {
    return failed;
  }
  const Turn turn(*this);
  const auto ns = m_cell->zero(place.buffer, m_place);
  outside.setInside(ns.value_or(0.0));
  return ns ? std::nullopt : DeviceStatus(ns.error());
}

DeviceStatus CellModule::inspect() {
  if (const auto overrun = m_cell->findOverrun()) {
    const auto plans = std::find_if(m_places.begin(), m_places.end(),
                                    [&](const auto& place) { return place.second.buffer == *overrun; });
    const std::size_t buffer = plans != m_places.end() ? plans->first : *overrun;
    return DeviceFailure{.detail = fmt::format("a kernel wrote beside buffer {}", buffer),
                         .kind = FailureKind::BesideBuffer};
  }
  const Turn turn(*this);
  return m_cell->inspect();
}

std::vector<KernelCell::Argument> CellModule::passed(const domain::KernelStep& step, void** arguments) const {
  std::vector<KernelCell::Argument> passed;
  for (std::size_t i = 0; i < step.arguments.size(); ++i) {
    if (const auto id = domain::bufferOf(step.arguments[i])) {
      passed.emplace_back(KernelCell::BufferArgument{m_places.at(static_cast<std::size_t>(id->value())).buffer});
    } else {
      passed.emplace_back(bitsOf(step.arguments[i], arguments[i]));
    }
  }
  return passed;
}

// A buffer that is not managed by a run is brought before and taken after the call.
DeviceStatus CellModule::launch(int entry, const domain::KernelStep& step, void** arguments) {
  if (m_isRunning) {
    return call(entry, step, arguments);
  }
  std::vector<std::pair<std::size_t, void*>> buffers;
  for (std::size_t i = 0; i < step.arguments.size(); ++i) {
    if (const auto id = domain::bufferOf(step.arguments[i])) {
      buffers.emplace_back(static_cast<std::size_t>(id->value()), *static_cast<void**>(arguments[i]));
    }
  }
  for (const auto& [buffer, address] : buffers) {
    if (DeviceStatus failed = bring(buffer, address)) {
      return failed;
    }
  }
  DeviceStatus failed = call(entry, step, arguments);
  for (auto at = buffers.begin(); !failed && at != buffers.end(); ++at) {
    failed = m_places.at(at->first).isInput ? std::nullopt : take(at->first, at->second);
  }
  return failed ? failed : inspect();
}

DeviceStatus CellModule::call(int entry, const domain::KernelStep& step, void** arguments) {
  Outside outside(m_cells);
  if (DeviceStatus failed = takeTurn()) {
    return failed;
  }
  const Turn turn(*this);
  const auto ns = m_cell->call(entry, passed(step, arguments), m_limitSeconds, m_place);
  outside.setInside(ns.value_or(0.0));
  return ns ? std::nullopt : DeviceStatus(ns.error());
}

void CellModule::renew() {
  const Turn turn(*this);
  static_cast<void>(m_cell->renew());
}

DeviceStatus CellModule::warm() {
  m_hasTurn = m_cells.isTiming;
  const Turn turn(*this);
  return m_cell->warm(m_cells.team.processors());
}

DeviceStatus CellModule::takeTurn() {
  return m_cells.isTiming && !m_hasTurn ? warm() : std::nullopt;
}

void CellModule::leave() {
  m_hasTurn = false;
  m_cell->rest();
  m_cells.team.resume();
}

void CellModule::yield() {
  const Outside outside(m_cells);
  leave();
  if (m_cells.isTiming) {
    m_cells.team.spread(m_cells.allowed);
  }
}

std::vector<pid_t> CellModule::threads() const {
  std::vector<pid_t> threads;
  std::error_code failure;
  for (std::filesystem::directory_iterator at(fmt::format("/proc/{}/task", m_cell->process()), failure), end;
       !failure && at != end; at.increment(failure)) {
    const std::string name = at->path().filename();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    threads.push_back(thread);
  }
  std::sort(threads.begin(), threads.end());  // the first has the number of the process
  return threads;
}

}  // namespace swage::device
