// SPDX-License-Identifier: Apache-2.0
#include "core/synth/strategy.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/assert.h"

namespace swage::synth {
namespace {

Result<> checkParameters(const Instance& instance) {
  const auto hasValue = [&](const patterns::Parameter& parameter) {
    const auto given = instance.parameters.find(parameter.name);
    return given != instance.parameters.end() &&
           std::find(parameter.values.begin(), parameter.values.end(), given->second) != parameter.values.end();
  };
  for (const patterns::Parameter& parameter : instance.pattern.parameters) {
    if (!hasValue(parameter)) {
      return Error(ErrorKind::InvalidInput,
                   fmt::format("pattern '{}': parameter '{}' is missing or not one of its values", instance.pattern.id,
                               parameter.name));
    }
  }
  if (instance.parameters.size() != instance.pattern.parameters.size()) {
    return Error(ErrorKind::InvalidInput, fmt::format("pattern '{}': unknown parameter", instance.pattern.id));
  }
  return {};
}

domain::DataMovement movementOf(const std::string& fact, std::int64_t vectorWidth) {
  if (fact == "A3") {
    return domain::DataMovement::Pipelined;
  }
  if (fact == "A2") {
    return domain::DataMovement::Staged;
  }
  return fact == "A1" || vectorWidth > 1 ? domain::DataMovement::Wide : domain::DataMovement::Direct;
}

std::string textOf(const std::map<domain::ValueId, std::string>& texts, domain::ValueId value) {
  const auto found = texts.find(value);
  return found == texts.end() ? std::string() : found->second;
}

}  // namespace

std::int64_t Instance::value(std::string_view parameter, std::int64_t otherwise) const {
  const auto found = parameters.find(std::string(parameter));
  return found == parameters.end() ? otherwise : found->second;
}

std::string Instance::nameOf(domain::ValueId value) const {
  return model == nullptr ? std::string() : textOf(model->names, value);
}

std::string Instance::lineOf(domain::ValueId value) const {
  return model == nullptr ? std::string() : textOf(model->lines, value);
}

std::string Instance::assignedNameOf(domain::ValueId value) const {
  return model == nullptr ? std::string() : textOf(model->assigned, value);
}

domain::ScalarType Instance::typeOf(domain::ValueId value) const {
  const auto found = std::find_if(region.operands.begin(), region.operands.end(),
                                  [&](const Operand& operand) { return operand.value == value; });
  SWAGE_ASSERT(found != region.operands.end());
  return found->dtype;
}

Result<> Strategy::check(const Instance& instance) const {
  const bool isRight = m_language == instance.pattern.language && m_id == instance.pattern.id;
  if (isRight && !accepts(instance.region)) {
    return unfit("it is for another kind of region");
  }
  return checkAccepted(instance);
}

Result<> Strategy::checkAccepted(const Instance& instance) const {
  if (m_language != instance.pattern.language || m_id != instance.pattern.id ||
      domain::factsOf(m_language).device != instance.device.kind) {
    return unfit("it is for another kind of device");
  }
  SWAGE_TRY(checkParameters(instance));
  return fits(instance);
}

// As the manifest of the pattern says; a strategy whose parameters decide more has its own.
domain::Cell Strategy::aims(const Instance& instance) const {
  const auto fact = [&](const char* name) {
    const auto found = instance.pattern.facts.find(name);
    return found == instance.pattern.facts.end() ? std::string() : found->second;
  };
  domain::Cell cell;
  cell.movement = movementOf(fact("movement"), instance.value("vector_width"));
  cell.arithmetic = fact("arithmetic") == "B2"   ? domain::Arithmetic::TensorCore
                    : fact("arithmetic") == "B1" ? domain::Arithmetic::Packed
                                                 : domain::Arithmetic::Scalar;
  if (fact("decomposition") == "C2" || instance.value("persistent") != 0) {
    cell.decomposition = domain::Decomposition::InterBlock;
  } else if (fact("decomposition") == "C0") {
    cell.decomposition = domain::Decomposition::SeveralLaunches;
  }
  return cell;
}

std::optional<double> Strategy::estimate(const Instance& /*instance*/) const {
  return std::nullopt;
}

void Strategy::normalise(const Instance& /*instance*/, Parameters& /*parameters*/) const {}

Error Strategy::unfit(std::string_view why) const {
  return Error(ErrorKind::InvalidInput, fmt::format("pattern '{}': {}", m_id, why));
}

bool StrategyTable::accepts(domain::Language language, const Region& region) const {
  return std::any_of(m_strategies.begin(), m_strategies.end(), [&](const auto& strategy) {
    return strategy->language() == language && strategy->accepts(region);
  });
}

void StrategyTable::add(std::unique_ptr<Strategy> strategy) {
  m_strategies.push_back(std::move(strategy));
}

const Strategy* StrategyTable::find(domain::Language language, std::string_view id) const {
  const auto found = std::find_if(m_strategies.begin(), m_strategies.end(), [&](const auto& strategy) {
    return strategy->language() == language && strategy->id() == id;
  });
  return found == m_strategies.end() ? nullptr : found->get();
}

}  // namespace swage::synth
