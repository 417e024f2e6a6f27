// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "core/services/record_service.h"
#include "ui/models/cell_scale.h"
#include "ui/models/project_session.h"
#include "ui/widgets/theme.h"

class QComboBox;
class QSpinBox;

namespace swage::ui {

class CandidateMenu;
class ElidedLabel;
class EmptyState;
class LineageView;

// Where the selected candidate comes from and what became of it. Choosing another one here selects it everywhere; the
// picture stays while the selection is in it, so that one can walk through it.
class LineagePage final : public QWidget {
  Q_OBJECT

 public:
  LineagePage(ProjectSession& session, const services::RecordService& record, QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  // What is done with the candidates of the picture.
  void setMenu(CandidateMenu* menu) { m_menu = menu; }

 Q_SIGNALS:
  void candidateOpened();

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  // Which relatives of the candidate are drawn.
  enum class Show : std::uint8_t { All, Correct, Failed, First, Best };

  [[nodiscard]] QWidget* makeBar();
  void fillShow();
  [[nodiscard]] bool isShown(const services::CandidateRow& row) const;
  void showSelection();
  void reload();
  void showLineage(const services::Lineage& lineage);
  [[nodiscard]] CellScale scale() const;

  ProjectSession& m_session;
  const services::RecordService& m_record;
  LineageView* m_view;
  EmptyState* m_empty;
  ElidedLabel* m_title;
  QSpinBox* m_ancestors;
  QSpinBox* m_descendants;
  QComboBox* m_show;
  CandidateMenu* m_menu = nullptr;
  ColorMap m_colors = ColorMap::Viridis;
  domain::CandidateId m_root;  // the candidate that the picture was made for
};

}  // namespace swage::ui
