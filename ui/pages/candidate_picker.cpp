// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/candidate_picker.h"

#include <QLineEdit>
#include <QSignalBlocker>

#include <algorithm>
#include <utility>

#include "ui/models/format.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

QString textOf(domain::CandidateId id, const domain::Cell& cell, const domain::Speedup& speedup, double timeNs) {
  return u"%1 · %2 · %3"_s.arg(QString::number(id.value()), toQString(cell.name()),
                               speedup.isKnown() ? formatSpeedup(speedup) : formatTime(timeNs));
}

QString textOf(const services::CellSummary& cell) {
  return textOf(cell.best, cell.cell, cell.speedup, cell.bestTimeNs);
}

// Of any candidate: one without a cell has what became of it instead.
QString textOf(const services::CandidateRow& row) {
  return row.cell ? textOf(row.id, *row.cell, row.speedup, row.timeNs)
                  : u"%1 · %2"_s.arg(QString::number(row.id.value()), toQString(domain::name(row.status)));
}

}  // namespace

CandidatePicker::CandidatePicker(ProjectSession& session, const QString& name, QWidget* parent)
    : QComboBox(parent), m_session(session) {
  setAccessibleName(name);
  setToolTip(tr("%1: the number of a candidate, or an elite from the list").arg(name));
  setEditable(true);
  setInsertPolicy(QComboBox::NoInsert);
  setMinimumContentsLength(10);
  setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  lineEdit()->setPlaceholderText(tr("candidate"));
  connect(this, &QComboBox::activated, this, [this](int index) {
    const domain::CandidateId id(itemData(index).toLongLong());
    if (id.isValid()) {
      m_candidate = id;
      Q_EMIT chosen(id);
    }
  });
  connect(lineEdit(), &QLineEdit::returnPressed, this, &CandidatePicker::readTyped);
  fill();
}

void CandidatePicker::setCandidate(const services::CandidateRow& row) {
  m_candidate = row.id;
  m_text = textOf(row);
  fill();
}

void CandidatePicker::clearCandidate() {
  m_candidate = {};
  m_text.clear();
  fill();
}

void CandidatePicker::setSource(std::shared_ptr<const services::RecordService> record, domain::RunId run) {
  m_record = std::move(record);
  m_run = run;
}

std::vector<services::CellSummary> CandidatePicker::cells() const {
  if (!m_record) {
    return m_session.cells();
  }
  auto cells = m_record->cells(m_run, std::nullopt);
  return cells ? std::move(*cells) : std::vector<services::CellSummary>();
}

void CandidatePicker::fill() {
  const QSignalBlocker blocker(this);
  clear();
  std::vector<services::CellSummary> cells = this->cells();
  std::stable_sort(cells.begin(), cells.end(),
                   [](const auto& a, const auto& b) { return domain::ranksBefore(a.speedup, b.speedup); });
  int current = -1;
  for (const services::CellSummary& cell : cells) {
    if (cell.state == services::CellSummary::State::Filled) {
      current = cell.best == m_candidate ? count() : current;
      addItem(textOf(cell), QVariant::fromValue<qlonglong>(cell.best.value()));
    }
  }
  setCurrentIndex(current);
  if (current < 0) {
    setEditText(m_text);
  }
}

void CandidatePicker::showPopup() {
  fill();
  QComboBox::showPopup();
}

void CandidatePicker::readTyped() {
  bool isNumber = false;
  const qlonglong number = lineEdit()->text().trimmed().section(u' ', 0, 0).toLongLong(&isNumber);
  if (isNumber && number > 0 && domain::CandidateId(number) != m_candidate) {
    m_candidate = domain::CandidateId(number);
    m_text = QString::number(number);
    Q_EMIT chosen(m_candidate);
  }
}

}  // namespace swage::ui
