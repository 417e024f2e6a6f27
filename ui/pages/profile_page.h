// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/models/pinned_baseline.h"
#include "ui/widgets/chart_widget.h"

class QLabel;
class QScrollArea;
class QTableView;
class QVBoxLayout;

namespace swage::ui {

class Badge;
class ClockStrip;
class ElidedLabel;
class EmptyState;
class KernelCharts;
class KernelShareModel;
class ProfileBar;
class RooflineChart;
class SampleChart;
class Section;
class TimingStrip;
class TriageCard;
class TrustPanel;

// Why the selected candidate is as fast as it is: first what bounds it and what to look at, then the numbers behind
// it, each beside what is pinned; and how far all of it can be believed.
class ProfilePage final : public QWidget {
  Q_OBJECT

 public:
  ProfilePage(ProjectSession& session, services::ProfileService& profiles, PinnedBaseline& pinned,
              QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  // What the menus of the charts ask for a file with.
  void setChooseFile(const ChooseFile& chooseFile);
  // Makes a profile of the selected candidate, if that is possible now.
  void profile();
  void pinCandidate();
  [[nodiscard]] QJsonObject saveState() const;
  void restoreState(const QJsonObject& state);

 Q_SIGNALS:
  // The user wants to see a line of a candidate's source.
  void lineRequested(swage::domain::CandidateId candidate, int line);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  [[nodiscard]] QWidget* makeHeader();
  [[nodiscard]] QWidget* makeContent();
  void makeKernelTable();
  void connectParts();
  void reload();
  void showSelection();
  void showTiming(const services::CandidateDetail& detail);
  void showSamples(const services::CandidateDetail& detail);
  void showReport(const services::ProfileReport& report);
  void showRoofline();
  void showKernel();
  void showTrust(const services::CandidateDetail& detail);
  void fitTable();
  [[nodiscard]] QString timingCaption(const domain::Timing& timing) const;
  template <class T>
  [[nodiscard]] T answerOr(Result<T> answer, T otherwise);

  ProjectSession& m_session;
  services::ProfileService& m_profiles;
  PinnedBaseline& m_pinned;
  std::optional<services::ProfileReport> m_report;
  EmptyState* m_empty = nullptr;
  ElidedLabel* m_title;
  Badge* m_source;
  Badge* m_noisy;
  Badge* m_checked;
  ProfileBar* m_bar;
  TriageCard* m_triage;
  QLabel* m_limitation;
  QLabel* m_remarks;
  TimingStrip* m_strip;
  Section* m_timing;
  SampleChart* m_samples;
  ClockStrip* m_clock;
  Section* m_sampleSection;
  KernelShareModel* m_kernels;
  QTableView* m_table;
  Section* m_kernelSection;
  RooflineChart* m_roofline;
  Section* m_rooflineSection;
  KernelCharts* m_charts;
  TrustPanel* m_trust;
  Section* m_trustSection;
};

}  // namespace swage::ui
