// SPDX-License-Identifier: Apache-2.0
#include "core/engine/devices_service_impl.h"

#include <QProcess>
#include <QProcessEnvironment>

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "core/domain/json.h"
#include "core/engine/text_member.h"
#include "core/process/device_lease.h"

namespace swage::engine {
namespace {

using services::DeviceStatus;

constexpr std::chrono::minutes kDevicesLimit{2};

void addTrouble(DeviceStatus& status, const nlohmann::json& trouble) {
  if (trouble.is_object()) {
    status.state = DeviceStatus::State::Unusable;
    status.detail = textMember(trouble, "message");
    status.hint = textMember(trouble, "hint");
  }
}

// PyTorch writes a UUID without the "GPU-" in front of it.
bool isSame(const domain::DeviceInfo& info, const nlohmann::json& seen) {
  const std::string uuid = textMember(seen, "uuid");
  return !uuid.empty() && info.uuid.ends_with(uuid);
}

void lookAtLocks(services::DeviceReport& report) {
  for (DeviceStatus& status : report.devices) {
    if (status.state != DeviceStatus::State::Usable || status.info.kind != domain::DeviceKind::Cuda) {
      continue;
    }
    if (const auto lease = process::DeviceLease::take(status.info);
        !lease && lease.error().kind() == ErrorKind::Locked) {
      status.state = DeviceStatus::State::InUse;
      status.detail = lease.error().message();
      status.hint = lease.error().hint();
    }
  }
}

}  // namespace

Result<services::DeviceReport> reportFromList(std::string_view text) {
  const auto document = domain::parseJson(text);
  if (!document || !document->is_object() || !document->contains("devices")) {
    return Error(ErrorKind::Environment, "swage-worker gave no list of devices",
                 "`swage doctor` checks the installation");
  }
  services::DeviceReport report;
  for (const nlohmann::json& one : (*document)["devices"]) {
    if (!one.is_object() || !one.contains("device")) {
      continue;
    }
    DeviceStatus status;
    SWAGE_TRY_ASSIGN(status.info, domain::deviceInfoFromJson(one["device"]));
    addTrouble(status, one.value("trouble", nlohmann::json()));
    report.devices.push_back(std::move(status));
  }
  const nlohmann::json trouble = document->value("cuda_trouble", nlohmann::json());
  report.cudaDetail = textMember(trouble, "message");
  report.cudaHint = textMember(trouble, "hint");
  return report;
}

Result<std::vector<int>> numbersOf(const std::vector<std::string>& devices, const services::DeviceReport& report) {
  std::vector<int> numbers;
  for (const std::string& word : devices) {
    if (const auto number = services::deviceNumber(word)) {
      numbers.push_back(*number);
      continue;
    }
    const auto hasIt = [&word](const DeviceStatus& status) {
      return status.info.kind == domain::DeviceKind::Cuda && status.info.uuid.starts_with(word);
    };
    const auto found = std::find_if(report.devices.begin(), report.devices.end(), hasIt);
    if (found == report.devices.end()) {
      return Error(ErrorKind::NotFound, fmt::format("no GPU has the UUID '{}'", word), "`swage devices` shows them");
    }
    if (std::any_of(std::next(found), report.devices.end(), hasIt)) {
      return Error(ErrorKind::NotFound, fmt::format("the UUIDs of several GPUs begin with '{}'", word),
                   "write the whole UUID; `swage devices` shows them");
    }
    numbers.push_back(found->info.ordinal);
  }
  return numbers;
}

Result<std::vector<int>> findDevices(const process::Locations& locations, const std::vector<std::string>& devices) {
  if (std::all_of(devices.begin(), devices.end(), services::deviceNumber)) {
    return numbersOf(devices, {});
  }
  QProcess worker;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  environment.insert(QStringLiteral("CUDA_DEVICE_ORDER"), QStringLiteral("PCI_BUS_ID"));
  worker.setProcessEnvironment(environment);
  worker.start(QString::fromStdString(locations.worker.string()), {QStringLiteral("--list")});
  worker.waitForFinished(static_cast<int>(std::chrono::milliseconds(kDevicesLimit).count()));
  SWAGE_TRY_ASSIGN(const services::DeviceReport report, reportFromList(worker.readAllStandardOutput().toStdString()));
  return numbersOf(devices, report);
}

void addTorch(services::DeviceReport& report, const Result<nlohmann::json>& document) {
  if (!document) {
    report.torchDetail = document.error().message();
    return;
  }
  const nlohmann::json torch = document->value("torch", nlohmann::json::object());
  report.torchVersion = textMember(torch, "version");
  report.torchCuda = textMember(torch, "cuda_version");
  const nlohmann::json seen = torch.is_object() ? torch.value("devices", nlohmann::json::array()) : nlohmann::json();
  for (DeviceStatus& status : report.devices) {
    const bool isCpu = status.info.kind == domain::DeviceKind::Cpu;
    status.isSeenByTorch = isCpu || std::any_of(seen.begin(), seen.end(), [&status](const nlohmann::json& one) {
                             return isSame(status.info, one);
                           });
    if (!isCpu && !status.isSeenByTorch && status.state == DeviceStatus::State::Usable) {
      status.state = DeviceStatus::State::Unusable;
      status.detail = report.torchCuda.empty()
                          ? fmt::format("PyTorch {} is built without CUDA", report.torchVersion)
                          : fmt::format("PyTorch {} (CUDA {}) does not see it", report.torchVersion, report.torchCuda);
      status.hint = report.torchCuda.empty() ? "use a Python with PyTorch's CUDA build: set SWAGE_PYTHON"
                                             : "`swage doctor` checks driver and PyTorch";
    }
  }
}

DevicesServiceImpl::DevicesServiceImpl(process::Locations locations, QObject* parent)
    : services::DevicesService(parent), m_locations(std::move(locations)) {}

DevicesServiceImpl::~DevicesServiceImpl() = default;

void DevicesServiceImpl::start() {
  m_output.clear();
  m_child = std::make_unique<process::ChildProcess>("swage-worker");
  connect(m_child.get(), &process::ChildProcess::output, this, [this](const QByteArray& bytes) { m_output += bytes; });
  connect(m_child.get(), &process::ChildProcess::ended, this, &DevicesServiceImpl::handleList);
  m_child->start({.program = m_locations.worker.string(),
                  .arguments = {"--list"},
                  .environment = {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}}});
}

void DevicesServiceImpl::handleList(const process::ChildEnd& end) {
  m_child.release()->deleteLater();  // we are inside its signal
  if (end.kind != process::ChildEnd::Kind::Exited || end.exitCode != 0) {
    Q_EMIT finished(Error(ErrorKind::Environment, "cannot list the devices: swage-worker " + end.detail,
                          "`swage doctor` checks the installation"));
    return;
  }
  auto report = reportFromList(m_output.toStdString());
  if (!report) {
    Q_EMIT finished(report.error());
    return;
  }
  m_report = std::move(*report);
  lookAtLocks(m_report);
  m_probe = std::make_unique<process::BridgeCall>(m_locations.bridgeEnvironment(), std::vector<std::string>{"probe"},
                                                  kDevicesLimit);
  connect(m_probe.get(), &process::BridgeCall::finished, this, &DevicesServiceImpl::handleProbe);
  m_probe->start();
}

void DevicesServiceImpl::handleProbe(const Result<nlohmann::json>& document) {
  m_probe.release()->deleteLater();
  addTorch(m_report, document);
  Q_EMIT finished(m_report);
}

}  // namespace swage::engine
