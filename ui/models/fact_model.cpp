// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/fact_model.h"

#include <QStringList>

#include <array>

#include "ui/models/cell_view.h"
#include "ui/models/format.h"
#include "ui/models/profile_text.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr std::array<ColumnInfo, 2> kColumns = {{
    {QT_TRANSLATE_NOOP("columns", "What"), ""},
    {QT_TRANSLATE_NOOP("columns", "Value"), ""},
}};

QString tr(const char* text) {
  return QCoreApplication::translate("facts", text);
}

void append(std::vector<Fact>& facts, const char* name, const QString& value) {
  if (!value.isEmpty()) {
    facts.push_back({tr(name), value});
  }
}

QString timingText(const domain::Timing& timing) {
  if (timing.samples == 0) {
    return {};
  }
  QString text =
      tr("%1 (%2 to %3), %4")
          .arg(formatTime(timing.medianNs), formatTime(timing.lowNs), formatTime(timing.highNs), stopText(timing));
  if (timing.discarded > 0) {
    text += tr(", %1 discarded").arg(formatCount(timing.discarded));
  }
  return text;
}

void appendErrors(std::vector<Fact>& facts, const std::vector<domain::OutputError>& errors) {
  for (const domain::OutputError& error : errors) {
    facts.push_back({tr("Error of output %1").arg(error.output),
                     tr("relative L2 %1 (eager %2), largest %3 (eager %4)")
                         .arg(formatError(error.relativeL2), formatError(error.eagerRelativeL2),
                              formatError(error.maxAbsolute), formatError(error.eagerMaxAbsolute))});
  }
}

void appendCorrect(std::vector<Fact>& facts, const domain::Correct& correct) {
  append(facts, "Accuracy class", toQString(domain::name(correct.accuracy)));
  append(facts, "Bitwise repeatable", correct.bitwiseRepeatable ? tr("yes") : tr("no"));
  append(facts, "Time", timingText(correct.timing.candidate));
  append(facts, "Eager", timingText(correct.timing.eager));
  if (correct.timing.screenedOut) {
    append(facts, "Measurement", tr("short: slower than the elite of its cell"));
  }
  appendErrors(facts, correct.errors);
}

void appendKernel(std::vector<Fact>& facts, const domain::KernelFacts& kernel) {
  QStringList parts{toQString(domain::describe(kernel.movement)), toQString(domain::describe(kernel.arithmetic))};
  if (kernel.interBlock) {
    parts.push_back(toQString(domain::describe(domain::Decomposition::InterBlock)));
  }
  if (kernel.registers > 0) {
    parts.push_back(tr("%1 registers").arg(kernel.registers));
  }
  if (kernel.spillBytes > 0) {
    parts.push_back(tr("%1 bytes spilled").arg(formatCount(kernel.spillBytes)));
  }
  if (kernel.staticSharedBytes > 0) {
    parts.push_back(tr("%1 bytes shared").arg(formatCount(kernel.staticSharedBytes)));
  }
  facts.push_back({tr("Kernel %1").arg(toQString(kernel.entry)), parts.join(u", "_s)});
  QStringList evidence;
  for (const auto& [instruction, count] : kernel.evidence) {
    evidence.push_back(toQString(instruction) % u" × "_s % formatCount(count));
  }
  append(facts, "Evidence", evidence.join(u", "_s));
}

void appendRegion(std::vector<Fact>& facts, const domain::RegionGene& region) {
  QStringList parameters;
  for (const auto& [name, value] : region.parameters) {
    parameters.push_back(toQString(name) % u" = "_s % QString::number(value));
  }
  QStringList nodes;
  for (const int node : region.nodes) {
    nodes.push_back(QString::number(node));
  }
  facts.push_back(
      {tr("Pattern %1").arg(toQString(region.pattern)),
       tr("nodes %1").arg(nodes.join(u" "_s)) % (parameters.isEmpty() ? u""_s : u"; "_s) % parameters.join(u", "_s)});
}

QString parentsText(const services::CandidateRow& row) {
  QStringList parents;
  for (const domain::CandidateId parent : row.parents) {
    parents.push_back(QString::number(parent.value()));
  }
  return parents.join(u", "_s);
}

QString launchesText(const domain::LaunchPlan& plan) {
  const int launches = plan.launchCount();
  if (launches == 0) {
    return {};
  }
  return plan.isCaptured ? tr("%1, as one CUDA graph").arg(launches) : QString::number(launches);
}

}  // namespace

std::vector<Fact> evaluationFacts(const services::CandidateDetail& detail) {
  std::vector<Fact> facts;
  append(facts, "Status", toQString(domain::name(detail.row.status)));
  if (detail.evaluation) {
    if (const domain::Correct* correct = domain::asCorrect(*detail.evaluation)) {
      appendCorrect(facts, *correct);
    } else {
      append(facts, "Summary", toQString(domain::summary(*detail.evaluation)));
    }
    if (const auto* wrong = std::get_if<domain::Wrong>(&*detail.evaluation)) {
      QStringList lines;
      for (const std::string& line : domain::firstWrongLines(*wrong)) {
        lines.push_back(toQString(line));
      }
      append(facts, "First wrong elements", lines.join(u"\n"_s));
      appendErrors(facts, wrong->errors);
    }
  }
  append(facts, "Speedup", detail.row.speedup.isKnown() ? formatSpeedupInterval(detail.row.speedup) : QString());
  append(facts, "Cell", detail.row.cell ? describeCell(*detail.row.cell) : QString());
  append(facts, "Launches", launchesText(detail.program.plan));
  for (const domain::KernelFacts& kernel : detail.kernels) {
    appendKernel(facts, kernel);
  }
  append(facts, "Made by",
         tr("%1 on island %2").arg(toQString(domain::name(detail.row.madeBy))).arg(detail.row.island));
  append(facts, "Parents", parentsText(detail.row));
  append(facts, "Language", toQString(domain::factsOf(detail.program.language).displayName));
  const domain::Genome genome = detail.genome.value_or(domain::Genome());
  for (const domain::Rewrite& rewrite : genome.rewrites) {
    append(facts, "Rewritten", toQString(domain::describe(rewrite)));
  }
  for (const domain::RegionGene& region : genome.regions) {
    appendRegion(facts, region);
  }
  append(facts, "Found after", formatDuration(detail.row.elapsedSeconds));
  append(facts, "Compiler", toQString(detail.compileLog).trimmed());
  if (const auto* failed = detail.evaluation ? std::get_if<domain::CompileFailed>(&*detail.evaluation) : nullptr) {
    append(facts, "Compiler's messages", toQString(failed->log).trimmed());
  }
  return facts;
}

std::span<const ColumnInfo> FactModel::columns() const {
  return kColumns;
}

QVariant FactModel::cell(int row, FactColumn column, int role) const {
  const Fact& fact = item(row);
  if (role != Qt::DisplayRole && !(role == Qt::ToolTipRole && column == FactColumn::Value)) {
    return {};
  }
  return column == FactColumn::Name ? fact.name : fact.value;
}

}  // namespace swage::ui
