// SPDX-License-Identifier: Apache-2.0
#include "core/models/endpoint.h"

#include "tests/support/result_matchers.h"

namespace swage::models {
namespace {

using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;

Endpoint endpointAt(const std::string& url) {
  return {.name = "one", .kind = EndpointKind::OpenAi, .baseUrl = url, .model = "m"};
}

TEST(Endpoint, WithoutTlsIsForNearHostsOnly) {
  for (const char* near : {"http://localhost:11434", "http://127.0.0.1:1/v1", "http://[::1]:8000", "http://10.1.2.3",
                           "http://192.168.0.7:8080", "https://api.example.com/v1"}) {
    EXPECT_THAT(checkEndpoint(endpointAt(near)), IsOk()) << near;
  }
  for (const char* far : {"http://api.example.com", "http://8.8.8.8", "http://127.0.0.1.example.com"}) {
    EXPECT_THAT(checkEndpoint(endpointAt(far)), IsError(ErrorKind::Config, HasSubstr("in the clear"))) << far;
  }
  Endpoint trusted = endpointAt("http://models.internal");
  trusted.allowPlain = true;
  EXPECT_THAT(checkEndpoint(trusted), IsOk());
}

TEST(Endpoint, WhatIsNoAddressIsSaid) {
  for (const char* url : {"", "api.example.com", "ftp://example.com", "file:///etc/passwd", "http://"}) {
    EXPECT_THAT(checkEndpoint(endpointAt(url)), IsError(ErrorKind::Config, HasSubstr("no address"))) << url;
  }
  EXPECT_THAT(checkEndpoint(endpointAt("https://me:secret@example.com")),
              IsError(ErrorKind::Config, HasSubstr("password")));
}

TEST(Endpoint, HeadersCarryNoKeys) {
  Endpoint endpoint = endpointAt("https://example.com");
  endpoint.headers = {{"x-title", "swage"}};
  EXPECT_THAT(checkEndpoint(endpoint), IsOk());
  endpoint.headers = {{"Authorization", "Bearer x"}};
  EXPECT_THAT(checkEndpoint(endpoint), IsError(ErrorKind::Config, HasSubstr("may carry a key")));
  endpoint.headers = {{"x-title", "a\r\nx-evil: 1"}};
  EXPECT_THAT(checkEndpoint(endpoint), IsError(ErrorKind::Config, HasSubstr("no header")));
}

TEST(Endpoint, ItsNameIsThatOfAProposer) {
  EXPECT_EQ(proposerNameOf("gpt-5_mini")->text(), "gpt 5 mini");
  for (const char* name : {"", "Upper", "7b", "human", "search", "pattern-swap", "a b\n", "a--b"}) {
    EXPECT_THAT(proposerNameOf(name), IsError(ErrorKind::Config, HasSubstr("cannot be the name"))) << name;
  }
}

}  // namespace
}  // namespace swage::models
