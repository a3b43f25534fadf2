#include "shaders/spirv/capabilities.h"

namespace pumice::shader::spirv {

bool isSupported(spv::Capability c) {
  using C = spv::Capability;
  switch (c) {
    case C::Matrix:
    case C::Shader:
    case C::Float16:
    case C::Float64:
    case C::Int8:
    case C::Int16:
    case C::Int64:
    case C::Int64Atomics:
    case C::StorageBuffer16BitAccess:
    case C::UniformAndStorageBuffer16BitAccess:
    case C::StoragePushConstant16:
    case C::StorageBuffer8BitAccess:
    case C::UniformAndStorageBuffer8BitAccess:
    case C::StoragePushConstant8:
    case C::VariablePointersStorageBuffer:
    case C::VariablePointers:
    case C::PhysicalStorageBufferAddresses:
    case C::UniformBufferArrayDynamicIndexing:
    case C::StorageBufferArrayDynamicIndexing:
    case C::ShaderNonUniform:
    case C::RuntimeDescriptorArray:
    case C::UniformBufferArrayNonUniformIndexing:
    case C::StorageBufferArrayNonUniformIndexing:
    case C::VulkanMemoryModel:
    case C::VulkanMemoryModelDeviceScope:
    case C::GroupNonUniform:
    case C::GroupNonUniformVote:
    case C::GroupNonUniformArithmetic:
    case C::GroupNonUniformBallot:
    case C::GroupNonUniformShuffle:
    case C::GroupNonUniformShuffleRelative:
    case C::GroupNonUniformClustered:
    case C::GroupNonUniformQuad:
    case C::GroupNonUniformRotateKHR:
    case C::SubgroupBallotKHR:
    case C::SubgroupVoteKHR:
    case C::DenormPreserve:
    case C::SignedZeroInfNanPreserve:
    case C::RoundingModeRTE:
    case C::DemoteToHelperInvocation:
    case C::DerivativeControl:
    case C::SampleRateShading:
    case C::InterpolationFunction:
    case C::InputAttachment:
    case C::InputAttachmentArrayDynamicIndexing:
    case C::InputAttachmentArrayNonUniformIndexing:
    case C::StencilExportEXT:
    case C::Geometry:  // fragment shaders declare it for PrimitiveId and Layer
    case C::DeviceGroup:
    case C::ShaderClockKHR:
    case C::DotProduct:
    case C::DotProductInputAll:
    case C::DotProductInput4x8Bit:
    case C::DotProductInput4x8BitPacked:
    case C::AtomicFloat32AddEXT:
    case C::AtomicFloat64AddEXT:
    case C::AtomicFloat32MinMaxEXT:
    case C::AtomicFloat64MinMaxEXT:
    case C::Sampled1D:
    case C::Image1D:
    case C::SampledBuffer:
    case C::ImageBuffer:
    case C::SampledCubeArray:
    case C::ImageCubeArray:
    case C::ImageMSArray:
    case C::StorageImageMultisample:
    case C::StorageImageExtendedFormats:
    case C::StorageImageReadWithoutFormat:
    case C::StorageImageWriteWithoutFormat:
    case C::ImageQuery:
    case C::ImageGatherExtended:
    case C::MinLod:
    case C::SparseResidency:
    case C::Int64ImageEXT:
    case C::SampledImageArrayDynamicIndexing:
    case C::StorageImageArrayDynamicIndexing:
    case C::UniformTexelBufferArrayDynamicIndexing:
    case C::StorageTexelBufferArrayDynamicIndexing:
    case C::SampledImageArrayNonUniformIndexing:
    case C::StorageImageArrayNonUniformIndexing:
    case C::UniformTexelBufferArrayNonUniformIndexing:
    case C::StorageTexelBufferArrayNonUniformIndexing:
    case C::ClipDistance:
    case C::CullDistance:
    case C::MultiViewport:
    case C::MultiView:
    case C::DrawParameters:
    case C::ShaderLayer:
    case C::ShaderViewportIndex:
    case C::ShaderViewportIndexLayerEXT:
    case C::WorkgroupMemoryExplicitLayoutKHR:
    case C::WorkgroupMemoryExplicitLayout8BitAccessKHR:
    case C::WorkgroupMemoryExplicitLayout16BitAccessKHR:
      return true;
    default:
      return false;
  }
}

}  // namespace pumice::shader::spirv
