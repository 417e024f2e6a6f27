// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/patterns_page.h"

#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QResizeEvent>
#include <QScrollArea>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QTabWidget>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/editor/kernel_view.h"
#include "ui/models/format.h"
#include "ui/models/pattern_table_model.h"
#include "ui/pages/pattern_finder.h"
#include "ui/pages/wrapped_rows.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/search_list.h"
#include "ui/widgets/table_style.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

QTableView* makeTable(QAbstractItemModel* model, const QString& name, const QString& spoken) {
  auto* table = new QTableView;
  table->setObjectName(name);
  table->setAccessibleName(spoken);
  table->setModel(model);
  styleTable(*table);
  table->setSelectionMode(QAbstractItemView::SingleSelection);
  table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table->setWordWrap(false);
  table->verticalHeader()->setDefaultSectionSize(table->fontMetrics().height() * 3 / 2);
  table->horizontalHeader()->setStretchLastSection(true);
  return table;
}

QString factsOf(const services::PatternInfo& pattern) {
  QString html = u"<p>"_s % toQString(pattern.description).toHtmlEscaped() % u"</p><p>"_s;
  html += PatternsPage::tr("Language %1, family %2, source %3")
              .arg(toQString(pattern.language), toQString(pattern.family), toQString(pattern.sourceFile))
              .toHtmlEscaped();
  for (const auto& [key, value] : pattern.facts) {
    html += u"<br>"_s % toQString(key).toHtmlEscaped() % u": "_s % toQString(value).toHtmlEscaped();
  }
  return html % u"</p>"_s;
}

}  // namespace

PatternsPage::PatternsPage(const services::PatternService& patterns, services::PatternSearchService* search,
                           QWidget* parent)
    : QWidget(parent),
      m_patterns(patterns),
      m_model(new PatternTableModel(this)),
      m_parameters(new ParameterTableModel(this)),
      m_filter(new QSortFilterProxyModel(this)),
      m_search(new QLineEdit),
      m_splitter(new QSplitter(Qt::Vertical)),
      m_title(new QLabel),
      m_facts(new QLabel),
      m_source(new KernelView(KernelView::Language::Cuda)) {
  setObjectName(u"patternsPage"_s);
  m_filter->setSourceModel(m_model);
  m_filter->setFilterRole(PatternTableModel::SearchRole);
  m_filter->setFilterCaseSensitivity(Qt::CaseInsensitive);
  m_splitter->setObjectName(u"patternSplitter"_s);
  m_splitter->setChildrenCollapsible(false);
  m_splitter->addWidget(makeList());
  m_splitter->addWidget(makeDetail());
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  if (search != nullptr) {
    m_finder = new PatternFinder(*search);
    m_scopes = new QTabWidget;
    m_scopes->setObjectName(u"patternScopes"_s);
    m_scopes->setDocumentMode(true);
    m_scopes->addTab(m_splitter, tr("Catalogue"));
    m_scopes->addTab(m_finder, tr("This Machine"));
    column->addWidget(m_scopes);
  } else {
    column->addWidget(m_splitter);
  }
  connect(m_search, &QLineEdit::textChanged, this, &PatternsPage::applySearch);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &PatternsPage::showCurrent);
  connect(m_filter, &QAbstractItemModel::modelReset, this, &PatternsPage::showCurrent);
  refresh();
}

QWidget* PatternsPage::makeList() {
  m_search->setObjectName(u"patternSearch"_s);
  m_search->setPlaceholderText(tr("Search patterns"));
  m_search->setAccessibleName(tr("Search patterns"));
  m_table = makeTable(m_filter, u"patternTable"_s, tr("Patterns"));
  m_table->setSortingEnabled(true);
  m_table->sortByColumn(static_cast<int>(PatternColumn::Language), Qt::AscendingOrder);
  m_tableOrEmpty = new EmptyState(m_table, {});
  return makeSearchList(*m_search, *m_tableOrEmpty);
}

QWidget* PatternsPage::makeDetail() {
  m_title->setObjectName(u"patternTitle"_s);
  QFont font = m_title->font();
  font.setBold(true);
  m_title->setFont(font);
  m_title->setWordWrap(true);
  m_facts->setObjectName(u"patternFacts"_s);
  m_facts->setWordWrap(true);
  m_facts->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  m_facts->setContentsMargins(10, 4, 10, 4);
  m_facts->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  auto* about = new QScrollArea;  // a dock may be lower than the text
  about->setObjectName(u"patternAbout"_s);
  about->setFrameShape(QFrame::NoFrame);
  about->setWidgetResizable(true);
  about->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  about->setWidget(m_facts);
  m_parameterTable = makeTable(m_parameters, u"parameterTable"_s, tr("Parameters of the pattern"));
  m_parameterTable->horizontalHeader()->setStretchLastSection(false);  // which does not shrink it again
  m_parameterTable->horizontalHeader()->setSectionResizeMode(m_parameters->columnCount() - 1, QHeaderView::Stretch);
  wrapRows(*m_parameterTable);
  m_parameterTable->viewport()->installEventFilter(this);
  m_source->setObjectName(u"patternSource"_s);
  m_source->setTitle(tr("Source"));
  auto* tabs = new QTabWidget;
  tabs->setObjectName(u"patternTabs"_s);
  tabs->setUsesScrollButtons(false);  // in a narrow dock a shorter name says more than arrows
  tabs->setElideMode(Qt::ElideRight);
  tabs->addTab(about, tr("About"));
  tabs->addTab(m_parameterTable, tr("Parameters"));
  tabs->addTab(m_source, tr("Source"));
  auto* detail = new QWidget;
  auto* column = new QVBoxLayout(detail);
  column->setContentsMargins(0, 8, 0, 0);
  auto* header = new QVBoxLayout;
  header->setContentsMargins(10, 0, 10, 0);
  header->addWidget(m_title);
  column->addLayout(header);
  column->addWidget(tabs, 1);
  m_detailOrEmpty =
      new EmptyState(detail, tr("Choose a pattern to see its description, its parameters and its source."));
  return m_detailOrEmpty;
}

void PatternsPage::setTheme(const Theme& theme) {
  m_source->setTheme(theme);
  if (m_finder != nullptr) {
    m_finder->setTheme(theme);
  }
}

void PatternsPage::refresh() {
  auto patterns = m_patterns.patterns();
  m_tableOrEmpty->setSentence(patterns ? tr("No pattern matches.") : toQString(patterns.error().message()));
  m_model->setRows(patterns ? std::move(*patterns) : std::vector<services::PatternInfo>());
  for (int i = 0; i < m_model->columnCount() - 1; ++i) {
    m_table->resizeColumnToContents(i);
  }
  applySearch();
}

void PatternsPage::applySearch() {
  // Every word must occur, in any order.
  QString pattern;
  for (const QString& word : m_search->text().split(u' ', Qt::SkipEmptyParts)) {
    pattern += u"(?=.*"_s % QRegularExpression::escape(word) % u")"_s;
  }
  m_filter->setFilterRegularExpression(QRegularExpression(
      pattern, QRegularExpression::CaseInsensitiveOption | QRegularExpression::DotMatchesEverythingOption));
  m_tableOrEmpty->setEmpty(m_filter->rowCount() == 0);
  showCurrent();
}

void PatternsPage::showCurrent() {
  const QModelIndex current = m_filter->mapToSource(m_table->currentIndex());
  m_detailOrEmpty->setEmpty(!current.isValid());
  if (!current.isValid()) {
    return;
  }
  const services::PatternInfo& pattern = m_model->item(current.row());
  m_title->setText(tr("%1 (%2)").arg(toQString(pattern.id), toQString(pattern.language)));
  m_facts->setText(factsOf(pattern));
  m_parameters->setRows(pattern.parameters);
  fitParameters();
  m_source->setText(toQString(pattern.source));
}

// No column but the last, which has the rest, takes more than its part.
void PatternsPage::fitParameters() {
  const int most = m_parameterTable->viewport()->width() / m_parameters->columnCount();
  for (int i = 0; i < m_parameters->columnCount() - 1; ++i) {
    m_parameterTable->resizeColumnToContents(i);
    m_parameterTable->setColumnWidth(i, std::min(m_parameterTable->columnWidth(i), most));
  }
}

void PatternsPage::select(const QString& language, const QString& id) {
  m_search->clear();
  if (m_scopes != nullptr) {
    m_scopes->setCurrentWidget(m_splitter);
  }
  for (int row = 0; row < m_filter->rowCount(); ++row) {
    const services::PatternInfo& pattern = m_model->item(m_filter->mapToSource(m_filter->index(row, 0)).row());
    if (toQString(pattern.language) == language && toQString(pattern.id) == id) {
      m_table->selectRow(row);
      return;
    }
  }
}

void PatternsPage::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  m_splitter->setOrientation(event->size().width() > event->size().height() ? Qt::Horizontal : Qt::Vertical);
}

// The table of parameters has its width later than the page: when its tab is first shown, or a splitter is moved.
bool PatternsPage::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Resize && watched == m_parameterTable->viewport()) {
    fitParameters();
  }
  return QWidget::eventFilter(watched, event);
}

QJsonObject PatternsPage::saveState() const {
  QJsonObject state{{u"search"_s, m_search->text()}};
  if (m_scopes != nullptr) {
    state[u"scope"_s] = m_scopes->currentIndex();
    state[u"question"_s] = m_finder->question();
  }
  return state;
}

void PatternsPage::restoreState(const QJsonObject& state) {
  m_search->setText(state[u"search"_s].toString());
  if (m_scopes != nullptr) {
    m_scopes->setCurrentIndex(state[u"scope"_s].toInt());
    // Not asked before somebody looks: the first question reads the machine.
    if (const QString question = state[u"question"_s].toString();
        m_scopes->currentIndex() == 1 && !question.isEmpty()) {
      m_finder->ask(question);
    }
  }
}

}  // namespace swage::ui
