// SPDX-License-Identifier: Apache-2.0
#include "core/trust/held_out_shapes.h"

#include <QTimer>

#include <algorithm>

#include <fmt/format.h>

#include "core/store/candidate_keys.h"
#include "core/store/task_bundle.h"
#include "core/trust/load_request.h"

namespace swage::trust {
namespace {

using domain::AssuranceVerdict;

constexpr std::chrono::minutes kBridgeLimit{10};
constexpr double kLimitSeconds = 300.0;

std::string textOf(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

bool hasSameStructure(const domain::Graph& a, const domain::Graph& b) {
  return a.values.size() == b.values.size() && a.inputs == b.inputs && a.outputs == b.outputs &&
         std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(),
                    [](const domain::Node& left, const domain::Node& right) {
                      return left.op == right.op && left.outputs == right.outputs &&
                             domain::inputsOf(left) == domain::inputsOf(right);
                    });
}

HeldOutShapes::HeldOutShapes(const process::Programs& programs, std::filesystem::path project,
                             domain::CandidateId candidate, QObject* parent)
    : QObject(parent), m_programs(programs), m_project(std::move(project)), m_candidate(candidate) {
  m_assurance.kind = domain::AssuranceKind::HeldOutShapes;
}

HeldOutShapes::~HeldOutShapes() = default;

void HeldOutShapes::start() {
  m_start = std::chrono::steady_clock::now();
  QTimer::singleShot(0, this, [this] {
    if (const Result<> prepared = prepare(); !prepared || m_cancelled) {
      giveUp(prepared ? std::string() : prepared.error().message());
    } else if (!m_record.program.plan.hasKernels()) {
      giveUp("the candidate is PyTorch's own operators, which take every size");
    } else {
      findVariants();
    }
  });
}

Result<> HeldOutShapes::prepare() {
  SWAGE_TRY_ASSIGN(const store::Record record, store::Record::open(m_project, store::Record::Mode::ReadOnly));
  SWAGE_TRY_ASSIGN(m_record, record.candidate(m_candidate));
  SWAGE_TRY_ASSIGN(m_run, record.run(m_record.run));
  SWAGE_TRY_ASSIGN(const store::TaskBundle bundle, store::readTaskBundle(m_run.bundlePath));
  m_graph = bundle.task.graph;
  if (!m_record.genome) {
    return Error(ErrorKind::Unsupported, "it was not synthesised, and so it cannot be written for other sizes");
  }
  const bool isEdit = m_record.madeBy == domain::OperatorKind::Human;
  if (isEdit || !m_record.madeBy.kind()) {  // whose program may be another one than its genome's
    SWAGE_TRY_ASSIGN(const auto synthesizer, m_programs.makeSynthesizer(m_graph, m_run.device));
    const auto program = synthesizer->realise(*m_record.genome);
    if (!program || store::sourceHash(*program) != m_record.sourceHash) {
      return Error(ErrorKind::Unsupported, isEdit ? "it was edited by hand, and so it cannot be written for other sizes"
                                                  : "it is no program of the patterns, and so it cannot be written for "
                                                    "other sizes");
    }
  }
  if (!m_folder.isValid()) {
    return Error(ErrorKind::Io, "cannot create a temporary folder: " + m_folder.errorString().toStdString());
  }
  return {};
}

void HeldOutShapes::findVariants() {
  m_call = std::make_unique<process::BridgeCall>(
      m_programs.bridge, std::vector<std::string>{"variants", m_run.bundlePath, "-o", m_folder.path().toStdString()},
      kBridgeLimit);
  connect(m_call.get(), &process::BridgeCall::finished, this, &HeldOutShapes::handleVariants);
  m_call->start();
}

void HeldOutShapes::handleVariants(const Result<nlohmann::json>& document) {
  if (!document || m_cancelled) {
    giveUp(document ? std::string() : document.error().message());
    return;
  }
  for (const nlohmann::json& variant : document->value("variants", nlohmann::json::array())) {
    m_variants.push_back({textOf(variant, "name"), textOf(variant, "sizes"), textOf(variant, "bundle")});
  }
  for (const nlohmann::json& refused : document->value("refused", nlohmann::json::array())) {
    m_refused += fmt::format("; not possible: {}", textOf(refused, "what"));
  }
  QTimer::singleShot(0, this, &HeldOutShapes::next);
}

void HeldOutShapes::next() {
  m_call.reset();
  m_rig.reset();
  if (m_cancelled || m_current >= m_variants.size()) {
    conclude();
    return;
  }
  if (const Result<> built = build(m_variants[m_current]); !built) {
    // A genome that cannot be written down at these sizes is as useless there as one that is wrong.
    note(built.error().kind() == ErrorKind::InvalidInput ? AssuranceVerdict::Failed : AssuranceVerdict::Unavailable,
         built.error().message());
    endVariant();
  }
}

Result<> HeldOutShapes::build(const Variant& variant) {
  SWAGE_TRY_ASSIGN(const store::TaskBundle bundle, store::readTaskBundle(variant.bundle));
  if (!hasSameStructure(m_graph, bundle.task.graph)) {
    return Error(ErrorKind::Unsupported, "the module computes something else at these sizes");
  }
  SWAGE_TRY_ASSIGN(const auto synthesizer, m_programs.makeSynthesizer(bundle.task.graph, m_run.device));
  SWAGE_TRY_ASSIGN(const domain::Program program, synthesizer->realise(*m_record.genome));
  m_load = loadRequest(bundle, m_run.seed, m_run.device.kind);
  m_load.adversarial = false;
  m_load.heldBackSeeds = 0;
  m_load.timeEager = false;
  m_evaluate = {};
  m_evaluate.plan = program.plan;
  m_evaluate.verifyOnly = true;
  m_evaluate.limitSeconds = kLimitSeconds;
  if (!m_compilers) {
    m_compilers = std::make_unique<process::CompilerPool>(process::CompilerPool::Options{
        .command = m_programs.compilerCommand, .size = 1, .stopGrace = m_programs.stopGrace});
    connect(m_compilers.get(), &process::CompilerPool::compiled, this,
            [this](std::uint64_t, const domain::CompileOutcome& outcome) { handleCompiled(outcome); });
    connect(m_compilers.get(), &process::CompilerPool::failed, this, [this](const Error& error) {
      note(AssuranceVerdict::Unavailable, error.message());
      conclude();
    });
  }
  m_compilers->compile(m_current, domain::compileRequest(program, m_run.device));
  return {};
}

void HeldOutShapes::handleCompiled(const domain::CompileOutcome& outcome) {
  if (m_cancelled) {
    return;
  }
  if (const auto* failure = std::get_if<domain::CompileFailed>(&outcome)) {
    const bool isSurroundings = failure->reason == domain::CompileFailureReason::Environment;
    note(isSurroundings ? AssuranceVerdict::Unavailable : AssuranceVerdict::Failed, "it does not compile");
    endVariant();
    return;
  }
  m_evaluate.binary = std::get<domain::CompiledBinary>(outcome).bytes;
  startRig();
}

// Nothing is timed: neither the device's lease nor its self-test is asked for.
void HeldOutShapes::startRig() {
  Rig::Options options;
  options.worker.command = m_programs.workerCommand(m_run.device.kind);
  options.worker.stopGrace = m_programs.stopGrace;
  options.takesLease = false;
  options.task = [this](const domain::DeviceInfo&) { return m_load; };
  m_rig = std::make_unique<Rig>(std::move(options));
  const auto giveUpVariant = [this](const Error& error) {
    note(AssuranceVerdict::Unavailable, error.message());
    m_rig->stop();
  };
  connect(m_rig.get(), &Rig::ready, this, [this] { m_rig->worker().evaluate(m_evaluate); });
  connect(&m_rig->worker(), &process::WorkerSupervisor::evaluated, this, &HeldOutShapes::handleEvaluated);
  connect(m_rig.get(), &Rig::refused, this, giveUpVariant);
  connect(m_rig.get(), &Rig::lost, this, giveUpVariant);
  connect(m_rig.get(), &Rig::stopped, this, &HeldOutShapes::endVariant);
  m_rig->start();
}

void HeldOutShapes::handleEvaluated(const process::EvaluationResult& result) {
  if (!m_cancelled) {
    const bool isCorrect = domain::asCorrect(result.evaluation) != nullptr;
    note(isCorrect ? AssuranceVerdict::Passed : AssuranceVerdict::Failed,
         isCorrect ? "correct" : domain::summary(result.evaluation));
  }
  m_rig->stop();
}

void HeldOutShapes::note(AssuranceVerdict verdict, const std::string& what) {
  if (m_current < m_variants.size() && m_verdicts.size() == m_current) {
    const Variant& variant = m_variants[m_current];
    m_verdicts.push_back(verdict);
    m_assurance.detail +=
        fmt::format("{}{} ({}): {}", m_assurance.detail.empty() ? "" : "; ", variant.name, variant.sizes, what);
  }
}

void HeldOutShapes::endVariant() {
  ++m_current;
  QTimer::singleShot(0, this, &HeldOutShapes::next);
}

void HeldOutShapes::cancel() {
  m_cancelled = true;
  if (m_call) {
    m_call->cancel();
  }
  if (m_rig) {
    m_rig->stop();
  } else if (m_compilers) {
    conclude();
  }
}

void HeldOutShapes::giveUp(const std::string& why) {
  m_assurance.detail = why;
  conclude();
}

void HeldOutShapes::conclude() {
  if (std::exchange(m_ended, true)) {
    return;
  }
  const auto has = [this](AssuranceVerdict verdict) {
    return std::find(m_verdicts.begin(), m_verdicts.end(), verdict) != m_verdicts.end();
  };
  m_assurance.verdict = has(AssuranceVerdict::Failed)   ? AssuranceVerdict::Failed
                        : has(AssuranceVerdict::Passed) ? AssuranceVerdict::Passed
                                                        : AssuranceVerdict::Unavailable;
  if (m_assurance.detail.empty()) {
    m_assurance.detail = "the module takes no other sizes";
  }
  if (m_assurance.verdict == AssuranceVerdict::Failed) {
    m_assurance.detail = "shape-specific: " + m_assurance.detail;
  }
  m_assurance.detail += m_refused;
  m_assurance.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
  const auto tell = [this] {
    Q_EMIT finished(m_cancelled ? Result<domain::Assurance>(Error(ErrorKind::Cancelled, "the check was cancelled"))
                                : Result<domain::Assurance>(m_assurance));
  };
  if (m_compilers) {
    connect(m_compilers.get(), &process::CompilerPool::stopped, this, tell, Qt::SingleShotConnection);
    m_compilers->stop();
  } else {
    tell();
  }
}

}  // namespace swage::trust
