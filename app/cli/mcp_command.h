// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QSocketNotifier>

#include <memory>
#include <string>

#include "app/cli/command.h"
#include "app/cli/mcp_host.h"
#include "core/base/fd.h"
#include "core/mcp/server.h"

namespace swage::cli {

// `swage mcp`: a server of the Model Context Protocol on standard streams, a message on each line. Standard output
// carries nothing else: whatever else this process prints goes to standard error. Ends when standard input does.
class McpCommand final : public Command {
 public:
  McpCommand(Context context, McpArguments arguments)
      : Command(std::move(context)), m_arguments(std::move(arguments)) {}
  void start() override;
  void interrupt(int signal, int count) override;

 private:
  [[nodiscard]] Result<> begin();
  // What the command line names is a project, or a task.
  [[nodiscard]] Result<services::RunSpec> spec() const;
  void readInput();
  void takeLines();
  void write(const std::string& line);
  void stop(wire::ExitCode code);

  McpArguments m_arguments;
  Fd m_output;
  std::unique_ptr<McpHost> m_host;
  std::unique_ptr<mcp::Server> m_server;
  std::unique_ptr<QSocketNotifier> m_input;
  std::string m_buffer;
  bool m_isSkipping = false;  // the rest of a line that is too long
  bool m_isStopping = false;
  wire::ExitCode m_code = wire::ExitCode::Ok;
};

}  // namespace swage::cli
