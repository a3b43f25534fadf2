#version 450
// What the subpass before has drawn, its components exchanged.
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput source;
layout(location = 0) out vec4 target;
void main() { target = subpassLoad(source).brga; }
