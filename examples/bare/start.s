/* From the 32-bit mode in which QEMU enters an ELF image (PVH: the address is in a
   note) to C in 64-bit mode: identity-mapped memory, a stack, SSE, and a thread
   pointer, through which gcc's indirect-call counting goes. */
        .section .note.pvh, "a", @note
        .long 4, 4, 18                  /* name and description, XEN_ELFNOTE_PHYS32_ENTRY */
        .asciz "Xen"
        .long start

        .code32
        .section .text.start, "ax"
        .globl start
start:
        /* One directory of 2 MiB pages: the first 1 GiB. */
        movl $tables + 0x1003, tables
        movl $tables + 0x2003, tables + 0x1000
        movl $tables + 0x2000, %edi
        movl $0x83, %eax                /* present, writable, large */
        movl $512, %ecx
1:      movl %eax, (%edi)
        addl $0x200000, %eax
        addl $8, %edi
        loop 1b

        movl %cr4, %eax
        orl $0x620, %eax                /* PAE, OSFXSR, OSXMMEXCPT */
        movl %eax, %cr4
        movl $tables, %eax
        movl %eax, %cr3
        movl $0xc0000080, %ecx          /* EFER: long mode */
        rdmsr
        orl $0x100, %eax
        wrmsr
        movl %cr0, %eax
        andl $~4, %eax                  /* no emulation of the FPU */
        orl $0x80000002, %eax           /* paging, monitor coprocessor */
        movl %eax, %cr0
        lgdt descriptors_pointer
        ljmp $8, $long_mode

        .code64
long_mode:
        xorl %eax, %eax
        movl %eax, %ds
        movl %eax, %es
        movl %eax, %ss
        movl $stack_end, %esp
        /* The thread-local block ends at the thread pointer, which points to itself. */
        movl $0xc0000100, %ecx          /* FS base */
        movl $thread_pointer, %eax
        xorl %edx, %edx
        wrmsr
        movq %rax, thread_pointer
        call run
2:      hlt
        jmp 2b

        .section .rodata
        .align 8
descriptors:
        .quad 0, 0x00af9b000000ffff     /* 64-bit code */
descriptors_pointer:
        .word . - descriptors - 1
        .long descriptors

        .bss
        .align 4096
tables: .skip 3 * 4096
stack:  .skip 16384
stack_end:

        .section .note.GNU-stack, "", @progbits
