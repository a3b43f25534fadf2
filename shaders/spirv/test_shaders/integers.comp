#version 460
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x = 1) in;
layout(binding = 0) buffer O { uint o[]; };
layout(binding = 1) buffer I { int minusSeven; uint three; uint big; float f; uint zero; };
layout(binding = 2) buffer A { uint64_t wide; int64_t least; uint64_t spare; };
int n = 0;
void put(uint x) { o[n++] = x; }
void put(int x) { o[n++] = uint(x); }
void put(uint64_t x) { put(uint(x)); put(uint(x >> 32)); }
// minusSeven = -7, three = 3, big = 0x89abcdef, f = -3.75
void main() {
  put(minusSeven / int(three)); put(minusSeven % int(three)); put(big / three); put(big % three);
  put(big << three); put(big >> three); put(minusSeven >> 1); put(~big); put(-minusSeven); put(abs(minusSeven));
  put(sign(minusSeven)); put(min(minusSeven, 2)); put(max(big, 2u)); put(clamp(minusSeven, -5, 5)); put(clamp(big, 1u, 9u));
  put(bitfieldExtract(big, 8, 8)); put(bitfieldExtract(int(big), 24, 8)); put(bitfieldExtract(big, 0, 32));
  put(bitfieldExtract(int(big), 5, int(zero))); put(bitfieldInsert(big, 0x12u, 16, 8)); put(bitfieldInsert(big, three, 0, 32));
  put(bitfieldReverse(three)); put(bitCount(big)); put(findLSB(big << 4)); put(findLSB(zero)); put(findMSB(big)); put(findMSB(minusSeven));
  put(findMSB(zero));
  uint carry, lo, hi; int slo, shi;
  put(uaddCarry(big, big, carry)); put(carry); put(usubBorrow(three, big, carry)); put(carry);
  umulExtended(big, big, hi, lo); put(hi); put(lo); imulExtended(minusSeven, 3, shi, slo); put(shi); put(slo);
  put(packSnorm4x8(vec4(1, -1, 0.5, f))); put(packUnorm4x8(vec4(1, 0, 0.2, f))); put(packSnorm2x16(vec2(-1, 1)));
  put(packUnorm2x16(vec2(1, 0.5))); put(packHalf2x16(vec2(1.0, f)));
  put(floatBitsToUint(unpackSnorm4x8(0x7f81c080u).y)); put(floatBitsToUint(unpackUnorm4x8(0x000033ffu).y));
  put(floatBitsToUint(unpackHalf2x16(0xc3803c00u).y)); put(floatBitsToUint(unpackSnorm2x16(0x80007fffu).y));
  put(packUint2x32(uvec2(5, 6)));
  put(int(f)); put(uint(-f)); put(floatBitsToUint(float(big))); put(floatBitsToUint(float(minusSeven)));
  put(uint(uint8_t(big)) + uint(int8_t(big) < 0 ? 1000 : 0)); put(int(int16_t(big))); put(uint(uint16_t(three) * uint16_t(30000)));
  put(int(int8_t(minusSeven) / int8_t(2))); put(uint(float16_t(f) * float16_t(2) == float16_t(-7.5)));
  uint64_t q = uint64_t(big) * uint64_t(big); put(q); put(uint64_t(int64_t(minusSeven) * 10000000000L)); put(q / uint64_t(three));
  put(uint64_t(double(big) * 4.0lf)); put(q >> uint(36)); put(int64_t(minusSeven) < 0L ? 1u : 0u);
  put(uint(unpack32(q).x)); put(uint(pack32(u16vec2(uint16_t(1), uint16_t(2)))));
  put(atomicAdd(wide, 5ul)); put(uint64_t(atomicMin(least, -9L))); put(uint(atomicExchange(spare, 77ul))); put(uint(atomicCompSwap(spare, 77ul, 78ul)));
  atomicStore(wide, atomicLoad(wide, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelaxed) + 1ul, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelaxed);
  ivec4 v = ivec4(1, 2, 3, 4); v[int(three) - 1] = 30; put(v[three - 1u] + v[int(three)]); v.zw = v.wz; put(v.z);
  put((uvec3(big) & uvec3(15, 255, 4095)).z); bvec3 c = greaterThan(ivec3(minusSeven), ivec3(-8, -7, -6)); put(uint(c.x) + 2u * uint(c.y) + 4u * uint(not(c).z));
}
