// SPDX-License-Identifier: Apache-2.0
#include "core/trust/sanitizer_check.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "core/base/files.h"
#include "core/base/log.h"
#include "core/domain/json.h"
#include "core/trust/first_blocks.h"

namespace swage::trust {
namespace {

constexpr std::size_t kMaxOutput = std::size_t{256} << 10U;

}  // namespace

SanitizerCheck::SanitizerCheck(Options options, QObject* parent) : QObject(parent), m_options(std::move(options)) {
  m_limit.setSingleShot(true);
  connect(&m_limit, &QTimer::timeout, this, [this] {
    m_run.overdue = true;
    m_child->kill();
  });
}

Result<> SanitizerCheck::start(const domain::LaunchPlan& plan, const std::string& binary,
                               const std::vector<domain::AssuranceKind>& tools) {
  if (!m_folder.isValid()) {
    return Error(ErrorKind::Storage,
                 fmt::format("cannot make a folder for compute-sanitizer: {}", m_folder.errorString().toStdString()),
                 "make room in the folder for temporary files, or point TMPDIR at another one");
  }
  const std::filesystem::path folder = m_folder.path().toStdString();
  SWAGE_TRY(writeFileAtomically(folder / "plan.json", domain::toJson(plan).dump()));
  if (m_options.raceBlocks > 0) {
    SWAGE_TRY(
        writeFileAtomically(folder / "racecheck.json", domain::toJson(firstBlocks(plan, m_options.raceBlocks)).dump()));
  }
  SWAGE_TRY(writeFileAtomically(folder / "kernel.cubin", binary));
  m_tools.assign(tools.begin(), tools.end());
  QTimer::singleShot(0, this, &SanitizerCheck::next);
  return {};
}

void SanitizerCheck::cancel() {
  m_tools.clear();
  if (m_child) {
    m_child->kill();
  }
}

void SanitizerCheck::next() {
  if (m_tools.empty()) {
    Q_EMIT finished();
    return;
  }
  const std::string folder = m_folder.path().toStdString();
  const std::string tool(sanitizerTool(m_tools.front()));
  const bool isRacecheck = m_tools.front() == domain::AssuranceKind::Racecheck;
  process::LaunchCommand command;
  command.program = m_options.sanitizer;
  // Calls that fail are no errors of the candidate: the replay asks the driver things that it may refuse.
  command.arguments = {"--tool",
                       tool,
                       "--report-api-errors",
                       "no",
                       "--print-limit",
                       "3",
                       m_options.replay,
                       std::to_string(m_options.ordinal),
                       folder + (isRacecheck && m_options.raceBlocks > 0 ? "/racecheck.json" : "/plan.json"),
                       folder + "/kernel.cubin"};
  if (isRacecheck) {
    command.arguments.emplace_back("--if-shared-memory");  // it watches no other, and takes longest of all tools
  }
  command.environment = {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}};
  m_run = {};
  m_run.limitSeconds = std::chrono::duration<double>(m_options.toolLimit).count();
  m_child = std::make_unique<process::ChildProcess>(tool);
  connect(m_child.get(), &process::ChildProcess::output, this, [this](const QByteArray& bytes) {
    const std::size_t room = kMaxOutput - std::min(kMaxOutput, m_run.output.size());
    m_run.output.append(bytes.constData(), std::min(room, static_cast<std::size_t>(bytes.size())));
  });
  connect(m_child.get(), &process::ChildProcess::ended, this, &SanitizerCheck::handleEnd);
  m_elapsed.start();
  m_limit.start(m_options.toolLimit);
  m_child->start(command);
}

void SanitizerCheck::handleEnd(const process::ChildEnd& end) {
  m_limit.stop();
  m_child.release()->deleteLater();  // we are inside its signal
  if (!m_tools.empty()) {            // else cancelled
    m_run.exitCode = end.exitCode;
    m_run.crashed = end.kind != process::ChildEnd::Kind::Exited;
    m_run.output += end.kind == process::ChildEnd::Kind::FailedToStart ? end.detail : end.lastLines;
    domain::Assurance assurance = readSanitizerRun(m_tools.front(), m_run);
    assurance.seconds = static_cast<double>(m_elapsed.elapsed()) * 1e-3;
    if (m_options.raceBlocks > 0 && assurance.kind == domain::AssuranceKind::Racecheck &&
        assurance.verdict == domain::AssuranceVerdict::Passed && assurance.detail.empty()) {
      assurance.detail = fmt::format("the first {} blocks of each kernel", m_options.raceBlocks);
    }
    m_tools.pop_front();
    if (assurance.verdict == domain::AssuranceVerdict::Failed) {
      m_tools.clear();
    }
    Q_EMIT found(assurance);
  }
  next();
}

}  // namespace swage::trust
