// Cubes. Vulkan specification: "Cube Map Face Selection and Transformations", "Cube Map Edge Handling".

/// The component of v along s, t and the major axis of each lane's face.
struct FaceVector {
  F s, t, major;
};

PUMICE_INLINE FaceVector alongFace(I face, F x, F y, F z) {
  const I zMajor = face >= 4;
  const I yMajor = (face >= 2) & ~zMajor;
  const I negative = -(face & 1);
  FaceVector out;
  out.s = select(zMajor, select(negative, -x, x), select(yMajor, x, select(negative, z, -z)));
  out.t = select(yMajor, select(negative, -z, z), -y);
  const F axis = select(zMajor, z, select(yMajor, y, x));
  out.major = select(negative, -axis, axis);
  return out;
}

/// Ties go to z, then y.
PUMICE_INLINE I faceOf(F x, F y, F z) {
  const F ax = absolute(x);
  const F ay = absolute(y);
  const F az = absolute(z);
  const I zMajor = (az >= ax) & (az >= ay);
  const I yMajor = ~zMajor & (ay >= ax);
  const I negative = select(zMajor, z < 0.0f, select(yMajor, y < 0.0f, x < 0.0f));
  return select(zMajor, splat(4), select(yMajor, splat(2), splat(0))) - negative;
}

/// s or t of a face, in [0, 1].
PUMICE_INLINE F onFace(F along, F major) {
  return along / major * 0.5f + 0.5f;
}

/// How s or t moves when the direction moves: the derivative of onFace.
PUMICE_INLINE F derivativeOnFace(F along, F major, F dAlong, F dMajor) {
  return 0.5f * (major * dAlong - along * dMajor) / (major * major);
}

/// Texel (i, j) of a face, one beyond its edge at most, is one of the neighbouring face. With the cube's edges at
/// +-size and texel centres between them, a texel beyond the edge is folded over it: what stuck out along the face goes
/// down the major axis.
inline void foldOverEdge(int32_t& face, int32_t& i, int32_t& j, int32_t size) {
  int32_t s = 2 * i + 1 - size;
  int32_t t = 2 * j + 1 - size;
  int32_t major = size;
  if (i < 0 || i >= size) {
    s = s < 0 ? -size : size;
    major = size - 1;
  } else {
    t = t < 0 ? -size : size;
    major = size - 1;
  }
  const int32_t sign = (face & 1) != 0 ? -1 : 1;
  int32_t x;
  int32_t y;
  int32_t z;
  if (face < 2) {
    x = sign * major, y = -t, z = -sign * s;
  } else if (face < 4) {
    x = s, y = sign * major, z = sign * t;
  } else {
    x = sign * s, y = -t, z = sign * major;
  }
  if (x == size || x == -size) {
    const int32_t side = x < 0 ? -1 : 1;
    face = x < 0 ? 1 : 0, s = -side * z, t = -y;
  } else if (y == size || y == -size) {
    const int32_t side = y < 0 ? -1 : 1;
    face = y < 0 ? 3 : 2, s = x, t = side * z;
  } else {
    const int32_t side = z < 0 ? -1 : 1;
    face = z < 0 ? 5 : 4, s = side * x, t = -y;
  }
  i = (s + size - 1) / 2;
  j = (t + size - 1) / 2;
}
