// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QUndoStack>

#include <deque>
#include <memory>

#include "core/services/record_service.h"

namespace swage::ui {

// Changes what a person says about candidates, so that it can be undone. The record writes without keeping this thread
// waiting; edits, undos and redos are made one after the other in the order in which they were asked for. GUI thread
// only. An edit that fails changes nothing and comes out as failed().
class AnnotationEditor final : public QObject {
  Q_OBJECT

 public:
  explicit AnnotationEditor(services::RecordService& record, QObject* parent = nullptr);

  // `text` is what the menu calls it: "Move 3 candidates to the trash".
  void apply(const domain::AnnotationEdit& edit, const QString& text);
  // Forgets what could be undone: another record is open.
  void clear();
  [[nodiscard]] QUndoStack& undoStack() { return m_stack; }

 Q_SIGNALS:
  void changed();
  void failed(const swage::Error& error);

 private:
  friend class AnnotationCommand;
  using Step = std::shared_ptr<domain::AnnotationEdit>;  // what to do next; afterwards, what undoes it

  void enqueue(const Step& step);
  void begin();
  void finish(const Result<domain::AnnotationEdit>& answer);

  services::RecordService& m_record;
  std::deque<Step> m_steps;  // the first one is under way
  QUndoStack m_stack;
};

}  // namespace swage::ui
