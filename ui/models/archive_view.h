// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <optional>
#include <vector>

#include "core/services/record_service.h"
#include "ui/models/cell_scale.h"
#include "ui/models/project_session.h"

namespace swage::ui {

// Which cells the map shows: of all islands or of one, now or at a moment of the run, with one metric. Now and over all
// islands they come from the engine's events; anything else is read from the record. GUI thread only.
class ArchiveView final : public QObject {
  Q_OBJECT

 public:
  ArchiveView(ProjectSession& session, const services::RecordService& record, QObject* parent = nullptr);

  void setMetric(CellMetric metric);
  void setIsland(std::optional<int> island);
  void setMoment(std::optional<double> seconds);  // of the run; nothing: now

  [[nodiscard]] CellMetric metric() const { return m_metric; }
  [[nodiscard]] std::optional<int> island() const { return m_island; }
  [[nodiscard]] std::optional<double> moment() const { return m_moment; }
  // What the session selects by itself: everything, now.
  [[nodiscard]] bool isWhole() const { return !m_island && !m_moment; }
  [[nodiscard]] const std::vector<services::CellSummary>& cells() const { return m_cells; }
  // Null outside of the 36.
  [[nodiscard]] const services::CellSummary* cell(int index) const;
  [[nodiscard]] int islandCount() const { return m_islands; }
  [[nodiscard]] double runSeconds() const;

 Q_SIGNALS:
  void changed();         // the cells, or what they are shown by
  void islandsChanged();  // there are more, or those of another run

 private:
  void handleRun();
  void refresh();
  [[nodiscard]] Result<std::vector<services::CellSummary>> read() const;

  ProjectSession& m_session;
  const services::RecordService& m_record;
  CellMetric m_metric = CellMetric::Speedup;
  std::optional<int> m_island;
  std::optional<double> m_moment;
  std::vector<services::CellSummary> m_cells;
  int m_islands = 0;
};

}  // namespace swage::ui
