// SPDX-License-Identifier: Apache-2.0
#include "core/device/cuda_capture.h"

#include <utility>

#include "core/base/log.h"

namespace swage::device {
namespace {

class CudaGraph final : public CapturedCall {
 public:
  CudaGraph(const CudaDriver& driver, CUgraphExec graph, const CUstream& stream)
      : m_driver(driver), m_graph(graph), m_stream(stream) {}
  ~CudaGraph() override {
    if (m_driver.cuGraphExecDestroy(m_graph) != CUDA_SUCCESS) {
      log::debug("a CUDA graph could not be destroyed");
    }
  }

  [[nodiscard]] DeviceStatus launch() override {
    return m_driver.check(m_driver.cuGraphLaunch(m_graph, m_stream), "launch the CUDA graph");
  }

 private:
  const CudaDriver& m_driver;
  CUgraphExec m_graph;
  const CUstream& m_stream;
};

bool canCapture(const CudaDriver& driver) {
  return driver.cuStreamBeginCapture != nullptr && driver.cuStreamEndCapture != nullptr &&
         driver.cuGraphInstantiateWithFlags != nullptr && driver.cuGraphLaunch != nullptr &&
         driver.cuGraphExecDestroy != nullptr && driver.cuGraphDestroy != nullptr;
}

}  // namespace

CudaCapture::~CudaCapture() {
  if (m_own != nullptr && m_driver.cuStreamDestroy(m_own) != CUDA_SUCCESS) {
    log::debug("the stream for captures could not be destroyed");
  }
}

DeviceResult<void*> CudaCapture::ownStream() {
  if (m_own == nullptr) {
    const CUresult code = m_driver.cuStreamCreate(&m_own, CU_STREAM_NON_BLOCKING);
    if (DeviceStatus failed = m_driver.check(code, "make a stream for captures")) {
      return tl::make_unexpected(std::move(*failed));
    }
  }
  return m_own;
}

// Relaxed, because libtorch may have to ask the driver for memory while a call is captured.
DeviceResult<std::unique_ptr<CapturedCall>> CudaCapture::capture(const Device::Call& call) {
  if (!canCapture(m_driver)) {
    return tl::make_unexpected(DeviceFailure{"the NVIDIA driver knows no CUDA graphs"});
  }
  const CUresult begun = m_driver.cuStreamBeginCapture(m_stream, CU_STREAM_CAPTURE_MODE_RELAXED);
  if (DeviceStatus failed = m_driver.check(begun, "begin to capture")) {
    return tl::make_unexpected(std::move(*failed));
  }
  DeviceStatus failed = call();
  CUgraph graph = nullptr;
  const CUresult ended = m_driver.cuStreamEndCapture(m_stream, &graph);
  CUgraphExec ready = nullptr;
  failed = failed ? failed : m_driver.check(ended, "end to capture");
  failed =
      failed ? failed : m_driver.check(m_driver.cuGraphInstantiateWithFlags(&ready, graph, 0), "make a CUDA graph");
  if (graph != nullptr && m_driver.cuGraphDestroy(graph) != CUDA_SUCCESS) {
    log::debug("what was captured could not be destroyed");
  }
  if (failed) {
    return tl::make_unexpected(std::move(*failed));
  }
  return std::make_unique<CudaGraph>(m_driver, ready, m_stream);
}

}  // namespace swage::device
