// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/candidate_menu.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QMenu>

#include <algorithm>
#include <utility>

#include "core/domain/origin.h"
#include "ui/models/annotation_edits.h"
#include "ui/models/format.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using domain::CandidateId;

constexpr std::size_t kMaxCopied = 100'000;
// A menu knows only of so many whether they are pinned: it should open at once.
constexpr std::size_t kMostRead = 300;

CandidateId bestOf(const ProjectSession& session) {
  const CandidateId live = session.progress().best;
  return live.isValid() || !session.summary() ? live : session.summary()->best;
}

}  // namespace

void copyIds(const std::vector<CandidateId>& ids) {
  QStringList texts;
  for (std::size_t i = 0; i < std::min(ids.size(), kMaxCopied); ++i) {
    texts.push_back(QString::number(ids[i].value()));
  }
  QGuiApplication::clipboard()->setText(texts.join(u'\n'));
}

CandidateMenu::CandidateMenu(const ProjectSession& session, const services::RecordService& record,
                             AnnotationEditor& editor, CandidateCommands commands, QObject* parent)
    : QObject(parent), m_session(session), m_record(record), m_editor(editor), m_commands(std::move(commands)) {}

QAction* CandidateMenu::add(QMenu& menu, const QString& name, const QString& text, std::function<void()> handler) {
  QAction* action = menu.addAction(text);
  action->setObjectName(name);
  connect(action, &QAction::triggered, this, [handler = std::move(handler)] { handler(); });
  return action;
}

void CandidateMenu::fill(QMenu& menu, const std::vector<CandidateId>& ids, const QList<QAction*>& own) {
  const std::size_t known = std::min(ids.size(), kMostRead);
  const auto rows = m_record.candidates(std::span(ids).first(known));
  if (ids.empty() || !rows || rows->empty()) {
    return;
  }
  if (ids.size() == 1) {
    addForOne(menu, rows->front());
  } else if (ids.size() == 2 && m_commands.compare) {
    QAction* both = add(menu, u"menuCompareTwo"_s, tr("&Compare the Two Selected"),
                        [this, ids] { m_commands.compare(ids[0], ids[1]); });
    menu.setDefaultAction(both);
  }
  if (!menu.isEmpty()) {
    menu.addSeparator();
  }
  if (own.isEmpty()) {
    addAnnotations(menu, *rows);
    menu.addSeparator();
    add(menu, u"menuCopyIds"_s, ids.size() == 1 ? tr("Copy &ID") : tr("Copy &IDs"), [ids] { copyIds(ids); });
  } else {
    menu.addActions(own);
  }
}

void CandidateMenu::popup(QWidget& owner, const QPoint& position, const std::vector<CandidateId>& ids,
                          const QList<QAction*>& own) {
  auto* menu = new QMenu(&owner);
  menu->setObjectName(u"candidateMenu"_s);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  fill(*menu, ids, own);
  menu->popup(position);
}

void CandidateMenu::addForOne(QMenu& menu, const services::CandidateRow& row) {
  const auto offer = [&](const QString& name, const QString& text, const CandidateCommands::WithOne& command,
                         bool isPossible) {
    if (command) {
      add(menu, name, text, [command, id = row.id] { command(id); })->setEnabled(isPossible);
    }
  };
  offer(u"menuOpen"_s, tr("&Open"), m_commands.open, true);
  if (!menu.isEmpty()) {
    menu.setDefaultAction(menu.actions().constLast());
  }
  addComparisons(menu, row);
  offer(u"menuLineage"_s, tr("Show &Lineage"), m_commands.showLineage, true);
  offer(u"menuConversation"_s, tr("Show Con&versation"), m_commands.showConversation,
        domain::originOf(row.madeBy) == domain::Origin::Model &&
            (row.run == m_session.shownRun() || !m_session.isActive()));
  menu.addSeparator();
  const bool isCorrect = row.status == domain::CandidateStatus::Correct;
  offer(u"menuProfile"_s, tr("P&rofile"), m_commands.profile, isCorrect);
  offer(u"menuExport"_s, tr("&Export…"), m_commands.exportKernel, isCorrect);
  offer(u"menuBaseline"_s, tr("Use as &Baseline"), m_commands.useAsBaseline, row.timeNs > 0.0);
}

void CandidateMenu::addComparisons(QMenu& menu, const services::CandidateRow& row) {
  if (!m_commands.compare) {
    return;
  }
  const CandidateId best = bestOf(m_session);
  add(menu, u"menuCompareBest"_s, tr("&Compare with Best"), [this, id = row.id, best] {
    m_commands.compare(id, best);
  })->setEnabled(best.isValid() && best != row.id);
  const CandidateId parent = row.parents.empty() ? CandidateId() : row.parents.front();
  add(menu, u"menuCompareParent"_s, tr("Compare with P&arent"), [this, id = row.id, parent] {
    m_commands.compare(parent, id);
  })->setEnabled(parent.isValid());
}

void CandidateMenu::addAnnotations(QMenu& menu, const std::vector<services::CandidateRow>& rows) {
  std::vector<CandidateId> ids;
  bool arePinned = true;
  bool areTrashed = true;
  for (const services::CandidateRow& row : rows) {
    ids.push_back(row.id);
    arePinned = arePinned && row.annotation.pinned;
    areTrashed = areTrashed && row.annotation.trashed;
  }
  const auto apply = [this](const NamedEdit& named) { m_editor.apply(named.edit, named.text); };
  add(menu, u"menuPin"_s, arePinned ? tr("Un&pin") : tr("&Pin"),
      [apply, ids, arePinned] { apply(pinEdit(ids, !arePinned)); });
  addText(menu, u"menuTags"_s, tr("&Tags…"), ids, tr("Tags to add, with commas between them; -tag removes one:"), true);
  addText(menu, u"menuNote"_s, tr("&Note…"), ids, tr("Note:"), false);
  add(menu, u"menuTrash"_s, areTrashed ? tr("Restore from the &Trash") : tr("&Move to the Trash"),
      [apply, ids, areTrashed] { apply(trashEdit(ids, !areTrashed)); });
}

void CandidateMenu::addText(QMenu& menu, const QString& name, const QString& text, const std::vector<CandidateId>& ids,
                            const QString& question, bool isTags) {
  if (!m_commands.askText) {
    return;
  }
  auto* window = menu.parentWidget() != nullptr ? menu.parentWidget()->window() : nullptr;
  add(menu, name, text, [this, window, ids, question, isTags] {
    m_commands.askText(window, countText(ids), question, [this, ids, isTags](const QString& answer) {
      const NamedEdit named = isTags ? tagEdit(ids, answer) : noteEdit(ids, answer);
      if (!named.edit.isEmpty()) {
        m_editor.apply(named.edit, named.text);
      }
    });
  });
}

}  // namespace swage::ui
