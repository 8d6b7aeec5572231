/* 32-bit RISC-V as QEMU's virt machine has it, with a 16550 as its serial line. Not
 * instrumented itself: this runs before there is memory. */
#include <stdint.h>

#include "board.h"

#define BYTE(address) (*(volatile uint8_t *)(address))
#define WORD(address) (*(volatile uint32_t *)(address))
#define UART_DATA BYTE(0x10000000)
#define UART_STATE BYTE(0x10000005)
#define FINISHER WORD(0x100000)
#define NEXT_TICK_LOW WORD(0x2004000)
#define NEXT_TICK_HIGH WORD(0x2004004)
#define CLOCK_LOW WORD(0x200bff8)

extern uint32_t data_start[], data_end[], data_in_flash[], bss_start[], bss_end[];

/* A stack, the pointer to small data, and the thread pointer. */
__asm__(".section .text.start, \"ax\"\n"
        ".globl start\n"
        "start:  la sp, stack_end\n"
        "        .option push\n"
        "        .option norelax\n"
        "        la gp, __global_pointer$\n"
        "        .option pop\n"
        "        la tp, thread_block\n"
        "        la t0, trap\n"
        "        csrw mtvec, t0\n"
        "        j reset\n"
        ".text\n");

void reset(void);
void trap(void);

__attribute__((weak)) void tick(void)
{
}

/* Ten million counts a second. The lowest 32 bits last for seven minutes. */
static void set_next_tick(void)
{
    NEXT_TICK_LOW = CLOCK_LOW + 1000;
    NEXT_TICK_HIGH = 0;
}

__attribute__((interrupt("machine"), aligned(4))) void trap(void)
{
    uint32_t cause;
    __asm__ volatile("csrr %0, mcause" : "=r"(cause));
    if (cause != 0x80000007) {
        say("fault\r\n");
        halt();
    }
    set_next_tick();
    tick();
}

void reset(void)
{
    for (uint32_t *to = data_start, *from = data_in_flash; to < data_end;)
        *to++ = *from++;
    for (uint32_t *to = bss_start; to < bss_end;)
        *to++ = 0;
    run();
    halt();
}

int to_serial_line(void *context, const void *bytes, size_t length)
{
    (void)context;
    for (size_t i = 0; i < length; i++) {
        while (!(UART_STATE & 0x20))
            ;
        UART_DATA = ((const unsigned char *)bytes)[i];
    }
    return 0;
}

void say(const char *text)
{
    size_t length = 0;
    while (text[length])
        length++;
    to_serial_line(NULL, text, length);
}

void start_ticks(void)
{
    set_next_tick();
    __asm__ volatile("csrs mie, %0" : : "r"(0x80));
    __asm__ volatile("csrs mstatus, %0" : : "r"(8));
}

void stop_ticks(void)
{
    __asm__ volatile("csrc mstatus, %0" : : "r"(8));
}

void halt(void)
{
    FINISHER = 0x5555;
    for (;;)
        ;
}

void start_again(void)
{
    stop_ticks();
    FINISHER = 0x7777;
    for (;;)
        ;
}
