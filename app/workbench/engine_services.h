// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "core/engine/doctor_service_impl.h"
#include "core/engine/edit_service_impl.h"
#include "core/engine/export_check_service_impl.h"
#include "core/engine/export_service_impl.h"
#include "core/engine/locations.h"
#include "core/engine/pattern_service_impl.h"
#include "core/engine/profile_service_impl.h"
#include "core/engine/record_check_service_impl.h"
#include "core/engine/record_service_impl.h"
#include "core/engine/run_service_impl.h"
#include "core/engine/self_test_service_impl.h"
#include "core/engine/settings_file.h"

namespace swage::workbench {

// The engine behind the interfaces that the window knows. The only place of the workbench that sees both.
struct EngineServices {
  EngineServices(const engine::Locations& locations, bool withSelfTest);

  engine::RunServiceImpl run;
  engine::RecordServiceImpl record;
  engine::ProfileServiceImpl profiles;
  engine::EditServiceImpl edits;
  engine::ExportServiceImpl exporter;
  engine::ExportCheckServiceImpl exportChecks;
  engine::PatternServiceImpl patterns;
  engine::DoctorServiceImpl doctor;
  engine::SelfTestServiceImpl selfTest;
  engine::RecordCheckServiceImpl recordCheck;
  engine::SettingsFile settings;
};

}  // namespace swage::workbench
