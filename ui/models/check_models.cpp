// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/check_models.h"

#include <array>

#include "ui/models/format.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using services::DoctorCheck;
using services::SelfTestCase;

constexpr std::array kDoctorColumns = {
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Status"), QT_TRANSLATE_NOOP("columns", "Whether a search can use it")},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "What"), QT_TRANSLATE_NOOP("columns", "What a search needs")},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Found"), QT_TRANSLATE_NOOP("columns", "What is there")},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "What to do"), QT_TRANSLATE_NOOP("columns", "How to fix it")}};

constexpr std::array kSelfTestColumns = {
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Verdict"), QT_TRANSLATE_NOOP("columns", "Whether the case passed")},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Case"), QT_TRANSLATE_NOOP("columns", "Name of the test case")},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Family"),
               QT_TRANSLATE_NOOP("columns", "What kind of cheat, or a control")},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Expected"), QT_TRANSLATE_NOOP("columns", "Expected result")},
    ColumnInfo{QT_TRANSLATE_NOOP("columns", "Got"), QT_TRANSLATE_NOOP("columns", "Actual result")}};

QString tr(const char* text) {
  return QCoreApplication::translate("checks", text);
}

QString word(const DoctorCheck& check) {
  switch (check.status) {
    case DoctorCheck::Status::Ok: return tr("ok");
    case DoctorCheck::Status::Warning: return tr("warning");
    case DoctorCheck::Status::Failed: return check.required ? tr("failed") : tr("missing");
  }
  return {};
}

CheckTone toneOf(const DoctorCheck& check) {
  switch (check.status) {
    case DoctorCheck::Status::Ok: return CheckTone::Good;
    case DoctorCheck::Status::Warning: return CheckTone::Caution;
    case DoctorCheck::Status::Failed: return check.required ? CheckTone::Bad : CheckTone::Caution;
  }
  return CheckTone::Bad;
}

QString word(SelfTestCase::Verdict verdict) {
  switch (verdict) {
    case SelfTestCase::Verdict::AsExpected: return tr("as expected");
    case SelfTestCase::Verdict::Wrong: return tr("wrong");
    case SelfTestCase::Verdict::Unchecked: return tr("unchecked");
  }
  return {};
}

CheckTone toneOf(SelfTestCase::Verdict verdict) {
  switch (verdict) {
    case SelfTestCase::Verdict::AsExpected: return CheckTone::Good;
    case SelfTestCase::Verdict::Wrong: return CheckTone::Bad;
    case SelfTestCase::Verdict::Unchecked: return CheckTone::Caution;
  }
  return CheckTone::Bad;
}

}  // namespace

QString DoctorModel::text() const {
  QString text;
  for (const DoctorCheck& check : items()) {
    text += u"%1: %2: %3\n"_s.arg(word(check), toQString(check.name), toQString(check.detail));
    if (!check.fix.empty()) {
      text += u"    %1\n"_s.arg(toQString(check.fix));
    }
  }
  return text;
}

std::span<const ColumnInfo> DoctorModel::columns() const {
  return kDoctorColumns;
}

QVariant DoctorModel::cell(int row, DoctorColumn column, int role) const {
  const DoctorCheck& check = item(row);
  if (role == kToneRole) {
    return static_cast<int>(toneOf(check));
  }
  if (role != Qt::DisplayRole && role != Qt::ToolTipRole) {
    return {};
  }
  switch (column) {
    case DoctorColumn::Status: return word(check);
    case DoctorColumn::Name: return toQString(check.name);
    case DoctorColumn::Found: return toQString(check.detail);
    case DoctorColumn::Fix: return check.status == DoctorCheck::Status::Ok ? QString() : toQString(check.fix);
  }
  return {};
}

std::span<const ColumnInfo> SelfTestModel::columns() const {
  return kSelfTestColumns;
}

QVariant SelfTestModel::cell(int row, SelfTestColumn column, int role) const {
  const SelfTestCase& one = item(row);
  if (role == kToneRole) {
    return static_cast<int>(toneOf(one.verdict));
  }
  if (role == Qt::ToolTipRole) {
    return toQString(one.detail);
  }
  if (role != Qt::DisplayRole) {
    return {};
  }
  switch (column) {
    case SelfTestColumn::Verdict: return word(one.verdict);
    case SelfTestColumn::Name: return toQString(one.name);
    case SelfTestColumn::Family: return toQString(one.family);
    case SelfTestColumn::Expected: return toQString(one.expected);
    case SelfTestColumn::Got: return toQString(one.got);
  }
  return {};
}

}  // namespace swage::ui
