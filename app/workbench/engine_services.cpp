// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/engine_services.h"

namespace swage::workbench {

namespace {

engine::SessionParts partsFor(const engine::Locations& locations, const EngineOptions& options) {
  engine::SessionParts parts = engine::SessionParts::standard(locations);
  if (!options.devices.empty()) {
    parts.useDevices(locations, options.devices);
  }
  if (parts.selfTest) {
    parts.selfTest->skip = !options.selfTest;
  }
  return parts;
}

}  // namespace

EngineServices::EngineServices(const engine::Locations& locations, const EngineOptions& options)
    : run(partsFor(locations, options)),
      profiles(partsFor(locations, options), record),
      edits(partsFor(locations, options), locations.patterns),
      compiles(engine::CompileServiceImpl::standard(engine::SessionParts::standard(locations).compilerCommand,
                                                    engine::cacheFolder())),
      exportChecks(partsFor(locations, options)),
      patterns(locations.patterns),
      doctor(locations, engine::dataFolder()),
      selfTest(partsFor(locations, options), locations.selfTest),
      settings(engine::configFile(), options.aboveUser, options.belowUser) {}

}  // namespace swage::workbench
