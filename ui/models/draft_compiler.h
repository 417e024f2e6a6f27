// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QTimer>

#include <chrono>
#include <cstdint>
#include <optional>

#include "core/services/compile_service.h"

namespace swage::ui {

// Compiles what is being typed when the keys have rested for a moment, and knows what became of the newest text. GUI
// thread only.
class DraftCompiler final : public QObject {
  Q_OBJECT

 public:
  static constexpr std::chrono::milliseconds kRest{300};

  // Without a service nothing is compiled.
  explicit DraftCompiler(services::CompileService* service, QObject* parent = nullptr);
  ~DraftCompiler() override;

  [[nodiscard]] bool isAvailable() const { return m_service != nullptr; }
  // The text that is known already is not compiled again.
  void setDraft(const services::DraftSource& draft);
  // Without waiting for the keys to rest.
  void compileNow();
  // There is no draft any more.
  void clear();

  [[nodiscard]] bool hasDraft() const { return m_draft.has_value(); }
  // Nothing is known yet of the newest text.
  [[nodiscard]] bool isPending() const { return m_rest.isActive() || m_number != 0; }
  // Of the newest text, once it is known.
  [[nodiscard]] const std::optional<Result<domain::CompileOutcome>>& outcome() const { return m_outcome; }

 Q_SIGNALS:
  // Pending, known, or gone.
  void changed();

 private:
  void handleCompiled(std::uint64_t number, const Result<domain::CompileOutcome>& outcome);

  services::CompileService* m_service;
  QTimer m_rest;
  std::optional<services::DraftSource> m_draft;
  std::uint64_t m_number = 0;  // of the compilation that is awaited; 0: none
  std::optional<Result<domain::CompileOutcome>> m_outcome;
};

}  // namespace swage::ui
