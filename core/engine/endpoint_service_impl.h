// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/models/endpoint_check.h"
#include "core/models/key_ring.h"
#include "core/services/endpoint_service.h"

namespace swage::engine {

// The models in the user's file of settings.
class EndpointServiceImpl final : public services::EndpointService {
  Q_OBJECT

 public:
  // `keys`: with the variables of the environment that were set when the program started.
  EndpointServiceImpl(std::filesystem::path file, std::shared_ptr<const models::KeyRing> keys,
                      QObject* parent = nullptr);

  [[nodiscard]] Result<std::vector<services::EndpointSettings>> load() const override;
  [[nodiscard]] Result<> check(const services::EndpointSettings& endpoint) const override;
  [[nodiscard]] Result<> save(const std::string& before, const services::EndpointSettings& endpoint) override;
  [[nodiscard]] Result<> remove(const std::string& name) override;
  void test(const services::EndpointSettings& endpoint) override;
  [[nodiscard]] std::filesystem::path file() const override { return m_file; }

 private:
  [[nodiscard]] Result<models::Endpoint> known(const std::string& name) const;
  void tell(const std::string& name);

  std::filesystem::path m_file;
  std::shared_ptr<const models::KeyRing> m_keys;
  std::unique_ptr<models::EndpointCheck> m_check;
};

}  // namespace swage::engine
