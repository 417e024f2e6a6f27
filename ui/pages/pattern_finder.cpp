// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/pattern_finder.h"

#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QResizeEvent>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/editor/kernel_view.h"
#include "ui/models/format.h"
#include "ui/models/found_pattern_model.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/search_list.h"
#include "ui/widgets/table_style.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr int kRestMs = 300;

CodeLanguage languageOf(const domain::PatternEntry& entry) {
  switch (entry.origin) {
    case domain::PatternOrigin::Triton:
    case domain::PatternOrigin::Inductor: return CodeLanguage::Python;
    case domain::PatternOrigin::DataSheet: return CodeLanguage::Plain;
    default: return CodeLanguage::Cuda;
  }
}

QString factsOf(const domain::PatternEntry& entry) {
  QString html = u"<p>"_s % toQString(entry.summary).toHtmlEscaped() % u"</p><p>"_s;
  const auto add = [&html](const QString& title, const std::vector<std::string>& words) {
    QStringList list;
    for (const std::string& word : words) {
      list << toQString(word);
    }
    if (!list.isEmpty()) {
      html += title.arg(list.join(u", "_s)).toHtmlEscaped() % u"<br>"_s;
    }
  };
  add(PatternFinder::tr("Operators: %1"), entry.operators);
  add(PatternFinder::tr("Types: %1"), entry.types);
  add(PatternFinder::tr("Architectures: %1"), entry.architectures);
  add(PatternFinder::tr("Bottlenecks: %1"), entry.bottlenecks);
  return html % PatternFinder::tr("Where: %1").arg(toQString(entry.place)).toHtmlEscaped() % u"</p>"_s;
}

}  // namespace

PatternFinder::PatternFinder(services::PatternSearchService& search, QWidget* parent)
    : QWidget(parent),
      m_search(search),
      m_model(new FoundPatternModel(this)),
      m_field(new QLineEdit),
      m_table(new QTableView),
      m_splitter(new QSplitter(Qt::Vertical)),
      m_title(new QLabel),
      m_facts(new QLabel),
      m_body(new KernelView(CodeLanguage::Cuda)) {
  setObjectName(u"patternFinder"_s);
  m_splitter->setObjectName(u"foundSplitter"_s);
  m_splitter->setChildrenCollapsible(false);
  m_splitter->addWidget(makeList());
  m_splitter->addWidget(makeDetail());
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(m_splitter);
  m_rest.setSingleShot(true);
  m_rest.setInterval(kRestMs);
  connect(&m_rest, &QTimer::timeout, this, &PatternFinder::begin);
  connect(m_field, &QLineEdit::textChanged, &m_rest, qOverload<>(&QTimer::start));
  connect(m_field, &QLineEdit::returnPressed, this, &PatternFinder::begin);
  connect(&m_answer, &QFutureWatcherBase::finished, this, &PatternFinder::showFound);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &PatternFinder::showCurrent);
  begin();
}

PatternFinder::~PatternFinder() {
  m_answer.cancel();
}

QWidget* PatternFinder::makeList() {
  m_field->setObjectName(u"patternQuestion"_s);
  m_field->setPlaceholderText(tr("Search, for example: row softmax, long rows, sm_90"));
  m_field->setAccessibleName(tr("Search this machine"));
  m_table->setObjectName(u"foundTable"_s);
  m_table->setAccessibleName(tr("Results"));
  m_table->setModel(m_model);
  styleTable(*m_table);
  m_table->setSelectionMode(QAbstractItemView::SingleSelection);
  m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  m_table->setWordWrap(false);
  m_table->verticalHeader()->setDefaultSectionSize(m_table->fontMetrics().height() * 3 / 2);
  m_table->horizontalHeader()->setStretchLastSection(true);
  m_tableOrEmpty = new EmptyState(m_table, {});
  return makeSearchList(*m_field, *m_tableOrEmpty);
}

QWidget* PatternFinder::makeDetail() {
  m_title->setObjectName(u"foundTitle"_s);
  QFont font = m_title->font();
  font.setBold(true);
  m_title->setFont(font);
  m_facts->setObjectName(u"foundFacts"_s);
  m_facts->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  m_body->setObjectName(u"foundBody"_s);
  m_body->setTitle(tr("Text of the result"));
  auto* detail = new QWidget;
  auto* column = new QVBoxLayout(detail);
  column->setContentsMargins(0, 8, 0, 0);
  column->setSpacing(2);
  auto* header = new QVBoxLayout;
  header->setContentsMargins(10, 0, 10, 0);
  for (QLabel* label : {m_title, m_facts}) {
    label->setWordWrap(true);
    header->addWidget(label);
  }
  column->addLayout(header);
  column->addWidget(m_body, 1);
  m_detailOrEmpty = new EmptyState(detail, tr("Select a result to see its text."));
  return m_detailOrEmpty;
}

void PatternFinder::setTheme(const Theme& theme) {
  m_body->setTheme(theme);
}

QString PatternFinder::question() const {
  return m_field->text();
}

void PatternFinder::ask(const QString& question) {
  m_field->setText(question);
  begin();
}

// A later question takes the place of an earlier one.
void PatternFinder::begin() {
  m_rest.stop();
  m_answer.cancel();
  const QString question = m_field->text().trimmed();
  if (question.isEmpty()) {
    m_answer.setFuture({});
    m_model->setRows({});
    m_tableOrEmpty->setSentence(tr(
        "Finds patterns of the catalogue, kernels that won here earlier, templates of the installed PyTorch compiler "
        "and of Triton, and data sheets of GPUs."));
    m_tableOrEmpty->setEmpty(true);
    showCurrent();
    return;
  }
  if (!m_hasAnswered) {
    m_model->setRows({});
    m_tableOrEmpty->setSentence(tr("Searching…"));
    m_tableOrEmpty->setEmpty(true);
    showCurrent();
  }
  m_answer.setFuture(m_search.search(question.toStdString()));
}

void PatternFinder::showFound() {
  if (m_answer.isCanceled() || m_answer.future().resultCount() == 0) {
    return;
  }
  const Result<services::FoundPatterns> found = m_answer.result();
  m_hasAnswered = m_hasAnswered || found;
  m_tableOrEmpty->setSentence(found ? tr("No results.") : toQString(found.error().message()));
  m_model->setRows(found ? **found : std::vector<domain::PatternEntry>());
  m_tableOrEmpty->setEmpty(m_model->rowCount() == 0);
  const int most = m_table->viewport()->width() * 2 / 5;
  for (int column = 0; column < m_model->columnCount() - 1; ++column) {
    m_table->resizeColumnToContents(column);
    m_table->setColumnWidth(column, std::min(m_table->columnWidth(column), most));
  }
  if (m_model->rowCount() > 0) {
    m_table->selectRow(0);
  }
  showCurrent();
}

void PatternFinder::showCurrent() {
  const int row = m_table->currentIndex().row();
  m_detailOrEmpty->setEmpty(row < 0);
  if (row < 0) {
    return;
  }
  const domain::PatternEntry& entry = m_model->item(row);
  m_title->setText(toQString(entry.title));
  m_facts->setText(factsOf(entry));
  m_body->setLanguage(languageOf(entry));
  m_body->setText(toQString(entry.body));
}

void PatternFinder::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  m_splitter->setOrientation(event->size().width() > event->size().height() ? Qt::Horizontal : Qt::Vertical);
}

}  // namespace swage::ui
