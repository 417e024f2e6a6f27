// SPDX-License-Identifier: Apache-2.0
// The part of Session that uses further GPUs of the same model.
#include <algorithm>

#include <fmt/format.h>

#include "core/domain/json.h"
#include "core/run/elite_profiles.h"
#include "core/run/session.h"

namespace swage::run {
namespace {

// Times of one model are comparable, those of two are not: an elite of the faster one would screen out everything that
// the slower one measures.
bool isSameModel(const domain::DeviceInfo& a, const domain::DeviceInfo& b) {
  return a.name == b.name && a.architecture == b.architecture && a.multiprocessors == b.multiprocessors &&
         a.memoryBytes == b.memoryBytes;
}

}  // namespace

// What every worker of a run is watched for.
void Session::watch(trust::Rig& rig) {
  const process::WorkerSupervisor& worker = rig.worker();
  m_laneBoard.add(worker);
  connect(&rig, &trust::Rig::lost, this, [this, &rig](const Error& error) { handleRigLost(rig, error); });
  connect(&rig, &trust::Rig::stopped, this, [this, &rig] { handleRigStopped(rig); });
  connect(&worker, &process::WorkerSupervisor::stateChanged, this, [this, &worker] { m_laneBoard.note(worker); });
  connect(&worker, &process::WorkerSupervisor::killed, this, [this, &worker] { noticeKilled(deviceOf(worker)); });
  connect(&worker, &process::WorkerSupervisor::replaced, this, [this, &worker](const std::string& why) {
    m_laneBoard.replace(worker, why);
    keepEvent(domain::EventKind::WorkerReplaced,
              nlohmann::json{{"why", why}, {"device", deviceOf(worker).uuid}}.dump());
  });
  connect(&worker, &process::WorkerSupervisor::readyAgain, this, [this](double seconds) {
    keepEvent(domain::EventKind::WorkerReady, nlohmann::json{{"seconds", seconds}}.dump());
  });
}

// Said each time; whoever shows notices shows the same one once.
void Session::noticeKilled(const domain::DeviceInfo& device) {
  if (m_concluding) {
    return;
  }
  Q_EMIT noticed({.severity = services::Notice::Severity::Warning,
                  .text = fmt::format("the worker of {} was killed by somebody else; another one takes its place",
                                      device.name.empty() ? std::string("the device") : device.name),
                  .hint =
                      "Nothing is lost: the candidate in work is evaluated again. If you did not end it, the system "
                      "ran out of memory: close what needs much of it (`dmesg` names what was killed).",
                  .subject = services::Notice::Subject::WorkerKilled});
}

void Session::keepEvent(domain::EventKind kind, const std::string& json) {
  if (!m_record || !m_run.isValid()) {
    return;
  }
  if (const Result<> stored = m_record->addEvent(m_run, kind, json); !stored) {
    fail(stored.error());
  }
}

const domain::DeviceInfo& Session::deviceOf(const process::WorkerSupervisor& worker) const {
  const Lane* lane = laneOf(&worker);
  return lane != nullptr ? lane->rig->device() : m_device;
}

// Before anything of it changes hands.
void Session::markLost(const process::WorkerSupervisor& worker, const Error& error) {
  m_laneBoard.lose(worker, error.message());
  const domain::DeviceInfo& device = deviceOf(worker);
  const nlohmann::json what = {{"uuid", device.uuid}, {"name", device.name}, {"why", error.message()}};
  keepEvent(domain::EventKind::DeviceLost, domain::dumpJson(what));
}

Session::Lane* Session::laneOf(const process::WorkerSupervisor* worker) const {
  const auto found = std::find_if(m_lanes.begin(), m_lanes.end(),
                                  [worker](const auto& lane) { return &lane->rig->worker() == worker; });
  return found == m_lanes.end() ? nullptr : found->get();
}

void Session::handleRigLost(trust::Rig& rig, const Error& error) {
  if (!m_concluding) {
    m_outcome.cause =
        rig.worker().isDeviceLost() ? services::Notice::Subject::GpuLost : services::Notice::Subject::WorkerKilled;
    markLost(rig.worker(), error);
  }
  if (Lane* lane = laneOf(&rig.worker())) {
    dropLane(*lane, error);
  } else if (!promoteLane(error)) {
    fail(error);
  }
}

void Session::handleRigStopped(trust::Rig& rig) {
  if (laneOf(&rig.worker()) != nullptr) {
    rig.giveBackDevice();
  } else if (m_profiles && !m_concluding) {
    m_profiles->start(m_outcome.best);
  }
  finishWhenQuiet();
}

// After the baselines: they load the task while the first GPU searches already, and join it one by one.
void Session::startMoreWorkers() {
  if (m_device.kind != domain::DeviceKind::Cuda) {
    return;
  }
  for (const process::LaunchCommand& command : m_parts.moreWorkers) {
    m_lanes.push_back(std::make_unique<Lane>());
    Lane& lane = *m_lanes.back();
    trust::Rig::Options options = rigOptions(command, m_device.kind, fmt::format("worker {}", m_lanes.size() + 1));
    options.admit = [this, &lane](const domain::DeviceInfo& device) { return admitLane(lane, device); };
    lane.rig = std::make_unique<trust::Rig>(std::move(options));
    connect(lane.rig.get(), &trust::Rig::ready, this, [this, &lane] { joinLane(lane); });
    connect(lane.rig.get(), &trust::Rig::refused, this, [this, &lane](const Error& error) { dropLane(lane, error); });
    watch(*lane.rig);
    lane.rig->start();
  }
}

Result<> Session::admitLane(const Lane& lane, const domain::DeviceInfo& device) {
  m_laneBoard.rename(lane.rig->worker(), device);
  const bool isTwice =
      device.uuid == m_device.uuid || std::any_of(m_lanes.begin(), m_lanes.end(), [&](const auto& other) {
        return other.get() != &lane && other->rig->device().uuid == device.uuid;
      });
  if (isTwice) {
    return Error(ErrorKind::InvalidInput, fmt::format("{} is given twice", device.uuid));
  }
  if (!isSameModel(device, m_device)) {
    return Error(ErrorKind::InvalidInput,
                 fmt::format("{} is no {}: times of two models cannot be compared", device.name, m_device.name),
                 "start a run of its own on it");
  }
  return {};
}

void Session::joinLane(Lane& lane) {
  if (m_concluding || isFinishing()) {
    return;
  }
  lane.joined = true;
  const domain::DeviceInfo& device = lane.rig->device();
  if (const Result<> stored = m_record->addEvent(m_run, domain::EventKind::DeviceJoined,
                                                 nlohmann::json{{"uuid", device.uuid}, {"name", device.name}}.dump());
      !stored) {
    fail(stored.error());
    return;
  }
  m_pipeline->addWorker(lane.rig->worker(), device.uuid);
}

// The search goes on without it; what it was evaluating goes to the next free device.
void Session::dropLane(Lane& lane, const Error& error) {
  if (!m_concluding) {
    noticeLostGpu(error);
  }
  if (std::exchange(lane.joined, false)) {
    m_pipeline->removeWorker(lane.rig->worker());
  }
  lane.rig->stop();
}

// The first GPU is lost while others work: one of them takes its place.
bool Session::promoteLane(const Error& error) {
  if (m_concluding || isFinishing() || !m_pipeline) {
    return false;
  }
  const auto next = std::find_if(m_lanes.begin(), m_lanes.end(), [](const auto& lane) { return lane->joined; });
  if (next == m_lanes.end()) {
    return false;
  }
  Lane& lane = **next;
  lane.joined = false;
  std::swap(m_rig, lane.rig);
  m_device = m_rig->device();
  noticeLostGpu(error);
  m_pipeline->removeWorker(lane.rig->worker());
  lane.rig->stop();
  return true;
}

bool Session::areLanesGone() const {
  return std::all_of(m_lanes.begin(), m_lanes.end(), [](const auto& lane) { return lane->rig->isGone(); });
}

void Session::endLanes(void (trust::Rig::*how)()) {
  for (const auto& lane : m_lanes) {
    (lane->rig.get()->*how)();
  }
}

}  // namespace swage::run
