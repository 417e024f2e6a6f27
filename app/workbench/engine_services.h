// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "core/engine/benchmark_service_impl.h"
#include "core/engine/compile_service_impl.h"
#include "core/engine/doctor_service_impl.h"
#include "core/engine/edit_service_impl.h"
#include "core/engine/endpoint_service_impl.h"
#include "core/engine/export_check_service_impl.h"
#include "core/engine/export_service_impl.h"
#include "core/engine/pattern_search_service_impl.h"
#include "core/engine/pattern_service_impl.h"
#include "core/engine/profile_service_impl.h"
#include "core/engine/record_check_service_impl.h"
#include "core/engine/record_service_impl.h"
#include "core/engine/report_service_impl.h"
#include "core/engine/run_service_impl.h"
#include "core/engine/self_test_service_impl.h"
#include "core/engine/settings_file.h"
#include "core/engine/swarm_service_impl.h"
#include "core/process/locations.h"

namespace swage::workbench {

struct EngineOptions {
  bool selfTest = true;           // of a device that has not passed it yet
  std::vector<int> devices;       // numbers of GPUs; empty: the first
  services::Settings settings{};  // all of them, and what of them comes from elsewhere: see Configuration
  services::Settings aboveUser{};
  services::Settings belowUser{};
};

// The engine behind the interfaces that the window knows. The only place of the workbench that sees both.
struct EngineServices {
  EngineServices(const process::Locations& locations, const EngineOptions& options);

  std::shared_ptr<const models::KeyRing> keys;  // first: before there are threads and children
  engine::RunServiceImpl run;
  engine::RecordServiceImpl record;
  engine::ProfileServiceImpl profiles;
  engine::EditServiceImpl edits;
  engine::CompileServiceImpl compiles;
  engine::ExportServiceImpl exporter;
  engine::ExportCheckServiceImpl exportChecks;
  engine::PatternServiceImpl patterns;
  engine::PatternSearchServiceImpl patternSearch;
  engine::DoctorServiceImpl doctor;
  engine::SelfTestServiceImpl selfTest;
  engine::RecordCheckServiceImpl recordCheck;
  engine::ReportServiceImpl reports;
  engine::BenchmarkServiceImpl benchmarks;
  engine::SettingsFile settings;
  engine::SwarmServiceImpl swarm;
  engine::EndpointServiceImpl endpoints;
};

}  // namespace swage::workbench
