// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/cuda_lexer.h"

#include <utility>
#include <vector>

namespace swage::ui {
namespace {

constexpr int kSecondarySet = 2;  // Scintilla counts keyword sets from 1; QsciLexerCPP colours this as KeywordSet2

constexpr const char* kCudaWords =
    "__global__ __device__ __host__ __shared__ __constant__ __managed__ __restrict__ __launch_bounds__ "
    "__cluster_dims__ __grid_constant__ __forceinline__ __noinline__ __align__ __restrict "
    "threadIdx blockIdx blockDim gridDim warpSize dim3 "
    "char2 char4 uchar2 uchar4 short2 short4 ushort2 ushort4 int2 int3 int4 uint2 uint3 uint4 "
    "longlong2 ulonglong2 float2 float3 float4 double2 double4 half half2 __half __half2 __nv_bfloat16 __nv_bfloat162 "
    "__syncthreads __syncwarp __threadfence __threadfence_block __threadfence_system "
    "__shfl_sync __shfl_up_sync __shfl_down_sync __shfl_xor_sync __ballot_sync __any_sync __all_sync "
    "__reduce_add_sync __reduce_max_sync __reduce_min_sync __activemask __ldg __ldcs __stcs __ldcg __stcg "
    "atomicAdd atomicMax atomicMin atomicCAS atomicExch __expf __logf __fdividef __frcp_rn __fsqrt_rn rsqrtf "
    "nvcuda wmma mma cooperative_groups asm volatile";

constexpr const char* kHostWords =
    "__restrict__ __restrict __m128 __m128i __m128d __m256 __m256i __m256d __m512 __m512i __m512d __mmask16 "
    "__attribute__ "
    "__builtin_assume_aligned __builtin_prefetch omp_get_thread_num omp_get_max_threads asm";

}  // namespace

CudaLexer::CudaLexer(Words words, QObject* parent) : QsciLexerCPP(parent, true), m_words(words) {
  setFoldCompact(false);
}

const char* CudaLexer::keywords(int set) const {
  if (set != kSecondarySet) {
    return QsciLexerCPP::keywords(set);
  }
  return m_words == Words::Cuda ? kCudaWords : kHostWords;
}

void CudaLexer::setTheme(const Theme& theme, const QFont& font) {
  setDefaultFont(font);
  setDefaultPaper(theme.base);
  setDefaultColor(theme.text);
  setFont(font, -1);
  setPaper(theme.base, -1);
  setColor(theme.text, -1);
  const std::pair<QColor, std::vector<int>> styles[] = {
      {theme.keyword, {Keyword}},
      {theme.deviceKeyword, {KeywordSet2}},
      {theme.comment, {Comment, CommentLine, CommentDoc, CommentLineDoc, CommentDocKeyword, CommentDocKeywordError}},
      {theme.string, {DoubleQuotedString, SingleQuotedString, RawString, UnclosedString}},
      {theme.number, {Number, UserLiteral}},
      {theme.preprocessor, {PreProcessor, PreProcessorComment}},
  };
  for (const auto& [color, ids] : styles) {
    for (const int id : ids) {
      setColor(color, id);
    }
  }
}

}  // namespace swage::ui
