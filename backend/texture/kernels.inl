// All of one instruction set's loops. PUMICE_VARIANT is its namespace, PUMICE_WIDTH the 32-bit
// numbers in one of its vectors.
namespace pumice::texture::PUMICE_VARIANT {
namespace {

#include "backend/texture/lanes.inl"
//
#include "backend/texture/fetch.inl"
//
#include "backend/texture/read.inl"
//
#include "backend/texture/wrap.inl"
//
#include "backend/texture/cube.inl"
//
#include "backend/texture/site.inl"
//
#include "backend/texture/filter.inl"
//
#include "backend/texture/lod.inl"
//
#include "backend/texture/sample.inl"
//
#include "backend/texture/hot_sample.inl"
//
#include "backend/texture/gather.inl"

#undef PUMICE_INLINE
#undef PUMICE_LAMBDA
}  // namespace
}  // namespace pumice::texture::PUMICE_VARIANT
