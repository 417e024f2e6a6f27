// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/swarm_models.h"

#include <array>

#include "ui/models/format.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using services::AdviceStanding;
using services::ModelSpending;
using services::PairStanding;
using services::TalkSummary;

constexpr Qt::Alignment kRight = Qt::AlignRight | Qt::AlignVCenter;

constexpr std::array<ColumnInfo, 12> kPairColumns = {{
    {QT_TRANSLATE_NOOP("columns", "Pair"),
     QT_TRANSLATE_NOOP("columns", "A coder and its judge. The pair of a language model has the model's name")},
    {QT_TRANSLATE_NOOP("columns", "Island"), QT_TRANSLATE_NOOP("columns", "Where it works"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Role"), QT_TRANSLATE_NOOP("columns", "The rules that its judge applies")},
    {QT_TRANSLATE_NOOP("columns", "Pass"),
     QT_TRANSLATE_NOOP("columns", "Functional: correct errors. Optimisation: make it faster")},
    {QT_TRANSLATE_NOOP("columns", "Now"), QT_TRANSLATE_NOOP("columns", "What it is doing now, and to which candidate")},
    {QT_TRANSLATE_NOOP("columns", "Offers"), QT_TRANSLATE_NOOP("columns", "Candidates that it made from advice"),
     kRight},
    {QT_TRANSLATE_NOOP("columns", "Correct"), QT_TRANSLATE_NOOP("columns", "How many of them are correct"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Elites"), QT_TRANSLATE_NOOP("columns", "Cells that one of them holds now"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Gain/s"),
     QT_TRANSLATE_NOOP("columns",
                       "By how many percent its candidates were faster than their parents, added up, for each "
                       "second spent on making and evaluating them"),
     kRight},
    {QT_TRANSLATE_NOOP("columns", "Gain/¢"), QT_TRANSLATE_NOOP("columns", "The same, for each cent spent"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Last advice"),
     QT_TRANSLATE_NOOP("columns", "The rule whose advice it followed last")},
    {QT_TRANSLATE_NOOP("columns", "Score"),
     QT_TRANSLATE_NOOP("columns", "Result of that advice: time before / time after"), kRight},
}};

constexpr std::array<ColumnInfo, 7> kAdviceColumns = {{
    {QT_TRANSLATE_NOOP("columns", "Pair"),
     QT_TRANSLATE_NOOP("columns", "The pair that followed it, and its role at that time")},
    {QT_TRANSLATE_NOOP("columns", "Candidate"), QT_TRANSLATE_NOOP("columns", "The candidate that it is for"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Bottleneck"),
     QT_TRANSLATE_NOOP("columns", "What limits the speed, or what is wrong")},
    {QT_TRANSLATE_NOOP("columns", "Method"), QT_TRANSLATE_NOOP("columns", "What to change")},
    {QT_TRANSLATE_NOOP("columns", "Expected"),
     QT_TRANSLATE_NOOP("columns", "Time before / time after, as the judge estimates it"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Achieved"),
     QT_TRANSLATE_NOOP("columns", "The same, measured: of the best candidate made from it"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Followed"), QT_TRANSLATE_NOOP("columns", "How many candidates were made from it"),
     kRight},
}};

constexpr std::array<ColumnInfo, 8> kTalkColumns = {{
    {QT_TRANSLATE_NOOP("columns", "Candidate"), QT_TRANSLATE_NOOP("columns", "The candidate that it led to"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Model"), QT_TRANSLATE_NOOP("columns", "The model that was asked")},
    {QT_TRANSLATE_NOOP("columns", "Result"), QT_TRANSLATE_NOOP("columns", "What became of the candidate")},
    {QT_TRANSLATE_NOOP("columns", "Calls"), QT_TRANSLATE_NOOP("columns", "Prompts sent, failed ones included"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Tokens"), QT_TRANSLATE_NOOP("columns", "Sent and received"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Cost"), QT_TRANSLATE_NOOP("columns", "At the price set for the model"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Time"), QT_TRANSLATE_NOOP("columns", "From prompt to reply"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Intent"), QT_TRANSLATE_NOOP("columns", "In the model's own words")},
}};

constexpr std::array<ColumnInfo, 8> kSpendingColumns = {{
    {QT_TRANSLATE_NOOP("columns", "Model"), QT_TRANSLATE_NOOP("columns", "Its name in the settings")},
    {QT_TRANSLATE_NOOP("columns", "Calls"), QT_TRANSLATE_NOOP("columns", "Finished calls"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Failed"), QT_TRANSLATE_NOOP("columns", "Calls without a reply"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Tokens sent"), QT_TRANSLATE_NOOP("columns", "Tokens of all prompts"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Tokens received"), QT_TRANSLATE_NOOP("columns", "Tokens of all replies"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Cost"), QT_TRANSLATE_NOOP("columns", "At the price set for the model"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Mean time"), QT_TRANSLATE_NOOP("columns", "Of a call"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Longest"), QT_TRANSLATE_NOOP("columns", "Of all calls"), kRight},
}};

QString none() {
  return u"–"_s;
}

QString idText(domain::CandidateId id) {
  return id.isValid() ? QString(u"#"_s % QString::number(id.value())) : none();
}

QString secondsText(double seconds) {
  return QCoreApplication::translate("swarm", "%1 s").arg(seconds, 0, 'f', seconds < 10.0 ? 2 : 1);
}

QString rateText(double rate) {
  return rate < 0.0 ? none() : QString(QString::number(rate, 'f', rate < 10.0 ? 2 : 1) % u" %"_s);
}

QString passText(bool isFunctional) {
  return isFunctional ? QCoreApplication::translate("swarm", "functional")
                      : QCoreApplication::translate("swarm", "optimisation");
}

}  // namespace

QString pairName(int pair) {
  return QCoreApplication::translate("swarm", "Pair %1").arg(pair + 1);
}

QString pairName(const PairStanding& pair) {
  return pair.model.empty() ? pairName(pair.pair) : toQString(pair.model);
}

QString pairName(const AdviceStanding& advice) {
  return advice.model.empty() ? pairName(advice.pair) : toQString(advice.model);
}

QString ruleTitle(const std::string& rule) {
  QString title = toQString(rule);
  return title.replace(u'_', u' ');
}

QString gainText(const std::optional<double>& gain) {
  if (!gain) {
    return none();
  }
  return *gain <= 0.0 ? QCoreApplication::translate("swarm", "not correct")
                      : QString(QString::number(*gain, 'f', 2) % u"×"_s);
}

QString costText(double cents, bool isPriceKnown) {
  if (!isPriceKnown) {
    return QCoreApplication::translate("swarm", "unknown");
  }
  constexpr double kDollar = 100.0;
  return QString(u"$"_s % QString::number(cents / kDollar, 'f', cents < kDollar ? 4 : 2));
}

std::span<const ColumnInfo> PairTableModel::columns() const {
  return kPairColumns;
}

QString PairTableModel::text(const PairStanding& pair, PairColumn column) {
  switch (column) {
    case PairColumn::Name: return pairName(pair);
    case PairColumn::Island:
      return pair.island < 0 ? QCoreApplication::translate("swarm", "all") : QString::number(pair.island + 1);
    case PairColumn::Role:
      return pair.role.empty()  ? none()
             : pair.isRoleGiven ? QCoreApplication::translate("swarm", "%1 (yours)").arg(toQString(pair.role))
                                : toQString(pair.role);
    case PairColumn::Pass: return passText(pair.isFunctional);
    case PairColumn::Doing:
      return pair.about.isValid() ? QString(idText(pair.about) % u", "_s % toQString(pair.doing))
                                  : toQString(pair.doing);
    case PairColumn::Offers: return formatCount(pair.offers);
    case PairColumn::Correct: return formatCount(pair.correct);
    case PairColumn::Elites: return formatCount(pair.elites);
    case PairColumn::PerSecond: return rateText(pair.gainPerSecond());
    case PairColumn::PerCent: return rateText(pair.gainPerCent());
    case PairColumn::Advice: return pair.last ? ruleTitle(pair.last->rule) : none();
    case PairColumn::Score: return pair.last ? gainText(pair.last->achievedGain) : none();
  }
  return {};
}

QVariant PairTableModel::number(const PairStanding& pair, PairColumn column) {
  switch (column) {
    case PairColumn::Name: return pair.model.empty() ? pair.pair + 1 : 0;
    case PairColumn::Island: return pair.island;
    case PairColumn::Offers: return static_cast<qlonglong>(pair.offers);
    case PairColumn::Correct: return static_cast<qlonglong>(pair.correct);
    case PairColumn::Elites: return static_cast<qlonglong>(pair.elites);
    case PairColumn::PerSecond: return pair.gainPerSecond();
    case PairColumn::PerCent: return pair.gainPerCent();
    case PairColumn::Score: return pair.last ? pair.last->achievedGain.value_or(-1.0) : -1.0;
    default: return text(pair, column);
  }
}

QVariant PairTableModel::cell(int row, PairColumn column, int role) const {
  const PairStanding& pair = item(row);
  switch (role) {
    case Qt::DisplayRole: return text(pair, column);
    case kSwarmSortRole: return number(pair, column);
    case Qt::ToolTipRole:
      if ((column == PairColumn::Advice || column == PairColumn::Score) && pair.last) {
        return QString(toQString(pair.last->bottleneck) % u"\n"_s % toQString(pair.last->method));
      }
      return column == PairColumn::Doing ? QVariant(text(pair, column)) : QVariant();
    default: return {};
  }
}

std::span<const ColumnInfo> AdviceTableModel::columns() const {
  return kAdviceColumns;
}

QVariant AdviceTableModel::cell(int row, AdviceColumn column, int role) const {
  const AdviceStanding& advice = item(row);
  if (role == kSwarmSearchRole) {
    return QString(pairName(advice) % u' ' % toQString(advice.role) % u' ' % ruleTitle(advice.rule) % u' ' %
                   toQString(advice.bottleneck) % u' ' % toQString(advice.method) % u' ' % idText(advice.about));
  }
  const bool isSort = role == kSwarmSortRole;
  if (role != Qt::DisplayRole && !isSort && role != Qt::ToolTipRole) {
    return {};
  }
  switch (column) {
    case AdviceColumn::Pair:
      return isSort ? QVariant(advice.pair) : QVariant(QString(pairName(advice) % u", "_s % toQString(advice.role)));
    case AdviceColumn::About:
      return isSort ? QVariant(qlonglong(advice.about.value())) : QVariant(idText(advice.about));
    case AdviceColumn::Bottleneck:
      return advice.bottleneck.empty() ? ruleTitle(advice.rule) : toQString(advice.bottleneck);
    case AdviceColumn::Method: return toQString(advice.method);
    case AdviceColumn::Expected:
      return isSort ? QVariant(advice.expectedGain.value_or(0.0)) : QVariant(gainText(advice.expectedGain));
    case AdviceColumn::Achieved:
      return isSort ? QVariant(advice.achievedGain.value_or(-1.0)) : QVariant(gainText(advice.achievedGain));
    case AdviceColumn::Followed: return isSort ? QVariant(advice.followed) : QVariant(formatCount(advice.followed));
  }
  return {};
}

std::span<const ColumnInfo> TalkTableModel::columns() const {
  return kTalkColumns;
}

QVariant TalkTableModel::cell(int row, TalkColumn column, int role) const {
  const TalkSummary& talk = item(row);
  const bool isSort = role == kSwarmSortRole;
  if (role == kSwarmSearchRole) {
    return QString(idText(talk.candidate) % u' ' % toQString(talk.model) % u' ' % toQString(talk.result) % u' ' %
                   toQString(talk.intent));
  }
  if (role != Qt::DisplayRole && !isSort && role != Qt::ToolTipRole) {
    return {};
  }
  const std::int64_t tokens = talk.inputTokens + talk.outputTokens;
  switch (column) {
    case TalkColumn::Candidate:
      return isSort ? QVariant(qlonglong(talk.candidate.value())) : QVariant(idText(talk.candidate));
    case TalkColumn::Model: return toQString(talk.model);
    case TalkColumn::Result: return talk.result.empty() ? none() : toQString(talk.result);
    case TalkColumn::Calls: return isSort ? QVariant(talk.calls) : QVariant(formatCount(talk.calls));
    case TalkColumn::Tokens: return isSort ? QVariant(qlonglong(tokens)) : QVariant(formatCount(tokens));
    case TalkColumn::Cost: return isSort ? QVariant(talk.cents) : QVariant(costText(talk.cents, talk.isPriceKnown));
    case TalkColumn::Time: return isSort ? QVariant(talk.seconds) : QVariant(secondsText(talk.seconds));
    case TalkColumn::Intent: return toQString(talk.intent);
  }
  return {};
}

std::span<const ColumnInfo> SpendingTableModel::columns() const {
  return kSpendingColumns;
}

QVariant SpendingTableModel::cell(int row, SpendingColumn column, int role) const {
  const ModelSpending& one = item(row);
  if (role != Qt::DisplayRole) {
    return {};
  }
  switch (column) {
    case SpendingColumn::Model: return toQString(one.model);
    case SpendingColumn::Calls: return formatCount(one.calls);
    case SpendingColumn::Failed: return one.failed > 0 ? formatCount(one.failed) : none();
    case SpendingColumn::Input: return formatCount(one.inputTokens);
    case SpendingColumn::Output: return formatCount(one.outputTokens);
    case SpendingColumn::Cost: return costText(one.cents, one.isPriceKnown);
    case SpendingColumn::Mean:
      return one.calls > 0 ? secondsText(one.seconds / static_cast<double>(one.calls)) : none();
    case SpendingColumn::Longest: return one.calls > 0 ? secondsText(one.longestSeconds) : none();
  }
  return {};
}

}  // namespace swage::ui
