// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/csv_export.h"

#include <QLocale>

#include <algorithm>
#include <array>

#include "ui/models/format.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr std::size_t kPageRows = 256;

QByteArray quoted(QByteArray text) {
  const bool needsQuotes =
      std::any_of(text.begin(), text.end(), [](char c) { return c == ',' || c == '"' || c == '\n' || c == '\r'; });
  return needsQuotes ? '"' + text.replace('"', "\"\"") + '"' : text;
}

QByteArray number(double value) {
  return value == 0.0 ? QByteArray() : QByteArray::number(value, 'g', QLocale::FloatingPointShortest);
}

QByteArray joined(const std::vector<std::string>& words) {
  QByteArray text;
  for (const std::string& word : words) {
    text += (text.isEmpty() ? "" : "; ") + QByteArray::fromStdString(word);
  }
  return text;
}

QByteArray parentsOf(const services::CandidateRow& row) {
  QByteArray text;
  for (const domain::CandidateId id : row.parents) {
    text += (text.isEmpty() ? "" : " ") + QByteArray::number(static_cast<qlonglong>(id.value()));
  }
  return text;
}

}  // namespace

QByteArray csvHeader() {
  return "id,run,cell,island,operator,status,time_ns,low_ns,high_ns,speedup,speedup_low,speedup_high,relative_error,"
         "registers,found_s,"
         "roof_share,algebraic,parents,pinned,trashed,tags,note,outcome";
}

QByteArray csvLine(const services::CandidateRow& row) {
  const std::array<QByteArray, 23> fields = {
      QByteArray::number(static_cast<qlonglong>(row.id.value())),
      QByteArray::number(static_cast<qlonglong>(row.run.value())),
      QByteArray::fromStdString(row.cell ? row.cell->name() : std::string()),
      QByteArray::number(row.island),
      toQString(domain::name(row.madeBy)).toUtf8(),
      toQString(domain::name(row.status)).toUtf8(),
      number(row.timeNs),
      number(row.lowNs),
      number(row.highNs),
      number(row.speedup.value),
      number(row.speedup.low),
      number(row.speedup.high),
      row.timeNs > 0.0 ? QByteArray::number(row.relativeError, 'g', QLocale::FloatingPointShortest) : QByteArray(),
      row.registers > 0 ? QByteArray::number(row.registers) : QByteArray(),
      number(row.elapsedSeconds),
      number(row.roofShare),
      row.isAlgebraic ? "1" : "0",
      parentsOf(row),
      row.annotation.pinned ? "1" : "0",
      row.annotation.trashed ? "1" : "0",
      joined(row.annotation.tags),
      QByteArray::fromStdString(row.annotation.note),
      QByteArray::fromStdString(row.summary)};
  QByteArray line;
  for (const QByteArray& field : fields) {
    line += (&field == fields.data() ? "" : ",") + quoted(field);
  }
  return line;
}

CsvExport::CsvExport(const services::RecordService& record, services::CandidateIds ids, const QString& file,
                     QObject* parent)
    : QObject(parent), m_record(record), m_ids(std::move(ids)), m_file(file) {
  m_timer.setInterval(0);
  connect(&m_timer, &QTimer::timeout, this, &CsvExport::writePage);
}

void CsvExport::start() {
  if (!m_file.open(QIODevice::WriteOnly) || m_file.write(csvHeader() + '\n') < 0) {
    end(writeError());
    return;
  }
  m_timer.start();
}

void CsvExport::cancel() {
  if (m_timer.isActive()) {
    end(Error(ErrorKind::Cancelled, "the export was cancelled"));
  }
}

void CsvExport::writePage() {
  const std::span<const domain::CandidateId> all(*m_ids);
  const auto rows = m_record.candidates(all.subspan(m_done, std::min(kPageRows, all.size() - m_done)));
  if (!rows) {
    end(rows.error());
    return;
  }
  QByteArray lines;
  for (const services::CandidateRow& row : *rows) {
    lines += csvLine(row) + '\n';
  }
  if (m_file.write(lines) != lines.size()) {
    end(writeError());
    return;
  }
  m_done += rows->size();
  Q_EMIT progressed(static_cast<qsizetype>(m_done), static_cast<qsizetype>(all.size()));
  if (m_done >= all.size()) {
    end(m_file.commit() ? Result<>() : Result<>(writeError()));
  }
}

void CsvExport::end(const Result<>& result) {
  m_timer.stop();
  if (!result) {
    m_file.cancelWriting();
  }
  Q_EMIT finished(result);
}

Error CsvExport::writeError() const {
  return Error(ErrorKind::Io,
               "cannot write '" + m_file.fileName().toStdString() + "': " + m_file.errorString().toStdString(),
               "Choose another folder, or free some space on that disk.");
}

}  // namespace swage::ui
