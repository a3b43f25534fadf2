// What the driver claims: versions, extensions, features, limits. Everything that is advertised is listed in
// capabilities.cpp and nowhere else; a line is added there when the thing works and has a test.
#pragma once

#include "gen/device_info.h"
#include "icd/entry/extension_set.h"

namespace pumice::icd {

/// The machine as the driver sees it; cheap to find out (no thread, no reservation).
struct HostInfo {
  uint32_t workerCount;   // threads that will run shaders
  uint32_t vectorLanes;   // 32-bit lanes of the widest vector unit
  const char* cpuFamily;  // "AVX-512", "AVX2" ...
};
const HostInfo& hostInfo();

/// VK_API_VERSION of instance-level functionality.
uint32_t instanceApiVersion();
/// The version that the device claims: the newest whose mandatory parts are all there, or PUMICE_API_VERSION.
/// Read when an instance is made, which keeps it.
uint32_t deviceApiVersion();

/// The one heap: PUMICE_HEAP_MIB, or RAM or the cgroup's limit. Read when an instance is made, which keeps it.
uint64_t heapSizeBytes();

/// The subgroup size of pipelines that ask for none, which is also what is reported: PUMICE_SUBGROUP_SIZE, or 16 if
/// that is no size that can be had.
uint32_t defaultSubgroupSize();

const InstanceExtensionSet& supportedInstanceExtensions();
/// Some extensions need a device of version 1.1.
const DeviceExtensionSet& supportedDeviceExtensions(uint32_t deviceVersion);
const Features& supportedFeatures();
void fillProperties(uint32_t deviceVersion, uint64_t heapSize_B, Properties* out);

/// Queue families, in order of index.
struct QueueFamily {
  VkQueueFlags flags;
  uint32_t queueCount;
};
inline constexpr QueueFamily kQueueFamilies[] = {
    {VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT, 2},  // the universal engine
    {VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT, 2},                          // asynchronous compute
    {VK_QUEUE_TRANSFER_BIT, 2},                                                 // the copy engine
};
inline constexpr uint32_t kQueueFamilyCount = 3;

// Timestamps are nanoseconds of the monotonic clock, all 64 bits valid.
inline constexpr uint32_t kTimestampValidBits = 64;

/// Memory types: 0 is for everything, 1 for transient attachments.
inline constexpr uint32_t kMemoryTypeUnified = 0;
inline constexpr uint32_t kMemoryTypeLazy = 1;
inline constexpr uint32_t kMemoryTypeCount = 2;

inline constexpr uint32_t kMinSubgroupSize = 4;
inline constexpr uint32_t kMaxSubgroupSize = 32;
inline constexpr uint32_t kMaxUpdateAfterBindDescriptors = 1u << 20;
inline constexpr uint32_t kMaxPushDescriptors = 32;
inline constexpr uint32_t kMaxTexelBufferElements = 1u << 27;
inline constexpr uint32_t kMaxImageDimension = 16384;
inline constexpr VkSampleCountFlags kSampleCounts =
    VK_SAMPLE_COUNT_1_BIT | VK_SAMPLE_COUNT_2_BIT | VK_SAMPLE_COUNT_4_BIT | VK_SAMPLE_COUNT_8_BIT;
inline constexpr float kMaxPointSize = 1024, kMaxLineWidth = 64;
inline constexpr uint32_t kMaxImageDimension3D = 2048;
inline constexpr uint32_t kMaxImageLayers = 2048;
inline constexpr uint32_t kMaxFramebufferLayers = kMaxImageLayers;
inline constexpr uint32_t kMaxInlineUniformBlockSize_B = 4096;

}  // namespace pumice::icd
