// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/annotation_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>

#include <algorithm>
#include <set>

#include "ui/models/format.h"
#include "ui/widgets/editing_finished.h"
#include "ui/widgets/field_style.h"
#include "ui/widgets/icons.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

QString joinedTags(const domain::Annotation& annotation) {
  QStringList words;
  for (const std::string& tag : annotation.tags) {
    words.push_back(toQString(tag));
  }
  return words.join(u", "_s);
}

std::set<std::string> wordsOf(const QString& text) {
  std::set<std::string> words;
  for (const QString& part : text.split(u',', Qt::SkipEmptyParts)) {
    if (const QString word = part.simplified(); !word.isEmpty()) {
      words.insert(word.toStdString());
    }
  }
  return words;
}

void addTaggings(const std::vector<domain::CandidateId>& ids, const std::string& tag,
                 std::vector<domain::AnnotationEdit::Tagging>& into) {
  for (const domain::CandidateId id : ids) {
    into.push_back({id, tag});
  }
}

}  // namespace

AnnotationBar::AnnotationBar(QWidget* parent)
    : QWidget(parent),
      m_title(new QLabel(this)),
      m_pin(new QToolButton(this)),
      m_tags(new QLineEdit(this)),
      m_note(new QLineEdit(this)),
      m_trash(new QToolButton(this)) {
  setObjectName(u"annotationBar"_s);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(8, 4, 8, 4);
  row->setSpacing(8);
  m_title->setMinimumWidth(m_title->fontMetrics().horizontalAdvance(u"Candidate 1000000"_s));
  m_pin->setObjectName(u"pinButton"_s);
  m_pin->setCheckable(true);
  m_pin->setAutoRaise(true);
  m_tags->setObjectName(u"tagsText"_s);
  m_tags->setAccessibleName(tr("Tags"));
  m_note->setObjectName(u"noteText"_s);
  m_note->setAccessibleName(tr("Note"));
  m_trash->setObjectName(u"trashButton"_s);
  m_trash->setAutoRaise(true);
  row->addWidget(m_title);
  row->addWidget(m_pin);
  row->addWidget(m_tags, 2);
  row->addWidget(m_note, 3);
  row->addWidget(m_trash);
  connect(m_pin, &QToolButton::clicked, this, &AnnotationBar::togglePin);
  connect(m_trash, &QToolButton::clicked, this, &AnnotationBar::toggleTrash);
  whenEditingFinished(m_tags, this, &AnnotationBar::applyTags);
  whenEditingFinished(m_note, this, &AnnotationBar::applyNote);
  setTheme(Theme::light());
  setChosen({}, nullptr);
}

void AnnotationBar::setTheme(const Theme& theme) {
  m_tags->setStyleSheet(fieldStyle(theme));
  m_note->setStyleSheet(fieldStyle(theme));
  m_pin->setIcon(themedIcon(u"pin"_s, theme));
  m_trash->setIcon(themedIcon(u"trash"_s, theme));
}

void AnnotationBar::setChosen(std::vector<domain::CandidateId> ids, const services::CandidateRow* first) {
  const bool isSame = ids == m_ids;
  m_ids = std::move(ids);
  m_first = first != nullptr ? first->annotation : domain::Annotation();
  setEnabled(!m_ids.empty());
  m_title->setText(countText());
  showButtons();
  const bool isOne = m_ids.size() == 1;
  // What is being typed stays when the same candidates are shown again.
  if (!isSame || !m_tags->isModified()) {
    m_tags->setText(isOne ? joinedTags(m_first) : QString());
  }
  if (!isSame || !m_note->isModified()) {
    m_note->setText(isOne ? toQString(m_first.note) : QString());
  }
  m_tags->setPlaceholderText(m_ids.size() > 1 ? tr("Add tags, or take some away: promising, -to read")
                                              : tr("Tags, with commas between them"));
  m_note->setPlaceholderText(m_ids.size() > 1 ? tr("One note for all of them") : tr("Note"));
}

void AnnotationBar::showButtons() {
  m_pin->setChecked(m_first.pinned);
  m_pin->setToolTip(m_first.pinned ? tr("Unpin (Ctrl+D)") : tr("Pin (Ctrl+D)"));
  m_pin->setAccessibleName(m_first.pinned ? tr("Unpin") : tr("Pin"));
  m_trash->setToolTip(m_first.trashed ? tr("Restore from the trash (Del)") : tr("Move to the trash (Del)"));
  m_trash->setAccessibleName(m_first.trashed ? tr("Restore from the trash") : tr("Move to the trash"));
}

QString AnnotationBar::countText() const {
  if (m_ids.size() == 1) {
    return tr("Candidate %1").arg(m_ids.front().value());
  }
  return m_ids.empty() ? tr("No candidate")
                       : tr("%1 candidates").arg(formatCount(static_cast<std::int64_t>(m_ids.size())));
}

// The list shows an edit a moment later, or much later where it is long: the next edit must know of this one.
void AnnotationBar::togglePin() {
  domain::AnnotationEdit edit;
  (m_first.pinned ? edit.unpin : edit.pin) = m_ids;
  const QString text = (m_first.pinned ? tr("Unpin %1") : tr("Pin %1")).arg(countText());
  m_first.pinned = !m_first.pinned;
  showButtons();
  Q_EMIT edited(edit, text);
}

void AnnotationBar::toggleTrash() {
  domain::AnnotationEdit edit;
  (m_first.trashed ? edit.restore : edit.trash) = m_ids;
  const QString text = (m_first.trashed ? tr("Restore %1") : tr("Move %1 to the trash")).arg(countText());
  m_first.trashed = !m_first.trashed;
  showButtons();
  Q_EMIT edited(edit, text);
}

void AnnotationBar::editTags() {
  m_tags->setFocus(Qt::ShortcutFocusReason);
  m_tags->selectAll();
}

void AnnotationBar::editNote() {
  m_note->setFocus(Qt::ShortcutFocusReason);
  m_note->selectAll();
}

void AnnotationBar::applyTags() {
  if (!m_tags->isModified() || m_ids.empty()) {
    return;
  }
  m_tags->setModified(false);
  domain::AnnotationEdit edit;
  std::set<std::string> before;
  if (m_ids.size() == 1) {
    before.insert(m_first.tags.begin(), m_first.tags.end());
  }
  const std::set<std::string> words = wordsOf(m_tags->text());
  for (const std::string& word : words) {
    const bool isMinus = m_ids.size() > 1 && word.size() > 1 && word.front() == '-';
    if (isMinus) {
      addTaggings(m_ids, word.substr(1), edit.untag);
    } else if (!before.contains(word)) {
      addTaggings(m_ids, word, edit.tag);
    }
  }
  for (const std::string& word : before) {
    if (!words.contains(word)) {
      addTaggings(m_ids, word, edit.untag);
    }
  }
  if (m_ids.size() == 1) {
    m_first.tags.assign(words.begin(), words.end());
    m_tags->setText(joinedTags(m_first));
  }
  Q_EMIT edited(edit, tr("Change the tags of %1").arg(countText()));
}

void AnnotationBar::applyNote() {
  if (!m_note->isModified() || m_ids.empty()) {
    return;
  }
  m_note->setModified(false);
  domain::AnnotationEdit edit;
  for (const domain::CandidateId id : m_ids) {
    edit.note.push_back({id, m_note->text().trimmed().toStdString()});
  }
  Q_EMIT edited(edit, tr("Change the note of %1").arg(countText()));
}

}  // namespace swage::ui
