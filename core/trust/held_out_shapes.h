// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <QTemporaryDir>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/domain/assurance.h"
#include "core/process/bridge_call.h"
#include "core/process/compiler_pool.h"
#include "core/process/programs.h"
#include "core/store/record.h"
#include "core/trust/rig.h"

namespace swage::trust {

// The task of a recorded candidate at sizes that no search saw: a batch of one, and odd sizes, which no tile divides.
// The bridge finds out which sizes the module accepts; the same genome is realised on each variant's graph, compiled
// and verified by a worker, untimed. A candidate that fails is right on the sizes it was searched for and on no others:
// what is exported guards on them anyway, so this is worth knowing and no reason to refuse it. Changes nothing in the
// record. Emits finished() exactly once, when every process it started is gone; an Error only when it was cancelled.
class HeldOutShapes : public QObject {
  Q_OBJECT

 public:
  HeldOutShapes(const process::Programs& programs, std::filesystem::path project, domain::CandidateId candidate,
                QObject* parent = nullptr);
  ~HeldOutShapes() override;

  void start();
  void cancel();

 Q_SIGNALS:
  void finished(const swage::Result<swage::domain::Assurance>& assurance);

 private:
  struct Variant {
    std::string name;
    std::string sizes;
    std::filesystem::path bundle;
  };

  [[nodiscard]] Result<> prepare();
  void findVariants();
  void handleVariants(const Result<nlohmann::json>& document);
  void next();
  // The program of the genome at the variant's sizes, and its compilation; the failure belongs to the candidate.
  [[nodiscard]] Result<> build(const Variant& variant);
  void handleCompiled(const domain::CompileOutcome& outcome);
  void startRig();
  void handleEvaluated(const process::EvaluationResult& result);
  void note(domain::AssuranceVerdict verdict, const std::string& what);
  void endVariant();
  void conclude();
  void giveUp(const std::string& why);

  process::Programs m_programs;
  std::filesystem::path m_project;
  domain::CandidateId m_candidate;
  store::CandidateRecord m_record;
  store::RunRow m_run;
  domain::Graph m_graph;  // of the task itself
  QTemporaryDir m_folder;
  std::vector<Variant> m_variants;
  std::size_t m_current = 0;
  std::string m_refused;  // sizes that the module does not take
  wire::LoadTask m_load;
  wire::Evaluate m_evaluate;
  std::unique_ptr<process::BridgeCall> m_call;
  std::unique_ptr<process::CompilerPool> m_compilers;
  std::unique_ptr<Rig> m_rig;
  domain::Assurance m_assurance;
  std::vector<domain::AssuranceVerdict> m_verdicts;
  std::chrono::steady_clock::time_point m_start;
  bool m_cancelled = false;
  bool m_ended = false;
};

// Whether two graphs compute the same with tensors of other shapes: the same operators on the same values.
[[nodiscard]] bool hasSameStructure(const domain::Graph& a, const domain::Graph& b);

}  // namespace swage::trust
