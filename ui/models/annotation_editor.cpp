// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/annotation_editor.h"

#include <QUndoCommand>

#include "ui/models/answer.h"

namespace swage::ui {

// Doing it and undoing it are the same: the answer of the record to an edit is the edit that takes it back.
class AnnotationCommand final : public QUndoCommand {
 public:
  AnnotationCommand(AnnotationEditor& editor, const domain::AnnotationEdit& edit, const QString& text)
      : QUndoCommand(text), m_editor(editor), m_step(std::make_shared<domain::AnnotationEdit>(edit)) {}
  void undo() override { m_editor.enqueue(m_step); }
  void redo() override { m_editor.enqueue(m_step); }

 private:
  AnnotationEditor& m_editor;
  AnnotationEditor::Step m_step;
};

AnnotationEditor::AnnotationEditor(services::RecordService& record, QObject* parent)
    : QObject(parent), m_record(record) {}

void AnnotationEditor::apply(const domain::AnnotationEdit& edit, const QString& text) {
  if (!edit.isEmpty()) {
    m_stack.push(new AnnotationCommand(*this, edit, text));
  }
}

void AnnotationEditor::clear() {
  m_stack.clear();
}

void AnnotationEditor::enqueue(const Step& step) {
  m_steps.push_back(step);
  if (m_steps.size() == 1) {
    begin();
  }
}

void AnnotationEditor::begin() {
  whenAnswered(m_record.annotate(*m_steps.front()), this,
               [this](const Result<domain::AnnotationEdit>& answer) { finish(answer); });
}

void AnnotationEditor::finish(const Result<domain::AnnotationEdit>& answer) {
  *m_steps.front() = answer ? *answer : domain::AnnotationEdit();
  m_steps.pop_front();
  if (answer) {
    Q_EMIT changed();
  } else {
    Q_EMIT failed(answer.error());
  }
  if (!m_steps.empty()) {
    begin();
  }
}

}  // namespace swage::ui
