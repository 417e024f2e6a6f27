// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "app/cli/command.h"
#include "core/engine/bug_report.h"
#include "core/engine/devices_service_impl.h"
#include "core/engine/doctor_service_impl.h"

// `devices` and `doctor`: what this machine has and lacks.
namespace swage::cli {

class DevicesCommand final : public Command {
 public:
  using Command::Command;
  void start() override;

 private:
  void show(const Result<services::DeviceReport>& report);

  std::unique_ptr<engine::DevicesServiceImpl> m_devices;
};

class DoctorCommand final : public Command {
 public:
  DoctorCommand(Context context, DoctorArguments arguments)
      : Command(std::move(context)), m_arguments(std::move(arguments)) {}
  void start() override;

 private:
  void handleChecks(const std::vector<services::DoctorCheck>& checks);
  void handleDevices(const Result<services::DeviceReport>& report);
  void handleArchive(const Result<>& written);
  void finish();

  DoctorArguments m_arguments;
  std::vector<services::DoctorCheck> m_checks;
  std::unique_ptr<engine::DoctorServiceImpl> m_doctor;
  std::unique_ptr<engine::DevicesServiceImpl> m_devices;
  std::unique_ptr<engine::BugReportArchive> m_archive;
};

[[nodiscard]] domain::Json toJson(const services::DeviceReport& report);
[[nodiscard]] std::string devicesText(const services::DeviceReport& report);

}  // namespace swage::cli
