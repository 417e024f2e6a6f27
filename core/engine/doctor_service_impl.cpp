// SPDX-License-Identifier: Apache-2.0
#include "core/engine/doctor_service_impl.h"

#include <unistd.h>

#include <fstream>

#include <fmt/format.h>

#include "core/engine/text_member.h"
#include "core/process/programs.h"
#include "core/process/target_choice.h"

namespace swage::engine {
namespace {

namespace fs = std::filesystem;
using services::DoctorCheck;

constexpr std::chrono::minutes kDoctorLimit{2};

std::string firstLine(const QByteArray& text) {
  const qsizetype end = text.indexOf('\n');
  return (end < 0 ? text : text.left(end)).trimmed().toStdString();
}

DoctorCheck programCheck(std::string name, const fs::path& program) {
  DoctorCheck check{.name = std::move(name), .detail = program.string(), .fix = {}, .required = true};
  if (::access(program.c_str(), X_OK) != 0) {
    check.status = DoctorCheck::Status::Failed;
    check.detail = program.string() + " is missing";
    check.fix = "build or install it beside this program";
  }
  return check;
}

DoctorCheck patternsCheck(const process::Locations& locations) {
  DoctorCheck check{.name = "patterns", .detail = locations.patterns.string(), .fix = {}, .required = true};
  std::error_code ignored;
  if (!fs::is_directory(locations.patterns, ignored)) {
    check.status = DoctorCheck::Status::Failed;
    check.detail += " is missing";
    check.fix = "install Swage's data files, or run it from its source tree";
  }
  return check;
}

// The project folder itself, or the nearest ancestor that exists: that is where it would be created.
DoctorCheck projectCheck(const fs::path& project) {
  DoctorCheck check{.name = "project folder", .detail = project.string() + " is writable", .fix = {}, .required = true};
  std::error_code ignored;
  fs::path place = fs::absolute(project, ignored);
  while (!fs::exists(place, ignored) && place.has_relative_path()) {
    place = place.parent_path();
  }
  if (::access(place.c_str(), W_OK | X_OK) != 0) {
    check.status = DoctorCheck::Status::Failed;
    check.detail = place.string() + " is not writable";
    check.fix = "choose another folder with --project, or set XDG_DATA_HOME";
  }
  return check;
}

DoctorCheck driverCheck(process::DriverState driver) {
  DoctorCheck check{.name = "NVIDIA driver", .detail = {}, .fix = {}, .required = false};
  if (driver == process::DriverState::Loaded) {
    std::ifstream version("/proc/driver/nvidia/version");
    std::getline(version, check.detail);
    if (check.detail.empty()) {
      check.detail = "loaded";
    }
    return check;
  }
  check.status = DoctorCheck::Status::Warning;
  check.detail = "not loaded: only the target cpu works here";
  check.fix = "install NVIDIA's driver to optimize for a GPU";
  return check;
}

DoctorCheck sanitizerCheck(const process::Locations& locations) {
  DoctorCheck check{.name = "compute-sanitizer", .detail = locations.sanitizer.string(), .fix = {}, .required = false};
  if (locations.sanitizer.empty()) {
    check.status = DoctorCheck::Status::Warning;
    check.detail = "not found: the best kernels of a GPU will not be sanitised";
    check.fix = "install NVIDIA's CUDA toolkit, or put compute-sanitizer on the PATH";
  }
  return check;
}

DoctorCheck nvrtcCheck(const nlohmann::json& document) {
  DoctorCheck check{.name = "NVRTC", .detail = {}, .fix = {}, .required = false};
  const auto nvidia = document.find("nvidia");
  check.detail = nvidia != document.end() && nvidia->is_object() ? textMember(*nvidia, "nvrtc") : std::string();
  if (check.detail.empty()) {
    check.status = DoctorCheck::Status::Warning;
    check.detail = "not found: CUDA sources cannot be compiled";
    check.fix = "use a Python environment with PyTorch's CUDA build (nvidia-cuda-nvrtc)";
  }
  return check;
}

// The compiler itself chooses between the sandboxes that there are.
process::LaunchCommand sandboxCheck(const process::Locations& locations) {
  process::LaunchCommand command = process::Programs::standard(locations).compilerCommand;
  command.arguments.emplace_back("--check");
  return command;
}

}  // namespace

struct DoctorServiceImpl::Tool {
  std::string name;
  process::LaunchCommand command;
  std::string fix;
  bool required = true;
  bool isGoodByItsWords = false;  // whatever its exit code says: of something else
  std::string_view doubtful{};    // what its words begin with where somebody chose to do without
};

std::vector<DoctorCheck> checksFromProbe(const Result<nlohmann::json>& document, const fs::path& python) {
  DoctorCheck torch{.name = "Python with PyTorch", .detail = {}, .fix = {}, .required = true};
  if (!document) {
    torch.status = DoctorCheck::Status::Failed;
    torch.detail = fmt::format("{}: {}", python.string(), document.error().message());
    torch.fix = "set SWAGE_PYTHON to a Python that has PyTorch 2.11, or run packaging/run once";
    return {torch};
  }
  const auto info = document->find("torch");
  const std::string version =
      info != document->end() && info->is_object() ? textMember(*info, "version") : std::string();
  torch.detail = fmt::format("PyTorch {} at {}", version, python.string());
  if (!version.starts_with("2.11.")) {
    torch.status = DoctorCheck::Status::Warning;
    torch.fix = "Swage is tested with PyTorch 2.11";
  }
  return {torch, nvrtcCheck(*document)};
}

DoctorServiceImpl::DoctorServiceImpl(process::Locations locations, fs::path project, process::DriverState driver,
                                     QObject* parent)
    : services::DoctorService(parent),
      m_locations(std::move(locations)),
      m_project(std::move(project)),
      m_driver(driver) {}

DoctorServiceImpl::~DoctorServiceImpl() = default;

void DoctorServiceImpl::start() {
  m_checks = {programCheck("swage-worker", m_locations.worker), programCheck("swage-compiler", m_locations.compiler),
              patternsCheck(m_locations), projectCheck(m_project), driverCheck(m_driver)};
  m_tools = {{.name = "C++ compiler",
              .command = {.program = "c++", .arguments = {"--version"}, .environment = {}},
              .fix = "apt install g++"},
             {.name = "sandbox",
              .command = sandboxCheck(m_locations),
              .fix = "apt install bubblewrap, and allow unprivileged user namespaces",
              .isGoodByItsWords = true,
              .doubtful = process::kNoSandbox}};
  if (m_driver == process::DriverState::Loaded) {
    m_checks.push_back(sanitizerCheck(m_locations));
    // The kernel module says little: only a program that uses the device knows whether it works.
    m_tools.push_back({.name = "GPU",
                       .command = {.program = m_locations.worker.string(),
                                   .arguments = {"--device", "cuda:0", "--check"},
                                   .environment = {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}}},
                       .fix = "until it works, Swage optimizes for the CPU only: --target cpu",
                       .required = false});
  }
  m_nextTool = 0;
  runNextTool();
}

void DoctorServiceImpl::runNextTool() {
  if (m_nextTool == m_tools.size()) {
    m_probe = std::make_unique<process::BridgeCall>(m_locations.bridgeEnvironment(), std::vector<std::string>{"probe"},
                                                    kDoctorLimit);
    connect(m_probe.get(), &process::BridgeCall::finished, this, &DoctorServiceImpl::handleProbe);
    m_probe->start();
    return;
  }
  m_toolOutput.clear();
  m_child = std::make_unique<process::ChildProcess>(m_tools[m_nextTool].name);
  connect(m_child.get(), &process::ChildProcess::output, this,
          [this](const QByteArray& bytes) { m_toolOutput += bytes; });
  connect(m_child.get(), &process::ChildProcess::ended, this, &DoctorServiceImpl::handleTool);
  m_child->start(m_tools[m_nextTool].command);
}

void DoctorServiceImpl::handleTool(const process::ChildEnd& end) {
  const Tool& tool = m_tools[m_nextTool++];
  DoctorCheck check{.name = tool.name, .detail = firstLine(m_toolOutput), .fix = {}, .required = tool.required};
  const bool isGood =
      tool.isGoodByItsWords ? !check.detail.empty() : end.kind == process::ChildEnd::Kind::Exited && end.exitCode == 0;
  if (!isGood) {
    check.status = tool.required ? DoctorCheck::Status::Failed : DoctorCheck::Status::Warning;
    check.detail = tool.command.program + " does not work: " + (end.lastLines.empty() ? end.detail : end.lastLines);
    while (check.detail.ends_with('\n')) {
      check.detail.pop_back();
    }
    check.fix = tool.fix;
  } else if (check.detail.empty()) {
    check.detail = tool.command.program + " works";
  } else if (!tool.doubtful.empty() && check.detail.starts_with(tool.doubtful)) {
    check.status = DoctorCheck::Status::Warning;
    check.fix = "`swage config set search.sandbox auto`, or leave --sandbox out";
  }
  m_checks.push_back(std::move(check));
  m_child.release()->deleteLater();  // we are inside its signal
  runNextTool();
}

void DoctorServiceImpl::handleProbe(const Result<nlohmann::json>& document) {
  for (DoctorCheck& check : checksFromProbe(document, m_locations.python)) {
    m_checks.push_back(std::move(check));
  }
  m_probe.release()->deleteLater();
  Q_EMIT finished(m_checks);
}

}  // namespace swage::engine
