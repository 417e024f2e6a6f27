// SPDX-License-Identifier: Apache-2.0
#include "core/engine/pattern_ranking.h"

#include <QEventLoop>
#include <QTimer>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "core/base/log.h"
#include "core/engine/model_endpoints.h"
#include "core/engine/settings_file.h"

namespace swage::engine {
namespace {

constexpr auto kSetting = "swarm.embeddings";
constexpr std::chrono::milliseconds kLook{100};

}  // namespace

Result<std::optional<models::Endpoint>> chosenEmbeddings(const std::filesystem::path& settings) {
  SWAGE_TRY_ASSIGN(const services::Settings set, SettingsFile(settings).load());
  const auto found = set.find(kSetting);
  const auto* name = found == set.end() ? nullptr : std::get_if<std::string>(&found->second);
  if (name == nullptr || name->empty()) {
    return std::optional<models::Endpoint>();
  }
  SWAGE_TRY_ASSIGN(const std::vector<models::Endpoint> all, readEndpoints(settings));
  auto chosen = chooseEndpoints(all, {*name});
  if (!chosen) {
    return std::move(chosen).error().withContext(std::string("the setting '") + kSetting + "'");
  }
  return std::optional(std::move(chosen->front()));
}

std::vector<std::string> textsToRank(const std::string& question, const std::vector<retrieval::Found>& found) {
  std::vector<std::string> texts{question};
  std::transform(found.begin(), found.end(), std::back_inserter(texts),
                 [](const retrieval::Found& one) { return retrieval::textForModel(one.entry); });
  return texts;
}

void rankByModel(std::vector<retrieval::Found>& found, const models::TextPoints& points) {
  retrieval::rankByPoints(found, points.front(), {points.begin() + 1, points.end()});
}

void tellUnranked(const Error& why) {
  log::warn("the results are not ranked by an embedding model, but in the order that Swage itself computes: {}{}{}",
            why.message(), why.hint().empty() ? "" : "; ", why.hint());
}

Result<> rankByChosenModel(const std::filesystem::path& settings, const std::shared_ptr<const models::KeyRing>& keys,
                           const std::string& question, std::vector<retrieval::Found>& found,
                           const std::function<bool()>& isCancelled) {
  SWAGE_TRY_ASSIGN(const std::optional<models::Endpoint> endpoint, chosenEmbeddings(settings));
  if (!endpoint || found.empty()) {
    return {};
  }
  QEventLoop loop;
  std::optional<Result<models::TextPoints>> points;
  models::EmbeddingCall call(*endpoint, keys);
  QObject::connect(&call, &models::EmbeddingCall::finished, &loop, [&](const Result<models::TextPoints>& came) {
    points = came;
    loop.quit();
  });
  QTimer look;
  QObject::connect(&look, &QTimer::timeout, &loop, [&] {
    if (isCancelled()) {
      loop.quit();
    }
  });
  look.start(kLook);
  call.start(textsToRank(question, found));
  loop.exec();
  if (!points) {
    return Error(ErrorKind::Cancelled, "the question was taken back");
  }
  if (!*points) {
    return points->error();
  }
  rankByModel(found, **points);
  return {};
}

}  // namespace swage::engine
