// SPDX-License-Identifier: GPL-2.0
/*
 * Stands in for the erdma driver in the lab, where there is no such card: one RDMA device that can be opened and asked,
 * and carries nothing. What the real one has in common with it: the module's name and its read-only parameter
 * compat_mode, the driver's name and number, and that an open device keeps the module from being unloaded.
 *
 * netdev: the interface beneath the device; as with the real one, it makes the GUID and, together with its carrier, the
 * port's state.
 * slow_ms: the device appears that long after the module is loaded.
 * With WITHOUT_MODES, there is no compat_mode, as in the kernel's own erdma.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/platform_device.h>
#include <linux/workqueue.h>
#include <net/addrconf.h>
#include <rdma/erdma-abi.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#ifdef WITHOUT_MODES
#define compat_mode false
#else
static bool compat_mode;
module_param(compat_mode, bool, 0444);
MODULE_PARM_DESC(compat_mode, "show the device as RoCE does");
#endif

static char *netdev = "eth2";
module_param(netdev, charp, 0444);
MODULE_PARM_DESC(netdev, "interface beneath the device");

static unsigned int slow_ms;
module_param(slow_ms, uint, 0444);
MODULE_PARM_DESC(slow_ms, "milliseconds until the device appears");

struct stand_in {
	struct ib_device ib;
	struct platform_device *card;
	struct delayed_work appear;
	bool registered;
};

struct stand_in_context {
	struct ib_ucontext ib;
};

/* What user space takes for the card's door bells. */
static struct page *doorbells;
static struct platform_device *card;
static struct stand_in *device;

static int query_device(struct ib_device *ib, struct ib_device_attr *attr, struct ib_udata *udata)
{
	attr->vendor_id = 0x1ded;
	attr->vendor_part_id = 0x107f;
	attr->max_qp = 1023;
	attr->max_cq = 2046;
	attr->max_mr = 2046;
	attr->max_pd = 131072;
	attr->sys_image_guid = ib->node_guid;
	return 0;
}

static int query_port(struct ib_device *ib, u32 port, struct ib_port_attr *attr)
{
	/* MTU and state are the core's, which asks the interface. */
	attr->gid_tbl_len = 1;
	attr->max_msg_sz = -1;
	attr->active_width = IB_WIDTH_4X;
	attr->active_speed = IB_SPEED_EDR;
	return 0;
}

static int get_port_immutable(struct ib_device *ib, u32 port, struct ib_port_immutable *immutable)
{
	immutable->core_cap_flags = RDMA_CORE_PORT_IWARP;
	immutable->gid_tbl_len = 1;
	return 0;
}

static enum rdma_link_layer get_link_layer(struct ib_device *ib, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static int query_gid(struct ib_device *ib, u32 port, int index, union ib_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	gid->raw[0] = 0x02;
	return 0;
}

static int alloc_ucontext(struct ib_ucontext *context, struct ib_udata *udata)
{
	struct erdma_uresp_alloc_ctx answer = {
		.sdb = 1 * PAGE_SIZE,
		.rdb = 2 * PAGE_SIZE,
		.cdb = 3 * PAGE_SIZE,
	};

	return ib_copy_to_udata(udata, &answer, min(sizeof(answer), udata->outlen));
}

static void dealloc_ucontext(struct ib_ucontext *context)
{
}

static int map_doorbells(struct ib_ucontext *context, struct vm_area_struct *vma)
{
	return vm_insert_page(vma, vma->vm_start, doorbells);
}

static const struct ib_device_ops operations = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_ERDMA,
	.uverbs_abi_ver = 1,
	.query_device = query_device,
	.query_port = query_port,
	.get_port_immutable = get_port_immutable,
	.get_link_layer = get_link_layer,
	.query_gid = query_gid,
	.alloc_ucontext = alloc_ucontext,
	.dealloc_ucontext = dealloc_ucontext,
	.mmap = map_doorbells,
	INIT_RDMA_OBJ_SIZE(ib_ucontext, stand_in_context, ib),
};

static void appear(struct work_struct *work)
{
	struct stand_in *one = container_of(to_delayed_work(work), struct stand_in, appear);
	int failure = ib_register_device(&one->ib, "erdma_%d", NULL);

	one->registered = failure == 0;
	if (failure)
		dev_err(&one->card->dev, "the device cannot be registered: %d\n", failure);
}

static int bind(struct stand_in *one)
{
	struct net_device *found = dev_get_by_name(&init_net, netdev);
	u8 guid[8];
	int failure;

	if (!found)
		return -ENODEV;
	addrconf_addr_eui48(guid, found->dev_addr);
	memcpy(&one->ib.node_guid, guid, sizeof(guid));
	failure = ib_device_set_netdev(&one->ib, found, 1);
	dev_put(found);
	return failure;
}

static int probe(struct platform_device *pdev)
{
	struct stand_in *one = ib_alloc_device(stand_in, ib);
	int failure;

	if (!one)
		return -ENOMEM;
	one->card = pdev;
	one->ib.node_type = compat_mode ? RDMA_NODE_IB_CA : RDMA_NODE_RNIC;
	one->ib.phys_port_cnt = 1;
	one->ib.num_comp_vectors = 1;
	one->ib.dev.parent = &pdev->dev;
	strscpy(one->ib.node_desc, "erdma stand-in", sizeof(one->ib.node_desc));
	ib_set_device_ops(&one->ib, &operations);
	failure = bind(one);
	if (failure) {
		ib_dealloc_device(&one->ib);
		return failure;
	}
	INIT_DELAYED_WORK(&one->appear, appear);
	device = one;
	if (slow_ms)
		schedule_delayed_work(&one->appear, msecs_to_jiffies(slow_ms));
	else
		appear(&one->appear.work);
	return 0;
}

static int vanish(struct platform_device *pdev)
{
	cancel_delayed_work_sync(&device->appear);
	if (device->registered)
		ib_unregister_device(&device->ib);
	ib_dealloc_device(&device->ib);
	return 0;
}

static struct platform_driver driver = {
	.driver = { .name = "erdma" },
	.probe = probe,
	.remove = vanish,
};

static int __init stand_in_init(void)
{
	int failure;

	doorbells = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!doorbells)
		return -ENOMEM;
	failure = platform_driver_register(&driver);
	if (failure)
		goto free;
	card = platform_device_register_simple("erdma", PLATFORM_DEVID_NONE, NULL, 0);
	if (!IS_ERR(card))
		return 0;
	failure = PTR_ERR(card);
	platform_driver_unregister(&driver);
free:
	__free_page(doorbells);
	return failure;
}

static void __exit stand_in_exit(void)
{
	platform_device_unregister(card);
	platform_driver_unregister(&driver);
	__free_page(doorbells);
}

module_init(stand_in_init);
module_exit(stand_in_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("stand-in for the erdma driver, for tests");
