// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/synth/region_shape.h"
#include "core/synth/strategy.h"

namespace swage::synth {

// A strategy whose kernel is the source file of its pattern, with the region written in the interface of
// patterns/README.md in the place of the example.
class TemplateStrategy : public Strategy {
 public:
  TemplateStrategy(domain::Language language, std::string id, Form form)
      : Strategy(language, std::move(id)), m_form(form) {}

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch, int number) const final;
  // Maps and reductions over whole tensors, walked in this form.
  [[nodiscard]] bool accepts(const Region& region) const final;
  [[nodiscard]] bool needsPrelude() const final { return true; }

 protected:
  [[nodiscard]] Form form() const { return m_form; }
  [[nodiscard]] static Launch oneLaunch(const std::string& entry);

 private:
  Form m_form;
};

}  // namespace swage::synth
