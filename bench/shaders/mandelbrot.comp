#version 450
layout(local_size_x = 16, local_size_y = 16) in;
layout(push_constant) uniform Push { uint width; uint height; uint limit; };
layout(std430, binding = 0) writeonly buffer Counts { uint counts[]; };

void main() {
  uvec2 p = gl_GlobalInvocationID.xy;
  if (p.x >= width || p.y >= height) return;
  vec2 c = vec2(p) / vec2(width, height) * vec2(3.0, 2.5) - vec2(2.25, 1.25);
  vec2 z = vec2(0.0);
  uint n = 0u;
  while (n < limit && dot(z, z) <= 4.0) {
    z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
    ++n;
  }
  counts[p.y * width + p.x] = n;
}
