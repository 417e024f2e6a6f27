// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/endpoint_dialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

#include "ui/models/format.h"
#include "ui/shell/dialogs.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using services::EndpointFinding;
using services::EndpointSettings;
using Key = EndpointSettings::Key;

constexpr int kMostTokens = 1'000'000;
constexpr int kMostCalls = 1000;
constexpr double kMostPrice = 10'000.0;

void describe(QWidget* field, const QString& name, const QString& spoken) {
  field->setObjectName(name);
  field->setAccessibleName(spoken);
}

QDoubleSpinBox* makePrice() {
  auto* price = new QDoubleSpinBox;
  price->setRange(0.0, kMostPrice);
  price->setDecimals(3);
  price->setPrefix(u"$"_s);
  return price;
}

QSpinBox* makeNumber(int most) {
  auto* number = new QSpinBox;
  number->setRange(1, most);
  return number;
}

}  // namespace

QString findingText(const EndpointFinding& finding) {
  const QString models =
      !finding.canList ? QString()
      : finding.hasModel
          ? EndpointDialog::tr(" %1 models are available.").arg(finding.models.size())
          : EndpointDialog::tr(" %1 models are available; this one is not listed.").arg(finding.models.size());
  if (!finding.works) {
    const QString hint = toQString(finding.hint);
    return QString(EndpointDialog::tr("Does not work: %1.").arg(toQString(finding.error)) %
                   (hint.isEmpty() ? QString() : QString(u" "_s % toQString(asSentence(finding.hint)) % u"."_s)) %
                   models);
  }
  return QString(EndpointDialog::tr("Works: first words after %1 s, %2 tokens a second, %3 s in all.")
                     .arg(finding.firstSeconds, 0, 'f', 2)
                     .arg(finding.tokensPerSecond, 0, 'f', 0)
                     .arg(finding.seconds, 0, 'f', 2) %
                 models);
}

EndpointDialog::EndpointDialog(services::EndpointService& endpoints, Dialogs& dialogs, EndpointSettings endpoint,
                               QWidget* parent)
    : QDialog(parent),
      m_endpoints(endpoints),
      m_dialogs(dialogs),
      m_before(endpoint.name),
      m_name(new QLineEdit),
      m_kind(new QComboBox),
      m_address(new QLineEdit),
      m_model(new QLineEdit),
      m_key(new QComboBox),
      m_keyWhere(new QLineEdit),
      m_browse(new QPushButton(tr("Browse…"))),
      m_hasPrice(new QCheckBox(tr("known"))),
      m_inputPrice(makePrice()),
      m_outputPrice(makePrice()),
      m_maxOutput(makeNumber(kMostTokens)),
      m_concurrency(makeNumber(kMostCalls)),
      m_allowPlain(new QCheckBox(tr("Also send prompts and key without encryption"))),
      m_problem(new QLabel),
      m_finding(new QLabel),
      m_test(new QPushButton(tr("Test"))) {
  setObjectName(u"endpointDialog"_s);
  setWindowTitle(m_before.empty() ? tr("Add a Language Model") : tr("Edit a Language Model"));
  auto* form = new QFormLayout;
  form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  addFields(*form);
  for (QLabel* label : {m_problem, m_finding}) {
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    label->setMinimumHeight(fontMetrics().height() * 2);
    label->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  }
  m_problem->setObjectName(u"endpointProblem"_s);
  m_finding->setObjectName(u"endpointFinding"_s);
  m_finding->setForegroundRole(QPalette::PlaceholderText);
  m_test->setObjectName(u"endpointTest"_s);
  m_test->setToolTip(tr("Lists the models and sends a short test prompt"));
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Save | QDialogButtonBox::Cancel);
  m_save = buttons->button(QDialogButtonBox::Save);
  m_save->setObjectName(u"endpointSave"_s);
  buttons->addButton(m_test, QDialogButtonBox::ActionRole);
  auto* column = new QVBoxLayout(this);
  column->addLayout(form);
  column->addWidget(m_problem);
  column->addWidget(m_finding);
  column->addStretch(1);
  column->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::accepted, this, &EndpointDialog::save);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(m_test, &QPushButton::clicked, this, &EndpointDialog::test);
  connect(&endpoints, &services::EndpointService::tested, this, &EndpointDialog::showFinding);
  fill(endpoint);
  resize(fontMetrics().averageCharWidth() * 80, sizeHint().height());
}

void EndpointDialog::addFields(QFormLayout& form) {
  describe(m_name, u"endpointName"_s, tr("Name"));
  m_name->setPlaceholderText(tr("fast"));
  m_name->setToolTip(tr("Lower-case letters, digits and . / - _; its candidates are recorded under it"));
  describe(m_kind, u"endpointKind"_s, tr("Format"));
  m_kind->addItem(tr("OpenAI and compatible"), u"openai"_s);
  m_kind->addItem(tr("Anthropic"), u"anthropic"_s);
  m_kind->addItem(tr("Ollama"), u"ollama"_s);
  describe(m_address, u"endpointAddress"_s, tr("Address"));
  m_address->setPlaceholderText(u"https://api.example.com/v1"_s);
  describe(m_model, u"endpointModel"_s, tr("Model"));
  m_model->setPlaceholderText(tr("as the endpoint calls it"));
  describe(m_maxOutput, u"endpointMaxOutput"_s, tr("Most tokens of a reply"));
  describe(m_concurrency, u"endpointConcurrency"_s, tr("Calls at once"));
  m_allowPlain->setObjectName(u"endpointAllowPlain"_s);
  m_allowPlain->setToolTip(
      tr("Only for an address with http:// that is neither on this machine nor in a private network"));
  form.addRow(tr("&Name:"), m_name);
  form.addRow(tr("&Format:"), m_kind);
  form.addRow(tr("&Address:"), m_address);
  form.addRow(tr("&Model:"), m_model);
  form.addRow(tr("&Key:"), makeKeyField());
  form.addRow(tr("Price of a million tokens:"), makePrices());
  form.addRow(tr("Most &tokens of a reply:"), m_maxOutput);
  form.addRow(tr("&Calls at once:"), m_concurrency);
  form.addRow(QString(), m_allowPlain);
  for (QLineEdit* field : {m_name, m_address, m_model, m_keyWhere}) {
    connect(field, &QLineEdit::textEdited, this, &EndpointDialog::check);
  }
  connect(m_kind, &QComboBox::activated, this, &EndpointDialog::check);
  connect(m_allowPlain, &QCheckBox::clicked, this, &EndpointDialog::check);
}

QWidget* EndpointDialog::makeKeyField() {
  describe(m_key, u"endpointKey"_s, tr("Where the key is"));
  m_key->addItem(tr("none"), static_cast<int>(Key::None));
  m_key->addItem(tr("in a variable of the environment"), static_cast<int>(Key::Environment));
  m_key->addItem(tr("printed by a command"), static_cast<int>(Key::Command));
  m_key->addItem(tr("in a file"), static_cast<int>(Key::File));
  m_key->addItem(tr("in the keychain"), static_cast<int>(Key::Keychain));
  describe(m_keyWhere, u"endpointKeyWhere"_s, tr("Variable, command, file or account"));
  describe(m_browse, u"endpointKeyBrowse"_s, tr("Browse for the file of the key"));
  m_browse->setAutoDefault(false);
  auto* field = new QWidget;
  auto* line = new QHBoxLayout(field);
  line->setContentsMargins(0, 0, 0, 0);
  line->addWidget(m_key);
  line->addWidget(m_keyWhere, 1);
  line->addWidget(m_browse);
  field->setFocusProxy(m_key);
  connect(m_key, &QComboBox::activated, this, [this] {
    showKeyField();
    check();
  });
  connect(m_browse, &QPushButton::clicked, this, [this] {
    m_dialogs.chooseFile(this, tr("File of the Key"), m_keyWhere->text(), [this](const QString& file) {
      m_keyWhere->setText(file);
      check();
    });
  });
  return field;
}

QWidget* EndpointDialog::makePrices() {
  describe(m_hasPrice, u"endpointHasPrice"_s, tr("The price is known"));
  describe(m_inputPrice, u"endpointInputPrice"_s, tr("Dollars for a million tokens sent"));
  describe(m_outputPrice, u"endpointOutputPrice"_s, tr("Dollars for a million tokens received"));
  m_hasPrice->setToolTip(tr("A cost limit needs it"));
  auto* field = new QWidget;
  auto* line = new QHBoxLayout(field);
  line->setContentsMargins(0, 0, 0, 0);
  line->addWidget(m_hasPrice);
  line->addWidget(new QLabel(tr("sent")));
  line->addWidget(m_inputPrice);
  line->addWidget(new QLabel(tr("received")));
  line->addWidget(m_outputPrice);
  line->addStretch(1);
  connect(m_hasPrice, &QCheckBox::toggled, this, [this](bool isKnown) {
    m_inputPrice->setEnabled(isKnown);
    m_outputPrice->setEnabled(isKnown);
  });
  return field;
}

void EndpointDialog::fill(const EndpointSettings& endpoint) {
  m_name->setText(toQString(endpoint.name));
  m_kind->setCurrentIndex(std::max(0, m_kind->findData(toQString(endpoint.kind))));
  m_address->setText(toQString(endpoint.baseUrl));
  m_model->setText(toQString(endpoint.model));
  m_key->setCurrentIndex(m_key->findData(static_cast<int>(endpoint.key)));
  m_keyWhere->setText(toQString(endpoint.keyWhere));
  m_hasPrice->setChecked(endpoint.inputPrice.has_value());
  m_inputPrice->setValue(endpoint.inputPrice.value_or(0.0));
  m_outputPrice->setValue(endpoint.outputPrice.value_or(0.0));
  m_inputPrice->setEnabled(m_hasPrice->isChecked());
  m_outputPrice->setEnabled(m_hasPrice->isChecked());
  m_maxOutput->setValue(endpoint.maxOutput);
  m_concurrency->setValue(endpoint.concurrency);
  m_allowPlain->setChecked(endpoint.allowPlain);
  showKeyField();
  m_problem->clear();
}

void EndpointDialog::showKeyField() {
  const auto key = static_cast<Key>(m_key->currentData().toInt());
  m_keyWhere->setEnabled(key != Key::None);
  m_browse->setVisible(key == Key::File);
  switch (key) {
    case Key::None: m_keyWhere->setPlaceholderText({}); break;
    case Key::Environment: m_keyWhere->setPlaceholderText(tr("name of the variable, set before Swage starts")); break;
    case Key::Command: m_keyWhere->setPlaceholderText(tr("command whose first line of output is the key")); break;
    case Key::File: m_keyWhere->setPlaceholderText(tr("file that only you may read")); break;
    case Key::Keychain: m_keyWhere->setPlaceholderText(tr("account in the keychain")); break;
  }
}

EndpointSettings EndpointDialog::typed() const {
  EndpointSettings endpoint;
  endpoint.name = m_name->text().trimmed().toStdString();
  endpoint.kind = m_kind->currentData().toString().toStdString();
  endpoint.baseUrl = m_address->text().trimmed().toStdString();
  endpoint.model = m_model->text().trimmed().toStdString();
  endpoint.key = static_cast<Key>(m_key->currentData().toInt());
  endpoint.keyWhere = endpoint.key == Key::None ? std::string() : m_keyWhere->text().trimmed().toStdString();
  if (m_hasPrice->isChecked()) {
    endpoint.inputPrice = m_inputPrice->value();
    endpoint.outputPrice = m_outputPrice->value();
  }
  endpoint.maxOutput = m_maxOutput->value();
  endpoint.concurrency = m_concurrency->value();
  endpoint.allowPlain = m_allowPlain->isChecked();
  return endpoint;
}

void EndpointDialog::check() {
  const Result<> possible = m_endpoints.check(typed());
  m_problem->setText(possible ? QString() : toQString(asSentence(possible.error().message())));
  m_finding->clear();
}

void EndpointDialog::test() {
  check();
  if (m_problem->text().isEmpty()) {
    m_test->setEnabled(false);
    m_finding->setText(tr("Asking…"));
    m_endpoints.test(typed());
  }
}

void EndpointDialog::showFinding(const EndpointFinding& finding) {
  m_test->setEnabled(true);
  m_finding->setText(findingText(finding));
}

void EndpointDialog::save() {
  const Result<> done = m_endpoints.save(m_before, typed());
  if (!done) {
    m_problem->setText(toQString(asSentence(done.error().message())));
    return;
  }
  Q_EMIT saved();
  accept();
}

}  // namespace swage::ui
