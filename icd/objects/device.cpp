#include "icd/objects/device.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "backend/trace/log.h"
#include "gen/entrypoints.h"
#include "icd/entry/entry_table.h"
#include "icd/objects/cache_writer.h"
#include "icd/objects/capabilities.h"
#include "icd/objects/instance.h"
#include "icd/objects/status_result.h"

namespace pumice::icd {
namespace {

uint64_t environmentNumber(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 0) : 0;
}

}  // namespace

Device::~Device() {
  constexpr uint64_t kFlush_ns = 500'000'000;
  if (diskCache_ != nullptr && !CacheWriter::instance().flush(*diskCache_, kFlush_ns)) {
    PUMICE_WARNING("cache", "the disk is slow: the device ends before all code is written");
  }
  if (gpu_ != nullptr) physicalDevice_.removeDevice(this);
  queues_.clear();  // before the machine that they live in
}

VkResult Device::init(const VkDeviceCreateInfo& info) {
  apiVersion_ = std::min(physicalDevice_.instance().apiVersion(), physicalDevice_.apiVersion());
  if (VkResult r = enableExtensions(info); r != VK_SUCCESS) return r;
  if (VkResult r = enableFeatures(info); r != VK_SUCCESS) return r;
  kmd::DeviceConfig config;
  config.workerCount = static_cast<uint32_t>(environmentNumber("PUMICE_THREADS"));
  config.heapLimit_B = physicalDevice_.heapSize_B();
  config.watchdog_ns = environmentNumber("PUMICE_WATCHDOG_MS") * 1'000'000;
  if (VkResult r = toResult(kmd::Device::open(config, &gpu_)); r != VK_SUCCESS) {
    PUMICE_ERROR("icd", "the device cannot be opened (result %d)", r);
    return r;
  }
  physicalDevice_.addDevice(this);
  if (auto settings = shader::cache::diskCacheSettings(); !settings.directory.empty()) {
    diskCache_ = std::make_shared<shader::cache::DiskCache>(std::move(settings));
  }
  return createQueues(info);
}

VkResult Device::enableExtensions(const VkDeviceCreateInfo& info) {
  for (uint32_t i = 0; i < info.enabledExtensionCount; ++i) {
    const auto e = findExtension<DeviceExtension>(info.ppEnabledExtensionNames[i]);
    if (!e || !supportedDeviceExtensions(physicalDevice_.apiVersion()).has(*e)) {
      PUMICE_ERROR("icd", "device extension %s is not supported", info.ppEnabledExtensionNames[i]);
      return VK_ERROR_EXTENSION_NOT_PRESENT;
    }
    enabled_.add(*e);
  }
  return VK_SUCCESS;
}

VkResult Device::enableFeatures(const VkDeviceCreateInfo& info) {
  readFeatures(info, &features_);
  const auto* wanted = reinterpret_cast<const bool*>(&features_);
  const auto* supported = reinterpret_cast<const bool*>(&supportedFeatures());
  for (size_t i = 0; i < kFeatureCount; ++i) {
    if (wanted[i] && !supported[i]) {
      PUMICE_ERROR("icd", "feature %s is not supported", featureName(i));
      return VK_ERROR_FEATURE_NOT_PRESENT;
    }
  }
  return VK_SUCCESS;
}

VkResult Device::createQueues(const VkDeviceCreateInfo& info) {
  for (uint32_t i = 0; i < info.queueCreateInfoCount; ++i) {
    const VkDeviceQueueCreateInfo& wish = info.pQueueCreateInfos[i];
    for (uint32_t k = 0; k < wish.queueCount; ++k) {
      auto queue = std::make_unique<Queue>(*this);
      if (VkResult r = queue->init(wish.queueFamilyIndex, k, wish.pQueuePriorities[k]); r != VK_SUCCESS) return r;
      queues_.push_back(std::move(queue));
    }
  }
  return VK_SUCCESS;
}

Queue* Device::queue(uint32_t family, uint32_t index) {
  for (const auto& q : queues_) {
    if (q->family() == family && q->index() == index) return q.get();
  }
  return nullptr;
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreateDevice(VkPhysicalDevice physicalDevice, const VkDeviceCreateInfo* pCreateInfo,
                                              const VkAllocationCallbacks* pAllocator, VkDevice* pDevice) {
  return Device::create(pAllocator, VK_SYSTEM_ALLOCATION_SCOPE_DEVICE, 0, pDevice,
                        *PhysicalDevice::from(physicalDevice), *pCreateInfo);
}

VKAPI_ATTR void VKAPI_CALL vkDestroyDevice(VkDevice device, const VkAllocationCallbacks* pAllocator) {
  Device::destroy(device, pAllocator);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetDeviceProcAddr(VkDevice device, const char* pName) {
  const EntryPoint* entry = findEntryPoint(pName);
  if (entry == nullptr || entry->level != EntryLevel::kDevice) return nullptr;
  Device& self = *Device::from(device);
  const auto& instance = self.physicalDevice().instance().enabledExtensions();
  return isAvailable(*entry, self.apiVersion(), instance, self.enabledExtensions()) ? entry->function : nullptr;
}

VKAPI_ATTR VkResult VKAPI_CALL vkDeviceWaitIdle(VkDevice device) {
  Device& self = *Device::from(device);
  for (const auto& queue : self.queues()) {
    const kmd::Status status = self.gpu().waitIdle(queue->gpuQueue(), UINT64_MAX);
    if (status != kmd::Status::kOk) return toResult(status);
  }
  return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL vkGetDeviceQueue(VkDevice device, uint32_t queueFamilyIndex, uint32_t queueIndex,
                                            VkQueue* pQueue) {
  *pQueue = Device::from(device)->queue(queueFamilyIndex, queueIndex)->handle();
}

VKAPI_ATTR void VKAPI_CALL vkGetDeviceQueue2(VkDevice device, const VkDeviceQueueInfo2* pQueueInfo, VkQueue* pQueue) {
  Queue* queue = Device::from(device)->queue(pQueueInfo->queueFamilyIndex, pQueueInfo->queueIndex);
  // Asking with flags (protected) that no queue was created with yields null, as the specification says.
  *pQueue = pQueueInfo->flags == 0 && queue != nullptr ? queue->handle() : VK_NULL_HANDLE;
}

// One physical device in every group: memory of peers and splits do not exist.
VKAPI_ATTR void VKAPI_CALL vkGetDeviceGroupPeerMemoryFeatures(VkDevice, uint32_t, uint32_t, uint32_t,
                                                              VkPeerMemoryFeatureFlags* pPeerMemoryFeatures) {
  *pPeerMemoryFeatures = VK_PEER_MEMORY_FEATURE_COPY_SRC_BIT | VK_PEER_MEMORY_FEATURE_COPY_DST_BIT |
                         VK_PEER_MEMORY_FEATURE_GENERIC_SRC_BIT | VK_PEER_MEMORY_FEATURE_GENERIC_DST_BIT;
}

}  // namespace pumice::icd
