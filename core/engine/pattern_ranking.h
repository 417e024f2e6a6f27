// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/models/embedding_call.h"
#include "core/models/endpoint.h"
#include "core/models/key_ring.h"
#include "core/retrieval/finder.h"

// An embedding model of the user that ranks what was found once more. Where it cannot, the order of this machine stays.
namespace swage::engine {

// So many of what was found are shown to it.
inline constexpr int kRankedByModel = 60;

// The endpoint that the setting `swarm.embeddings` of this file names; only the user's own file is asked, never a
// project's. No value: it names none. Kind Config or NotFound: what it names cannot be used.
[[nodiscard]] Result<std::optional<models::Endpoint>> chosenEmbeddings(const std::filesystem::path& settings);

// What the model is sent: the question, and behind it the beginning of each piece.
[[nodiscard]] std::vector<std::string> textsToRank(const std::string& question,
                                                   const std::vector<retrieval::Found>& found);
// By the points of these texts.
void rankByModel(std::vector<retrieval::Found>& found, const models::TextPoints& points);
// Says in the log that nothing was ranked, and why.
void tellUnranked(const Error& why);

// All of it, by the model that the settings choose, if any. Waits for the answer in an event loop of its own: for
// threads that may wait. `isCancelled` is asked a few times a second. An error changes nothing.
[[nodiscard]] Result<> rankByChosenModel(const std::filesystem::path& settings,
                                         const std::shared_ptr<const models::KeyRing>& keys,
                                         const std::string& question, std::vector<retrieval::Found>& found,
                                         const std::function<bool()>& isCancelled);

}  // namespace swage::engine
