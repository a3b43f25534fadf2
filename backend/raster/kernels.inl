// All of one instruction set's loops. PUMICE_VARIANT is its namespace, PUMICE_WIDTH the 32-bit numbers in one of its vectors.
namespace pumice::raster::PUMICE_VARIANT {
namespace {

#include "backend/raster/lanes.inl"
//
#include "backend/raster/coverage.inl"
//
#include "backend/raster/setup.inl"

#undef PUMICE_INLINE

constexpr Kernels kAll = {{cover<3, 1>, cover<3, 2>, cover<3, 4>, cover<3, 8>},
                          {cover<4, 1>, cover<4, 2>, cover<4, 4>, cover<4, 8>},
                          transform,
                          setUpGroup};

}  // namespace
}  // namespace pumice::raster::PUMICE_VARIANT
