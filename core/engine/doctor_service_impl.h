// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "core/process/bridge_call.h"
#include "core/process/locations.h"
#include "core/process/target_choice.h"
#include "core/services/doctor_service.h"

namespace swage::engine {

// Looks at what a run needs: compiler, sandbox, Python with PyTorch, our own programs, NVIDIA's driver and compiler,
// a writable project folder. Each check says what to do. start() again when finished() has come.
class DoctorServiceImpl final : public services::DoctorService {
  Q_OBJECT

 public:
  DoctorServiceImpl(process::Locations locations, std::filesystem::path project,
                    process::DriverState driver = process::nvidiaDriver(), QObject* parent = nullptr);
  ~DoctorServiceImpl() override;

  void start() override;

 private:
  void runNextTool();
  void handleTool(const process::ChildEnd& end);
  void handleProbe(const Result<nlohmann::json>& document);

  struct Tool;
  process::Locations m_locations;
  std::filesystem::path m_project;
  process::DriverState m_driver;
  std::vector<services::DoctorCheck> m_checks;
  std::vector<Tool> m_tools;
  std::size_t m_nextTool = 0;
  QByteArray m_toolOutput;
  std::unique_ptr<process::ChildProcess> m_child;
  std::unique_ptr<process::BridgeCall> m_probe;
};

// What the bridge's probe says about Python, PyTorch and NVRTC.
[[nodiscard]] std::vector<services::DoctorCheck> checksFromProbe(const Result<nlohmann::json>& document,
                                                                 const std::filesystem::path& python);

}  // namespace swage::engine
