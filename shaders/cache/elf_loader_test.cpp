// Objects put together by hand: the loader needs no LLVM. (Real objects are loaded by the tests of code generation.)
#include "shaders/cache/elf_loader.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace pumice::shader::cache {
namespace {

// .text: mov eax, [rip + rodata]; add eax, [via the address table]; ret. .rodata: 40, 2.
struct ObjectBuilder {
  std::vector<unsigned char> text = {0x8b, 0x05, 0,    0, 0, 0,     // mov eax, [rip + d32]
                                     0x48, 0x8b, 0x0d, 0, 0, 0, 0,  // mov rcx, [rip + slot]
                                     0x03, 0x01,                    // add eax, [rcx]
                                     0xc3};
  std::vector<uint32_t> rodata = {40, 2};
  std::vector<Elf64_Rela> relocations = {{2, ELF64_R_INFO(2, R_X86_64_PC32), -4},
                                         {9, ELF64_R_INFO(3, R_X86_64_REX_GOTPCRELX), -4}};
  std::vector<Elf64_Sym> symbols = {
      {},
      {1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0, 16},
      {7, ELF64_ST_INFO(STB_LOCAL, STT_OBJECT), 0, 2, 0, 4},
      {9, ELF64_ST_INFO(STB_LOCAL, STT_OBJECT), 0, 2, 4, 4},
  };
  std::string names = std::string("\0entry\0a\0b\0", 11);
  uint64_t rodataFlags = SHF_ALLOC;

  std::vector<std::byte> build() const {
    std::vector<std::byte> out(sizeof(Elf64_Ehdr));
    std::vector<Elf64_Shdr> sections(6);
    const auto add = [&](size_t index, uint32_t type, uint64_t flags, const void* data, size_t size, uint64_t align) {
      while (out.size() % 8 != 0) out.push_back({});
      Elf64_Shdr& s = sections[index];
      s.sh_type = type;
      s.sh_flags = flags;
      s.sh_offset = out.size();
      s.sh_size = size;
      s.sh_addralign = align;
      const auto* bytes = static_cast<const std::byte*>(data);
      out.insert(out.end(), bytes, bytes + size);
    };
    add(1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, text.data(), text.size(), 16);
    add(2, SHT_PROGBITS, rodataFlags, rodata.data(), rodata.size() * 4, 64);
    add(3, SHT_RELA, 0, relocations.data(), relocations.size() * sizeof(Elf64_Rela), 8);
    sections[3].sh_info = 1;
    sections[3].sh_link = 4;
    sections[3].sh_entsize = sizeof(Elf64_Rela);
    add(4, SHT_SYMTAB, 0, symbols.data(), symbols.size() * sizeof(Elf64_Sym), 8);
    sections[4].sh_link = 5;
    sections[4].sh_entsize = sizeof(Elf64_Sym);
    add(5, SHT_STRTAB, 0, names.data(), names.size(), 1);
    while (out.size() % 8 != 0) out.push_back({});
    Elf64_Ehdr h{};
    std::memcpy(h.e_ident, ELFMAG, SELFMAG);
    h.e_ident[EI_CLASS] = ELFCLASS64;
    h.e_ident[EI_DATA] = ELFDATA2LSB;
    h.e_type = ET_REL;
    h.e_machine = EM_X86_64;
    h.e_shoff = out.size();
    h.e_shentsize = sizeof(Elf64_Shdr);
    h.e_shnum = static_cast<Elf64_Half>(sections.size());
    std::memcpy(out.data(), &h, sizeof h);
    const auto* table = reinterpret_cast<const std::byte*>(sections.data());
    out.insert(out.end(), table, table + sections.size() * sizeof(Elf64_Shdr));
    return out;
  }
};

int run(const LoadedCode& code) {
  return reinterpret_cast<int (*)()>(reinterpret_cast<uintptr_t>(code.entry))();
}

TEST(ElfLoader, LoadsAndRuns) {
  CodeArena arena;
  const LoadResult r = loadObject(arena, ObjectBuilder().build(), "entry");
  ASSERT_EQ(r.status, LoadStatus::kOk) << r.message;
  EXPECT_EQ(run(r.code), 42);
  arena.free(r.code.block);
  EXPECT_EQ(arena.usedBytes(), 0u);
}

TEST(ElfLoader, AbsoluteAddress) {
  CodeArena arena;
  ObjectBuilder o;
  // mov rcx, imm64; mov eax, [rcx]; ret
  o.text = {0x48, 0xb9, 0, 0, 0, 0, 0, 0, 0, 0, 0x8b, 0x01, 0xc3};
  o.relocations = {{2, ELF64_R_INFO(2, R_X86_64_64), 0}};
  const LoadResult r = loadObject(arena, o.build(), "entry");
  ASSERT_EQ(r.status, LoadStatus::kOk) << r.message;
  EXPECT_EQ(run(r.code), 40);
  arena.free(r.code.block);
}

void expectMalformed(const ObjectBuilder& o, const char* entry = "entry") {
  CodeArena arena;
  const LoadResult r = loadObject(arena, o.build(), entry);
  EXPECT_EQ(r.status, LoadStatus::kMalformed);
  EXPECT_FALSE(r.message.empty());
  EXPECT_EQ(arena.usedBytes(), 0u);
}

TEST(ElfLoader, RefusesWhatItDoesNotKnow) {
  expectMalformed(ObjectBuilder(), "other");
  ObjectBuilder undefined;
  undefined.symbols[2].st_shndx = SHN_UNDEF;
  expectMalformed(undefined);
  ObjectBuilder writable;
  writable.rodataFlags |= SHF_WRITE;
  expectMalformed(writable);
  ObjectBuilder strange;
  strange.relocations[0].r_info = ELF64_R_INFO(2, R_X86_64_TPOFF64);
  expectMalformed(strange);
  ObjectBuilder outside;
  outside.relocations[0].r_offset = 14;
  expectMalformed(outside);
  ObjectBuilder wrapped;
  wrapped.relocations[0].r_offset = ~0ull - 1;
  expectMalformed(wrapped);
  ObjectBuilder far;
  far.relocations[0].r_addend = int64_t{1} << 40;
  expectMalformed(far);
  ObjectBuilder symbol;
  symbol.relocations[0].r_info = ELF64_R_INFO(99, R_X86_64_PC32);
  expectMalformed(symbol);
}

TEST(ElfLoader, TruncatedAnywhere) {
  CodeArena arena;
  const std::vector<std::byte> whole = ObjectBuilder().build();
  for (size_t n = 0; n < whole.size(); n++) {
    const LoadResult r = loadObject(arena, std::span(whole).first(n), "entry");
    EXPECT_EQ(r.status, LoadStatus::kMalformed) << n;
  }
  EXPECT_EQ(arena.usedBytes(), 0u);
}

TEST(ElfLoader, DamagedAnywhere) {
  CodeArena arena;
  std::mt19937 random(7);
  const std::vector<std::byte> whole = ObjectBuilder().build();
  for (int round = 0; round < 30000; round++) {
    std::vector<std::byte> damaged = whole;
    const unsigned changes = 1 + random() % 4;
    for (unsigned i = 0; i < changes; i++) {
      static constexpr unsigned kValues[] = {0, 0xff, 0x7f, 0x80, 1};
      const unsigned v = random() % 2 == 0 ? random() & 0xff : kValues[random() % 5];
      damaged[random() % damaged.size()] = static_cast<std::byte>(v);
    }
    const LoadResult r = loadObject(arena, damaged, "entry");
    if (r.status == LoadStatus::kOk) arena.free(r.code.block);  // not run: the code itself may be damaged
  }
  EXPECT_EQ(arena.usedBytes(), 0u);
}

}  // namespace
}  // namespace pumice::shader::cache
