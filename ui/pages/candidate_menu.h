// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <functional>
#include <vector>

#include "core/services/record_service.h"
#include "ui/models/annotation_editor.h"
#include "ui/models/project_session.h"

class QAction;
class QMenu;
class QPoint;
class QWidget;

namespace swage::ui {

// What the window does with a candidate. What it leaves empty is not offered.
struct CandidateCommands {
  using WithOne = std::function<void(domain::CandidateId candidate)>;
  using AskText = std::function<void(QWidget* parent, const QString& title, const QString& question,
                                     const std::function<void(const QString&)>& answered)>;
  WithOne open = {};
  WithOne showLineage = {};
  WithOne showConversation = {};  // with the language model that made it
  WithOne profile = {};
  WithOne exportKernel = {};
  WithOne useAsBaseline = {};
  std::function<void(domain::CandidateId first, domain::CandidateId second)> compare = {};
  AskText askText = {};
};

// The menu of candidates, the same wherever they are shown: in the map, in tables, in the lineage. Candidates are of
// the open record. GUI thread only.
class CandidateMenu final : public QObject {
  Q_OBJECT

 public:
  CandidateMenu(const ProjectSession& session, const services::RecordService& record, AnnotationEditor& editor,
                CandidateCommands commands, QObject* parent = nullptr);

  // Adds what can be done with them. `own`: actions of the page with shortcuts of their own, which stand in the place
  // of those that say something about candidates.
  void fill(QMenu& menu, const std::vector<domain::CandidateId>& ids, const QList<QAction*>& own = {});
  void popup(QWidget& owner, const QPoint& position, const std::vector<domain::CandidateId>& ids,
             const QList<QAction*>& own = {});

 private:
  void addForOne(QMenu& menu, const services::CandidateRow& row);
  void addComparisons(QMenu& menu, const services::CandidateRow& row);
  void addAnnotations(QMenu& menu, const std::vector<services::CandidateRow>& rows);
  void addText(QMenu& menu, const QString& name, const QString& text, const std::vector<domain::CandidateId>& ids,
               const QString& question, bool isTags);
  QAction* add(QMenu& menu, const QString& name, const QString& text, std::function<void()> handler);

  const ProjectSession& m_session;
  const services::RecordService& m_record;
  AnnotationEditor& m_editor;
  CandidateCommands m_commands;
};

// The ids, one a line, so that they can be pasted into a filter or the command line.
void copyIds(const std::vector<domain::CandidateId>& ids);

}  // namespace swage::ui
