// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/profile_page.h"

#include <QHeaderView>
#include <QLabel>
#include <QScrollArea>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

#include "ui/charts/clock_strip.h"
#include "ui/charts/roofline_chart.h"
#include "ui/charts/sample_chart.h"
#include "ui/charts/timing_strip.h"
#include "ui/models/format.h"
#include "ui/models/kernel_share_model.h"
#include "ui/models/profile_text.h"
#include "ui/pages/kernel_charts.h"
#include "ui/pages/profile_bar.h"
#include "ui/pages/profile_view.h"
#include "ui/pages/triage_card.h"
#include "ui/pages/trust_panel.h"
#include "ui/widgets/badge.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/flow_layout.h"
#include "ui/widgets/section.h"
#include "ui/widgets/table_style.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr int kNameChars = 18;  // of a kernel, that can be read at least

QString titleOf(const services::CandidateDetail& detail) {
  const QString title = ProfilePage::tr("Candidate %1").arg(detail.row.id.value());
  return detail.row.cell ? QString(title % u" · "_s % toQString(detail.row.cell->name())) : title;
}

// The samples and, below them, the clock while they were taken.
QWidget* stacked(QWidget* above, QWidget* below) {
  auto* both = new QWidget;
  auto* column = new QVBoxLayout(both);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(1);
  column->addWidget(above);
  column->addWidget(below);
  return both;
}

const domain::Timing* timingOf(const services::CandidateDetail& detail) {
  const domain::Correct* correct = detail.evaluation ? domain::asCorrect(*detail.evaluation) : nullptr;
  return correct != nullptr ? &correct->timing.candidate : nullptr;
}

}  // namespace

ProfilePage::ProfilePage(ProjectSession& session, services::ProfileService& profiles, PinnedBaseline& pinned,
                         QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_profiles(profiles),
      m_pinned(pinned),
      m_title(new ElidedLabel),
      m_source(new Badge),
      m_noisy(new Badge),
      m_checked(new Badge),
      m_bar(new ProfileBar(session, profiles, pinned)),
      m_triage(new TriageCard),
      m_limitation(new QLabel),
      m_remarks(new QLabel),
      m_strip(new TimingStrip),
      m_timing(new Section(tr("Time"), m_strip)),
      m_samples(new SampleChart),
      m_clock(new ClockStrip),
      m_sampleSection(new Section(tr("Samples"), stacked(m_samples, m_clock))),
      m_kernels(new KernelShareModel(this)),
      m_table(new QTableView),
      m_kernelSection(new Section(tr("Kernels"), m_table)),
      m_roofline(new RooflineChart),
      m_rooflineSection(new Section(tr("Roofline"), m_roofline)),
      m_charts(new KernelCharts),
      m_trust(new TrustPanel),
      m_trustSection(new Section(tr("Checks"), m_trust)) {
  setObjectName(u"profilePage"_s);
  makeKernelTable();
  auto* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setWidget(makeContent());
  scroll->setMinimumWidth(scroll->widget()->minimumSizeHint().width());
  m_empty = new EmptyState(scroll, tr("Choose a candidate to see what bounds it and where its time goes."));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(m_empty);
  connectParts();
  setTheme(Theme::light());
  reload();
}

void ProfilePage::connectParts() {
  connect(&m_session, &ProjectSession::selectionChanged, this, &ProfilePage::reload);
  connect(&m_session, &ProjectSession::cellsChanged, this, &ProfilePage::showRoofline);  // with new elites
  connect(&m_pinned, &PinnedBaseline::changed, this, &ProfilePage::showSelection);
  connect(&m_profiles, &services::ProfileService::finished, this, &ProfilePage::reload);
  connect(m_triage, &TriageCard::lineRequested, this,
          [this](int line) { Q_EMIT lineRequested(m_session.selectedCandidate(), line); });
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &ProfilePage::showKernel);
}

QWidget* ProfilePage::makeHeader() {
  m_title->setObjectName(u"profileTitle"_s);
  QFont bold = m_title->font();
  bold.setWeight(QFont::DemiBold);
  m_title->setFont(bold);
  m_source->setObjectName(u"sourceBadge"_s);
  m_noisy->setObjectName(u"noisyBadge"_s);
  m_checked->setObjectName(u"checkedBadge"_s);
  auto* header = new QWidget;
  auto* row = new FlowLayout(header);
  row->setContentsMargins(0, 0, 0, 0);
  row->addWidget(m_title);
  row->addWidget(m_noisy);
  row->addWidget(m_checked);
  row->addWidget(m_source);
  return header;
}

QWidget* ProfilePage::makeContent() {
  m_limitation->setObjectName(u"profileLimitation"_s);
  m_remarks->setObjectName(u"profileRemarks"_s);
  for (QLabel* label : {m_limitation, m_remarks}) {
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->setForegroundRole(QPalette::PlaceholderText);
  }
  m_samples->setObjectName(u"sampleChart"_s);
  m_clock->setObjectName(u"clockStrip"_s);
  m_sampleSection->setObjectName(u"sampleSection"_s);
  m_strip->setObjectName(u"timingStrip"_s);
  m_roofline->setObjectName(u"rooflineChart"_s);
  m_timing->setObjectName(u"timingSection"_s);
  m_trustSection->setObjectName(u"trustSection"_s);
  m_rooflineSection->setCaption(
      tr("Filled marks: counted by the hardware. Hollow marks: computed from the task's size and the measured time."));
  const int gap = fontMetrics().height();
  auto* content = new QWidget;
  auto* column = new QVBoxLayout(content);
  column->setContentsMargins(gap * 2 / 3, gap / 2, gap * 2 / 3, gap);
  column->setSpacing(gap * 2 / 3);
  column->addWidget(makeHeader());
  column->addWidget(m_bar);
  column->addWidget(m_triage);
  column->addWidget(m_limitation);
  column->addWidget(m_remarks);
  column->addWidget(m_timing);
  column->addWidget(m_sampleSection);
  column->addWidget(m_rooflineSection);
  column->addWidget(m_kernelSection);
  column->addWidget(m_charts);
  column->addWidget(m_trustSection);
  column->addStretch(1);
  return content;
}

void ProfilePage::makeKernelTable() {
  m_table->setObjectName(u"kernelTable"_s);
  m_table->setAccessibleName(tr("Kernels of the launch plan"));
  m_table->setModel(m_kernels);
  styleTable(*m_table);
  m_table->setFrameShape(QFrame::NoFrame);
  m_table->setSelectionMode(QAbstractItemView::SingleSelection);
  m_table->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_table->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_table->setWordWrap(false);
  m_table->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
  m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  m_table->horizontalHeader()->setSectionResizeMode(static_cast<int>(KernelColumn::Name), QHeaderView::Stretch);
  m_table->horizontalHeader()->setMinimumSectionSize(fontMetrics().averageCharWidth() * 7);
}

void ProfilePage::setTheme(const Theme& theme) {
  m_triage->setTheme(theme);
  m_strip->setTheme(theme);
  m_samples->setTheme(theme);
  m_clock->setTheme(theme);
  m_roofline->setTheme(theme);
  m_charts->setTheme(theme);
  m_trust->setTheme(theme);
  m_source->setTheme(theme);
  m_noisy->setTheme(theme);
  m_checked->setTheme(theme);
}

void ProfilePage::setChooseFile(const ChooseFile& chooseFile) {
  const ChartOutlet outlet{chooseFile, [this](const Error& error) { m_session.report(error); }};
  m_strip->setOutlet(outlet);
  m_samples->setOutlet(outlet);
  m_clock->setOutlet(outlet);
  m_roofline->setOutlet(outlet);
  m_charts->setOutlet(outlet);
}

void ProfilePage::profile() {
  m_bar->profile();
}

void ProfilePage::pinCandidate() {
  m_bar->pinCandidate();
}

QJsonObject ProfilePage::saveState() const {
  return m_pinned.saveState();
}

void ProfilePage::restoreState(const QJsonObject& state) {
  m_pinned.restoreState(state);
}

template <class T>
T ProfilePage::answerOr(Result<T> answer, T otherwise) {
  if (!answer) {
    m_session.report(answer.error());
    return otherwise;
  }
  return std::move(*answer);
}

void ProfilePage::reload() {
  m_report.reset();
  const auto& detail = m_session.detail();
  m_empty->setEmpty(!detail);
  if (detail) {
    m_report = answerOr(m_profiles.report(detail->row.id), std::optional<services::ProfileReport>());
    showTrust(*detail);
    m_kernels->setRows(m_report ? kernelShares(*m_report) : std::vector<KernelShare>());
    m_table->setCurrentIndex(m_kernels->index(0, 0));
  }
  showSelection();
}

void ProfilePage::showTrust(const services::CandidateDetail& detail) {
  using State = services::ExportGate::State;
  const auto gates = answerOr(m_profiles.gates(detail.row.id), std::vector<services::ExportGate>());
  const auto doubts = answerOr(m_profiles.doubts(detail.row.run), std::vector<std::string>());
  m_trust->setTrust(gates, doubts);
  m_trustSection->setVisible(!gates.empty() || !doubts.empty());
  const auto count = [&gates](auto matches) {
    return static_cast<int>(std::count_if(gates.begin(), gates.end(), matches));
  };
  const int passed = count([](const auto& gate) { return gate.state == State::Passed; });
  const int all = count([](const auto& gate) { return gate.state != State::NotApplicable; });
  const bool isWrong = count([](const auto& gate) { return services::blocksExport(gate); }) > 0;
  const Badge::Tone tone = isWrong ? Badge::Tone::Bad : passed == all ? Badge::Tone::Good : Badge::Tone::Caution;
  m_checked->setBadge(all == 0  ? QString()
                      : isWrong ? tr("check failed")
                                : tr("%1 of %2 checks passed").arg(passed).arg(all),
                      tone);
  m_checked->setToolTip(
      tr("The checks are listed below, under Checks. Export shows the same ones and can run those that "
         "were not run."));
}

void ProfilePage::showSelection() {
  const auto& detail = m_session.detail();
  if (!detail) {
    return;
  }
  m_title->setFullText(titleOf(*detail));
  showTiming(*detail);
  m_triage->setVisible(m_report.has_value());
  m_kernelSection->setVisible(m_kernels->rowCount() > 0);
  if (m_report) {
    showReport(*m_report);
    return;
  }
  m_source->setBadge({}, Badge::Tone::Neutral);
  const QString reason = whyNoProfile(*detail);
  m_limitation->setText(
      reason.isEmpty() ? tr("It was not profiled. Profile runs it under the profiler and stores the result.") : reason);
  m_limitation->show();
  m_remarks->hide();
  m_charts->hide();
  m_rooflineSection->hide();
}

void ProfilePage::showTiming(const services::CandidateDetail& detail) {
  const domain::Timing* timing = timingOf(detail);
  m_timing->setVisible(timing != nullptr);
  showSamples(detail);
  m_noisy->setBadge({}, Badge::Tone::Neutral);
  if (timing == nullptr) {
    return;
  }
  m_strip->setLines(timingLines(detail, m_pinned.numbers(), m_session.baselines()));
  m_timing->setCaption(timingCaption(*timing));
  const QStringList reasons = noiseReasons(*timing);
  if (!reasons.isEmpty()) {
    m_noisy->setBadge(tr("noisy"), Badge::Tone::Caution);
    m_noisy->setToolTip(reasons.join(u'\n'));
  }
}

void ProfilePage::showSamples(const services::CandidateDetail& detail) {
  m_samples->setRows(sampleRows(detail));
  const domain::Timing* timing = timingOf(detail);
  m_clock->setLooks(timing != nullptr ? timing->conditions.looks : std::vector<domain::ConditionLook>());
  m_clock->setVisible(!m_clock->isEmpty());
  m_sampleSection->setVisible(!m_samples->isEmpty());
  if (timing == nullptr || m_samples->isEmpty()) {
    return;
  }
  QStringList parts = {tr("A dot for each sample, by its distance from the median (line; band: its 95 % interval).")};
  if (static_cast<std::size_t>(timing->samples) > timing->sequenceNs.size()) {
    parts.push_back(tr("%1 of %2 samples were kept.").arg(timing->sequenceNs.size()).arg(timing->samples));
  }
  const auto& rows = m_samples->rows();
  if (std::any_of(rows.begin(), rows.end(), [this](const SampleRow& row) { return m_samples->outliers(row) > 0; })) {
    parts.push_back(tr("At the right: how many samples were slower still."));
  }
  m_sampleSection->setCaption(parts.join(u' '));
}

QString ProfilePage::timingCaption(const domain::Timing& timing) const {
  QStringList parts;
  if (const auto& pinned = m_pinned.numbers()) {
    const Delta delta = compareTimes(intervalOf(timing), pinned->time);
    if (const QString text = formatDelta(delta); !text.isEmpty()) {
      parts.push_back(tr("%1 against %2").arg(text, pinned->name));
    }
  }
  parts.push_back(stopText(timing));
  for (const QString& part : {toQString(timing.clock), conditionsText(timing.conditions)}) {
    if (!part.isEmpty()) {
      parts.push_back(part);
    }
  }
  const QStringList noise = noiseReasons(timing);
  return parts.join(u" · "_s) % (noise.isEmpty() ? u""_s : tr("\nNoisy: %1").arg(noise.join(u"; "_s)));
}

void ProfilePage::showReport(const services::ProfileReport& report) {
  m_triage->setDiagnosis(report.diagnosis);
  m_source->setBadge(sourceName(report.profile.source), report.profile.source == domain::ProfileSource::Counters
                                                            ? Badge::Tone::Neutral
                                                            : Badge::Tone::Caution);
  m_source->setToolTip(conditionsText(report.profile.conditions));
  m_limitation->setText(tr("Missing: %1").arg(toQString(report.profile.limitation)));
  m_limitation->setVisible(!report.profile.limitation.empty());
  const QStringList remarks = profileRemarks(report);
  m_remarks->setText(remarks.join(u'\n'));
  m_remarks->setVisible(!remarks.isEmpty());
  showRoofline();
  fitTable();
  showKernel();
}

void ProfilePage::showRoofline() {
  if (m_report) {
    const auto points = rooflinePoints({*m_report, m_pinned.numbers(), m_session.baselines(), m_session.cells()});
    m_roofline->setPoints(m_report->diagnosis.roofs, points);
    m_rooflineSection->setVisible(!m_roofline->isEmpty());
  }
}

// As high as its rows. In a narrow dock the columns go that matter least, and a CPU has no use for some.
void ProfilePage::fitTable() {
  constexpr KernelColumn kFirstToGo[] = {KernelColumn::Launches, KernelColumn::Spills, KernelColumn::Registers,
                                         KernelColumn::Occupancy};
  const auto& kernels = m_kernels->items();
  const bool isOnGpu = std::any_of(kernels.begin(), kernels.end(), [](const KernelShare& one) {
    return one.registers > 0 || one.theoreticalOccupancy > 0;
  });
  const auto widthOf = [this](int column) {
    const QAbstractItemView& view = *m_table;  // a QTableView hides the hint
    return std::max(view.sizeHintForColumn(column), m_table->horizontalHeader()->sectionSizeHint(column));
  };
  int needed = fontMetrics().averageCharWidth() * kNameChars;
  for (int column = 1; column < m_kernels->columnCount(); ++column) {
    needed += widthOf(column);
  }
  for (const KernelColumn column : kFirstToGo) {
    const int index = static_cast<int>(column);
    const bool isGpus = column != KernelColumn::Launches;
    const bool goes = (isGpus && !isOnGpu) || needed > m_table->width();
    needed -= goes ? widthOf(index) : 0;
    m_table->setColumnHidden(index, goes);
  }
  m_table->setFixedHeight(m_table->horizontalHeader()->sizeHint().height() +
                          m_kernels->rowCount() * m_table->verticalHeader()->defaultSectionSize() + 2);
}

void ProfilePage::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fitTable();
}

void ProfilePage::showKernel() {
  const QModelIndex current = m_table->currentIndex();
  const auto& kernels = m_kernels->items();
  const auto row = static_cast<std::size_t>(std::max(0, current.row()));
  if (m_report && row < kernels.size() && kernels[row].index >= 0) {
    m_charts->showKernel(*m_report, kernels[row].index, m_pinned.numbers());
  }
}

}  // namespace swage::ui
