#include "icd/objects/capabilities.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "backend/abi/memory_map.h"
#include "backend/abi/shader_abi.h"
#include "backend/kmd/door.h"
#include "backend/sched/processors.h"
#include "backend/texture/texture.h"
#include "shaders/cache/compiler_identity.h"

namespace pumice::icd {
namespace {

// The newest version all of whose mandatory features are on and tested.
constexpr uint32_t kClaimedVersion = VK_API_VERSION_1_3;

constexpr InstanceExtension kInstanceExtensions[] = {
    InstanceExtension::kEXTDebugUtils,
    InstanceExtension::kKHRDeviceGroupCreation,
    InstanceExtension::kKHRExternalFenceCapabilities,
    InstanceExtension::kKHRExternalMemoryCapabilities,
    InstanceExtension::kKHRExternalSemaphoreCapabilities,
    InstanceExtension::kKHRGetPhysicalDeviceProperties2,
    // -- windows
    InstanceExtension::kEXTHeadlessSurface,
    InstanceExtension::kKHRGetSurfaceCapabilities2,
    InstanceExtension::kKHRSurface,
    InstanceExtension::kKHRWaylandSurface,
    InstanceExtension::kKHRXcbSurface,
    InstanceExtension::kKHRXlibSurface,
};

constexpr DeviceExtension kDeviceExtensions[] = {
    // -- memory and buffers
    DeviceExtension::kKHRBindMemory2,
    DeviceExtension::kKHRBufferDeviceAddress,
    DeviceExtension::kKHRDedicatedAllocation,
    DeviceExtension::kKHRExternalMemory,
    DeviceExtension::kKHRExternalMemoryFd,
    DeviceExtension::kEXTExternalMemoryHost,
    DeviceExtension::kKHRGetMemoryRequirements2,
    DeviceExtension::kEXTMemoryBudget,
    // -- descriptors
    DeviceExtension::kEXTDescriptorIndexing,
    DeviceExtension::kEXTInlineUniformBlock,
    DeviceExtension::kEXTMutableDescriptorType,
    DeviceExtension::kVALVEMutableDescriptorType,
    DeviceExtension::kKHRDescriptorUpdateTemplate,
    DeviceExtension::kKHRMaintenance3,
    DeviceExtension::kKHRPushDescriptor,
    // -- images and samplers
    DeviceExtension::kEXT4444Formats,
    DeviceExtension::kEXTBorderColorSwizzle,
    DeviceExtension::kEXTCustomBorderColor,
    DeviceExtension::kEXTFilterCubic,
    DeviceExtension::kEXTImage2dViewOf3d,
    DeviceExtension::kEXTImageViewMinLod,
    DeviceExtension::kEXTNonSeamlessCubeMap,
    DeviceExtension::kEXTSamplerFilterMinmax,
    DeviceExtension::kEXTSeparateStencilUsage,
    DeviceExtension::kEXTTexelBufferAlignment,
    DeviceExtension::kIMGFilterCubic,
    DeviceExtension::kKHRImageFormatList,
    DeviceExtension::kKHRMaintenance2,
    DeviceExtension::kKHRSamplerMirrorClampToEdge,
    // -- submission and synchronisation
    DeviceExtension::kKHRExternalFence,
    DeviceExtension::kKHRExternalSemaphore,
    DeviceExtension::kKHRSynchronization2,
    DeviceExtension::kKHRTimelineSemaphore,
    // -- commands and queries
    DeviceExtension::kKHRCopyCommands2,
    DeviceExtension::kEXTCalibratedTimestamps,
    DeviceExtension::kEXTHostQueryReset,
    // -- shaders
    DeviceExtension::kKHR16bitStorage,
    DeviceExtension::kKHR8bitStorage,
    DeviceExtension::kKHRRelaxedBlockLayout,
    DeviceExtension::kKHRShaderAtomicInt64,
    DeviceExtension::kKHRShaderClock,
    DeviceExtension::kKHRShaderFloat16Int8,
    DeviceExtension::kKHRShaderFloatControls,
    DeviceExtension::kKHRShaderIntegerDotProduct,
    DeviceExtension::kKHRShaderNonSemanticInfo,
    DeviceExtension::kKHRStorageBufferStorageClass,
    DeviceExtension::kKHRUniformBufferStandardLayout,
    DeviceExtension::kKHRVariablePointers,
    DeviceExtension::kKHRVulkanMemoryModel,
    DeviceExtension::kKHRWorkgroupMemoryExplicitLayout,
    DeviceExtension::kKHRZeroInitializeWorkgroupMemory,
    DeviceExtension::kGOOGLEDecorateString,
    DeviceExtension::kGOOGLEHlslFunctionality1,
    DeviceExtension::kGOOGLEUserType,
    DeviceExtension::kEXTImageRobustness,
    DeviceExtension::kEXTRobustness2,
    DeviceExtension::kEXTScalarBlockLayout,
    DeviceExtension::kEXTShaderAtomicFloat,
    DeviceExtension::kEXTShaderDemoteToHelperInvocation,
    DeviceExtension::kKHRShaderTerminateInvocation,
    DeviceExtension::kEXTShaderAtomicFloat2,
    DeviceExtension::kEXTShaderImageAtomicInt64,
    DeviceExtension::kEXTShaderSubgroupBallot,
    DeviceExtension::kEXTShaderSubgroupVote,
    // -- images
    DeviceExtension::kKHRSamplerYcbcrConversion,
    DeviceExtension::kEXTYcbcr2plane444Formats,
    DeviceExtension::kEXTYcbcrImageArrays,
    // -- drawing
    DeviceExtension::kKHRCreateRenderpass2,
    DeviceExtension::kKHRDepthStencilResolve,
    DeviceExtension::kKHRDrawIndirectCount,
    DeviceExtension::kKHRDynamicRendering,
    DeviceExtension::kKHRImagelessFramebuffer,
    DeviceExtension::kKHRMultiview,
    DeviceExtension::kKHRSeparateDepthStencilLayouts,
    DeviceExtension::kKHRShaderDrawParameters,
    DeviceExtension::kEXTAttachmentFeedbackLoopLayout,
    DeviceExtension::kEXTColorWriteEnable,
    DeviceExtension::kEXTDepthClipControl,
    DeviceExtension::kEXTDepthClipEnable,
    DeviceExtension::kEXTExtendedDynamicState,
    DeviceExtension::kEXTExtendedDynamicState2,
    DeviceExtension::kEXTIndexTypeUint8,
    DeviceExtension::kEXTLineRasterization,
    DeviceExtension::kEXTLoadStoreOpNone,
    DeviceExtension::kEXTMultiDraw,
    DeviceExtension::kEXTPrimitiveTopologyListRestart,
    DeviceExtension::kEXTProvokingVertex,
    DeviceExtension::kEXTShaderStencilExport,
    DeviceExtension::kEXTShaderViewportIndexLayer,
    DeviceExtension::kEXTVertexAttributeDivisor,
    DeviceExtension::kEXTVertexInputDynamicState,
    // -- pipelines
    DeviceExtension::kEXTGraphicsPipelineLibrary,
    DeviceExtension::kEXTPipelineCreationCacheControl,
    DeviceExtension::kEXTPipelineCreationFeedback,
    DeviceExtension::kKHRPipelineLibrary,
    // -- windows
    DeviceExtension::kKHRIncrementalPresent,
    DeviceExtension::kKHRPresentId,
    DeviceExtension::kKHRPresentWait,
    DeviceExtension::kKHRSwapchain,
    DeviceExtension::kKHRSwapchainMutableFormat,
    // -- device
    DeviceExtension::kKHRDeviceGroup,
    DeviceExtension::kKHRDriverProperties,
    DeviceExtension::kKHRMaintenance1,
    DeviceExtension::kKHRFormatFeatureFlags2,
    DeviceExtension::kEXTPrivateData,
    DeviceExtension::kEXTToolingInfo,
};

// What the registry allows on devices of version 1.1 alone.
constexpr DeviceExtension kDeviceExtensionsOf11[] = {
    DeviceExtension::kKHRMaintenance4,
    DeviceExtension::kKHRShaderSubgroupExtendedTypes,
    DeviceExtension::kKHRShaderSubgroupUniformControlFlow,
    DeviceExtension::kKHRSpirv14,
    DeviceExtension::kEXTSubgroupSizeControl,
};

void addShaderFeatures(Features* f) {
  f->robustBufferAccess = f->robustBufferAccess2 = f->nullDescriptor = true;
  f->robustImageAccess = f->robustImageAccess2 = true;
  f->shaderFloat64 = f->shaderInt64 = f->shaderInt16 = f->shaderFloat16 = f->shaderInt8 = true;
  f->storageBuffer16BitAccess = f->uniformAndStorageBuffer16BitAccess = f->storagePushConstant16 = true;
  f->storageBuffer8BitAccess = f->uniformAndStorageBuffer8BitAccess = f->storagePushConstant8 = true;
  f->variablePointers = f->variablePointersStorageBuffer = true;
  f->shaderBufferInt64Atomics = f->shaderSharedInt64Atomics = true;
  f->shaderBufferFloat32Atomics = f->shaderBufferFloat32AtomicAdd = true;
  f->shaderBufferFloat64Atomics = f->shaderBufferFloat64AtomicAdd = true;
  f->shaderSharedFloat32Atomics = f->shaderSharedFloat32AtomicAdd = true;
  f->shaderSharedFloat64Atomics = f->shaderSharedFloat64AtomicAdd = true;
  f->shaderBufferFloat32AtomicMinMax = f->shaderBufferFloat64AtomicMinMax = true;
  f->shaderSharedFloat32AtomicMinMax = f->shaderSharedFloat64AtomicMinMax = true;
  f->vulkanMemoryModel = f->vulkanMemoryModelDeviceScope = true;
  f->vulkanMemoryModelAvailabilityVisibilityChains = true;  // all memory is one, and coherent
  f->workgroupMemoryExplicitLayout = f->workgroupMemoryExplicitLayoutScalarBlockLayout = true;
  f->workgroupMemoryExplicitLayout8BitAccess = f->workgroupMemoryExplicitLayout16BitAccess = true;
  f->shaderZeroInitializeWorkgroupMemory = true;
  f->shaderDemoteToHelperInvocation = f->shaderTerminateInvocation = true;
  f->scalarBlockLayout = f->uniformBufferStandardLayout = true;
  f->shaderIntegerDotProduct = true;
  f->shaderSubgroupExtendedTypes = true;
  f->shaderSubgroupUniformControlFlow = true;  // reconvergence is maximal anyway
  f->subgroupSizeControl = f->computeFullSubgroups = true;
  f->subgroupBroadcastDynamicId = true;
  f->shaderSubgroupClock = f->shaderDeviceClock = true;
}

void addImageFeatures(Features* f) {
  f->shaderStorageImageExtendedFormats = true;
  f->shaderStorageImageReadWithoutFormat = f->shaderStorageImageWriteWithoutFormat = true;
  f->shaderImageGatherExtended = true;
  f->shaderResourceResidency = true;  // of images that are whole: no sparse binding yet
  f->imageCubeArray = f->samplerAnisotropy = f->samplerMirrorClampToEdge = f->samplerFilterMinmax = true;
  f->customBorderColors = f->customBorderColorWithoutFormat = true;
  f->borderColorSwizzle = f->borderColorSwizzleFromImage = true;
  f->nonSeamlessCubeMap = true;
  f->minLod = f->shaderResourceMinLod = true;
  f->texelBufferAlignment = true;
  f->textureCompressionBC = f->textureCompressionETC2 = f->textureCompressionASTC_LDR = true;
  f->image2DViewOf3D = f->sampler2DViewOf3D = true;
  f->shaderStorageImageMultisample = true;
  f->shaderImageInt64Atomics = f->shaderImageFloat32Atomics = f->shaderImageFloat32AtomicAdd = true;
  f->shaderImageFloat32AtomicMinMax = true;
  f->formatA4R4G4B4 = f->formatA4B4G4R4 = true;
  f->samplerYcbcrConversion = f->ycbcrImageArrays = f->ycbcr2plane444Formats = true;
  f->shaderSampledImageArrayDynamicIndexing = f->shaderStorageImageArrayDynamicIndexing = true;
  f->shaderUniformTexelBufferArrayDynamicIndexing = f->shaderStorageTexelBufferArrayDynamicIndexing = true;
}

void addDescriptorFeatures(Features* f) {
  f->shaderUniformBufferArrayDynamicIndexing = f->shaderStorageBufferArrayDynamicIndexing = true;
  f->shaderUniformBufferArrayNonUniformIndexing = f->shaderStorageBufferArrayNonUniformIndexing = true;
  f->shaderSampledImageArrayNonUniformIndexing = f->shaderStorageImageArrayNonUniformIndexing = true;
  f->shaderUniformTexelBufferArrayNonUniformIndexing = f->shaderStorageTexelBufferArrayNonUniformIndexing = true;
  f->runtimeDescriptorArray = true;
  f->descriptorBindingUniformBufferUpdateAfterBind = f->descriptorBindingStorageBufferUpdateAfterBind = true;
  f->descriptorBindingSampledImageUpdateAfterBind = f->descriptorBindingStorageImageUpdateAfterBind = true;
  f->descriptorBindingUniformTexelBufferUpdateAfterBind = true;
  f->descriptorBindingStorageTexelBufferUpdateAfterBind = true;
  f->descriptorBindingUpdateUnusedWhilePending = true;
  f->descriptorBindingPartiallyBound = true;
  f->descriptorBindingVariableDescriptorCount = true;
  f->mutableDescriptorType = true;
  f->inlineUniformBlock = f->descriptorBindingInlineUniformBlockUpdateAfterBind = true;
  f->descriptorIndexing = true;  // all that Vulkan 1.3, 47.1 makes a part of it is above and in addImageFeatures
}

// Geometry, tessellation and mesh shaders are not there.
void addDrawFeatures(Features* f) {
  f->fullDrawIndexUint32 = f->multiDrawIndirect = f->drawIndirectFirstInstance = f->drawIndirectCount = true;
  f->independentBlend = f->logicOp = f->dualSrcBlend = f->alphaToOne = true;
  f->sampleRateShading = true;
  f->depthClamp = f->depthBiasClamp = f->depthBounds = true;
  f->fillModeNonSolid = f->wideLines = f->largePoints = true;
  f->multiViewport = true;
  f->occlusionQueryPrecise = true;
  f->shaderClipDistance = f->shaderCullDistance = true;
  f->fragmentStoresAndAtomics = f->vertexPipelineStoresAndAtomics = true;
  f->multiview = true;
  f->shaderDrawParameters = true;
  f->imagelessFramebuffer = f->separateDepthStencilLayouts = true;
  f->dynamicRendering = true;
  f->extendedDynamicState = f->extendedDynamicState2 = f->extendedDynamicState2LogicOp = true;
  f->vertexInputDynamicState = f->colorWriteEnable = true;
  f->vertexAttributeInstanceRateDivisor = f->vertexAttributeInstanceRateZeroDivisor = true;
  f->indexTypeUint8 = true;
  f->multiDraw = true;
  f->attachmentFeedbackLoopLayout = true;
  f->rectangularLines = f->bresenhamLines = true;
  f->primitiveTopologyListRestart = true;
  f->graphicsPipelineLibrary = true;
  f->depthClipEnable = f->depthClipControl = true;
  f->provokingVertexLast = true;
  f->shaderOutputViewportIndex = f->shaderOutputLayer = true;
}

Features makeFeatures() {
  Features f;
  f.bufferDeviceAddress = true;
  f.bufferDeviceAddressCaptureReplay = true;
  f.hostQueryReset = true;
  f.inheritedQueries = true;
  f.maintenance4 = true;
  f.pipelineCreationCacheControl = true;
  f.pipelineStatisticsQuery = true;
  f.presentId = f.presentWait = true;
  f.privateData = true;
  f.synchronization2 = true;
  f.timelineSemaphore = true;
  addShaderFeatures(&f);
  addImageFeatures(&f);
  addDescriptorFeatures(&f);
  addDrawFeatures(&f);
  return f;
}

uint32_t environmentVersion(uint32_t fallback) {
  const char* text = std::getenv("PUMICE_API_VERSION");
  unsigned major = 0, minor = 0;
  if (text == nullptr || std::sscanf(text, "%u.%u", &major, &minor) != 2 || major != 1 || minor > 3) return fallback;
  return VK_MAKE_API_VERSION(0, major, minor, 0);
}

VkPhysicalDeviceType deviceType() {
  const char* text = std::getenv("PUMICE_DEVICE_TYPE");
  if (text == nullptr) return VK_PHYSICAL_DEVICE_TYPE_CPU;
  if (std::strcmp(text, "discrete") == 0) return VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
  if (std::strcmp(text, "integrated") == 0) return VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
  if (std::strcmp(text, "virtual") == 0) return VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU;
  if (std::strcmp(text, "other") == 0) return VK_PHYSICAL_DEVICE_TYPE_OTHER;
  return VK_PHYSICAL_DEVICE_TYPE_CPU;
}

HostInfo makeHostInfo() {
  HostInfo info{};
  info.workerCount = sched::availableProcessors();
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  info.vectorLanes = avx512 ? 16 : avx2 ? 8 : 4;
  info.cpuFamily = avx512 ? "AVX-512" : avx2 ? "AVX2" : "SSE";
#else
  info.vectorLanes = 4;
  info.cpuFamily = "128-bit";
#endif
  return info;
}

constexpr uint32_t kMany = 1u << 20;

void fillLimits(VkPhysicalDeviceLimits* l) {
  l->maxImageDimension1D = l->maxImageDimension2D = l->maxImageDimensionCube = kMaxImageDimension;
  l->maxImageDimension3D = kMaxImageDimension3D;
  l->maxImageArrayLayers = kMaxImageLayers;
  l->maxTexelBufferElements = kMaxTexelBufferElements;
  l->maxUniformBufferRange = 1u << 30;
  l->maxStorageBufferRange = ~0u;
  l->maxPushConstantsSize = abi::kMaxPushConstantBytes;
  l->maxMemoryAllocationCount = 1u << 20;
  l->maxSamplerAllocationCount = 1u << 20;
  l->bufferImageGranularity = 1;
  l->sparseAddressSpaceSize = 0;
  l->maxBoundDescriptorSets = abi::kMaxBoundSets;
  l->maxPerStageDescriptorSamplers = kMany;
  l->maxPerStageDescriptorUniformBuffers = kMany;
  l->maxPerStageDescriptorStorageBuffers = kMany;
  l->maxPerStageDescriptorSampledImages = kMany;
  l->maxPerStageDescriptorStorageImages = kMany;
  l->maxPerStageDescriptorInputAttachments = kMany;
  l->maxPerStageResources = 2 * kMany;
  l->maxDescriptorSetSamplers = kMany;
  l->maxDescriptorSetUniformBuffers = kMany;
  l->maxDescriptorSetUniformBuffersDynamic = abi::kMaxDynamicOffsets / 2;
  l->maxDescriptorSetStorageBuffers = kMany;
  l->maxDescriptorSetStorageBuffersDynamic = abi::kMaxDynamicOffsets / 2;
  l->maxDescriptorSetSampledImages = kMany;
  l->maxDescriptorSetStorageImages = kMany;
  l->maxDescriptorSetInputAttachments = kMany;
  l->maxVertexInputAttributes = 32;
  l->maxVertexInputBindings = 32;
  l->maxVertexInputAttributeOffset = 2047;
  l->maxVertexInputBindingStride = 2048;
  l->maxVertexOutputComponents = 128;
  l->maxFragmentInputComponents = 128;
  l->maxFragmentOutputAttachments = 8;
  l->maxFragmentDualSrcAttachments = 1;
  l->maxFragmentCombinedOutputResources = kMany;
  l->maxComputeSharedMemorySize = abi::kMaxSharedBytes;
  for (uint32_t i = 0; i < 3; ++i) {
    l->maxComputeWorkGroupCount[i] = i == 0 ? 0x7fffffffu : 65535u;
    l->maxComputeWorkGroupSize[i] = abi::kMaxWorkgroupInvocations;
  }
  l->maxComputeWorkGroupInvocations = abi::kMaxWorkgroupInvocations;
  l->subPixelPrecisionBits = 8;
  l->subTexelPrecisionBits = 8;
  l->mipmapPrecisionBits = 8;
  l->maxDrawIndexedIndexValue = ~0u;
  l->maxDrawIndirectCount = ~0u;
  l->maxSamplerLodBias = texture::kMaxSamplerLodBias;
  l->maxSamplerAnisotropy = texture::kMaxAnisotropy;
  l->maxViewports = 16;
  l->maxViewportDimensions[0] = l->maxViewportDimensions[1] = 16384;
  l->viewportBoundsRange[0] = -32768.0f;
  l->viewportBoundsRange[1] = 32767.0f;
  l->viewportSubPixelBits = 0;
  l->minMemoryMapAlignment = abi::kResourceAlignBytes;
  l->minTexelBufferOffsetAlignment = 16;
  l->minUniformBufferOffsetAlignment = 16;
  l->minStorageBufferOffsetAlignment = 16;
  l->minTexelOffset = l->minTexelGatherOffset = -32;
  l->maxTexelOffset = l->maxTexelGatherOffset = 31;
  l->minInterpolationOffset = -0.5f;
  l->maxInterpolationOffset = 0.4375f;
  l->subPixelInterpolationOffsetBits = 4;
  l->maxFramebufferWidth = l->maxFramebufferHeight = 16384;
  l->maxFramebufferLayers = kMaxFramebufferLayers;
  l->framebufferColorSampleCounts = l->framebufferDepthSampleCounts = l->framebufferStencilSampleCounts =
      l->framebufferNoAttachmentsSampleCounts = kSampleCounts;
  l->maxColorAttachments = 8;
  l->sampledImageColorSampleCounts = l->sampledImageDepthSampleCounts = l->sampledImageStencilSampleCounts =
      kSampleCounts;
  l->sampledImageIntegerSampleCounts = kSampleCounts;
  l->storageImageSampleCounts = kSampleCounts;
  l->maxSampleMaskWords = 1;
  l->timestampComputeAndGraphics = VK_TRUE;
  l->timestampPeriod = 1.0f;
  l->maxClipDistances = 8;
  l->maxCullDistances = 8;
  l->maxCombinedClipAndCullDistances = 8;
  l->discreteQueuePriorities = 2;
  l->pointSizeRange[0] = l->lineWidthRange[0] = 1.0f;
  l->pointSizeRange[1] = kMaxPointSize;
  l->lineWidthRange[1] = kMaxLineWidth;
  l->pointSizeGranularity = l->lineWidthGranularity = 1.0f / 256;  // what coordinates are snapped to
  l->strictLines = VK_TRUE;
  l->standardSampleLocations = VK_TRUE;
  l->optimalBufferCopyOffsetAlignment = abi::kResourceAlignBytes;
  l->optimalBufferCopyRowPitchAlignment = abi::kResourceAlignBytes;
  l->nonCoherentAtomSize = 1;  // all memory is coherent
}

// Stable across runs and equal for all processes on one build of the driver: name and version, nothing of the machine.
void fillUuid(uint8_t (&uuid)[VK_UUID_SIZE], const char* what) {
  std::memset(uuid, 0, sizeof uuid);
  std::snprintf(reinterpret_cast<char*>(uuid), sizeof uuid, "pumice-%s", what);
}

void fillSubgroups(Properties* p) {
  p->subgroupSize = defaultSubgroupSize();
  p->subgroupSupportedStages = VK_SHADER_STAGE_COMPUTE_BIT | VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT;
  p->subgroupSupportedOperations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_VOTE_BIT |
                                   VK_SUBGROUP_FEATURE_ARITHMETIC_BIT | VK_SUBGROUP_FEATURE_BALLOT_BIT |
                                   VK_SUBGROUP_FEATURE_SHUFFLE_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT |
                                   VK_SUBGROUP_FEATURE_CLUSTERED_BIT | VK_SUBGROUP_FEATURE_QUAD_BIT;
  p->subgroupQuadOperationsInAllStages = VK_TRUE;
  p->requiredSubgroupSizeStages = VK_SHADER_STAGE_COMPUTE_BIT;
}

void fillDescriptorIndexing(Properties* p) {
  p->maxUpdateAfterBindDescriptorsInAllPools = ~0u;
  p->maxPerStageDescriptorUpdateAfterBindSamplers = kMaxUpdateAfterBindDescriptors;
  p->maxPerStageDescriptorUpdateAfterBindUniformBuffers = kMaxUpdateAfterBindDescriptors;
  p->maxPerStageDescriptorUpdateAfterBindStorageBuffers = kMaxUpdateAfterBindDescriptors;
  p->maxPerStageDescriptorUpdateAfterBindSampledImages = kMaxUpdateAfterBindDescriptors;
  p->maxPerStageDescriptorUpdateAfterBindStorageImages = kMaxUpdateAfterBindDescriptors;
  p->maxPerStageDescriptorUpdateAfterBindInputAttachments = kMaxUpdateAfterBindDescriptors;
  p->maxPerStageUpdateAfterBindResources = 2 * kMaxUpdateAfterBindDescriptors;
  p->maxDescriptorSetUpdateAfterBindSamplers = kMaxUpdateAfterBindDescriptors;
  p->maxDescriptorSetUpdateAfterBindUniformBuffers = kMaxUpdateAfterBindDescriptors;
  p->maxDescriptorSetUpdateAfterBindUniformBuffersDynamic = abi::kMaxDynamicOffsets / 2;
  p->maxDescriptorSetUpdateAfterBindStorageBuffers = kMaxUpdateAfterBindDescriptors;
  p->maxDescriptorSetUpdateAfterBindStorageBuffersDynamic = abi::kMaxDynamicOffsets / 2;
  p->maxDescriptorSetUpdateAfterBindSampledImages = kMaxUpdateAfterBindDescriptors;
  p->maxDescriptorSetUpdateAfterBindStorageImages = kMaxUpdateAfterBindDescriptors;
  p->maxDescriptorSetUpdateAfterBindInputAttachments = kMaxUpdateAfterBindDescriptors;
  p->shaderUniformBufferArrayNonUniformIndexingNative = VK_TRUE;
  p->shaderStorageBufferArrayNonUniformIndexingNative = VK_TRUE;
  // Images whose descriptors differ are served one descriptor after the other: correct, and slower for it.
  p->shaderSampledImageArrayNonUniformIndexingNative = VK_FALSE;
  p->shaderStorageImageArrayNonUniformIndexingNative = VK_FALSE;
  p->robustBufferAccessUpdateAfterBind = VK_TRUE;
  p->maxInlineUniformBlockSize = kMaxInlineUniformBlockSize_B;
  p->maxPerStageDescriptorInlineUniformBlocks = 32;
  p->maxPerStageDescriptorUpdateAfterBindInlineUniformBlocks = 32;
  p->maxDescriptorSetInlineUniformBlocks = 32;
  p->maxDescriptorSetUpdateAfterBindInlineUniformBlocks = 32;
  p->maxInlineUniformTotalSize = 32 * kMaxInlineUniformBlockSize_B;
}

// Floats behave as IEEE 754 says at every width: denormals kept, round to nearest even, signed zero, infinity and NaN.
void fillFloatControls(Properties* p) {
  p->denormBehaviorIndependence = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL;
  p->roundingModeIndependence = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL;
  for (VkBool32* b :
       {&p->shaderSignedZeroInfNanPreserveFloat16, &p->shaderSignedZeroInfNanPreserveFloat32,
        &p->shaderSignedZeroInfNanPreserveFloat64, &p->shaderDenormPreserveFloat16, &p->shaderDenormPreserveFloat32,
        &p->shaderDenormPreserveFloat64, &p->shaderRoundingModeRTEFloat16, &p->shaderRoundingModeRTEFloat32,
        &p->shaderRoundingModeRTEFloat64}) {
    *b = VK_TRUE;
  }
}

}  // namespace

const HostInfo& hostInfo() {
  static const HostInfo info = makeHostInfo();
  return info;
}

uint32_t instanceApiVersion() {
  return VK_MAKE_API_VERSION(0, 1, 3, VK_HEADER_VERSION);
}

uint32_t deviceApiVersion() {
  return environmentVersion(kClaimedVersion) | VK_API_VERSION_PATCH(static_cast<uint32_t>(VK_HEADER_VERSION));
}

uint64_t heapSizeBytes() {
  const char* text = std::getenv("PUMICE_HEAP_MIB");
  return kmd::systemHeapBytes(text != nullptr ? std::strtoull(text, nullptr, 0) << 20 : 0);
}

uint32_t defaultSubgroupSize() {
  constexpr uint32_t kDefault = 16;
  const char* text = std::getenv("PUMICE_SUBGROUP_SIZE");
  const auto wanted = text != nullptr ? static_cast<uint32_t>(std::strtoul(text, nullptr, 0)) : kDefault;
  return std::has_single_bit(wanted) && wanted >= kMinSubgroupSize && wanted <= kMaxSubgroupSize ? wanted : kDefault;
}

const InstanceExtensionSet& supportedInstanceExtensions() {
  static const InstanceExtensionSet set = [] {
    InstanceExtensionSet s;
    for (InstanceExtension e : kInstanceExtensions) s.add(e);
    return s;
  }();
  return set;
}

const DeviceExtensionSet& supportedDeviceExtensions(uint32_t deviceVersion) {
  static const DeviceExtensionSet of10 = [] {
    DeviceExtensionSet s;
    for (DeviceExtension e : kDeviceExtensions) s.add(e);
    return s;
  }();
  static const DeviceExtensionSet of11 = [] {
    DeviceExtensionSet s = of10;
    for (DeviceExtension e : kDeviceExtensionsOf11) s.add(e);
    return s;
  }();
  return deviceVersion >= VK_API_VERSION_1_1 ? of11 : of10;
}

const Features& supportedFeatures() {
  static const Features features = makeFeatures();
  return features;
}

void fillProperties(uint32_t deviceVersion, uint64_t heapSize_B, Properties* p) {
  const HostInfo& host = hostInfo();
  VkPhysicalDeviceProperties& base = p->base;
  base.apiVersion = deviceVersion;
  base.driverVersion = VK_MAKE_API_VERSION(0, 0, 1, 0);
  base.vendorID = 0x10000 | 0x7075;  // no PCI vendor and no registered Khronos vendor: outside both ranges in use
  base.deviceID = 1;
  base.deviceType = deviceType();
  std::snprintf(base.deviceName, sizeof base.deviceName, "Pumice (%u-wide SIMD, %u thread%s)", host.vectorLanes,
                host.workerCount, host.workerCount == 1 ? "" : "s");
  // A cache of another build or another CPU is not even looked at.
  std::memcpy(base.pipelineCacheUUID, "pumice01", 8);
  const uint64_t identity = shader::cache::compilerIdentity();
  std::memcpy(base.pipelineCacheUUID + 8, &identity, 8);
  fillLimits(&base.limits);

  fillUuid(p->deviceUUID, "dev-0");
  fillUuid(p->driverUUID, "drv-0.1");
  p->deviceNodeMask = 1;
  p->driverID = static_cast<VkDriverId>(0);  // none is registered
  std::snprintf(p->driverName, sizeof p->driverName, "Pumice");
  std::snprintf(p->driverInfo, sizeof p->driverInfo, "0.1.0, %s", host.cpuFamily);
  p->conformanceVersion = {0, 0, 0, 0};  // not submitted for conformance
  p->pointClippingBehavior = VK_POINT_CLIPPING_BEHAVIOR_ALL_CLIP_PLANES;
  p->maxMultiviewViewCount = 6;
  p->maxMultiviewInstanceIndex = (1u << 27) - 1;
  p->minImportedHostPointerAlignment = abi::kResourceAlignBytes;
  p->maxPerSetDescriptors = 2 * kMaxUpdateAfterBindDescriptors;
  p->maxMemoryAllocationSize = heapSize_B;
  p->maxBufferSize = heapSize_B;
  p->maxTimelineSemaphoreValueDifference = UINT64_MAX;
  p->supportedStencilResolveModes = VK_RESOLVE_MODE_SAMPLE_ZERO_BIT | VK_RESOLVE_MODE_MIN_BIT | VK_RESOLVE_MODE_MAX_BIT;
  p->supportedDepthResolveModes = p->supportedStencilResolveModes | VK_RESOLVE_MODE_AVERAGE_BIT;
  p->framebufferIntegerColorSampleCounts = kSampleCounts;
  p->storageTexelBufferOffsetAlignmentBytes = p->uniformTexelBufferOffsetAlignmentBytes = 16;
  p->storageTexelBufferOffsetSingleTexelAlignment = p->uniformTexelBufferOffsetSingleTexelAlignment = VK_TRUE;
  p->filterMinmaxSingleComponentFormats = p->filterMinmaxImageComponentMapping = VK_TRUE;
  p->maxCustomBorderColorSamplers = kMany;
  p->minSubgroupSize = kMinSubgroupSize;
  p->maxSubgroupSize = kMaxSubgroupSize;
  p->maxComputeWorkgroupSubgroups = abi::kMaxWorkgroupInvocations / kMinSubgroupSize;
  p->maxPushDescriptors = kMaxPushDescriptors;
  p->robustStorageBufferAccessSizeAlignment = 1;
  p->robustUniformBufferAccessSizeAlignment = 1;
  p->minImportedHostPointerAlignment = abi::kPageBytes;
  p->maxVertexAttribDivisor = ~0u;
  p->maxMultiDrawCount = ~0u;
  p->lineSubPixelPrecisionBits = 8;
  p->provokingVertexModePerPipeline = VK_TRUE;
  // Fragment code is made when it is known what it writes to; its own decorations count.
  p->graphicsPipelineLibraryFastLinking = VK_FALSE;
  p->graphicsPipelineLibraryIndependentInterpolationDecoration = VK_TRUE;
  p->independentResolve = p->independentResolveNone = VK_TRUE;
  fillSubgroups(p);
  fillDescriptorIndexing(p);
  fillFloatControls(p);
}

}  // namespace pumice::icd
