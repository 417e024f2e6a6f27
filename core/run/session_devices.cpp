// SPDX-License-Identifier: Apache-2.0
// The part of Session that uses further GPUs of the same model.
#include <algorithm>

#include <fmt/format.h>

#include "core/domain/json.h"
#include "core/process/spare_worker.h"
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
void Session::watch(process::WorkerSupervisor& worker) {
  m_laneBoard.add(worker);
  connect(&worker, &process::WorkerSupervisor::failed, this,
          [this, &worker](const Error& error) { handleWorkerFailed(&worker, error); });
  connect(&worker, &process::WorkerSupervisor::stopped, this, [this, &worker] { handleWorkerStopped(&worker); });
  connect(&worker, &process::WorkerSupervisor::stateChanged, this, [this, &worker] { m_laneBoard.note(worker); });
  connect(&worker, &process::WorkerSupervisor::killed, this, [this, &worker] { noticeKilled(deviceOf(worker)); });
  connect(&worker, &process::WorkerSupervisor::replaced, this, [this, &worker](const std::string& why) {
    m_laneBoard.replace(worker, why);
    keepEvent("worker replaced", nlohmann::json{{"why", why}, {"device", deviceOf(worker).uuid}}.dump());
  });
  connect(&worker, &process::WorkerSupervisor::readyAgain, this, [this](double seconds) {
    keepEvent("worker ready again", nlohmann::json{{"seconds", seconds}}.dump());
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

void Session::keepEvent(std::string_view kind, const std::string& json) {
  if (!m_record || !m_run.isValid()) {
    return;
  }
  if (const Result<> stored = m_record->addEvent(m_run, kind, json); !stored) {
    fail(stored.error());
  }
}

const domain::DeviceInfo& Session::deviceOf(const process::WorkerSupervisor& worker) const {
  const Lane* lane = laneOf(&worker);
  return lane != nullptr ? lane->device : m_device;
}

// Before anything of it changes hands.
void Session::markLost(const process::WorkerSupervisor& worker, const Error& error) {
  m_laneBoard.lose(worker, error.message());
  const domain::DeviceInfo& device = deviceOf(worker);
  const nlohmann::json what = {{"uuid", device.uuid}, {"name", device.name}, {"why", error.message()}};
  keepEvent("device lost", domain::dumpJson(what));
}

Session::Lane* Session::laneOf(const process::WorkerSupervisor* worker) const {
  const auto found =
      std::find_if(m_lanes.begin(), m_lanes.end(), [worker](const auto& lane) { return lane->worker.get() == worker; });
  return found == m_lanes.end() ? nullptr : found->get();
}

void Session::handleWorkerFailed(process::WorkerSupervisor* worker, const Error& error) {
  if (!m_concluding) {
    m_outcome.cause =
        worker->isDeviceLost() ? services::Notice::Subject::GpuLost : services::Notice::Subject::WorkerKilled;
    markLost(*worker, error);
  }
  if (Lane* lane = laneOf(worker)) {
    dropLane(*lane, error);
  } else if (!promoteLane(error)) {
    fail(error);
  }
}

void Session::handleWorkerStopped(process::WorkerSupervisor* worker) {
  if (Lane* lane = laneOf(worker)) {
    lane->gone = true;
    lane->lease.reset();
  } else {
    m_workerGone = true;
    if (m_profiles && !m_concluding) {
      m_profiles->start(m_outcome.best);
    }
  }
  finishWhenQuiet();
}

// After the baselines: they load the task while the first GPU searches already, and join it one by one.
void Session::startMoreWorkers() {
  if (m_device.target != domain::Target::Cuda) {
    return;
  }
  for (const process::LaunchCommand& command : m_parts.moreWorkers) {
    process::WorkerSupervisor::Options options;
    options.command = command;
    options.spare = process::spareFor(m_device.target, command);
    options.name = fmt::format("worker {}", m_lanes.size() + 2);
    options.stopGrace = m_parts.programs.stopGrace;
    m_lanes.push_back(std::make_unique<Lane>());
    Lane& lane = *m_lanes.back();
    lane.command = command;
    lane.worker = std::make_unique<process::WorkerSupervisor>(std::move(options));
    process::WorkerSupervisor* worker = lane.worker.get();
    connect(worker, &process::WorkerSupervisor::deviceReady, this,
            [this, &lane](const wire::WorkerReady& ready) { admitLane(lane, ready); });
    connect(worker, &process::WorkerSupervisor::loaded, this,
            [this, &lane](const Result<wire::TaskReady>& task) { joinLane(lane, task); });
    watch(*worker);
    worker->start();
  }
}

void Session::admitLane(Lane& lane, const wire::WorkerReady& ready) {
  lane.device = ready.device;
  m_laneBoard.rename(*lane.worker, ready.device);
  if (const Result<> occupied = occupy(lane); !occupied) {
    dropLane(lane, occupied.error());
    return;
  }
  testLane(lane, ready.torchVersion);
}

Result<> Session::occupy(Lane& lane) {
  const domain::DeviceInfo& device = lane.device;
  const bool isTwice =
      device.uuid == m_device.uuid || std::any_of(m_lanes.begin(), m_lanes.end(), [&](const auto& other) {
        return other.get() != &lane && other->device.uuid == device.uuid;
      });
  if (isTwice) {
    return Error(ErrorKind::InvalidInput, fmt::format("{} is given twice", device.uuid));
  }
  if (!isSameModel(device, m_device)) {
    return Error(ErrorKind::InvalidInput,
                 fmt::format("{} is no {}: times of two models cannot be compared", device.name, m_device.name),
                 "start a run of its own on it");
  }
  SWAGE_TRY_ASSIGN(lane.lease, process::DeviceLease::take(device));
  return {};
}

// Each device is asked for itself: cheats that are found on one may pass on its neighbour.
void Session::testLane(Lane& lane, const std::string& torchVersion) {
  if (!m_parts.selfTest) {
    lane.worker->load(taskToLoad());
    return;
  }
  trust::SelfTest::Options options = trust::selfTestOptions(m_parts.programs, m_device.target);
  options.worker = lane.command;
  lane.gate = std::make_unique<trust::SelfTestGate>(*m_parts.selfTest, std::move(options), lane.device, torchVersion);
  lane.gateOpen = false;
  connect(lane.gate.get(), &trust::SelfTestGate::finished, this,
          [this, &lane](const Result<trust::SelfTestGate::Ground>& ground) {
            lane.gateOpen = true;
            if (m_concluding || lane.gone) {
              finishWhenQuiet();
            } else if (!ground) {
              dropLane(lane, ground.error());
            } else {
              lane.worker->load(taskToLoad());
            }
          });
  lane.gate->start();
}

void Session::joinLane(Lane& lane, const Result<wire::TaskReady>& task) {
  if (!task) {
    dropLane(lane, task.error());
    return;
  }
  if (m_concluding || isFinishing()) {
    return;
  }
  lane.joined = true;
  if (const Result<> stored = m_record->addEvent(
          m_run, "device joined", nlohmann::json{{"uuid", lane.device.uuid}, {"name", lane.device.name}}.dump());
      !stored) {
    fail(stored.error());
    return;
  }
  m_pipeline->addWorker(*lane.worker, lane.device.uuid);
}

// The search goes on without it; what it was evaluating goes to the next free device.
void Session::dropLane(Lane& lane, const Error& error) {
  if (!m_concluding) {
    noticeLostGpu(error);
  }
  if (std::exchange(lane.joined, false)) {
    m_pipeline->removeWorker(*lane.worker);
  }
  if (lane.gate && !lane.gateOpen) {
    lane.gate->cancel();
  }
  lane.worker->stop();
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
  std::swap(m_worker, lane.worker);
  std::swap(m_device, lane.device);
  lane.lease.swap(m_lease);
  noticeLostGpu(error);
  m_pipeline->removeWorker(*lane.worker);
  lane.worker->stop();
  return true;
}

bool Session::areLanesGone() const {
  return std::all_of(m_lanes.begin(), m_lanes.end(), [](const auto& lane) { return lane->gone && lane->gateOpen; });
}

void Session::endLanes(void (process::WorkerSupervisor::*how)()) {
  for (const auto& lane : m_lanes) {
    if (lane->gate && !lane->gateOpen) {
      lane->gate->cancel();
    }
    if (!lane->gone) {
      (lane->worker.get()->*how)();
    }
  }
}

}  // namespace swage::run
