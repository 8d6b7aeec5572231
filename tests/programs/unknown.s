/* Two function records of a version that nobody knows, as a compiler of the future might leave them: 88 bytes, with
 * the number and the distance of the counters at other places. */
    .macro record name
    .section __llvm_prf_cnts, "aw", @progbits
    .balign 8
counters_of_\name:
    .quad 5, 6
    .section __llvm_prf_data, "aw", @progbits
    .balign 8
record_of_\name:
    .quad 0x1111111111111111, 0x2222222222222222, 0x0000000100000002, 0x4444444444444444
    .quad 0x5555555555555555, counters_of_\name - record_of_\name, 0, 0, 0, 0, 0x9999999999999999
    .endm
    record first
    record second
    .section .note.GNU-stack, "", @progbits
