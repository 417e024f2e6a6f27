// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/export_assistant.h"

#include <QDir>
#include <QFileInfo>

#include <algorithm>

#include "ui/models/answer.h"
#include "ui/models/export_text.h"
#include "ui/models/format.h"

namespace swage::ui {

using services::ExportGate;

ExportAssistant::ExportAssistant(const services::ExportService& exporter, services::ExportCheckService* checks,
                                 QObject* parent)
    : QObject(parent), m_exporter(exporter), m_checks(checks), m_folder(QDir::homePath()) {
  if (m_checks == nullptr) {
    return;
  }
  connect(m_checks, &services::ExportCheckService::checkStarted, this, [this](domain::AssuranceKind kind) {
    if (m_checking) {
      markGate(gateOf(kind), ExportGate::State::Running, {});
    }
  });
  connect(m_checks, &services::ExportCheckService::checkEnded, this, &ExportAssistant::handleCheckEnded);
  connect(m_checks, &services::ExportCheckService::finished, this, &ExportAssistant::handleChecked);
}

// What was started for nobody else ends with it.
ExportAssistant::~ExportAssistant() {
  if (m_checking) {
    m_checks->disconnect(this);
    m_checks->cancel();
  }
}

void ExportAssistant::open(const std::filesystem::path& project, domain::CandidateId candidate) {
  if (m_checking && candidate != m_candidate) {
    cancel();
  }
  m_project = project;
  m_candidate = candidate;
  m_facts.reset();
  m_gates.clear();
  m_targetChosen = false;
  Q_EMIT factsChanged();
  Q_EMIT gatesChanged();
  askFacts();
  askFiles();
}

void ExportAssistant::setFormat(services::ExportFormat format) {
  if (format != m_format) {
    m_format = format;
    m_targetChosen = false;
    askFiles();
  }
}

void ExportAssistant::setTarget(const QString& target) {
  if (target != m_target) {
    m_targetChosen = true;
    m_target = target;
    lookAtTarget();
  }
}

void ExportAssistant::setReplace(bool replace) {
  m_replace = replace;
  Q_EMIT stateChanged();
}

void ExportAssistant::setBusy(bool busy) {
  m_busy = busy;
  Q_EMIT stateChanged();
}

void ExportAssistant::askFacts() {
  m_loadingFacts = true;
  Q_EMIT stateChanged();
  whenAnswered(m_exporter.facts(m_project, m_candidate), this,
               [this, asked = ++m_factsAsked](const Result<services::ExportFacts>& facts) {
                 if (asked == m_factsAsked) {
                   showFacts(facts);
                 }
               });
}

void ExportAssistant::askFiles() {
  m_files.reset();
  m_refusal.reset();
  m_written.clear();
  m_loadingFiles = true;
  Q_EMIT filesChanged();
  Q_EMIT stateChanged();
  whenAnswered(m_exporter.files(m_project, m_candidate, m_format), this,
               [this, asked = ++m_filesAsked](const Result<services::ExportFiles>& files) {
                 if (asked == m_filesAsked) {
                   showFiles(files);
                 }
               });
}

void ExportAssistant::showFacts(const Result<services::ExportFacts>& facts) {
  m_loadingFacts = false;
  if (facts) {
    m_facts = *facts;
    m_gates = facts->gates;
    Q_EMIT factsChanged();
    Q_EMIT gatesChanged();
  } else {
    Q_EMIT failed(facts.error());
  }
  Q_EMIT stateChanged();
}

void ExportAssistant::showFiles(const Result<services::ExportFiles>& files) {
  m_loadingFiles = false;
  if (files) {
    m_files = *files;
    suggestTarget();
  } else {
    m_refusal = files.error();
  }
  Q_EMIT filesChanged();
  Q_EMIT stateChanged();
}

void ExportAssistant::suggestTarget() {
  if (!m_targetChosen) {
    m_target = QDir(m_folder).filePath(toQString(m_files->suggestedName));
    lookAtTarget();
  }
}

// A look at the directory entry is all it takes; whether it can be written shows when it is.
void ExportAssistant::lookAtTarget() {
  const QFileInfo info(m_target);
  const bool isFolder = m_format == services::ExportFormat::Project;
  m_occupied = info.exists() && !(isFolder && info.isDir() && QDir(m_target).isEmpty());
  m_replace = false;
  m_written.clear();
  Q_EMIT targetChanged();
  Q_EMIT stateChanged();
}

bool ExportAssistant::canVerify() const {
  return m_checks != nullptr && !m_busy && !m_checking && m_facts && !m_checks->checking().isValid();
}

void ExportAssistant::verify() {
  if (!canVerify()) {
    return;
  }
  m_checking = true;
  Q_EMIT stateChanged();
  m_checks->start(m_project, m_candidate);
}

void ExportAssistant::cancel() {
  if (m_checking) {
    m_checks->cancel();
  }
}

void ExportAssistant::markGate(ExportGate::Kind kind, ExportGate::State state, const std::string& detail) {
  const auto gate = std::find_if(m_gates.begin(), m_gates.end(), [kind](const auto& one) { return one.kind == kind; });
  if (gate != m_gates.end()) {
    gate->state = state;
    gate->detail = detail;
    Q_EMIT gatesChanged();
  }
}

// The figures come from the record when all is over.
void ExportAssistant::handleCheckEnded(const domain::Assurance& assurance) {
  if (!m_checking) {
    return;
  }
  const bool hasPassed = assurance.verdict == domain::AssuranceVerdict::Passed;
  const bool isUnknown = assurance.verdict == domain::AssuranceVerdict::Unavailable;
  markGate(gateOf(assurance.kind),
           hasPassed   ? ExportGate::State::Passed
           : isUnknown ? ExportGate::State::NotRun
                       : ExportGate::State::Failed,
           assurance.detail);
}

void ExportAssistant::handleChecked(domain::CandidateId candidate, const Result<>& done) {
  if (!m_checking) {
    Q_EMIT stateChanged();  // somebody else's, for whom the device was taken
    return;
  }
  m_checking = false;
  if (!done && done.error().kind() != ErrorKind::Cancelled) {
    Q_EMIT failed(done.error());
  }
  if (candidate == m_candidate) {  // files say what was checked
    askFacts();
    askFiles();
  } else {
    Q_EMIT stateChanged();
  }
}

bool ExportAssistant::canWrite() const {
  return m_files && !m_writing && !m_checking && !m_target.isEmpty() && m_written.isEmpty() &&
         (!m_occupied || m_replace);
}

void ExportAssistant::write() {
  if (!canWrite()) {
    return;
  }
  m_writing = true;
  Q_EMIT stateChanged();
  const auto existing = m_replace ? services::ExistingFiles::Replace : services::ExistingFiles::Keep;
  whenAnswered(m_exporter.write(*m_files, m_target.toStdString(), existing), this,
               [this, target = m_target](const Result<>& written) { handleWritten(target, written); });
}

void ExportAssistant::handleWritten(const QString& target, const Result<>& written) {
  m_writing = false;
  if (!written) {
    Q_EMIT failed(written.error());
    lookAtTarget();
    return;
  }
  m_folder = QFileInfo(target).absolutePath();
  if (target == m_target) {
    m_written = target;
  }
  Q_EMIT stateChanged();
  Q_EMIT wrote(target);
}

}  // namespace swage::ui
