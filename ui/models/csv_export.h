// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QSaveFile>
#include <QTimer>

#include <memory>

#include "core/services/record_service.h"

namespace swage::ui {

// One line of the file, without its end: numbers with a point whatever the locale, texts quoted where they need it.
[[nodiscard]] QByteArray csvHeader();
[[nodiscard]] QByteArray csvLine(const services::CandidateRow& row);

// Writes a list of candidates as a CSV file, a page of the record each time the event loop is free. Ends with exactly
// one finished(); the file is there only when all of it is. GUI thread only.
class CsvExport final : public QObject {
  Q_OBJECT

 public:
  CsvExport(const services::RecordService& record, services::CandidateIds ids, const QString& file,
            QObject* parent = nullptr);
  void start();
  void cancel();

 Q_SIGNALS:
  void progressed(qsizetype done, qsizetype total);
  void finished(const swage::Result<>& result);

 private:
  void writePage();
  void end(const Result<>& result);
  [[nodiscard]] Error writeError() const;

  const services::RecordService& m_record;
  services::CandidateIds m_ids;
  QSaveFile m_file;
  QTimer m_timer;
  std::size_t m_done = 0;
};

}  // namespace swage::ui
