//! A PC with a serial line, from the 32-bit mode in which QEMU enters an image (PVH: a note has the address).

use core::arch::{asm, global_asm};
use core::fmt::{Arguments, Write};

global_asm!(
    ".section .note.pvh, \"a\", @note",
    ".long 4, 4, 18", // Lengths of name and description, XEN_ELFNOTE_PHYS32_ENTRY.
    ".asciz \"Xen\"",
    ".long start",
    ".code32",
    ".section .text.start, \"ax\"",
    ".globl start",
    "start:",
    "    mov dword ptr [tables], offset tables + 0x1003",
    "    mov dword ptr [tables + 0x1000], offset tables + 0x2003",
    "    mov dword ptr [tables + 0x2000], 0x83", // A page of 2 MiB: present, writable.
    "    mov dword ptr [tables + 0x2008], 0x200083",
    "    mov eax, cr4",
    "    or eax, 0x620", // PAE, OSFXSR, OSXMMEXCPT.
    "    mov cr4, eax",
    "    mov eax, offset tables",
    "    mov cr3, eax",
    "    mov ecx, 0xc0000080", // EFER: long mode.
    "    rdmsr",
    "    or eax, 0x100",
    "    wrmsr",
    "    mov eax, cr0",
    "    or eax, 0x80000000", // Paging.
    "    mov cr0, eax",
    "    lgdt [descriptors_place]",
    "    ljmp 8, offset long_mode",
    ".code64",
    "long_mode:",
    "    xor eax, eax",
    "    mov ds, eax",
    "    mov es, eax",
    "    mov ss, eax",
    "    mov esp, offset stack_end",
    "    call main",
    ".section .rodata.start, \"a\"",
    ".balign 8",
    "descriptors: .quad 0, 0x00af9b000000ffff", // 64-bit code.
    "descriptors_place:",
    "    .word . - descriptors - 1",
    "    .long descriptors",
    ".section .bss.start, \"aw\", @nobits",
    ".balign 4096",
    "tables: .skip 3 * 4096",
    ".skip 65536",
    "stack_end:",
    ".text",
);

const SERIAL_LINE: u16 = 0x3f8;
/// QEMU's device `isa-debug-exit`, and the port that turns a PC off.
const FAILURE: u16 = 0xf4;
const POWER: u16 = 0x604;

fn out_byte(port: u16, byte: u8) {
    // SAFETY: no port here changes memory.
    unsafe { asm!("out dx, al", in("dx") port, in("al") byte, options(nomem, nostack)) };
}

struct SerialLine;

impl Write for SerialLine {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        text.bytes().for_each(|byte| out_byte(SERIAL_LINE, byte));
        Ok(())
    }
}

pub fn print(line: Arguments) {
    let _ = writeln!(SerialLine, "{line}");
}

/// Writes the dump as text. `countersink extract` finds it among the other lines.
pub fn write_dump() {
    let write = |text: &[u8]| -> Result<(), ()> {
        text.iter().for_each(|&byte| out_byte(SERIAL_LINE, byte));
        Ok(())
    };
    countersink::bare::write_text(write).expect("a dump");
}

pub fn exit() -> ! {
    // SAFETY: as above.
    unsafe { asm!("out dx, ax", in("dx") POWER, in("ax") 0x2000u16, options(nomem, nostack)) };
    loop {}
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo) -> ! {
    print(format_args!("{info}"));
    out_byte(FAILURE, 0);
    loop {}
}
