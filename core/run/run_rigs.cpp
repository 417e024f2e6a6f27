// SPDX-License-Identifier: Apache-2.0
#include "core/run/run_rigs.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/domain/json.h"
#include "core/process/spare_worker.h"
#include "core/trust/load_request.h"

namespace swage::run {
namespace {

using services::Notice;

// Times of one model are comparable, those of two are not: an elite of the faster one would screen out everything that
// the slower one measures.
bool isSameModel(const domain::DeviceInfo& a, const domain::DeviceInfo& b) {
  return a.name == b.name && a.architecture == b.architecture && a.multiprocessors == b.multiprocessors &&
         a.memoryBytes == b.memoryBytes;
}

Notice lostGpu(const Error& error) {
  return {.severity = Notice::Severity::Warning,
          .text = "a GPU is left out: " + error.message(),
          .hint = error.hint(),
          .subject = Notice::Subject::GpuLost};
}

// Said each time; whoever shows notices shows the same one once.
Notice killedWorker(const domain::DeviceInfo& device) {
  return {.severity = Notice::Severity::Warning,
          .text = fmt::format("the worker of {} was killed by somebody else; another one takes its place",
                              device.name.empty() ? std::string("the device") : device.name),
          .hint =
              "Nothing is lost: the candidate in work is evaluated again. If you did not end it, the system "
              "ran out of memory: close what needs much of it (`dmesg` names what was killed).",
          .subject = Notice::Subject::WorkerKilled};
}

}  // namespace

RunRigs::RunRigs(RunContext& context, QObject* parent)
    : QObject(parent), m_context(context), m_board(context.parts.now) {}

RunRigs::~RunRigs() = default;

trust::Rig::Options RunRigs::optionsOf(const process::LaunchCommand& command, std::string name) const {
  const SessionParts& parts = m_context.parts;
  trust::Rig::Options options;
  options.worker.command = command;
  options.worker.spare = process::spareFor(m_context.kind, command);
  options.worker.name = std::move(name);
  options.worker.stopGrace = parts.programs.stopGrace;
  if (parts.selfTest) {
    options.selfTest = parts.selfTest;
    options.selfTestOptions = trust::selfTestOptions(parts.programs, m_context.kind);
    options.selfTestOptions.worker = command;
  }
  options.task = [this](const domain::DeviceInfo& device) {
    return trust::loadRequest(*m_context.bundle, m_context.spec.seed, device.kind);
  };
  return options;
}

trust::Rig& RunRigs::startFirst() {
  m_first = std::make_unique<trust::Rig>(optionsOf(m_context.parts.programs.workerCommand(m_context.kind),
                                                   fmt::format("worker {}", domain::name(m_context.kind))));
  watch(*m_first);
  m_first->start();
  return *m_first;
}

// What every worker of a run is watched for.
void RunRigs::watch(trust::Rig& rig) {
  const process::WorkerSupervisor& worker = rig.worker();
  m_board.add(worker);
  connect(&rig, &trust::Rig::lost, this, [this, &rig](const Error& error) { handleLost(rig, error); });
  connect(&rig, &trust::Rig::stopped, this, [this, &rig] {
    if (find(rig.worker()) != nullptr) {
      rig.giveBackDevice();
    }
    Q_EMIT stopped();
  });
  connect(&worker, &process::WorkerSupervisor::stateChanged, this, [this, &worker] { m_board.note(worker); });
  connect(&worker, &process::WorkerSupervisor::killed, this, [this, &worker] {
    if (!m_silent) {
      Q_EMIT noticed(killedWorker(deviceOf(worker)));
    }
  });
  connect(&worker, &process::WorkerSupervisor::replaced, this, [this, &worker](const std::string& why) {
    m_board.replace(worker, why);
    keepEvent(domain::EventKind::WorkerReplaced,
              nlohmann::json{{"why", why}, {"device", deviceOf(worker).uuid}}.dump());
  });
  connect(&worker, &process::WorkerSupervisor::readyAgain, this, [this](double seconds) {
    keepEvent(domain::EventKind::WorkerReady, nlohmann::json{{"seconds", seconds}}.dump());
  });
}

void RunRigs::keepEvent(domain::EventKind kind, const std::string& json) {
  if (!m_context.record || !m_context.run.isValid()) {
    return;
  }
  if (const Result<> stored = m_context.record->addEvent(m_context.run, kind, json); !stored) {
    Q_EMIT failed(stored.error());
  }
}

const domain::DeviceInfo& RunRigs::deviceOf(const process::WorkerSupervisor& worker) const {
  const Further* further = find(worker);
  return further != nullptr ? further->rig->device() : m_context.device;
}

RunRigs::Further* RunRigs::find(const process::WorkerSupervisor& worker) const {
  const auto found = std::find_if(m_further.begin(), m_further.end(),
                                  [&worker](const auto& one) { return &one->rig->worker() == &worker; });
  return found == m_further.end() ? nullptr : found->get();
}

void RunRigs::handleLost(trust::Rig& rig, const Error& error) {
  const process::WorkerSupervisor& worker = rig.worker();
  if (!m_silent) {  // before anything of it changes hands
    m_context.outcome.cause = worker.isDeviceLost() ? Notice::Subject::GpuLost : Notice::Subject::WorkerKilled;
    m_board.lose(worker, error.message());
    const domain::DeviceInfo& device = deviceOf(worker);
    const nlohmann::json what = {{"uuid", device.uuid}, {"name", device.name}, {"why", error.message()}};
    keepEvent(domain::EventKind::DeviceLost, domain::dumpJson(what));
  }
  if (Further* further = find(worker)) {
    drop(*further, error);
  } else if (!promote(error)) {
    Q_EMIT failed(error);
  }
}

void RunRigs::open() {
  m_open = true;
  if (m_context.device.kind != domain::DeviceKind::Cuda) {
    return;
  }
  for (const process::LaunchCommand& command : m_context.parts.moreWorkers) {
    m_further.push_back(std::make_unique<Further>());
    Further& one = *m_further.back();
    trust::Rig::Options options = optionsOf(command, fmt::format("worker {}", m_further.size() + 1));
    options.admit = [this, &one](const domain::DeviceInfo& device) { return admit(one, device); };
    one.rig = std::make_unique<trust::Rig>(std::move(options));
    connect(one.rig.get(), &trust::Rig::ready, this, [this, &one] { join(one); });
    connect(one.rig.get(), &trust::Rig::refused, this, [this, &one](const Error& error) { drop(one, error); });
    watch(*one.rig);
    one.rig->start();
  }
}

Result<> RunRigs::admit(const Further& one, const domain::DeviceInfo& device) {
  m_board.rename(one.rig->worker(), device);
  const bool isTwice =
      device.uuid == m_context.device.uuid || std::any_of(m_further.begin(), m_further.end(), [&](const auto& other) {
        return other.get() != &one && other->rig->device().uuid == device.uuid;
      });
  if (isTwice) {
    return Error(ErrorKind::InvalidInput, fmt::format("{} is given twice", device.uuid));
  }
  if (!isSameModel(device, m_context.device)) {
    return Error(ErrorKind::InvalidInput,
                 fmt::format("{} is no {}: times of two models cannot be compared", device.name, m_context.device.name),
                 "start a run of its own on it");
  }
  return {};
}

void RunRigs::join(Further& one) {
  if (!m_open) {
    return;
  }
  one.joined = true;
  const domain::DeviceInfo& device = one.rig->device();
  const nlohmann::json what = {{"uuid", device.uuid}, {"name", device.name}};
  if (const Result<> stored = m_context.record->addEvent(m_context.run, domain::EventKind::DeviceJoined, what.dump());
      !stored) {
    Q_EMIT failed(stored.error());
    return;
  }
  Q_EMIT joined(one.rig->worker(), device.uuid);
}

// The search goes on without it; what it was evaluating goes to the next free device.
void RunRigs::drop(Further& one, const Error& error) {
  if (!m_silent) {
    Q_EMIT noticed(lostGpu(error));
  }
  if (std::exchange(one.joined, false)) {
    Q_EMIT left(one.rig->worker());
  }
  one.rig->stop();
}

// The first GPU is lost while others work: one of them takes its place.
bool RunRigs::promote(const Error& error) {
  const auto next = std::find_if(m_further.begin(), m_further.end(), [](const auto& one) { return one->joined; });
  if (!m_open || next == m_further.end()) {
    return false;
  }
  Further& one = **next;
  one.joined = false;
  std::swap(m_first, one.rig);
  m_context.device = m_first->device();
  Q_EMIT noticed(lostGpu(error));
  Q_EMIT left(one.rig->worker());
  one.rig->stop();
  return true;
}

void RunRigs::silence() {
  m_silent = true;
  m_open = false;
}

void RunRigs::end(void (trust::Rig::*how)()) {
  if (m_first) {
    (m_first.get()->*how)();
  }
  for (const auto& one : m_further) {
    (one->rig.get()->*how)();
  }
}

void RunRigs::giveBackFirst() {
  if (m_first) {
    m_first->giveBackDevice();
  }
}

bool RunRigs::areGone() const {
  return (!m_first || m_first->isGone()) &&
         std::all_of(m_further.begin(), m_further.end(), [](const auto& one) { return one->rig->isGone(); });
}

}  // namespace swage::run
