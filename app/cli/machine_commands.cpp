// SPDX-License-Identifier: Apache-2.0
#include "app/cli/machine_commands.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/cli/config_command.h"
#include "app/cli/terminal.h"
#include "app/cli/views.h"

namespace swage::cli {
namespace {

using services::DeviceStatus;

bool isUsable(const std::vector<services::DoctorCheck>& checks) {
  return std::none_of(checks.begin(), checks.end(), [](const services::DoctorCheck& check) {
    return check.required && check.status == services::DoctorCheck::Status::Failed;
  });
}

domain::Json checksJson(const std::vector<services::DoctorCheck>& checks) {
  domain::Json json = {{"usable", isUsable(checks)}, {"checks", domain::Json::array()}};
  for (const services::DoctorCheck& check : checks) {
    json["checks"].push_back(toJson(check));
  }
  return json;
}

std::string numberOf(const domain::DeviceInfo& info) {
  return info.kind == domain::DeviceKind::Cpu ? "cpu" : fmt::format("cuda:{}", info.ordinal);
}

Tone toneOf(DeviceStatus::State state) {
  return state == DeviceStatus::State::Usable  ? Tone::Good
         : state == DeviceStatus::State::InUse ? Tone::Warning
                                               : Tone::Bad;
}

std::string bytesText(std::int64_t bytes) {
  return bytes > 0 ? fmt::format("{:.1f} GB", static_cast<double>(bytes) * 1e-9) : "-";
}

std::string settingsText() {
  const auto configuration = engine::Configuration::load(engine::ConfigurationPlaces::standard());
  return configuration ? settingTable(configuration->all(), true)
                       : configuration.error().message() + '\n' + configuration.error().hint() + '\n';
}

}  // namespace

domain::Json toJson(const services::DeviceReport& report) {
  const auto orNull = [](const std::string& text) { return text.empty() ? domain::Json() : domain::Json(text); };
  domain::Json json = {{"devices", domain::Json::array()},
                       {"torch", orNull(report.torchVersion)},
                       {"torch_cuda", orNull(report.torchCuda)},
                       {"torch_detail", orNull(report.torchDetail)},
                       {"cuda_detail", orNull(report.cudaDetail)}};
  for (const DeviceStatus& status : report.devices) {
    domain::Json one = domain::toJson(status.info);
    one["state"] = services::name(status.state);
    one["seen_by_torch"] = status.isSeenByTorch;
    one["detail"] = orNull(status.detail);
    one["hint"] = orNull(status.hint);
    json["devices"].push_back(std::move(one));
  }
  return json;
}

std::string devicesText(const services::DeviceReport& report) {
  std::vector<std::vector<std::string>> rows{
      {"device", "name", "architecture", "cores or SMs", "memory", "driver", "UUID", "state"}};
  std::string remarks;
  for (const DeviceStatus& status : report.devices) {
    const domain::DeviceInfo& info = status.info;
    rows.push_back({numberOf(info), info.name.empty() ? "-" : info.name,
                    info.architecture.empty() ? "-" : info.architecture,
                    info.multiprocessors > 0 ? std::to_string(info.multiprocessors) : "-", bytesText(info.memoryBytes),
                    info.driverVersion.empty() ? "-" : info.driverVersion, info.uuid.empty() ? "-" : info.uuid,
                    painted(toneOf(status.state), services::name(status.state))});
    if (!status.detail.empty()) {
      remarks += fmt::format("{}: {}\n", numberOf(info), status.detail);
      remarks += status.hint.empty() ? std::string() : fmt::format("  hint: {}\n", status.hint);
    }
  }
  if (!report.cudaDetail.empty()) {
    remarks += fmt::format("no GPU: {}\n", report.cudaDetail);
    remarks += report.cudaHint.empty() ? std::string() : fmt::format("  hint: {}\n", report.cudaHint);
  } else if (report.devices.size() == 1) {
    remarks += "no GPU: the driver has none\n";
  }
  std::string torch =
      report.torchDetail.empty() ? fmt::format("PyTorch {}", report.torchVersion) : "PyTorch: " + report.torchDetail;
  if (report.torchDetail.empty()) {
    torch += report.torchCuda.empty() ? ", without CUDA" : ", CUDA " + report.torchCuda;
  }
  return formatTable(rows) + '\n' + remarks + torch + '\n';
}

void DevicesCommand::start() {
  m_devices = std::make_unique<engine::DevicesServiceImpl>(context().locations);
  connect(m_devices.get(), &services::DevicesService::finished, this, &DevicesCommand::show);
  m_devices->start();
}

void DevicesCommand::show(const Result<services::DeviceReport>& report) {
  if (!report) {
    fail(report.error());
    return;
  }
  if (form() == OutputForm::Text) {
    print(devicesText(*report));
  } else {
    printJson(toJson(*report));
  }
  Q_EMIT done(wire::ExitCode::Ok);
}

void DoctorCommand::start() {
  std::filesystem::path project = context().common.project;
  if (project.empty()) {
    project = process::dataFolder() / "projects";
  }
  m_doctor = std::make_unique<engine::DoctorServiceImpl>(context().locations, project);
  connect(m_doctor.get(), &services::DoctorService::finished, this, &DoctorCommand::handleChecks);
  m_doctor->start();
}

void DoctorCommand::handleChecks(const std::vector<services::DoctorCheck>& checks) {
  m_checks = checks;
  if (m_arguments.bundle.empty()) {
    finish();
    return;
  }
  m_devices = std::make_unique<engine::DevicesServiceImpl>(context().locations);
  connect(m_devices.get(), &services::DevicesService::finished, this, &DoctorCommand::handleDevices);
  m_devices->start();
}

void DoctorCommand::handleDevices(const Result<services::DeviceReport>& report) {
  std::vector<engine::BugReportFile> files = engine::bugReportFacts(process::stateFolder() / "crashes");
  setColorUse({false, colorUse().errors});  // files have none
  files.push_back({"doctor.txt", doctorText(m_checks)});
  files.push_back({"doctor.json", checksJson(m_checks).dump(2) + '\n'});
  files.push_back({"devices.txt", report ? devicesText(*report) : report.error().message() + '\n'});
  files.push_back({"settings.txt", settingsText()});
  m_archive = std::make_unique<engine::BugReportArchive>(m_arguments.bundle);
  connect(m_archive.get(), &engine::BugReportArchive::finished, this, &DoctorCommand::handleArchive);
  m_archive->write(files);
}

void DoctorCommand::handleArchive(const Result<>& written) {
  if (!written) {
    fail(written.error());
    return;
  }
  finish();
}

void DoctorCommand::finish() {
  const bool usable = isUsable(m_checks);
  if (form() == OutputForm::Text) {
    print(doctorText(m_checks));
    print(m_arguments.bundle.empty()
              ? std::string()
              : fmt::format("\nwritten to {}; look through it before you send it\n", m_arguments.bundle.string()));
  } else {
    domain::Json json = checksJson(m_checks);
    json["bundle"] = m_arguments.bundle.empty() ? domain::Json() : domain::Json(m_arguments.bundle.string());
    printJson(json);
  }
  Q_EMIT done(usable ? wire::ExitCode::Ok : wire::ExitCode::Environment);
}

}  // namespace swage::cli
