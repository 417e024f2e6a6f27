// SPDX-License-Identifier: Apache-2.0
#include "tests/app/worker/worker_process.h"

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>

#include "core/wire/exit_code.h"
#include "tests/core/verify/kernel_compiler.h"
#include "tests/core/verify/task_builder.h"

namespace swage::testing {
namespace {

using ::testing::HasSubstr;

int code(wire::ExitCode value) {
  return static_cast<int>(value);
}

class Worker : public ::testing::Test {
 protected:
  static WorkerProcess start(std::vector<std::string> arguments = {"--device", "cpu", "--threads", "1"}) {
    return {SWAGE_TEST_WORKER, arguments};
  }
  // Hello in both directions and WorkerReady.
  static void greet(WorkerProcess& worker) {
    worker.send(wire::Hello{wire::kProtocolVersion, "engine", "test"});
    const auto hello = worker.receive();
    ASSERT_TRUE(hello && std::holds_alternative<wire::Hello>(*hello));
    EXPECT_EQ(std::get<wire::Hello>(*hello).program, "swage-worker");
    const auto ready = worker.receive();
    ASSERT_TRUE(ready && std::holds_alternative<wire::WorkerReady>(*ready));
    EXPECT_EQ(std::get<wire::WorkerReady>(*ready).device.kind, domain::DeviceKind::Cpu);
    EXPECT_FALSE(std::get<wire::WorkerReady>(*ready).torchVersion.empty());
  }
  static wire::LoadTask loading(const domain::Task& task) {
    wire::LoadTask load;
    load.task = task;
    load.timingBudgetSeconds = 0.02;
    return load;
  }
  static wire::Evaluate evaluating(const domain::Task& task, const std::string& body) {
    wire::Evaluate request;
    request.request = 11;
    request.plan = oneKernelPlan(task, "kernel");
    request.binary = compileSharedObject(
        "#include <cstdio>\n#include <cstdlib>\nextern \"C\" void kernel(void** a) {\n"
        "  const float* x = *(const float**)a[0]; float* y = *(float**)a[1]; long n = *(long*)a[2]; (void)x;\n" +
        body + "}\n");
    request.timingBudgetSeconds = 0.02;
    return request;
  }
  template <class T>
  static std::optional<T> expectMessage(WorkerProcess& worker) {
    auto message = worker.receive();
    const bool fits = message && std::holds_alternative<T>(*message);
    EXPECT_TRUE(fits);
    return fits ? std::optional(std::get<T>(std::move(*message))) : std::nullopt;
  }
};

const domain::Task& relu() {
  static const domain::Task task = pointwiseTask({64, 65}, "aten.relu.default");
  return task;
}

TEST_F(Worker, LoadsATaskAndEvaluatesCandidates) {
  WorkerProcess worker = start();
  greet(worker);
  worker.send(loading(relu()));
  const auto ready = expectMessage<wire::TaskReady>(worker);
  ASSERT_TRUE(ready.has_value());
  EXPECT_EQ(ready->referenceType, "float64");
  worker.send(evaluating(relu(), "for (long i = 0; i < n; ++i) y[i] = x[i] > 0 ? x[i] : 0;"));
  auto evaluated = expectMessage<wire::Evaluated>(worker);
  ASSERT_TRUE(evaluated.has_value());
  EXPECT_EQ(evaluated->request, 11U);
  EXPECT_NE(domain::asCorrect(evaluated->evaluation), nullptr) << domain::summary(evaluated->evaluation);
  worker.send(evaluating(relu(), "for (long i = 0; i < n; ++i) y[i] = 1;"));
  evaluated = expectMessage<wire::Evaluated>(worker);
  ASSERT_TRUE(evaluated.has_value());
  EXPECT_TRUE(std::holds_alternative<domain::Wrong>(evaluated->evaluation));
  EXPECT_GT(worker.heartbeats(), 0);
  worker.send(wire::Shutdown{});
  EXPECT_EQ(worker.waitForExit(), code(wire::ExitCode::Ok));
}

TEST_F(Worker, InStandByTakesTheDeviceWithTheFirstRequest) {
  WorkerProcess worker = start({"--device", "cpu", "--threads", "1", "--stand-by"});
  worker.send(wire::Hello{wire::kProtocolVersion, "engine", "test"});
  ASSERT_TRUE(expectMessage<wire::Hello>(worker).has_value());
  EXPECT_FALSE(worker.receive(std::chrono::seconds(1)).has_value()) << "it keeps off the device";
  const auto start = std::chrono::steady_clock::now();
  worker.send(loading(relu()));
  ASSERT_TRUE(expectMessage<wire::WorkerReady>(worker).has_value());
  ASSERT_TRUE(expectMessage<wire::TaskReady>(worker).has_value());
  RecordProperty(
      "milliseconds",
      static_cast<int>(
          std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start).count()));
  worker.send(evaluating(relu(), "for (long i = 0; i < n; ++i) y[i] = x[i] > 0 ? x[i] : 0;"));
  const auto evaluated = expectMessage<wire::Evaluated>(worker);
  ASSERT_TRUE(evaluated.has_value());
  EXPECT_NE(domain::asCorrect(evaluated->evaluation), nullptr) << domain::summary(evaluated->evaluation);
}

TEST_F(Worker, InStandByEndsWithItsInput) {
  WorkerProcess worker = start({"--device", "cpu", "--stand-by"});
  worker.send(wire::Hello{wire::kProtocolVersion, "engine", "test"});
  ASSERT_TRUE(expectMessage<wire::Hello>(worker).has_value());
  worker.closeInput();
  EXPECT_EQ(worker.waitForExit(), code(wire::ExitCode::Ok));
}

TEST_F(Worker, RefusesATaskAndTakesTheNextOne) {
  WorkerProcess worker = start();
  greet(worker);
  worker.send(loading(pointwiseTask({4}, "aten.no_such_thing.default")));
  const auto refused = expectMessage<wire::TaskRefused>(worker);
  ASSERT_TRUE(refused.has_value());
  EXPECT_THAT(refused->message, HasSubstr("aten.no_such_thing.default"));
  worker.send(loading(relu()));
  EXPECT_TRUE(expectMessage<wire::TaskReady>(worker).has_value());
}

TEST_F(Worker, EndsWithItsInput) {
  WorkerProcess worker = start();
  greet(worker);
  worker.closeInput();
  EXPECT_EQ(worker.waitForExit(), code(wire::ExitCode::Ok));
}

TEST_F(Worker, EndsWithItsInputWhileItIsBusy) {
  WorkerProcess worker = start();
  greet(worker);
  worker.send(loading(relu()));
  ASSERT_TRUE(expectMessage<wire::TaskReady>(worker).has_value());
  worker.send(evaluating(relu(), "for (volatile long i = 0; i >= 0;) { (void)n; (void)y; }"));
  worker.closeInput();
  EXPECT_EQ(worker.waitForExit(), code(wire::ExitCode::Ok));
}

// Each ends its own process, and the next candidate is judged by the same worker.
TEST_F(Worker, StaysWhenAKernelEnds) {
  WorkerProcess worker = start();
  greet(worker);
  worker.send(loading(relu()));
  ASSERT_TRUE(expectMessage<wire::TaskReady>(worker).has_value());
  const auto outcomeOf = [&](const std::string& body) {
    wire::Evaluate request = evaluating(relu(), body);
    request.limitSeconds = 2.0;
    worker.send(request);
    const auto evaluated = expectMessage<wire::Evaluated>(worker);
    EXPECT_TRUE(evaluated.has_value() && !evaluated->workerExits) << body;
    return evaluated ? evaluated->evaluation : domain::Evaluation();
  };
  const domain::Evaluation crashed = outcomeOf("*(volatile int*)8 = 0; (void)n; (void)y;");
  ASSERT_TRUE(std::holds_alternative<domain::Crashed>(crashed)) << domain::summary(crashed);
  EXPECT_EQ(std::get<domain::Crashed>(crashed).signal, SIGSEGV);
  const domain::Evaluation hung = outcomeOf("for (volatile long i = 0; i >= 0;) { (void)n; (void)y; }");
  EXPECT_TRUE(std::holds_alternative<domain::TimedOut>(hung)) << domain::summary(hung);
  const domain::Evaluation printed = outcomeOf("puts(\"hello\"); (void)n; (void)y;");
  ASSERT_TRUE(std::holds_alternative<domain::Cheating>(printed)) << domain::summary(printed);
  EXPECT_EQ(std::get<domain::Cheating>(printed).rule, "forbidden");
  const domain::Evaluation far = outcomeOf("y[n + 2000] = 1;");
  ASSERT_TRUE(std::holds_alternative<domain::Wrong>(far)) << domain::summary(far);
  EXPECT_EQ(std::get<domain::Wrong>(far).rule, "red zone");
  const domain::Evaluation right = outcomeOf("for (long i = 0; i < n; ++i) y[i] = x[i] > 0 ? x[i] : 0;");
  EXPECT_NE(domain::asCorrect(right), nullptr) << domain::summary(right);
}

TEST_F(Worker, LeavesWhenTheEngineSpeaksAnotherProtocol) {
  WorkerProcess worker = start();
  worker.send(wire::Hello{wire::kProtocolVersion + 1, "engine", "test"});
  EXPECT_EQ(worker.waitForExit(), code(wire::ExitCode::ProtocolFailed));
}

TEST_F(Worker, SaysHowMuchIsFreeWithATaskAndWithoutOne) {
  WorkerProcess worker = start();
  greet(worker);
  worker.send(wire::MakeRoom{});
  auto made = expectMessage<wire::RoomMade>(worker);
  ASSERT_TRUE(made.has_value());
  EXPECT_GT(made->freeBytes, 0);
  worker.send(loading(relu()));
  ASSERT_TRUE(expectMessage<wire::TaskReady>(worker).has_value());
  worker.send(wire::MakeRoom{});
  EXPECT_TRUE(expectMessage<wire::RoomMade>(worker).has_value());
  worker.send(evaluating(relu(), "for (long i = 0; i < n; ++i) y[i] = x[i] > 0 ? x[i] : 0;"));
  const auto evaluated = expectMessage<wire::Evaluated>(worker);
  ASSERT_TRUE(evaluated.has_value());
  EXPECT_NE(domain::asCorrect(evaluated->evaluation), nullptr) << domain::summary(evaluated->evaluation);
}

TEST_F(Worker, LeavesWhenTheEngineDoesNotGreet) {
  WorkerProcess worker = start();
  worker.send(wire::Shutdown{});
  EXPECT_EQ(worker.waitForExit(), code(wire::ExitCode::ProtocolFailed));
}

TEST_F(Worker, LeavesWhenWhatComesIsNoFrame) {
  WorkerProcess worker = start();
  greet(worker);
  worker.sendRaw("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n");
  EXPECT_EQ(worker.waitForExit(), code(wire::ExitCode::ProtocolFailed));
}

TEST_F(Worker, LeavesWhenAskedToEvaluateWithoutATask) {
  WorkerProcess worker = start();
  greet(worker);
  worker.send(evaluating(relu(), "(void)n; (void)y;"));
  EXPECT_EQ(worker.waitForExit(), code(wire::ExitCode::ProtocolFailed));
}

TEST_F(Worker, SaysWhatIsWrongWithItsOptions) {
  WorkerProcess worker = start({"--device", "tpu"});
  EXPECT_EQ(worker.waitForExit(), code(wire::ExitCode::Usage));
}

}  // namespace
}  // namespace swage::testing
