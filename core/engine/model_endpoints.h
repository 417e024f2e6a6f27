// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/models/endpoint.h"

// The user's language models: a table `[models.NAME]` for each in the file of settings. Only the user's own file is
// asked, never a project's: a command for a key is run as the user.
namespace swage::engine {

// In the order of the file; none where there is no file. Kind Config, with the file and the name: one cannot be used,
// or says something that Swage does not know.
[[nodiscard]] Result<std::vector<models::Endpoint>> readEndpoints(const std::filesystem::path& file);
// At the end of the file; what the user wrote stays as it is. Kind Config: there is one of that name, or it cannot be
// used.
[[nodiscard]] Result<> addEndpoint(const std::filesystem::path& file, const models::Endpoint& endpoint);
// Another in its place, at the end of the file. NotFound: there is none of that name.
[[nodiscard]] Result<> replaceEndpoint(const std::filesystem::path& file, std::string_view name,
                                       const models::Endpoint& endpoint);
// NotFound: there is none of that name.
[[nodiscard]] Result<> removeEndpoint(const std::filesystem::path& file, std::string_view name);
// Those of the names, which also may be `replay:FILE` and `exchange:FOLDER`. NotFound, with the nearest name.
[[nodiscard]] Result<std::vector<models::Endpoint>> chooseEndpoints(const std::vector<models::Endpoint>& all,
                                                                    const std::vector<std::string>& names);

}  // namespace swage::engine
