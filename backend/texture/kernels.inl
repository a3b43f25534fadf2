// All of one instruction set's loops. PUMICE_VARIANT is its namespace.
namespace pumice::texture::PUMICE_VARIANT {
namespace {

#include "backend/texture/lanes.inl"
//
#include "backend/texture/fetch.inl"
//
#include "backend/texture/read.inl"

#undef PUMICE_INLINE
}  // namespace
}  // namespace pumice::texture::PUMICE_VARIANT
