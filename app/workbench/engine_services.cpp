// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/engine_services.h"

namespace swage::workbench {

namespace {

engine::SessionParts partsFor(const engine::Locations& locations, bool selfTest) {
  engine::SessionParts parts = engine::SessionParts::standard(locations);
  if (parts.selfTest) {
    parts.selfTest->skip = !selfTest;
  }
  return parts;
}

}  // namespace

EngineServices::EngineServices(const engine::Locations& locations, bool withSelfTest)
    : run(partsFor(locations, withSelfTest)),
      profiles(partsFor(locations, withSelfTest), record),
      edits(partsFor(locations, withSelfTest), locations.patterns),
      exportChecks(partsFor(locations, withSelfTest)),
      patterns(locations.patterns),
      doctor(locations, engine::dataFolder()),
      selfTest(engine::SessionParts::standard(locations), locations.selfTest),
      settings(engine::configFile()) {}

}  // namespace swage::workbench
