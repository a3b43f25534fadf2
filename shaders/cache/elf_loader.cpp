#include "shaders/cache/elf_loader.h"

#include <elf.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace pumice::shader::cache {
namespace {

// Everything below reads through copies: the bytes need no alignment, and no offset is trusted.
class Loader {
 public:
  Loader(CodeArena& arena, std::span<const std::byte> elf) : arena_(arena), elf_(elf) {}

  LoadResult load(std::string_view entrySymbol);

 private:
  static constexpr uint64_t kNotPlaced = ~0ull;
  static constexpr uint64_t kMaxImage_B = 256u << 20;

  struct Section {
    Elf64_Shdr header;
    uint64_t offset = kNotPlaced;  // in the block
  };
  struct Failure {
    std::string message;
  };
  using Error = std::optional<Failure>;

  static Error fail(std::string message) { return Failure{std::move(message)}; }

  template <typename T>
  bool read(uint64_t offset, T& out) const {
    if (offset > elf_.size() || elf_.size() - offset < sizeof(T)) return false;
    std::memcpy(&out, elf_.data() + offset, sizeof(T));
    return true;
  }
  bool inFile(uint64_t offset, uint64_t size) const { return offset <= elf_.size() && elf_.size() - offset >= size; }

  Error readSections();
  Error place();
  Error readSymbols();
  Error applyRelocations();
  Error applyOne(const Section& target, const Elf64_Rela& rela);
  std::string_view nameAt(const Section& strings, uint32_t offset) const;

  CodeArena& arena_;
  std::span<const std::byte> elf_;
  std::vector<Section> sections_;
  std::vector<Elf64_Sym> symbols_;
  const Section* symbolNames_ = nullptr;
  std::vector<uint64_t> got_;  // symbols that need an address slot
  uint64_t gotOffset_ = 0;
  uint64_t imageBytes_ = 0;
  CodeBlock block_;
};

std::string_view Loader::nameAt(const Section& strings, uint32_t offset) const {
  if (offset >= strings.header.sh_size) return {};
  const char* first = reinterpret_cast<const char*>(elf_.data()) + strings.header.sh_offset + offset;
  const size_t room = strings.header.sh_size - offset;
  const void* end = std::memchr(first, 0, room);
  return end == nullptr ? std::string_view{}
                        : std::string_view(first, static_cast<size_t>(static_cast<const char*>(end) - first));
}

Loader::Error Loader::readSections() {
  Elf64_Ehdr h;
  if (!read(0, h)) return fail("shorter than an ELF header");
  if (std::memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64 ||
      h.e_ident[EI_DATA] != ELFDATA2LSB || h.e_type != ET_REL || h.e_machine != EM_X86_64) {
    return fail("no relocatable x86-64 ELF object");
  }
  if (h.e_shentsize != sizeof(Elf64_Shdr) || h.e_shnum == 0) return fail("bad section table");
  if (!inFile(h.e_shoff, uint64_t{h.e_shnum} * sizeof(Elf64_Shdr))) return fail("section table outside the file");
  sections_.resize(h.e_shnum);
  for (uint32_t i = 0; i < h.e_shnum; i++) {
    Elf64_Shdr& s = sections_[i].header;
    if (!read(h.e_shoff + uint64_t{i} * sizeof s, s)) return fail("section table outside the file");
    if (s.sh_type != SHT_NOBITS && s.sh_type != SHT_NULL && !inFile(s.sh_offset, s.sh_size)) {
      return fail("section outside the file");
    }
  }
  return std::nullopt;
}

Loader::Error Loader::place() {
  for (Section& s : sections_) {
    const Elf64_Shdr& h = s.header;
    if ((h.sh_flags & SHF_ALLOC) == 0 || h.sh_size == 0) continue;
    if ((h.sh_flags & (SHF_WRITE | SHF_TLS)) != 0) return fail("writable section");
    if (h.sh_type != SHT_PROGBITS && h.sh_type != SHT_NOBITS && h.sh_type != SHT_X86_64_UNWIND) {
      return fail("allocated section of an unknown type");
    }
    const uint64_t align = std::max<uint64_t>(h.sh_addralign, 1);
    if (!std::has_single_bit(align) || align > CodeArena::kAlign_B) return fail("bad section alignment");
    if (h.sh_size > kMaxImage_B) return fail("section too large");
    s.offset = (imageBytes_ + align - 1) & ~(align - 1);
    imageBytes_ = s.offset + h.sh_size;
    if (imageBytes_ > kMaxImage_B) return fail("object too large");
  }
  if (imageBytes_ == 0) return fail("nothing to load");
  return std::nullopt;
}

Loader::Error Loader::readSymbols() {
  for (const Section& s : sections_) {
    if (s.header.sh_type != SHT_SYMTAB) continue;
    if (symbolNames_ != nullptr) return fail("two symbol tables");
    if (s.header.sh_entsize != sizeof(Elf64_Sym) || s.header.sh_size % sizeof(Elf64_Sym) != 0 ||
        s.header.sh_size == 0) {
      return fail("bad symbol table");
    }
    if (s.header.sh_link >= sections_.size() || sections_[s.header.sh_link].header.sh_type != SHT_STRTAB) {
      return fail("symbol table without names");
    }
    symbolNames_ = &sections_[s.header.sh_link];
    symbols_.resize(s.header.sh_size / sizeof(Elf64_Sym));
    std::memcpy(static_cast<void*>(symbols_.data()), elf_.data() + s.header.sh_offset, s.header.sh_size);
  }
  if (symbolNames_ == nullptr) return fail("no symbol table");
  return std::nullopt;
}

Loader::Error Loader::applyOne(const Section& target, const Elf64_Rela& rela) {
  const uint64_t symbolIndex = ELF64_R_SYM(rela.r_info);
  if (symbolIndex >= symbols_.size()) return fail("relocation against a symbol that is not there");
  const Elf64_Sym& symbol = symbols_[symbolIndex];
  if (symbol.st_shndx == SHN_UNDEF) return fail("undefined symbol");
  if (symbol.st_shndx >= sections_.size() || sections_[symbol.st_shndx].offset == kNotPlaced) {
    return fail("symbol in a section that is not loaded");
  }
  const Section& home = sections_[symbol.st_shndx];
  if (symbol.st_value > home.header.sh_size) return fail("symbol outside its section");

  const uint64_t base = reinterpret_cast<uint64_t>(block_.exec);
  const uint64_t value = base + home.offset + symbol.st_value;
  const auto addend = static_cast<uint64_t>(rela.r_addend);
  const auto type = ELF64_R_TYPE(rela.r_info);
  const uint64_t width = type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : 4;
  if (rela.r_offset > target.header.sh_size || target.header.sh_size - rela.r_offset < width) {
    return fail("relocation outside its section");
  }
  const uint64_t place = base + target.offset + rela.r_offset;
  std::byte* at = block_.write + target.offset + rela.r_offset;

  uint64_t result = 0;
  switch (type) {
    case R_X86_64_64:
      result = value + addend;
      break;
    case R_X86_64_PC64:
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
      result = value + addend - place;
      break;
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX: {
      const auto slot = static_cast<uint64_t>(std::find(got_.begin(), got_.end(), symbolIndex) - got_.begin());
      const uint64_t slotOffset = gotOffset_ + slot * 8;
      std::memcpy(block_.write + slotOffset, &value, sizeof value);
      result = base + slotOffset + addend - place;
      break;
    }
    default:
      return fail("unknown relocation type " + std::to_string(type));
  }
  if (width == 4) {
    const auto narrow = static_cast<int32_t>(result);
    if (static_cast<uint64_t>(static_cast<int64_t>(narrow)) != result) return fail("relocation out of range");
    std::memcpy(at, &narrow, sizeof narrow);
  } else {
    std::memcpy(at, &result, sizeof result);
  }
  return std::nullopt;
}

Loader::Error Loader::applyRelocations() {
  for (const Section& s : sections_) {
    const Elf64_Shdr& h = s.header;
    if (h.sh_type == SHT_REL) return fail("relocations without addends");
    if (h.sh_type != SHT_RELA) continue;
    if (h.sh_info >= sections_.size()) return fail("relocations of a section that is not there");
    const Section& target = sections_[h.sh_info];
    if (target.offset == kNotPlaced) continue;  // debug information
    if (target.header.sh_type == SHT_NOBITS) return fail("relocations of an empty section");
    for (uint64_t i = 0; i < h.sh_size / sizeof(Elf64_Rela); i++) {
      Elf64_Rela rela;
      if (!read(h.sh_offset + i * sizeof rela, rela)) return fail("relocations outside the file");
      if (auto error = applyOne(target, rela)) return error;
    }
  }
  return std::nullopt;
}

LoadResult Loader::load(std::string_view entrySymbol) {
  LoadResult result;
  const auto failed = [&](Error error) {
    if (!error) return false;
    result.message = std::move(error->message);
    arena_.free(block_);
    return true;
  };
  if (failed(readSections()) || failed(place()) || failed(readSymbols())) return result;

  // One pointer for every symbol that is reached through the global offset table.
  for (const Section& s : sections_) {
    if (s.header.sh_type != SHT_RELA) continue;
    for (uint64_t i = 0; i < s.header.sh_size / sizeof(Elf64_Rela); i++) {
      Elf64_Rela rela;
      if (!read(s.header.sh_offset + i * sizeof rela, rela)) break;
      const auto type = ELF64_R_TYPE(rela.r_info);
      const uint64_t symbol = ELF64_R_SYM(rela.r_info);
      const bool viaTable = type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX || type == R_X86_64_REX_GOTPCRELX;
      if (viaTable && std::find(got_.begin(), got_.end(), symbol) == got_.end()) got_.push_back(symbol);
    }
  }
  gotOffset_ = (imageBytes_ + 7) & ~uint64_t{7};
  imageBytes_ = gotOffset_ + got_.size() * 8;

  block_ = arena_.allocate(imageBytes_);
  if (!block_) {
    result.status = LoadStatus::kOutOfHostMemory;
    result.message = "no memory for code";
    return result;
  }
  std::memset(block_.write, 0xcc, block_.size_B);  // int3 between sections
  for (const Section& s : sections_) {
    if (s.offset == kNotPlaced) continue;
    if (s.header.sh_type == SHT_NOBITS) {
      std::memset(block_.write + s.offset, 0, s.header.sh_size);
    } else {
      std::memcpy(block_.write + s.offset, elf_.data() + s.header.sh_offset, s.header.sh_size);
    }
  }
  if (failed(applyRelocations())) return result;

  for (const Elf64_Sym& symbol : symbols_) {
    if (ELF64_ST_BIND(symbol.st_info) != STB_GLOBAL || nameAt(*symbolNames_, symbol.st_name) != entrySymbol) continue;
    if (symbol.st_shndx >= sections_.size()) continue;
    const Section& home = sections_[symbol.st_shndx];
    if (home.offset == kNotPlaced || symbol.st_value >= home.header.sh_size) continue;
    if ((home.header.sh_flags & SHF_EXECINSTR) == 0) continue;
    result.status = LoadStatus::kOk;
    result.code = {block_, block_.exec + home.offset + symbol.st_value};
    return result;
  }
  failed(fail("no entry symbol"));
  return result;
}

}  // namespace

LoadResult loadObject(CodeArena& arena, std::span<const std::byte> elf, std::string_view entrySymbol) {
  try {
    return Loader(arena, elf).load(entrySymbol);
  } catch (const std::bad_alloc&) {
    LoadResult result;
    result.status = LoadStatus::kOutOfHostMemory;
    return result;
  }
}

}  // namespace pumice::shader::cache
