// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/services/edit_service.h"

namespace swage::workbench {

// In a demo a source may be edited, but nothing is compiled or measured.
class ReplayEdits final : public services::EditService {
  Q_OBJECT

 public:
  using EditService::EditService;

  void evaluate(const services::EditSpec& spec) override;
  void cancel() override {}
  [[nodiscard]] bool isActive() const override { return false; }
  [[nodiscard]] Result<std::vector<services::RegionParameters>> regions(domain::Language language,
                                                                        const domain::Genome& genome) const override;
};

}  // namespace swage::workbench
