// SPDX-License-Identifier: Apache-2.0
#include "core/trust/self_test_gate.h"

#include <QTimer>

#include <algorithm>
#include <chrono>
#include <system_error>

#include <fmt/format.h>

#include "core/base/files.h"
#include "core/base/log.h"
#include "core/base/sha256.h"
#include "core/domain/json.h"

namespace swage::trust {
namespace {

namespace fs = std::filesystem;
using services::SelfTestCase;

constexpr std::size_t kShownFailures = 3;

domain::Json toJson(const SelfTestKey& key) {
  return {{"host", key.device.host},   {"device", key.device.uuid},
          {"name", key.device.name},   {"driver", key.device.driverVersion},
          {"torch", key.torchVersion}, {"build", key.build},
          {"corpus", key.corpusHash}};
}

fs::path fileOf(const fs::path& verdicts, const SelfTestKey& key) {
  return verdicts / (sha256Hex(toJson(key).dump()).substr(0, 24) + ".json");
}

std::string identityOf(const fs::path& program) {
  std::error_code error;
  const auto size = fs::file_size(program, error);
  const auto time = fs::last_write_time(program, error).time_since_epoch().count();
  return error ? program.string() : fmt::format("{}:{}", size, time);
}

}  // namespace

std::string buildOf(const fs::path& worker, const fs::path& compiler) {
  return fmt::format("{} {} {}", SWAGE_VERSION, identityOf(worker), identityOf(compiler));
}

bool hasPassed(const fs::path& verdicts, const SelfTestKey& key) {
  const auto text = readTextFile(fileOf(verdicts, key));
  const auto json = text ? domain::parseJson(*text) : Result<domain::Json>(text.error());
  return json && json->is_object() && json->value("key", domain::Json()) == toJson(key) && json->contains("cases");
}

Result<> keepVerdict(const fs::path& verdicts, const SelfTestKey& key, bool passed, std::size_t cases) {
  std::error_code error;
  const fs::path file = fileOf(verdicts, key);
  if (!passed) {
    fs::remove(file, error);
    return {};
  }
  fs::create_directories(verdicts, error);
  if (error) {
    return Error(ErrorKind::Storage, fmt::format("cannot create '{}': {}", verdicts.string(), error.message()));
  }
  return writeFileAtomically(file, domain::Json{{"key", toJson(key)}, {"cases", cases}}.dump(2) + "\n");
}

std::vector<services::StoredVerdict> storedVerdicts(const fs::path& verdicts, const std::string& build) {
  std::vector<services::StoredVerdict> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(verdicts, error)) {
    const auto text = readTextFile(entry.path());
    const auto json = text ? domain::parseJson(*text) : Result<domain::Json>(text.error());
    if (!json || !json->is_object() || !json->contains("cases") || !json->contains("key")) {
      continue;
    }
    const domain::Json& key = (*json)["key"];
    const auto word = [&key](const char* name) {
      const auto value = key.find(name);
      return value != key.end() && value->is_string() ? value->get<std::string>() : std::string();
    };
    const auto time = entry.last_write_time(error);
    if (!key.is_object() || word("build") != build || !(*json)["cases"].is_number_integer() || error) {
      continue;
    }
    found.push_back({.deviceName = word("name"),
                     .driverVersion = word("driver"),
                     .torchVersion = word("torch"),
                     .cases = (*json)["cases"].get<int>(),
                     .passedAtMs = std::chrono::duration_cast<std::chrono::milliseconds>(
                                       std::chrono::file_clock::to_sys(time).time_since_epoch())
                                       .count()});
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.passedAtMs > b.passedAtMs; });
  return found;
}

Error distrust(const services::SelfTestReport& report) {
  std::string shown;
  std::size_t failures = 0;
  for (const SelfTestCase& one : report.cases) {
    if (one.verdict == SelfTestCase::Verdict::Wrong && failures++ < kShownFailures) {
      shown += fmt::format("{} '{}' ({}) came out as '{}', not '{}'", shown.empty() ? "" : ";", one.name, one.family,
                           one.got, one.expected);
    }
  }
  return {ErrorKind::Environment,
          fmt::format("evaluations on {} cannot be trusted: {} of {} self-test cases went wrong:{}{}",
                      report.device.name, failures, report.cases.size(), shown, failures > kShownFailures ? "; …" : ""),
          "`swage doctor --self-test` shows all of them; --no-self-test searches anyway, and says so in the record"};
}

std::string_view name(SelfTestGate::Ground ground) {
  switch (ground) {
    case SelfTestGate::Ground::Skipped: return "skipped";
    case SelfTestGate::Ground::Remembered: return "passed before";
    case SelfTestGate::Ground::Tested: return "passed";
  }
  return "unknown";
}

SelfTestGate::SelfTestGate(SelfTestPolicy policy, SelfTest::Options options, domain::DeviceInfo device,
                           std::string torchVersion, QObject* parent)
    : QObject(parent), m_policy(std::move(policy)), m_options(std::move(options)) {
  m_key.device = std::move(device);
  m_key.torchVersion = std::move(torchVersion);
}

SelfTestGate::~SelfTestGate() = default;

void SelfTestGate::start() {
  if (m_policy.skip) {
    finishLater(Ground::Skipped);
    return;
  }
  const Result<bool> remembered = prepare();
  if (!remembered) {
    finishLater(remembered.error());
  } else if (*remembered) {
    finishLater(Ground::Remembered);
  } else {
    m_test->start();
  }
}

// Whether the device has passed before; else m_test is ready to start.
Result<bool> SelfTestGate::prepare() {
  SWAGE_TRY_ASSIGN(SelfTestCorpus corpus, SelfTestCorpus::load(m_policy.corpus, m_key.device.kind));
  m_key.build = buildOf(m_options.worker.program, m_options.compiler.program);
  m_key.corpusHash = corpus.hash;
  if (hasPassed(m_policy.verdicts, m_key)) {
    return true;
  }
  m_test = std::make_unique<SelfTest>(std::move(corpus), m_options);
  connect(m_test.get(), &SelfTest::caseEnded, this,
          [this](const SelfTestCase&, int done, int total) { Q_EMIT progressed(done, total); });
  connect(m_test.get(), &SelfTest::finished, this, &SelfTestGate::handleReport);
  return false;
}

void SelfTestGate::cancel() {
  if (m_test) {
    m_test->cancel();
  }
}

void SelfTestGate::handleReport(const Result<services::SelfTestReport>& report) {
  if (!report) {
    Q_EMIT finished(report.error());
    return;
  }
  if (const Result<> kept = keepVerdict(m_policy.verdicts, m_key, report->hasPassed(), report->cases.size()); !kept) {
    log::debug("the self-test's verdict is not kept: {}", kept.error().message());  // it runs again next time
  }
  Q_EMIT finished(report->hasPassed() ? Result<Ground>(Ground::Tested) : Result<Ground>(distrust(*report)));
}

void SelfTestGate::finishLater(Result<Ground> ground) {
  QTimer::singleShot(0, this, [this, ground = std::move(ground)] { Q_EMIT finished(ground); });
}

}  // namespace swage::trust
