// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/result.h"
#include "core/domain/candidate.h"
#include "core/domain/compilation.h"

namespace swage::services {

// A source that somebody is typing, and the recorded candidate it is an edit of: compiled for the device of that
// candidate's run, with its kernels and flags.
struct DraftSource {
  std::filesystem::path project;
  domain::CandidateId parent;
  std::string source;
  friend bool operator==(const DraftSource&, const DraftSource&) = default;
};

// Compiles drafts, and nothing more: no worker, no PyTorch, no record of it. Lives on the GUI thread; nothing here
// blocks.
class CompileService : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;

  // Ends with one compiled(), later, that carries the number returned here. The newest draft wins: of an older one
  // nothing is heard any more.
  [[nodiscard]] virtual std::uint64_t compile(const DraftSource& draft) = 0;
  // Of no draft anything is heard any more.
  virtual void cancel() = 0;

 Q_SIGNALS:
  // A source that does not compile is an outcome; an error says that nothing can be compiled here.
  void compiled(std::uint64_t number, const swage::Result<swage::domain::CompileOutcome>& outcome);
};

}  // namespace swage::services
