// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/engine_services.h"

namespace swage::workbench {

namespace {

run::SessionParts partsFor(const process::Locations& locations, const EngineOptions& options) {
  run::SessionParts parts = run::SessionParts::standard(locations);
  if (!options.devices.empty()) {
    parts.useDevices(locations, options.devices);
  }
  if (parts.selfTest) {
    parts.selfTest->skip = !options.selfTest;
  }
  return parts;
}

}  // namespace

EngineServices::EngineServices(const process::Locations& locations, const EngineOptions& options)
    : run(partsFor(locations, options)),
      profiles(partsFor(locations, options).programs, record),
      edits(partsFor(locations, options), locations.patterns),
      compiles(engine::CompileServiceImpl::standard(process::Programs::standard(locations).compilerCommand,
                                                    process::cacheFolder())),
      exportChecks(partsFor(locations, options).programs),
      patterns(locations.patterns),
      doctor(locations, process::dataFolder()),
      selfTest(partsFor(locations, options), locations.selfTest),
      settings(engine::configFile(), options.aboveUser, options.belowUser) {}

}  // namespace swage::workbench
