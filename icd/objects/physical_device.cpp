#include "icd/objects/physical_device.h"

#include <algorithm>

#include "gen/device_info.h"
#include "gen/entrypoints.h"
#include "icd/entry/entry_guard.h"
#include "icd/objects/array_out.h"
#include "icd/objects/capabilities.h"
#include "icd/objects/device.h"
#include "icd/objects/pnext.h"

namespace pumice::icd {
namespace {

void fillQueueFamily(const QueueFamily& family, VkQueueFamilyProperties* out) {
  out->queueFlags = family.flags;
  out->queueCount = family.queueCount;
  out->timestampValidBits = kTimestampValidBits;
  out->minImageTransferGranularity = {1, 1, 1};
}

}  // namespace

PhysicalDevice::PhysicalDevice(Instance& instance)
    : instance_(instance), apiVersion_(deviceApiVersion()), heapSize_B_(heapSizeBytes()) {}

void PhysicalDevice::addDevice(Device* device) {
  std::lock_guard lock(devicesLock_);
  devices_.push_back(device);
}

void PhysicalDevice::removeDevice(Device* device) {
  std::lock_guard lock(devicesLock_);
  std::erase(devices_, device);
}

void PhysicalDevice::heapBudget(VkDeviceSize* usage_B, VkDeviceSize* budget_B) {
  *usage_B = kmd::processHeapUsage_B();
  *budget_B = heapSize_B_;
  if (isForkedChild()) return;
  std::lock_guard lock(devicesLock_);
  for (Device* device : devices_) {
    const kmd::HeapBudget budget = device->gpu().budget();
    *usage_B += budget.lazy_B;
    *budget_B = std::min<VkDeviceSize>(*budget_B, budget.budget_B);
  }
}

VKAPI_ATTR void VKAPI_CALL vkGetPhysicalDeviceFeatures(VkPhysicalDevice, VkPhysicalDeviceFeatures* pFeatures) {
  writeFeatures(supportedFeatures(), pFeatures);
}

VKAPI_ATTR void VKAPI_CALL vkGetPhysicalDeviceFeatures2(VkPhysicalDevice, VkPhysicalDeviceFeatures2* pFeatures) {
  writeFeatures(supportedFeatures(), pFeatures);
}

VKAPI_ATTR void VKAPI_CALL vkGetPhysicalDeviceProperties(VkPhysicalDevice physicalDevice,
                                                         VkPhysicalDeviceProperties* pProperties) {
  Properties properties;
  const PhysicalDevice& self = *PhysicalDevice::from(physicalDevice);
  fillProperties(self.apiVersion(), self.heapSize_B(), &properties);
  *pProperties = properties.base;
}

VKAPI_ATTR void VKAPI_CALL vkGetPhysicalDeviceProperties2(VkPhysicalDevice physicalDevice,
                                                          VkPhysicalDeviceProperties2* pProperties) {
  Properties properties;
  const PhysicalDevice& self = *PhysicalDevice::from(physicalDevice);
  fillProperties(self.apiVersion(), self.heapSize_B(), &properties);
  writeProperties(properties, pProperties);
}

VKAPI_ATTR void VKAPI_CALL vkGetPhysicalDeviceQueueFamilyProperties(VkPhysicalDevice, uint32_t* pCount,
                                                                    VkQueueFamilyProperties* pProperties) {
  ArrayOut<VkQueueFamilyProperties> out(pCount, pProperties);
  for (const QueueFamily& family : kQueueFamilies) {
    out.append([&](auto* p) { fillQueueFamily(family, p); });
  }
}

VKAPI_ATTR void VKAPI_CALL vkGetPhysicalDeviceQueueFamilyProperties2(VkPhysicalDevice, uint32_t* pCount,
                                                                     VkQueueFamilyProperties2* pProperties) {
  ArrayOut<VkQueueFamilyProperties2> out(pCount, pProperties);
  for (const QueueFamily& family : kQueueFamilies) {
    out.append([&](auto* p) {
      fillQueueFamily(family, &p->queueFamilyProperties);
      if (auto* priority = findInChain<VkQueueFamilyGlobalPriorityPropertiesKHR>(p->pNext)) {
        priority->priorityCount = 1;
        priority->priorities[0] = VK_QUEUE_GLOBAL_PRIORITY_MEDIUM_KHR;
      }
      if (auto* checkpoints = findInChain<VkQueueFamilyCheckpointProperties2NV>(p->pNext)) {
        checkpoints->checkpointExecutionStageMask = 0;
      }
    });
  }
}

VKAPI_ATTR void VKAPI_CALL vkGetPhysicalDeviceMemoryProperties(VkPhysicalDevice physicalDevice,
                                                               VkPhysicalDeviceMemoryProperties* pMemoryProperties) {
  *pMemoryProperties = {};
  pMemoryProperties->memoryHeapCount = 1;
  pMemoryProperties->memoryHeaps[0] = {PhysicalDevice::from(physicalDevice)->heapSize_B(),
                                       VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
  pMemoryProperties->memoryTypeCount = kMemoryTypeCount;
  pMemoryProperties->memoryTypes[kMemoryTypeUnified] = {
      VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT |
          VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
      0};
  pMemoryProperties->memoryTypes[kMemoryTypeLazy] = {
      VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT, 0};
}

VKAPI_ATTR void VKAPI_CALL vkGetPhysicalDeviceMemoryProperties2(VkPhysicalDevice physicalDevice,
                                                                VkPhysicalDeviceMemoryProperties2* pMemoryProperties) {
  icd::vkGetPhysicalDeviceMemoryProperties(physicalDevice, &pMemoryProperties->memoryProperties);
  if (auto* budget = findInChain<VkPhysicalDeviceMemoryBudgetPropertiesEXT>(pMemoryProperties->pNext)) {
    std::fill_n(budget->heapUsage, VK_MAX_MEMORY_HEAPS, VkDeviceSize{0});
    std::fill_n(budget->heapBudget, VK_MAX_MEMORY_HEAPS, VkDeviceSize{0});
    PhysicalDevice::from(physicalDevice)->heapBudget(&budget->heapUsage[0], &budget->heapBudget[0]);
  }
}

// Fences and semaphores cannot be exported or imported yet.
VKAPI_ATTR void VKAPI_CALL vkGetPhysicalDeviceExternalFenceProperties(VkPhysicalDevice,
                                                                      const VkPhysicalDeviceExternalFenceInfo*,
                                                                      VkExternalFenceProperties* pProperties) {
  pProperties->exportFromImportedHandleTypes = 0;
  pProperties->compatibleHandleTypes = 0;
  pProperties->externalFenceFeatures = 0;
}

VKAPI_ATTR void VKAPI_CALL vkGetPhysicalDeviceExternalSemaphoreProperties(VkPhysicalDevice,
                                                                          const VkPhysicalDeviceExternalSemaphoreInfo*,
                                                                          VkExternalSemaphoreProperties* pProperties) {
  pProperties->exportFromImportedHandleTypes = 0;
  pProperties->compatibleHandleTypes = 0;
  pProperties->externalSemaphoreFeatures = 0;
}

VKAPI_ATTR VkResult VKAPI_CALL vkGetPhysicalDeviceToolProperties(VkPhysicalDevice, uint32_t* pToolCount,
                                                                 VkPhysicalDeviceToolProperties*) {
  *pToolCount = 0;
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL vkEnumerateDeviceLayerProperties(VkPhysicalDevice, uint32_t* pPropertyCount,
                                                                VkLayerProperties*) {
  *pPropertyCount = 0;
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL vkEnumerateDeviceExtensionProperties(VkPhysicalDevice physicalDevice,
                                                                    const char* pLayerName, uint32_t* pPropertyCount,
                                                                    VkExtensionProperties* pProperties) {
  if (pLayerName != nullptr) return VK_ERROR_LAYER_NOT_PRESENT;
  const DeviceExtensionSet& supported = supportedDeviceExtensions(PhysicalDevice::from(physicalDevice)->apiVersion());
  ArrayOut<VkExtensionProperties> out(pPropertyCount, pProperties);
  for (size_t i = 0; i < static_cast<size_t>(DeviceExtension::kCount); ++i) {
    const auto e = static_cast<DeviceExtension>(i);
    if (supported.has(e)) out.append([&](auto* p) { *p = extensionProperties(e); });
  }
  return out.result();
}

}  // namespace pumice::icd
