#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 1) in;
layout(buffer_reference) buffer Node;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Node { Node next; int value; int pad; vec2 v[2]; };
layout(binding = 0) buffer O { int o[]; };
layout(push_constant) uniform P { Node head; int count; } p;
void main() {
  Node n = p.head;
  int i = 0;
  while (uint64_t(n) != 0ul) {
    o[i++] = n.value;
    n = n.next;
  }
  Node second = p.head + 1;
  o[i++] = second.value;
  o[i++] = int(p.head[p.count].v[1].y);
  uvec2 bits = uvec2(p.head);
  Node again = Node(bits);
  o[i++] = again.value;
  again.v[p.count - 1].x = 4.5;
  o[i++] = atomicAdd(p.head.value, 100);
}
