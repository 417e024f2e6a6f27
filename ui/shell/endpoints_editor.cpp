// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/endpoints_editor.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/models/endpoint_table_model.h"
#include "ui/models/format.h"
#include "ui/models/settings_store.h"
#include "ui/shell/endpoint_dialog.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/table_style.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using services::EndpointSettings;

constexpr auto kUsedKey = "swarm.models";

QSet<QString> usedIn(const SettingsStore& settings) {
  QSet<QString> names;
  for (const QString& name : settings.value(QString::fromLatin1(kUsedKey)).toString().split(u',', Qt::SkipEmptyParts)) {
    names.insert(name.trimmed());
  }
  return names;
}

}  // namespace

EndpointsEditor::EndpointsEditor(services::EndpointService& endpoints, SettingsStore& settings, Dialogs& dialogs,
                                 QWidget* parent)
    : QWidget(parent),
      m_endpoints(endpoints),
      m_settings(settings),
      m_dialogs(dialogs),
      m_model(new EndpointTableModel(this)),
      m_table(new QTableView),
      m_tableOrEmpty(new EmptyState(m_table, {})),
      m_add(new QPushButton(tr("Add…"))),
      m_edit(new QPushButton(tr("Edit…"))),
      m_remove(new QPushButton(tr("Remove"))),
      m_test(new QPushButton(tr("Test"))),
      m_status(new QLabel) {
  m_table->setObjectName(u"endpointTable"_s);
  m_table->setAccessibleName(tr("Language models"));
  m_table->setModel(m_model);
  styleTable(*m_table);
  m_table->setSelectionMode(QAbstractItemView::SingleSelection);
  m_table->setWordWrap(false);
  m_table->horizontalHeader()->setStretchLastSection(true);
  m_tableOrEmpty->setMinimumHeight(fontMetrics().height() * 8);
  m_status->setObjectName(u"endpointStatus"_s);
  m_status->setWordWrap(true);
  m_status->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  m_status->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(m_tableOrEmpty, 1);
  column->addWidget(makeButtons());
  column->addWidget(m_status);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &EndpointsEditor::showButtons);
  connect(m_table, &QTableView::doubleClicked, this, [this] { m_edit->click(); });
  connect(m_model, &EndpointTableModel::usedChanged, this, [this] {
    QStringList names(m_model->used().begin(), m_model->used().end());
    std::sort(names.begin(), names.end());
    m_settings.set(QString::fromLatin1(kUsedKey), names.join(u", "_s));
  });
  connect(&settings, &SettingsStore::changed, this, [this] { m_model->setUsed(usedIn(m_settings)); });
  connect(&endpoints, &services::EndpointService::tested, this, [this](const services::EndpointFinding& finding) {
    m_status->setText(QString(toQString(finding.name) % u": "_s % findingText(finding)));
    showButtons();
  });
  reload();
}

QWidget* EndpointsEditor::makeButtons() {
  m_add->setObjectName(u"endpointAdd"_s);
  m_edit->setObjectName(u"endpointEdit"_s);
  m_remove->setObjectName(u"endpointRemove"_s);
  m_test->setObjectName(u"endpointListTest"_s);
  m_test->setToolTip(tr("Lists the models and sends a short test prompt"));
  auto* buttons = new QWidget;
  auto* line = new QHBoxLayout(buttons);
  line->setContentsMargins(0, 0, 0, 0);
  for (QPushButton* button : {m_add, m_edit, m_remove, m_test}) {
    button->setAutoDefault(false);
    line->addWidget(button);
  }
  line->addStretch(1);
  connect(m_add, &QPushButton::clicked, this, [this] { edit(EndpointSettings()); });
  connect(m_edit, &QPushButton::clicked, this, [this] {
    if (const EndpointSettings* endpoint = current()) {
      edit(*endpoint);
    }
  });
  connect(m_remove, &QPushButton::clicked, this, &EndpointsEditor::remove);
  connect(m_test, &QPushButton::clicked, this, &EndpointsEditor::test);
  return buttons;
}

const EndpointSettings* EndpointsEditor::current() const {
  const QModelIndex index = m_table->selectionModel()->currentIndex();
  return index.isValid() && index.row() < m_model->rowCount() ? &m_model->item(index.row()) : nullptr;
}

void EndpointsEditor::reload() {
  auto all = m_endpoints.load();
  m_tableOrEmpty->setSentence(
      all ? tr("No language model is set up; a search then works with its built-in pairs alone.")
          : toQString(asSentence(all.error().message())));
  m_model->setRows(all ? std::move(*all) : std::vector<EndpointSettings>());
  m_model->setUsed(usedIn(m_settings));
  m_tableOrEmpty->setEmpty(m_model->rowCount() == 0);
  m_table->resizeColumnsToContents();
  const int address = static_cast<int>(EndpointColumn::Address);  // the column that may be long
  m_table->setColumnWidth(address, std::min(m_table->columnWidth(address), fontMetrics().averageCharWidth() * 22));
  if (m_model->rowCount() > 0) {
    m_table->selectRow(0);
  }
  showButtons();
}

void EndpointsEditor::showButtons() {
  const bool isChosen = current() != nullptr;
  const bool isHttp = isChosen && current()->kind != "exchange" && current()->kind != "replay";
  m_edit->setEnabled(isHttp);
  m_remove->setEnabled(isChosen);
  m_test->setEnabled(isHttp);
}

void EndpointsEditor::edit(const EndpointSettings& endpoint) {
  auto* dialog = new EndpointDialog(m_endpoints, m_dialogs, endpoint, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setModal(true);
  connect(dialog, &EndpointDialog::saved, this, [this] {
    m_status->clear();
    reload();
  });
  dialog->show();
}

// Nothing is lost that cannot be typed again: the key is elsewhere.
void EndpointsEditor::remove() {
  const EndpointSettings* endpoint = current();
  if (endpoint == nullptr) {
    return;
  }
  const QString name = toQString(endpoint->name);
  const Result<> done = m_endpoints.remove(endpoint->name);
  m_status->setText(done ? tr("“%1” was removed.").arg(name) : toQString(asSentence(done.error().message())));
  if (done) {
    reload();
  }
}

void EndpointsEditor::test() {
  if (const EndpointSettings* endpoint = current()) {
    m_status->setText(tr("Asking “%1”…").arg(toQString(endpoint->name)));
    m_test->setEnabled(false);
    m_endpoints.test(*endpoint);
  }
}

}  // namespace swage::ui
