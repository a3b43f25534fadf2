#version 450
// Four targets, each with the channels in another order.
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 first;
layout(location = 1) out vec4 second;
layout(location = 2) out vec4 third;
layout(location = 3) out vec4 fourth;

void main() {
  first = color.rgba;
  second = color.gbar;
  third = color.barg;
  fourth = color.argb;
}
