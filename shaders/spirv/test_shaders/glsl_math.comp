#version 460
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 1) in;
layout(binding = 0) buffer O { float o[]; };
layout(binding = 1) buffer I { vec4 a, b; float zero; float two; int minusSeven; uint word; };
int n = 0;
void put(float x) { o[n++] = x; }
void put(vec2 v) { put(v.x); put(v.y); }
void put(vec3 v) { put(v.xy); put(v.z); }
void put(vec4 v) { put(v.xyz); put(v.w); }
// a = (1.5, -2.5, 3, -0.25), b = (2, 4, -1, 0.5)
void main() {
  put(round(a.y)); put(trunc(a.y)); put(abs(a.y)); put(sign(a.y)); put(sign(zero)); put(floor(a.w)); put(ceil(a.w));
  put(fract(a.w));
  put(min(a, b)); put(max(a, b)); put(clamp(a.x, b.z, 1.0)); put(mix(a.x, a.y, 0.5)); put(step(a.y, a.x));
  put(smoothstep(0.0, two, 1.0)); put(fma(a.x, b.x, b.y));
  put(length(vec2(3.0 * a.x, 3.0 * two) / 1.5)); put(distance(a.xyz, a.xyz + vec3(0, 3, 4))); put(length(a.y));
  put(cross(a.xyz, b.xyz)); put(dot(a, b));
  put(normalize(vec3(0, 0, a.y))); put(faceforward(a.xy, a.xy, b.xy)); put(reflect(a.xy, vec2(0, 1)));
  put(refract(vec2(0, -1) * a.x / 1.5, vec2(0, 1), 0.5)); put(refract(vec2(0.8, -0.6), vec2(0, 1), two * 2));
  float whole; put(modf(a.y, whole)); put(whole);
  int e; put(frexp(a.z * 4.0, e)); put(e); put(ldexp(a.x, -minusSeven));
  put(a.y - b.x * floor(a.y / b.x)); put(mod(a.y, b.x));
  put(degrees(3.14159265358979 * a.x)); put(radians(180.0 * b.w));
  mat2 m2 = mat2(a.x, b.x, b.y, a.z); put(determinant(m2)); m2 = inverse(m2) * m2; put(m2[0]); put(m2[1]);
  mat3 m3 = mat3(2, 0, 0, 0, 4, 0, a.x, 0, 1); put(determinant(m3)); m3 = inverse(m3); put(m3[0]); put(m3[1]); put(m3[2]);
  mat4 m4 = mat4(2.0); m4[3] = vec4(a.xyz, 1); put(determinant(m4)); put((inverse(m4) * vec4(a.xyz, 1)));
  mat2x3 wide = mat2x3(1, 2, 3, 4, 5, 6); put(wide * a.xy); put(a.xyz * wide); put(transpose(wide)[2]);
  put((wide * mat3x2(1, 0, 0, 1, 1, 1))[2]); put(outerProduct(a.xy, b.xyz)[1]); put((wide * 2.0)[1]); put((-wide)[1].x);
  put(exp2(a.z)); put(log2(8.0 * two)); put(sqrt(b.y)); put(inversesqrt(b.y)); put(pow(b.x, a.z)); put(sin(zero));
  put(isnan(zero / zero) ? 1 : 0); put(isinf(a.x / zero) ? 1 : 0);
  put(any(lessThan(a, b)) ? 1 : 0); put(all(lessThan(a, b)) ? 1 : 0);
}
