// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/device/cell.h"
#include "core/device/device.h"
#include "core/device/kernel_memory.h"
#include "core/device/openmp_team.h"

namespace swage::device {

class CellModule;

// What a device knows of the cells that it has started. Outlives them.
struct CellRegister {
  std::set<CellModule*> modules;
  CellModule* current = nullptr;  // between the beginning and the end of a run
  double outsideNs = 0.0;         // of this process' clock: what a call in a cell costs beside the kernel
  OpenMpTeam team;                // of this process
  cpu_set_t allowed{};            // what processors its threads may use
  bool isTiming = false;          // a run is under the clock
};

// The binary of a candidate for a CPU, loaded into a cell of its own.
class CellModule final : public KernelModule, public KernelMemory {
 public:
  struct Options {
    std::filesystem::path program;  // swage-cell
    int threads = 1;
  };
  // Fails where the cell cannot be started or cannot load the binary.
  [[nodiscard]] static DeviceResult<std::unique_ptr<KernelModule>> load(const Options& options,
                                                                        const std::string& binary,
                                                                        const domain::LaunchPlan& plan,
                                                                        CellRegister& cells);
  ~CellModule() override;

  [[nodiscard]] DeviceResult<std::unique_ptr<Kernel>> bind(const domain::KernelStep& step) override;
  [[nodiscard]] KernelMemory* memory() override { return this; }

  [[nodiscard]] bool holds(std::size_t buffer) const override { return m_places.contains(buffer); }
  void beginChecked() override;
  [[nodiscard]] DeviceStatus beginTimed(std::size_t set, std::span<const Input> inputs) override;
  void forgetInputs() override { m_sets.clear(); }
  void end() override;
  void yield() override;
  [[nodiscard]] DeviceStatus bring(std::size_t buffer, const void* from) override;
  [[nodiscard]] DeviceStatus take(std::size_t buffer, void* to) override;
  [[nodiscard]] DeviceStatus zero(std::size_t buffer) override;
  [[nodiscard]] DeviceStatus inspect() override;
  void setLimit(double seconds) override { m_limitSeconds = seconds; }

  // Fresh stacks and the usual arithmetic. What fails here fails again in the next call.
  void renew();
  // Its threads are as this process' are that PyTorch computes with, and those stand still: until yield() while a run
  // is timed.
  [[nodiscard]] DeviceStatus warm();
  void setConfined(bool isConfined) { m_cell->setConfined(isConfined); }
  // -1: it is gone.
  [[nodiscard]] pid_t process() const { return m_cell->process(); }
  // All of the process, the one that calls kernels first.
  [[nodiscard]] std::vector<pid_t> threads() const;
  [[nodiscard]] const std::string& gaps() const { return m_cell->gaps(); }

 private:
  class CellKernel;
  class Outside;
  class Turn;

  CellModule(std::unique_ptr<KernelCell> cell, CellRegister& cells) : m_cell(std::move(cell)), m_cells(cells) {}
  [[nodiscard]] DeviceStatus launch(int entry, const domain::KernelStep& step, void** arguments);
  void leave();
  // The cell's, where this process has had it since a timed run began.
  [[nodiscard]] DeviceStatus takeTurn();
  [[nodiscard]] std::vector<KernelCell::Argument> passed(const domain::KernelStep& step, void** arguments) const;
  [[nodiscard]] DeviceStatus call(int entry, const domain::KernelStep& step, void** arguments);

  struct Place {
    std::size_t buffer = 0;  // of the cell
    bool isInput = false;
  };
  std::unique_ptr<KernelCell> m_cell;
  CellRegister& m_cells;
  std::map<std::size_t, Place> m_places;  // by the plan's buffers
  std::map<std::string, int> m_entries;
  std::set<std::size_t> m_sets;  // whose inputs the cell has
  std::uint32_t m_place = kCellShared;
  bool m_isRunning = false;  // between beginning and end
  bool m_hasTurn = false;    // this process' threads stand still beyond one command
  double m_limitSeconds = 60.0;
};

}  // namespace swage::device
