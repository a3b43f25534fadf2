// The base of every Vulkan object: handle casts, creation and destruction with the application's allocator, debug name
// and private data.
//
//   class Buffer : public Object<Buffer, VkBuffer, VK_OBJECT_TYPE_BUFFER> {
//    public:
//     explicit Buffer(Device& device);            // cannot fail
//     VkResult init(const VkBufferCreateInfo&);   // may; the destructor then cleans up
//   };
//
// A handle is the object's address. Calls of one object are externally synchronised as the specification says; the
// debug name and private data alone have a lock (in object.cpp), because the specification lets any thread set them.
#pragma once

#include <vulkan/vk_icd.h>
#include <vulkan/vulkan_core.h>

#include <cassert>
#include <cstdint>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "icd/objects/host_allocator.h"

namespace pumice::icd {

struct ObjectExtra;

class ObjectBase {
 public:
  ObjectBase(const ObjectBase&) = delete;
  ObjectBase& operator=(const ObjectBase&) = delete;

  VkObjectType objectType() const { return type_; }

  /// The name given by VK_EXT_debug_utils, or "".
  std::string debugName() const;
  void setDebugName(const char* name);

  /// A slot is a number that no other slot of the process ever had, so that a stale value is never seen.
  uint64_t privateData(uint64_t slot) const;
  void setPrivateData(uint64_t slot, uint64_t value);

 protected:
  explicit ObjectBase(VkObjectType type) : type_(type) { set_loader_magic_value(&loader_); }
  ~ObjectBase() {
    if (extra_ != nullptr) [[unlikely]]
      dropExtra();
  }

 private:
  void dropExtra();

  // The loader writes its dispatch pointer here for dispatchable objects; it must come first.
  VK_LOADER_DATA loader_;
  VkObjectType type_;
  ObjectExtra* extra_ = nullptr;
};

/// `Base` is what classes that share a handle type have in common (pipeline.h).
template <typename Derived, typename HandleType, VkObjectType kTypeOfObject, typename Base = ObjectBase>
class Object : public Base {
 public:
  using Handle = HandleType;
  static constexpr VkObjectType kType = kTypeOfObject;

  static Derived* from(Handle handle) {
    Derived* self;
    if constexpr (std::is_pointer_v<Handle>) {
      self = reinterpret_cast<Derived*>(handle);
    } else {
      self = reinterpret_cast<Derived*>(static_cast<uintptr_t>(handle));
    }
    assert(self == nullptr || self->objectType() == kType);
    return self;
  }

  Handle handle() {
    auto* self = static_cast<Derived*>(this);
    if constexpr (std::is_pointer_v<Handle>) {
      return reinterpret_cast<Handle>(self);
    } else {
      return static_cast<Handle>(reinterpret_cast<uintptr_t>(self));
    }
  }

  /// Allocates, constructs with `owner` and initialises with `args`; on any failure nothing is left. `trailing_B` more
  /// bytes follow the object (see trailing()). std::bad_alloc passes through, to the trampoline.
  template <typename Owner, typename... Args>
  static VkResult create(const VkAllocationCallbacks* callbacks, VkSystemAllocationScope scope, size_t trailing_B,
                         Handle* out, Owner& owner, Args&&... args) {
    const HostAllocator host(callbacks);
    void* memory = host.allocate(sizeof(Derived) + trailing_B, alignof(Derived), scope);
    if (memory == nullptr) return VK_ERROR_OUT_OF_HOST_MEMORY;
    auto* self = new (memory) Derived(owner);
    Cleanup cleanup{self, host};
    const VkResult result = self->init(std::forward<Args>(args)...);
    if (result != VK_SUCCESS) return result;
    cleanup.self = nullptr;
    *out = self->handle();
    return VK_SUCCESS;
  }

  template <typename Owner, typename... Args>
  static VkResult create(const VkAllocationCallbacks* callbacks, Handle* out, Owner& owner, Args&&... args) {
    return create(callbacks, VK_SYSTEM_ALLOCATION_SCOPE_OBJECT, 0, out, owner, std::forward<Args>(args)...);
  }

  /// VK_NULL_HANDLE is allowed.
  static void destroy(Handle handle, const VkAllocationCallbacks* callbacks) {
    Derived* self = from(handle);
    if (self == nullptr) return;
    self->~Derived();
    HostAllocator(callbacks).free(self);
  }

 protected:
  Object() : Base(kType) {}

  /// The bytes behind the object that create() was asked for, aligned as the object is.
  std::byte* trailing() { return reinterpret_cast<std::byte*>(static_cast<Derived*>(this)) + sizeof(Derived); }

 private:
  struct Cleanup {
    Derived* self;
    HostAllocator host;
    ~Cleanup() {
      if (self == nullptr) return;
      self->~Derived();
      host.free(self);
    }
  };
};

}  // namespace pumice::icd
