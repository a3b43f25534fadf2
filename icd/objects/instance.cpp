#include "icd/objects/instance.h"

#include <algorithm>

#include "backend/trace/log.h"
#include "gen/entrypoints.h"
#include "icd/entry/entry_guard.h"
#include "icd/entry/entry_table.h"
#include "icd/objects/array_out.h"
#include "icd/objects/capabilities.h"
#include "icd/objects/debug_messenger.h"

namespace pumice::icd {

Instance::Instance(NoOwner&) : physicalDevice_(*this) {
  instanceCreated();
}

Instance::~Instance() {
  instanceDestroyed();
}

VkResult Instance::init(const VkInstanceCreateInfo& info) {
  if (info.pApplicationInfo != nullptr && info.pApplicationInfo->apiVersion != 0) {
    apiVersion_ = info.pApplicationInfo->apiVersion;
  }
  workarounds_ = workaroundsFor(info.pApplicationInfo);
  for (uint32_t i = 0; i < info.enabledExtensionCount; ++i) {
    const auto e = findExtension<InstanceExtension>(info.ppEnabledExtensionNames[i]);
    if (!e || !supportedInstanceExtensions().has(*e)) {
      PUMICE_ERROR("icd", "instance extension %s is not supported", info.ppEnabledExtensionNames[i]);
      return VK_ERROR_EXTENSION_NOT_PRESENT;
    }
    enabled_.add(*e);
  }
  return VK_SUCCESS;
}

void Instance::addMessenger(const DebugMessenger* messenger) {
  std::lock_guard lock(messengerLock_);
  messengers_.push_back(messenger);
}

void Instance::removeMessenger(const DebugMessenger* messenger) {
  std::lock_guard lock(messengerLock_);
  std::erase(messengers_, messenger);
}

void Instance::deliverMessage(VkDebugUtilsMessageSeverityFlagBitsEXT severity, VkDebugUtilsMessageTypeFlagsEXT types,
                              const VkDebugUtilsMessengerCallbackDataEXT& data) {
  std::lock_guard lock(messengerLock_);
  for (const DebugMessenger* m : messengers_) m->deliver(severity, types, data);
}

PFN_vkVoidFunction instanceProcAddr(VkInstance handle, const char* name) {
  const EntryPoint* entry = findEntryPoint(name);
  if (entry == nullptr) return nullptr;
  if (handle == VK_NULL_HANDLE) {
    const bool ok = entry->level == EntryLevel::kGlobal || entry->name == std::string_view("vkGetInstanceProcAddr");
    return ok ? entry->function : nullptr;
  }
  if (entry->level == EntryLevel::kGlobal) return entry->function;
  Instance& instance = *Instance::from(handle);
  // Physical-device and device functions may come from what the device supports, whether enabled or not.
  const uint32_t version =
      entry->level == EntryLevel::kInstance ? instanceApiVersion() : instance.physicalDevice().apiVersion();
  const DeviceExtensionSet none;
  const auto& device =
      entry->level == EntryLevel::kInstance ? none : supportedDeviceExtensions(instance.physicalDevice().apiVersion());
  // Device-level functions of an instance extension (debug utils) hang on the instance's enabled set alone.
  const bool coreOfInstance = entry->level == EntryLevel::kPhysical && entry->coreVersion <= instanceApiVersion();
  if (coreOfInstance || isAvailable(*entry, version, instance.enabledExtensions(), device)) return entry->function;
  return nullptr;
}

PFN_vkVoidFunction physicalDeviceProcAddr(VkInstance handle, const char* name) {
  const EntryPoint* entry = findEntryPoint(name);
  if (entry == nullptr || entry->level != EntryLevel::kPhysical) return nullptr;
  return instanceProcAddr(handle, name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance, const char* pName) {
  return instanceProcAddr(instance, pName);
}

VKAPI_ATTR VkResult VKAPI_CALL vkEnumerateInstanceVersion(uint32_t* pApiVersion) {
  *pApiVersion = instanceApiVersion();
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL vkEnumerateInstanceLayerProperties(uint32_t* pPropertyCount, VkLayerProperties*) {
  *pPropertyCount = 0;
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL vkEnumerateInstanceExtensionProperties(const char* pLayerName, uint32_t* pPropertyCount,
                                                                      VkExtensionProperties* pProperties) {
  if (pLayerName != nullptr) return VK_ERROR_LAYER_NOT_PRESENT;
  ArrayOut<VkExtensionProperties> out(pPropertyCount, pProperties);
  for (size_t i = 0; i < static_cast<size_t>(InstanceExtension::kCount); ++i) {
    const auto e = static_cast<InstanceExtension>(i);
    if (supportedInstanceExtensions().has(e)) out.append([&](auto* p) { *p = extensionProperties(e); });
  }
  return out.result();
}

VKAPI_ATTR VkResult VKAPI_CALL vkCreateInstance(const VkInstanceCreateInfo* pCreateInfo,
                                                const VkAllocationCallbacks* pAllocator, VkInstance* pInstance) {
  NoOwner none;
  return Instance::create(pAllocator, VK_SYSTEM_ALLOCATION_SCOPE_INSTANCE, 0, pInstance, none, *pCreateInfo);
}

VKAPI_ATTR void VKAPI_CALL vkDestroyInstance(VkInstance instance, const VkAllocationCallbacks* pAllocator) {
  Instance::destroy(instance, pAllocator);
}

VKAPI_ATTR VkResult VKAPI_CALL vkEnumeratePhysicalDevices(VkInstance instance, uint32_t* pPhysicalDeviceCount,
                                                          VkPhysicalDevice* pPhysicalDevices) {
  ArrayOut<VkPhysicalDevice> out(pPhysicalDeviceCount, pPhysicalDevices);
  out.append([&](auto* p) { *p = Instance::from(instance)->physicalDevice().handle(); });
  return out.result();
}

VKAPI_ATTR VkResult VKAPI_CALL vkEnumeratePhysicalDeviceGroups(VkInstance instance, uint32_t* pPhysicalDeviceGroupCount,
                                                               VkPhysicalDeviceGroupProperties* pGroups) {
  ArrayOut<VkPhysicalDeviceGroupProperties> out(pPhysicalDeviceGroupCount, pGroups);
  out.append([&](auto* p) {
    p->physicalDeviceCount = 1;
    p->physicalDevices[0] = Instance::from(instance)->physicalDevice().handle();
    p->subsetAllocation = VK_FALSE;
  });
  return out.result();
}

}  // namespace pumice::icd
