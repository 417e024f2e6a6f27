// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/export_page.h"

#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QListWidget>
#include <QSignalBlocker>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

#include <array>

#include "core/domain/record/winner.h"
#include "ui/models/export_text.h"
#include "ui/models/fact_model.h"
#include "ui/models/format.h"
#include "ui/models/run_words.h"
#include "ui/pages/export_gates.h"
#include "ui/pages/export_target.h"
#include "ui/pages/file_preview.h"
#include "ui/pages/wrapped_rows.h"
#include "ui/widgets/notice_banner.h"
#include "ui/widgets/table_style.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr std::array kFormats = {services::ExportFormat::ModelNew, services::ExportFormat::Project};

QLabel* makeHeading(const QString& text, QWidget* buddy) {
  auto* heading = new QLabel(text);
  QFont bold = heading->font();
  bold.setWeight(QFont::DemiBold);
  heading->setFont(bold);
  heading->setBuddy(buddy);
  return heading;
}

}  // namespace

ExportPage::ExportPage(ProjectSession& session, const ExportServices& services, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_assistant(services.exporter, services.checks),
      m_candidates(new QComboBox),
      m_formats(new QListWidget),
      m_purpose(new QLabel),
      m_facts(new FactModel(this)),
      m_provenance(makeProvenance()),
      m_gates(new ExportGates(m_assistant)),
      m_preview(new FilePreview),
      m_target(new ExportTarget(m_assistant)),
      m_banner(new NoticeBanner) {
  setObjectName(u"exportPage"_s);
  auto* halves = new QSplitter(Qt::Horizontal);
  halves->setChildrenCollapsible(false);
  halves->addWidget(makeSide());
  halves->addWidget(makeMain());
  halves->setStretchFactor(1, 1);
  halves->setHandleWidth(fontMetrics().height() / 2);
  halves->setSizes({fontMetrics().averageCharWidth() * 48, fontMetrics().averageCharWidth() * 110});
  m_banner->hide();
  auto* column = new QVBoxLayout(this);
  column->addWidget(halves, 1);
  column->addWidget(m_banner);
  column->addWidget(m_target);
  connectParts();
  m_formats->setCurrentRow(0);
}

QWidget* ExportPage::makeSide() {
  m_candidates->setObjectName(u"exportCandidate"_s);
  m_candidates->setAccessibleName(tr("Candidate to export"));
  m_formats->setObjectName(u"exportFormats"_s);
  m_formats->setAccessibleName(tr("Formats"));
  for (const services::ExportFormat format : kFormats) {
    const FormatText text = describeFormat(format);
    auto* item = new QListWidgetItem(text.name, m_formats);
    item->setToolTip(text.purpose);
    item->setSizeHint(QSize(0, fontMetrics().height() * 7 / 4));
    item->setData(Qt::AccessibleDescriptionRole, text.purpose);
  }
  m_formats->setFixedHeight(m_formats->sizeHintForRow(0) * m_formats->count() + 2 * m_formats->frameWidth());
  m_formats->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_purpose->setObjectName(u"exportPurpose"_s);
  m_purpose->setWordWrap(true);
  m_purpose->setForegroundRole(QPalette::PlaceholderText);
  auto* side = new QWidget;
  auto* column = new QVBoxLayout(side);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(makeHeading(tr("Ca&ndidate"), m_candidates));
  column->addWidget(m_candidates);
  column->addSpacing(fontMetrics().height() / 2);
  column->addWidget(makeHeading(tr("&Format"), m_formats));
  column->addWidget(m_formats);
  column->addWidget(m_purpose);
  column->addSpacing(fontMetrics().height() / 2);
  column->addWidget(makeHeading(tr("&Provenance"), m_provenance));
  column->addWidget(m_provenance, 1);
  return side;
}

QTableView* ExportPage::makeProvenance() {
  auto* table = new QTableView;
  table->setObjectName(u"exportProvenance"_s);
  table->setAccessibleName(tr("Provenance, as the files have it"));
  table->setModel(m_facts);
  styleTable(*table);
  table->setSelectionMode(QAbstractItemView::SingleSelection);
  table->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  QHeaderView* header = table->horizontalHeader();
  header->hide();
  header->setSectionResizeMode(static_cast<int>(FactColumn::Name), QHeaderView::ResizeToContents);
  header->setSectionResizeMode(static_cast<int>(FactColumn::Value), QHeaderView::Stretch);
  wrapRows(*table);
  return table;
}

QWidget* ExportPage::makeMain() {
  auto* main = new QSplitter(Qt::Vertical);
  main->setChildrenCollapsible(false);
  main->addWidget(m_gates);
  main->addWidget(m_preview);
  main->setStretchFactor(0, 2);
  main->setStretchFactor(1, 3);
  return main;
}

void ExportPage::connectParts() {
  connect(m_candidates, &QComboBox::currentIndexChanged, this, &ExportPage::chooseCandidate);
  connect(m_formats, &QListWidget::currentRowChanged, this, &ExportPage::chooseFormat);
  connect(m_target, &ExportTarget::browseRequested, this, &ExportPage::browse);
  connect(m_target, &ExportTarget::closeRequested, this, &ExportPage::closeRequested);
  connect(m_banner, &NoticeBanner::shownChanged, m_banner, &QWidget::setVisible);
  connect(&m_assistant, &ExportAssistant::factsChanged, this, &ExportPage::showFacts);
  connect(&m_assistant, &ExportAssistant::filesChanged, this, &ExportPage::showFiles);
  connect(&m_assistant, &ExportAssistant::failed, this, &ExportPage::showFailure);
  connect(&m_assistant, &ExportAssistant::wrote, this, [this](const QString& target) {
    m_banner->clear();
    Q_EMIT wrote(m_assistant.candidate(), target);
  });
  connect(&m_session, &ProjectSession::stateChanged, this, [this] { m_assistant.setBusy(m_session.isActive()); });
}

void ExportPage::setTheme(const Theme& theme) {
  m_gates->setTheme(theme);
  m_preview->setTheme(theme);
  m_target->setTheme(theme);
  m_banner->setTheme(theme);
}

bool ExportPage::open() {
  const auto& detail = m_session.detail();
  const auto& run = m_session.summary();
  const domain::CandidateId best = run ? domain::winnerOf(*run) : domain::CandidateId();
  const bool isPytorch = run && best.isValid() && best != run->best;
  const bool isBest = detail && detail->row.id == best;
  const QString pytorch = isPytorch ? pytorchText(run->baselineMode) : QString();
  {
    const QSignalBlocker quiet(m_candidates);
    m_candidates->clear();
    if (detail) {
      offer(detail->row.id, !isBest     ? tr("selected")
                            : isPytorch ? tr("selected, %1").arg(pytorch)
                                        : tr("selected, best of its run"));
    }
    if (best.isValid() && !isBest) {
      offer(best, isPytorch ? pytorch : tr("best of run %1").arg(m_session.shownRun().value()));
    }
  }
  m_banner->clear();
  m_assistant.setBusy(m_session.isActive());
  chooseCandidate(m_candidates->currentIndex());
  return m_candidates->count() > 0;
}

void ExportPage::offer(domain::CandidateId id, const QString& what) {
  m_candidates->addItem(tr("%1: %2").arg(QString::number(id.value()), what), QVariant::fromValue(id.value()));
}

void ExportPage::chooseCandidate(int index) {
  if (index >= 0) {
    m_assistant.open(m_session.project(), domain::CandidateId(m_candidates->itemData(index).toLongLong()));
  }
}

void ExportPage::chooseFormat(int row) {
  if (row < 0) {
    return;
  }
  const services::ExportFormat format = kFormats.at(static_cast<std::size_t>(row));
  m_purpose->setText(describeFormat(format).purpose);
  m_assistant.setFormat(format);
}

void ExportPage::browse() {
  if (m_choose) {
    m_choose(this, m_assistant.format(), m_assistant.target(),
             [this](const QString& chosen) { m_assistant.setTarget(chosen); });
  }
}

void ExportPage::showFacts() {
  std::vector<Fact> facts;
  if (m_assistant.facts()) {
    for (const services::ExportFact& fact : m_assistant.facts()->provenance) {
      facts.push_back({provenanceLabel(fact.label), toQString(fact.value)});
    }
  }
  m_facts->setRows(std::move(facts));
}

void ExportPage::showFiles() {
  if (m_assistant.files()) {
    m_preview->setFiles(m_assistant.files()->files);
  } else if (const auto& refusal = m_assistant.refusal()) {
    const QString hint = toQString(refusal->hint());
    m_preview->setSentence(toQString(refusal->message()) % (hint.isEmpty() ? QString() : QString(u"\n\n"_s % hint)));
  } else {
    m_preview->setSentence(tr("Preparing the files…"));
  }
}

void ExportPage::showFailure(const Error& error) {
  m_banner->showNotice({services::Notice::Severity::Error, error.message(), error.hint()});
}

}  // namespace swage::ui
