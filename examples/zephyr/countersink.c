/* Registers all objects before anything counts, and writes dumps to the console. */
#include <zephyr/device.h>
#include <zephyr/drivers/uart.h>
#include <zephyr/init.h>
#include <zephyr/kernel.h>

#include <countersink.h>

extern const void *const countersink_infos[], *const countersink_infos_end[];

COUNTERSINK_NODES(CONFIG_COUNTERSINK_NODES);

static int register_objects(void)
{
    countersink_register(countersink_infos, countersink_infos_end);
    return 0;
}

SYS_INIT(register_objects, PRE_KERNEL_1, 0);

static int to_console(void *context, const void *bytes, size_t length)
{
    const struct device *console = DEVICE_DT_GET(DT_CHOSEN(zephyr_console));

    ARG_UNUSED(context);
    for (size_t i = 0; i < length; i++)
        uart_poll_out(console, ((const unsigned char *)bytes)[i]);
    return 0;
}

int countersink_dump(void);
int countersink_dump(void)
{
    return countersink_write_text(to_console, NULL);
}

#if CONFIG_COUNTERSINK_PERIOD > 0
static void dump_again(void *a, void *b, void *c)
{
    ARG_UNUSED(a), ARG_UNUSED(b), ARG_UNUSED(c);
    for (;;) {
        k_sleep(K_SECONDS(CONFIG_COUNTERSINK_PERIOD));
        countersink_dump();
    }
}

K_THREAD_DEFINE(countersink_thread, CONFIG_COUNTERSINK_STACK, dump_again, NULL, NULL, NULL,
                K_LOWEST_APPLICATION_THREAD_PRIO, 0, 0);
#endif
