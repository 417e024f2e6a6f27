// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/annotation_edits.h"

#include <QCoreApplication>
#include <QStringList>

#include "ui/models/format.h"

namespace swage::ui {
namespace {

QString tr(const char* text) {
  return QCoreApplication::translate("annotations", text);
}

}  // namespace

QString countText(const std::vector<domain::CandidateId>& ids) {
  return ids.size() == 1 ? tr("Candidate %1").arg(ids.front().value())
                         : tr("%1 candidates").arg(formatCount(static_cast<std::int64_t>(ids.size())));
}

NamedEdit pinEdit(const std::vector<domain::CandidateId>& ids, bool pinned) {
  NamedEdit named;
  (pinned ? named.edit.pin : named.edit.unpin) = ids;
  named.text = (pinned ? tr("Pin %1") : tr("Unpin %1")).arg(countText(ids));
  return named;
}

NamedEdit trashEdit(const std::vector<domain::CandidateId>& ids, bool trashed) {
  NamedEdit named;
  (trashed ? named.edit.trash : named.edit.restore) = ids;
  named.text = (trashed ? tr("Move %1 to the trash") : tr("Restore %1")).arg(countText(ids));
  return named;
}

NamedEdit tagEdit(const std::vector<domain::CandidateId>& ids, const QString& words) {
  NamedEdit named;
  for (const QString& part : words.split(u',', Qt::SkipEmptyParts)) {
    const QString word = part.simplified();
    const bool isMinus = word.size() > 1 && word.startsWith(u'-');
    const std::string tag = (isMinus ? word.mid(1).trimmed() : word).toStdString();
    for (const domain::CandidateId id : ids) {
      if (!tag.empty()) {
        (isMinus ? named.edit.untag : named.edit.tag).push_back({id, tag});
      }
    }
  }
  named.text = tr("Change the tags of %1").arg(countText(ids));
  return named;
}

NamedEdit noteEdit(const std::vector<domain::CandidateId>& ids, const QString& note) {
  NamedEdit named;
  for (const domain::CandidateId id : ids) {
    named.edit.note.push_back({id, note.trimmed().toStdString()});
  }
  named.text = tr("Change the note of %1").arg(countText(ids));
  return named;
}

}  // namespace swage::ui
