//! vulkan1.2
#version 450
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
// A token goes from writers to carriers to readers, a third of the workgroups each. A writer makes its number available;
// a carrier hands the token on and does nothing about the number; a reader makes visible, and must find the number.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) nonprivate buffer Chain { uint token, value, found, wrong; };

const int kAll = gl_SemanticsAcquireRelease;

void main() {
  const uint role = gl_WorkGroupID.x % 3u;
  for (int i = 0; i < 200; ++i) {
    if (role == 0u) {
      const uint t =
          atomicLoad(token, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible);
      // Nobody else hands on a token of this role: claimed by a token that no role knows.
      if (t % 4u != 0u || atomicCompSwap(token, t, t + 3u, gl_ScopeDevice, gl_StorageSemanticsBuffer, kAll, 0,
                                         gl_SemanticsAcquire) != t)
        continue;
      value = t / 4u * 7u + 1u;
      atomicStore(token, t + 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer,
                  gl_SemanticsRelease | gl_SemanticsMakeAvailable);
    } else if (role == 1u) {
      const uint t = atomicLoad(token, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire);
      if (t % 4u != 1u) continue;
      atomicCompSwap(token, t, t + 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, kAll, 0, gl_SemanticsAcquire);
    } else {
      const uint t =
          atomicLoad(token, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible);
      if (t % 4u != 2u) continue;
      const uint seen = value;
      if (atomicCompSwap(token, t, t + 2u, gl_ScopeDevice, gl_StorageSemanticsBuffer, kAll, 0, gl_SemanticsAcquire) != t)
        continue;  // another reader was first: the number may be a newer one
      atomicAdd(found, 1u);
      if (seen != t / 4u * 7u + 1u) atomicAdd(wrong, 1u);
    }
  }
}
