// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/domain/json.h"
#include "tests/compiler/test_toolchain.h"
#include "tests/support/result_matchers.h"

// A language that only these tests know, to show that the tables are open: `kernel: 2.0f * x + 1.0f` computes 1024
// elements so. Its backend writes C++ of it and has that compiled and classified.
namespace swage::toolchain {
namespace {

using ::testing::HasSubstr;

constexpr auto kToy = static_cast<domain::Language>(200);

std::string translated(const std::string& entry, std::string_view expression) {
  return fmt::format(
      "extern \"C\" void {}(void** arguments) {{\n"
      "  const float* in = static_cast<const float*>(arguments[0]);\n"
      "  float* out = static_cast<float*>(arguments[1]);\n"
      "  for (int i = 0; i < 1024; ++i) {{\n"
      "    const float x = in[i];\n"
      "    out[i] ={};\n"
      "  }}\n"
      "}}\n",
      entry, expression);
}

class ToyBackend final : public Backend {
 public:
  static Result<std::unique_ptr<Backend>> open(const ToolchainOptions& options) {
    SWAGE_TRY_ASSIGN(auto cpp, BackendTable::builtIn().all().at(domain::Language::Cpp)(options));
    return std::unique_ptr<Backend>(new ToyBackend(std::move(cpp)));
  }

  [[nodiscard]] std::optional<std::string> findDefect(const domain::CompileRequest& request) const override {
    const bool isComplete = request.source.find(": ") != std::string::npos;
    return isComplete ? m_cpp->findDefect(inCpp(request)) : std::optional<std::string>("there is no expression");
  }
  [[nodiscard]] BuildOutcome build(const domain::CompileRequest& request, const ProcessLimits& limits) override {
    return m_cpp->build(inCpp(request), limits);
  }
  [[nodiscard]] domain::CompileOutcome describe(const domain::CompileRequest& request, BuiltCode code) const override {
    return m_cpp->describe(inCpp(request), std::move(code));
  }

 private:
  explicit ToyBackend(std::unique_ptr<Backend> cpp) : m_cpp(std::move(cpp)) {}

  static domain::CompileRequest inCpp(domain::CompileRequest request) {
    const std::size_t colon = request.source.find(':');
    request.language = domain::Language::Cpp;
    request.source = translated(request.source.substr(0, colon), request.source.substr(colon + 1));
    return request;
  }

  std::unique_ptr<Backend> m_cpp;
};

class ToyLanguage : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    domain::registerLanguage({.language = kToy,
                              .name = "toy",
                              .displayName = "Toy",
                              .device = domain::DeviceKind::Cpu,
                              .launch = domain::LaunchConvention::ArgumentArray,
                              .architecture = "x86-64-v3",
                              .patternFolder = {},
                              .sourceSuffix = ".toy",
                              .headerSuffix = {},
                              .lexer = "plain",
                              .listing = "Assembly",
                              .listingLexer = "x86"});
  }

  static domain::Program program(std::string source) {
    domain::Program made;
    made.language = kToy;
    made.source = std::move(source);
    domain::KernelStep step;
    step.entry = "kernel";
    made.plan.steps = {step};
    return made;
  }

  static Compiler compiler() {
    BackendTable table;
    table.add(domain::Language::Cpp, BackendTable::builtIn().all().at(domain::Language::Cpp));
    table.add(kToy, ToyBackend::open);
    return Compiler::open(testOptions(), table).value();
  }
};

TEST_F(ToyLanguage, IsCompiledAndClassifiedByItsOwnBackend) {
  Compiler toys = compiler();
  const auto outcome = toys.compile(domain::compileRequest(program("kernel: 2.0f * x + 1.0f"), {}), {});
  const auto* binary = std::get_if<domain::CompiledBinary>(&outcome);
  ASSERT_NE(binary, nullptr) << std::get<domain::CompileFailed>(outcome).log;
  EXPECT_EQ(domain::classify(binary->kernels, 1).name(), "A1B1C1") << binary->assembly;
  EXPECT_FALSE(binary->bytes.empty());
  EXPECT_THAT(binary->assembly, HasSubstr("<kernel>:"));
}

TEST_F(ToyLanguage, ItsBackendSaysWhatIsWrongWithASource) {
  Compiler toys = compiler();
  const auto outcome = toys.compile(domain::compileRequest(program("kernel"), {}), {});
  ASSERT_TRUE(std::holds_alternative<domain::CompileFailed>(outcome));
  EXPECT_EQ(std::get<domain::CompileFailed>(outcome).reason, domain::CompileFailureReason::Refused);
  EXPECT_THAT(std::get<domain::CompileFailed>(outcome).log, HasSubstr("there is no expression"));
}

TEST_F(ToyLanguage, ACompilerWithoutItsBackendSaysSo) {
  Compiler others = Compiler::open(testOptions()).value();
  EXPECT_THAT(others.missing(kToy), HasSubstr("no compiler for the language toy"));
  const auto outcome = others.compile(domain::compileRequest(program("kernel: x"), {}), {});
  ASSERT_TRUE(std::holds_alternative<domain::CompileFailed>(outcome));
  EXPECT_EQ(std::get<domain::CompileFailed>(outcome).reason, domain::CompileFailureReason::Environment);
}

TEST_F(ToyLanguage, IsCompiledForWhatItsRowSays) {
  domain::DeviceInfo device;
  device.architecture = "something else";
  EXPECT_EQ(domain::compileRequest(program("kernel: x"), device).architecture, "x86-64-v3");
}

TEST_F(ToyLanguage, GoesThroughMessagesByItsName) {
  const domain::Json json = domain::toJson(program("kernel: x"));
  EXPECT_EQ(json["language"], "toy");
  const auto back = domain::programFromJson(json);
  ASSERT_THAT(back, testing::IsOk());
  EXPECT_EQ(back->language, kToy);
  EXPECT_EQ(back->source, "kernel: x");
}

}  // namespace
}  // namespace swage::toolchain
