// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QThread>

#include <filesystem>

#include "core/run/session_parts.h"
#include "core/services/edit_service.h"

namespace swage::run {
class EditEvaluation;
}

namespace swage::engine {

// EditService for one thread, usually that of the window, with the evaluation on a thread of its own. Destroying it
// ends an evaluation in progress; the record stays whole.
class EditServiceImpl final : public services::EditService {
  Q_OBJECT

 public:
  // `patterns` is the folder of the catalogue.
  EditServiceImpl(run::SessionParts parts, std::filesystem::path patterns, QObject* parent = nullptr);
  ~EditServiceImpl() override;

  void evaluate(const services::EditSpec& spec) override;
  void cancel() override;
  [[nodiscard]] bool isActive() const override { return m_evaluation != nullptr; }
  [[nodiscard]] Result<std::vector<services::RegionParameters>> regions(domain::Language language,
                                                                        const domain::Genome& genome) const override;

 private:
  void handleFinished(const Result<services::EditOutcome>& outcome);

  run::SessionParts m_parts;
  std::filesystem::path m_patterns;
  QThread m_thread;
  run::EditEvaluation* m_evaluation = nullptr;  // lives on m_thread, deleted there
};

// What the patterns of the catalogue say about a genome. A pattern or parameter that the catalogue does not have any
// more is left with its value alone.
[[nodiscard]] std::vector<services::RegionParameters> describeRegions(const patterns::Catalogue& catalogue,
                                                                      domain::Language language,
                                                                      const domain::Genome& genome);

}  // namespace swage::engine
