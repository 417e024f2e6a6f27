// SPDX-License-Identifier: Apache-2.0
#include "core/engine/edit_service_impl.h"

#include "core/base/assert.h"
#include "core/patterns/catalogue.h"
#include "core/run/edit_evaluation.h"

namespace swage::engine {
namespace {

services::ParameterRange rangeOf(const patterns::Pattern* pattern, const std::string& name, std::int64_t value) {
  services::ParameterRange range;
  range.name = name;
  range.value = value;
  range.standard = value;
  range.values = {value};
  if (const patterns::Parameter* known = pattern != nullptr ? pattern->parameter(name) : nullptr) {
    range.description = known->description;
    range.values = known->values;
    range.standard = known->standard;
  }
  return range;
}

}  // namespace

std::vector<services::RegionParameters> describeRegions(const patterns::Catalogue& catalogue, domain::Language language,
                                                        const domain::Genome& genome) {
  std::vector<services::RegionParameters> regions;
  for (const domain::RegionGene& gene : genome.regions) {
    const patterns::Pattern* pattern = catalogue.find(language, gene.pattern);
    services::RegionParameters region;
    region.pattern = gene.pattern;
    region.description = pattern != nullptr ? pattern->description : std::string();
    region.nodes = gene.nodes;
    for (const auto& [name, value] : gene.parameters) {
      region.parameters.push_back(rangeOf(pattern, name, value));
    }
    regions.push_back(std::move(region));
  }
  return regions;
}

EditServiceImpl::EditServiceImpl(run::SessionParts parts, std::filesystem::path patterns, QObject* parent)
    : services::EditService(parent), m_parts(std::move(parts)), m_patterns(std::move(patterns)) {
  m_thread.setObjectName(QStringLiteral("edits"));
  m_thread.start();
}

EditServiceImpl::~EditServiceImpl() {
  if (m_evaluation != nullptr) {
    m_evaluation->disconnect(this);
    m_evaluation->deleteLater();  // runs before the loop ends, and kills what the evaluation started
  }
  m_thread.quit();
  m_thread.wait();
}

void EditServiceImpl::evaluate(const services::EditSpec& spec) {
  SWAGE_ASSERT(m_evaluation == nullptr);
  m_evaluation = new run::EditEvaluation(m_parts, spec);
  m_evaluation->moveToThread(&m_thread);
  connect(m_evaluation, &run::EditEvaluation::stageChanged, this, &EditServiceImpl::stageChanged);
  connect(m_evaluation, &run::EditEvaluation::finished, this, &EditServiceImpl::handleFinished);
  QMetaObject::invokeMethod(m_evaluation, &run::EditEvaluation::start);
}

void EditServiceImpl::cancel() {
  if (m_evaluation != nullptr) {
    QMetaObject::invokeMethod(m_evaluation, &run::EditEvaluation::cancel);
  }
}

// Whoever listens may start the next evaluation at once.
void EditServiceImpl::handleFinished(const Result<services::EditOutcome>& outcome) {
  m_evaluation->deleteLater();
  m_evaluation = nullptr;
  Q_EMIT finished(outcome);
}

Result<std::vector<services::RegionParameters>> EditServiceImpl::regions(domain::Language language,
                                                                         const domain::Genome& genome) const {
  SWAGE_TRY_ASSIGN(const patterns::Catalogue catalogue, patterns::Catalogue::load(m_patterns));
  return describeRegions(catalogue, language, genome);
}

}  // namespace swage::engine
