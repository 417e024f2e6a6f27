// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/advice_view.h"

#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QScrollArea>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

#include "ui/models/format.h"
#include "ui/models/swarm_models.h"
#include "ui/pages/swarm_tables.h"
#include "ui/widgets/empty_state.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using services::AdviceStanding;

QString line(const QString& title, const QString& text) {
  return text.isEmpty() ? QString() : QString(u"<p><b>"_s % title % u"</b> "_s % text.toHtmlEscaped() % u"</p>"_s);
}

QString htmlOf(const AdviceStanding& advice) {
  QString html = line(ruleTitle(advice.rule).toHtmlEscaped(),
                      advice.kernel.empty() ? QString() : AdviceView::tr("kernel %1").arg(toQString(advice.kernel)));
  if (html.isEmpty()) {
    html = u"<p><b>"_s % ruleTitle(advice.rule).toHtmlEscaped() % u"</b></p>"_s;
  }
  html += line(AdviceView::tr("Bottleneck:"), toQString(advice.bottleneck));
  html += line(AdviceView::tr("Method:"), toQString(advice.method));
  html += line(AdviceView::tr("Plan:"), toQString(advice.plan));
  html += line(AdviceView::tr("Expected:"), advice.expectedGain ? gainText(advice.expectedGain) : QString());
  html += line(AdviceView::tr("Result:"), advice.achievedGain ? AdviceView::tr("%1, candidate #%2, best of %3")
                                                                    .arg(gainText(advice.achievedGain))
                                                                    .arg(advice.candidate.value())
                                                                    .arg(advice.followed)
                                                              : AdviceView::tr("not followed yet"));
  return html;
}

}  // namespace

AdviceView::AdviceView(QWidget* parent)
    : QWidget(parent),
      m_model(new AdviceTableModel(this)),
      m_search(new QLineEdit),
      m_table(makeSwarmTable(m_model, u"adviceTable"_s, tr("Advice"))),
      m_tableOrEmpty(new EmptyState(m_table, {})),
      m_detail(new QLabel) {
  m_search->setObjectName(u"adviceSearch"_s);
  m_search->setPlaceholderText(tr("Search advice"));
  m_search->setAccessibleName(tr("Search advice"));
  m_search->setClearButtonEnabled(true);
  m_detail->setObjectName(u"adviceDetail"_s);
  m_detail->setAccessibleName(tr("Selected advice"));
  m_detail->setWordWrap(true);
  m_detail->setTextFormat(Qt::RichText);
  m_detail->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  m_detail->setContentsMargins(10, 4, 10, 4);
  m_detail->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  auto* scroll = new QScrollArea;
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setWidgetResizable(true);
  scroll->setWidget(m_detail);
  scroll->setMinimumHeight(fontMetrics().height() * 10);
  auto* list = new QWidget;
  auto* column = new QVBoxLayout(list);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(8, 6, 8, 6);
  bar->addWidget(m_search);
  column->addLayout(bar);
  column->addWidget(m_tableOrEmpty, 1);
  auto* splitter = new QSplitter(Qt::Vertical);
  splitter->setObjectName(u"adviceSplitter"_s);
  splitter->setChildrenCollapsible(false);
  splitter->addWidget(list);
  splitter->addWidget(scroll);
  splitter->setStretchFactor(0, 3);
  splitter->setStretchFactor(1, 1);
  auto* whole = new QVBoxLayout(this);
  whole->setContentsMargins(0, 0, 0, 0);
  whole->addWidget(splitter);
  connect(m_search, &QLineEdit::textChanged, this, &AdviceView::applySearch);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &AdviceView::showCurrent);
  connect(m_table, &QTableView::activated, this, [this] {
    if (const AdviceStanding* advice = current()) {
      Q_EMIT candidateChosen(advice->candidate.isValid() ? advice->candidate : advice->about);
    }
  });
  setReport({}, false);
}

const AdviceStanding* AdviceView::current() const {
  const int row = currentSourceRow(*m_table);
  return row < 0 || row >= m_model->rowCount() ? nullptr : &m_model->item(row);
}

void AdviceView::setReport(const services::SwarmReport& report, bool isLive) {
  m_isLive = isLive;
  m_model->show(report);
  if (!m_isFitted && m_model->rowCount() > 0) {
    m_isFitted = true;
    fitColumns(*m_table, {static_cast<int>(AdviceColumn::Bottleneck), static_cast<int>(AdviceColumn::Method)});
  }
  applySearch();
  showCurrent();
}

void AdviceView::applySearch() {
  QSortFilterProxyModel* proxy = proxyOf(*m_table);
  if (proxy->filterRegularExpression().pattern() != QRegularExpression::escape(m_search->text().trimmed())) {
    proxy->setFilterFixedString(m_search->text().trimmed());
  }
  m_tableOrEmpty->setSentence(m_model->rowCount() > 0 ? tr("No advice matches.")
                              : m_isLive
                                  ? tr("Advice appears when the first candidates have been timed.")
                                  : tr("This run has no advice: it was searched without a judge, or ended early."));
  m_tableOrEmpty->setEmpty(proxy->rowCount() == 0);
}

void AdviceView::showCurrent() {
  const AdviceStanding* advice = current();
  const QString text = advice != nullptr ? htmlOf(*advice) : tr("Select a row to read the advice in full.");
  if (m_detail->text() != text) {
    m_detail->setText(text);
  }
}

}  // namespace swage::ui
