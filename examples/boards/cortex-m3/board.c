/* A Cortex-M3 as QEMU's mps2-an385 has it, with a serial line of ARM's CMSDK. Not
 * instrumented itself: this runs before there is memory. */
#include <stdint.h>

#include "board.h"

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define UART_DATA REGISTER(0x40004000)
#define UART_STATE REGISTER(0x40004004)
#define UART_CONTROL REGISTER(0x40004008)
#define UART_DIVISOR REGISTER(0x40004010)
#define CLOCK_CONTROL REGISTER(0xe000e010)
#define CLOCK_PERIOD REGISTER(0xe000e014)
#define CLOCK_VALUE REGISTER(0xe000e018)
#define RESET_CONTROL REGISTER(0xe000ed0c)

extern uint32_t data_start[], data_end[], data_in_flash[], bss_start[], bss_end[], stack_end[];

void reset(void);

static void fault(void)
{
    say("fault\r\n");
    halt();
}

__attribute__((weak)) void tick(void)
{
}

__attribute__((section(".vectors"), used))
static void (*const vectors[16])(void) = {
    (void (*)(void))stack_end, reset, fault, fault, fault, fault, fault, [11] = fault, [15] = tick,
};

void reset(void)
{
    for (uint32_t *to = data_start, *from = data_in_flash; to < data_end;)
        *to++ = *from++;
    for (uint32_t *to = bss_start; to < bss_end;)
        *to++ = 0;
    UART_DIVISOR = 16;
    UART_CONTROL = 1;
    run();
    halt();
}

/* Where GCC's code asks for the thread pointer. It may change r0 and nothing else.
 * The thread's variables begin 8 bytes behind it. */
__asm__(".section .text.__aeabi_read_tp, \"ax\"\n"
        ".thumb_func\n"
        ".globl __aeabi_read_tp\n"
        "__aeabi_read_tp:\n"
        "        ldr r0, =thread_block - 8\n"
        "        bx lr\n"
        "        .ltorg\n"
        ".text\n");

int to_serial_line(void *context, const void *bytes, size_t length)
{
    (void)context;
    for (size_t i = 0; i < length; i++) {
        while (UART_STATE & 1)
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

/* The processor runs at 25 MHz. */
void start_ticks(void)
{
    CLOCK_PERIOD = 2500 - 1;
    CLOCK_VALUE = 0;
    CLOCK_CONTROL = 7;
}

void stop_ticks(void)
{
    CLOCK_CONTROL = 0;
}

/* Semihosting, as a debugger offers it and QEMU plays it: SYS_EXIT, end of program. */
void halt(void)
{
    register uint32_t call __asm__("r0") = 0x18, reason __asm__("r1") = 0x20026;
    __asm__ volatile("bkpt 0xab" : : "r"(call), "r"(reason) : "memory");
    for (;;)
        ;
}

void start_again(void)
{
    RESET_CONTROL = 0x05fa0004;
    for (;;)
        ;
}
