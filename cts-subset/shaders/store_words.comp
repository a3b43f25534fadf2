#version 450
// Blocks of a compressed image as texels, and slices of a volume as 2D images.
layout(local_size_x = 8, local_size_y = 8) in;
layout(std430, binding = 0) readonly buffer In { uvec4 words[]; };
layout(binding = 1) uniform writeonly uimage2D image;
void main() {
  ivec2 size = imageSize(image);
  ivec2 at = ivec2(gl_GlobalInvocationID.xy);
  if (at.x >= size.x || at.y >= size.y) return;
  imageStore(image, at, words[at.y * size.x + at.x]);
}
