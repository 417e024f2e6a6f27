// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/talk_view.h"

#include <QFutureWatcher>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QResizeEvent>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

#include "ui/editor/kernel_view.h"
#include "ui/models/answer.h"
#include "ui/models/format.h"
#include "ui/models/swarm_models.h"
#include "ui/pages/swarm_tables.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/empty_state_button.h"
#include "ui/widgets/search_list.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using services::Talk;
using services::TalkSummary;
using Who = Talk::Turn::Who;

constexpr int kSideBySideChars = 120;  // from this width on, the list stands beside what is read

QString heading(Who who) {
  switch (who) {
    case Who::Rules: return TalkView::tr("Rules of the reply");
    case Who::Question: return TalkView::tr("Question");
    case Who::Reply: return TalkView::tr("Reply");
    case Who::Failure: return TalkView::tr("The call failed");
  }
  return {};
}

bool isReply(Who who) {
  return who == Who::Reply || who == Who::Failure;
}

// The turns of one side, each under a heading where there are several.
QString textOf(const Talk& talk, bool replies) {
  QString text;
  int number = 0;
  for (const Talk::Turn& turn : talk.turns) {
    if (isReply(turn.who) == replies) {
      ++number;
      text += (number > 1 ? u"\n\n"_s : QString()) % u"# "_s % QString::number(number) % u". "_s % heading(turn.who) %
              u"\n\n"_s % toQString(turn.text);
    }
  }
  return text;
}

QWidget* titled(const QString& title, QWidget* content) {
  auto* box = new QWidget;
  auto* label = new QLabel(title);
  label->setBuddy(content);
  label->setContentsMargins(8, 4, 8, 2);
  auto* column = new QVBoxLayout(box);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(label);
  column->addWidget(content, 1);
  return box;
}

}  // namespace

TalkView::TalkView(Fetch fetch, QWidget* parent)
    : QWidget(parent),
      m_fetch(std::move(fetch)),
      m_model(new TalkTableModel(this)),
      m_search(new QLineEdit),
      m_table(makeSwarmTable(m_model, u"talkTable"_s, tr("Conversations"))),
      m_splitter(new QSplitter),
      m_title(new QLabel),
      m_open(new QPushButton(tr("Open Candidate"))),
      m_prompt(new KernelView(KernelView::Language::Markdown)),
      m_reply(new KernelView(KernelView::Language::Markdown)) {
  m_splitter->setObjectName(u"talkSplitter"_s);
  m_splitter->setChildrenCollapsible(false);
  m_splitter->addWidget(makeList());
  m_splitter->addWidget(makeReader());
  m_splitter->setStretchFactor(0, 2);
  m_splitter->setStretchFactor(1, 3);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  m_allOrEmpty = new EmptyState(m_splitter, tr("No language model has written a kernel in this run."));
  auto* settings = new QPushButton(tr("Language Models…"));
  settings->setObjectName(u"talkSettings"_s);
  connect(settings, &QPushButton::clicked, this, &TalkView::settingsRequested);
  addButton(*m_allOrEmpty, settings);
  column->addWidget(m_allOrEmpty);
  connect(m_search, &QLineEdit::textChanged, this, &TalkView::applySearch);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &TalkView::openCurrent);
  connect(m_table, &QTableView::activated, this, [this] { Q_EMIT candidateChosen(m_shown); });
  connect(m_open, &QPushButton::clicked, this, [this] { Q_EMIT candidateChosen(m_shown); });
  setReport({});
}

QWidget* TalkView::makeList() {
  m_search->setObjectName(u"talkSearch"_s);
  m_search->setPlaceholderText(tr("Search conversations"));
  m_search->setAccessibleName(tr("Search conversations"));
  m_tableOrEmpty = new EmptyState(m_table, tr("No conversation matches."));
  return makeSearchList(*m_search, *m_tableOrEmpty);
}

QWidget* TalkView::makeReader() {
  m_title->setObjectName(u"talkTitle"_s);
  m_title->setWordWrap(true);
  m_open->setObjectName(u"talkOpen"_s);
  m_prompt->setObjectName(u"talkPrompt"_s);
  m_prompt->setTitle(tr("Prompt"));
  m_reply->setObjectName(u"talkReply"_s);
  m_reply->setTitle(tr("Reply"));
  auto* texts = new QSplitter;
  texts->setObjectName(u"talkTexts"_s);
  texts->setChildrenCollapsible(false);
  texts->addWidget(titled(tr("Prompt"), m_prompt));
  texts->addWidget(titled(tr("Reply"), m_reply));
  auto* reader = new QWidget;
  auto* head = new QHBoxLayout;
  head->setContentsMargins(10, 6, 10, 6);
  head->addWidget(m_title, 1);
  head->addWidget(m_open);
  auto* column = new QVBoxLayout(reader);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(head);
  column->addWidget(texts, 1);
  m_readerOrEmpty = new EmptyState(reader, tr("Select a conversation to read its prompt and its reply."));
  return m_readerOrEmpty;
}

void TalkView::setTheme(const Theme& theme) {
  m_prompt->setTheme(theme);
  m_reply->setTheme(theme);
}

void TalkView::setReport(const services::SwarmReport& report) {
  m_model->show(report);
  if (!m_isFitted && m_model->rowCount() > 0) {
    m_isFitted = true;
    fitColumns(*m_table, {static_cast<int>(TalkColumn::Intent)});
  }
  applySearch();
  selectWanted();
}

void TalkView::open(domain::CandidateId candidate) {
  m_search->clear();
  m_wanted = candidate;
  if (candidate != m_shown) {
    read(candidate);
  }
  selectWanted();
}

void TalkView::selectWanted() {
  for (int row = 0; m_wanted.isValid() && row < m_model->rowCount(); ++row) {
    if (m_model->item(row).candidate == m_wanted) {
      const QModelIndex found = proxyOf(*m_table)->mapFromSource(m_model->index(row, 0));
      m_table->setCurrentIndex(found);
      m_table->scrollTo(found);
      m_wanted = {};
    }
  }
}

void TalkView::clear() {
  m_shown = {};
  m_wanted = {};
  m_readerOrEmpty->setSentence(tr("Select a conversation to read its prompt and its reply."));
  m_readerOrEmpty->setEmpty(true);
}

void TalkView::applySearch() {
  QSortFilterProxyModel* proxy = proxyOf(*m_table);
  if (proxy->filterRegularExpression().pattern() != QRegularExpression::escape(m_search->text().trimmed())) {
    proxy->setFilterFixedString(m_search->text().trimmed());
  }
  m_allOrEmpty->setEmpty(m_model->rowCount() == 0);
  m_tableOrEmpty->setEmpty(proxy->rowCount() == 0);
}

void TalkView::openCurrent() {
  const int row = currentSourceRow(*m_table);
  if (row < 0 || row >= m_model->rowCount()) {
    return;
  }
  m_wanted = {};
  if (m_model->item(row).candidate != m_shown) {
    read(m_model->item(row).candidate);
  }
}

void TalkView::read(domain::CandidateId candidate) {
  m_shown = candidate;
  whenAnswered(m_fetch(candidate), this, [this, candidate](const Result<Talk>& talk) {
    if (candidate == m_shown) {  // the newest question counts
      showTalk(talk);
    }
  });
}

void TalkView::showTalk(const Result<Talk>& talk) {
  m_readerOrEmpty->setEmpty(!talk);
  if (!talk) {
    m_readerOrEmpty->setSentence(toQString(talk.error().message()));
    return;
  }
  m_title->setText(tr("Candidate #%1, %2").arg(m_shown.value()).arg(toQString(talk->model)));
  m_title->setToolTip(tr("Prompt templates %1").arg(toQString(talk->promptsHash).left(12)));
  m_prompt->setText(textOf(*talk, false));
  m_reply->setText(textOf(*talk, true));
}

void TalkView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  const bool fits = width() >= kSideBySideChars * fontMetrics().averageCharWidth();
  m_splitter->setOrientation(fits ? Qt::Horizontal : Qt::Vertical);
}

}  // namespace swage::ui
