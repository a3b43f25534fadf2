// Where and how sixteen lanes sample: everything but the level.

struct Site {
  const View* view;
  const Sampler* sampler;
  I lanes;              // those whose texels count
  uint32_t dimensions;  // that a filter spans: 1 to 3
  F position[3];        // of a cube: on the face
  I slice;              // array layer; of a cube: its face's
  I face;
  AddressMode address[3];
  bool normalized;
  bool seamless;  // a cube whose edges are filtered across
  bool hasOffset;
  bool compare;
  I offset[3];         // if hasOffset
  F reference;         // if compare
  uint32_t border[4];  // what texels outside are
};

PUMICE_INLINE I nearestLayer(F coordinate, uint32_t layers) {
  // The sum's unit in the last place is one: rounded to nearest even.
  const F clamped = clampFloat(coordinate, F{}, splat(static_cast<float>(layers - 1)));
  return truncate((clamped + 0x1.8p23f) - 0x1.8p23f);
}

/// Direction plus a step of an anisotropic filter, to face and position.
PUMICE_INLINE void aimAtFace(Site& site, F x, F y, F z, F cube) {
  const View& view = *site.view;
  site.face = faceOf(x, y, z);
  const FaceVector v = alongFace(site.face, x, y, z);
  site.position[0] = onFace(v.s, v.major);
  site.position[1] = onFace(v.t, v.major);
  site.slice = site.face;
  if (view.layers > 11) site.slice += nearestLayer(cube, view.layers / 6) * 6;
  site.slice = clampInt(site.slice, splat(0), splat(static_cast<int32_t>(view.layers - 1)));
}

PUMICE_INLINE Site makeSite(const abi::ImageCall& call, uint32_t lanes, const View& view, const Sampler& sampler) {
  Site site;
  site.view = &view;
  site.sampler = &sampler;
  site.lanes = maskOf(lanes);
  const bool cube = view.shape == abi::ViewShape::kCube;
  const bool volume = view.shape == abi::ViewShape::k3D;
  site.dimensions = volume ? 3 : view.shape == abi::ViewShape::k1D ? 1 : 2;
  site.normalized = (sampler.flags & abi::kSamplerUnnormalized) == 0;
  site.seamless = cube && (sampler.flags & abi::kSamplerSeamlessOff) == 0;
  site.face = I{};
  site.slice = I{};
  for (uint32_t d = 0; d < 3; ++d) {
    site.address[d] = site.seamless ? AddressMode::kClampToEdge : sampler.address[d];
    if (d < site.dimensions) site.position[d] = loadF(call.coordinate[d]);
  }
  if (site.dimensions == 1) site.position[1] = F{};  // gathering is two-dimensional always
  if (cube) {
    const F x = site.position[0];
    const F y = site.position[1];
    aimAtFace(site, x, y, loadF(call.coordinate[2]), loadF(call.coordinate[3]));
  } else if (!volume && view.layers > 1) {
    site.slice = nearestLayer(loadF(call.coordinate[site.dimensions]), view.layers);
  }
  site.hasOffset = (call.flags & abi::kImageOffset) != 0;
  for (uint32_t d = 0; site.hasOffset && d < 3; ++d) {
    // Offsets of shaders have eight bits; more would leave the range of modulo().
    site.offset[d] = d < site.dimensions ? clampInt(loadI(call.offset[d]), splat(-512), splat(511)) : I{};
  }
  site.compare = (call.flags & abi::kImageReference) != 0;
  if (site.compare) {
    site.reference = loadF(call.reference);
    if (view.format->normalized) site.reference = clampFloat(site.reference, F{}, splat(1.0f));
  }
  for (uint32_t c = 0; c < 4; ++c) {
    site.border[c] = view.format->present[c] ? sampler.borderColor[c] : view.format->outside[c];
  }
  return site;
}
