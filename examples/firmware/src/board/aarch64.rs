//! The start of a 64-bit ARM processor.

core::arch::global_asm!(
    ".section .text.start, \"ax\"",
    ".globl start",
    "start:",
    "    mov x0, #(3 << 20)", // No trap for floating point.
    "    msr cpacr_el1, x0",
    "    isb",
    "    ldr x0, =stack_end",
    "    mov sp, x0",
    "    bl main",
    ".section .bss.stack, \"aw\", @nobits",
    ".balign 16",
    ".skip 65536",
    "stack_end:",
    ".text",
);
