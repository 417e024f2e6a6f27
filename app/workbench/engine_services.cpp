// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/engine_services.h"

#include "core/engine/chosen_models.h"
#include "core/engine/model_endpoints.h"
#include "core/engine/pattern_ranking.h"

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

// Settings that cannot be read are complained about when a search needs them.
std::shared_ptr<const models::KeyRing> keysOfUser() {
  const auto endpoints = engine::readEndpoints(engine::configFile());
  return std::make_shared<models::KeyRing>(endpoints ? *endpoints : std::vector<models::Endpoint>());
}

}  // namespace

EngineServices::EngineServices(const process::Locations& locations, const EngineOptions& options)
    : keys(keysOfUser()),
      run(partsFor(locations, options)),
      profiles(partsFor(locations, options).programs, record),
      edits(partsFor(locations, options), locations.patterns),
      compiles(engine::CompileServiceImpl::standard(process::Programs::standard(locations).compilerCommand,
                                                    process::cacheFolder())),
      exportChecks(partsFor(locations, options).programs),
      patterns(locations.patterns),
      patternSearch([locations] { return engine::PatternPlaces::standard(locations); },
                    [keys = keys](const auto& question, auto& found, const auto& isCancelled) {
                      return engine::rankByChosenModel(engine::configFile(), keys, question, found, isCancelled);
                    }),
      doctor(locations, process::dataFolder()),
      selfTest(partsFor(locations, options), locations.selfTest),
      settings(engine::configFile(), options.aboveUser, options.belowUser),
      swarm(run),
      endpoints(engine::configFile(), keys) {
  run.setEnlist([file = engine::configFile(), keys = keys, locations](services::RunSpec& spec) {
    return engine::chosenModels(file, keys, spec, [locations] { return engine::PatternPlaces::standard(locations); });
  });
}

}  // namespace swage::workbench
