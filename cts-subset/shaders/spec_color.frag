#version 450
layout(constant_id = 0) const uint kRed = 0u;
layout(location = 0) out vec4 target;
void main() { target = vec4(float(kRed) / 255.0, 0.0, 1.0, 1.0); }
