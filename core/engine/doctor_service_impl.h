// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "core/engine/bridge_call.h"
#include "core/engine/locations.h"
#include "core/engine/target_choice.h"
#include "core/services/doctor_service.h"

namespace swage::engine {

// Looks at what a run needs: compiler, sandbox, Python with PyTorch, our own programs, NVIDIA's driver and compiler,
// a writable project folder. Each check says what to do. start() again when finished() has come.
class DoctorServiceImpl final : public services::DoctorService {
  Q_OBJECT

 public:
  DoctorServiceImpl(Locations locations, std::filesystem::path project, DriverState driver = nvidiaDriver(),
                    QObject* parent = nullptr);
  ~DoctorServiceImpl() override;

  void start() override;

 private:
  void runNextTool();
  void handleTool(const ChildEnd& end);
  void handleProbe(const Result<nlohmann::json>& document);

  struct Tool;
  Locations m_locations;
  std::filesystem::path m_project;
  DriverState m_driver;
  std::vector<services::DoctorCheck> m_checks;
  std::vector<Tool> m_tools;
  std::size_t m_nextTool = 0;
  QByteArray m_toolOutput;
  std::unique_ptr<ChildProcess> m_child;
  std::unique_ptr<BridgeCall> m_probe;
};

// What the bridge's probe says about Python, PyTorch and NVRTC.
[[nodiscard]] std::vector<services::DoctorCheck> checksFromProbe(const Result<nlohmann::json>& document,
                                                                 const std::filesystem::path& python);

}  // namespace swage::engine
