package io.erdma.inventory;

import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/** Names of RDMA drivers. RDMA netlink tells a number, sysfs the driver of the bus device, which may be another. */
final class DriverNames {
    static final String ERDMA = "erdma";

    /** The erdma provider of rdma-core accepts kernel ABI 0 to this. */
    static final int NEWEST_ERDMA_ABI = 1;

    private static final String UNKNOWN = "unknown";

    // enum rdma_driver_id, and the kernel's name for each driver.
    private static final Map<Integer, String> BY_ID = Map.ofEntries(
            Map.entry(1, "mlx5_core"),
            Map.entry(2, "mlx4_core"),
            Map.entry(4, "cxgb4"),
            Map.entry(5, "ib_mthca"),
            Map.entry(6, "bnxt_re"),
            Map.entry(7, "ocrdma"),
            Map.entry(9, "irdma"),
            Map.entry(10, "vmw_pvrdma"),
            Map.entry(11, "qedr"),
            Map.entry(12, "hns"),
            Map.entry(13, "usnic_verbs"),
            Map.entry(14, "rdma_rxe"),
            Map.entry(15, "hfi1"),
            Map.entry(16, "ib_qib"),
            Map.entry(17, "efa"),
            Map.entry(18, "siw"),
            Map.entry(19, ERDMA),
            Map.entry(20, "mana"));

    // The software driver is called rdma_rxe as a module and rxe by those who make its devices.
    private static final Map<String, String> ALIASES = Map.of("rdma_rxe", "rxe");

    private DriverNames() {}

    /**
     * @param names receives every name the driver goes by
     * @return the one to show: the uverbs driver's where it is known, since a software device's bus device is that of
     *     its network card
     */
    static String resolve(OptionalInt driverId, Optional<String> busDriver, Set<String> names) {
        Optional<String> byId =
                driverId.isPresent() ? Optional.ofNullable(BY_ID.get(driverId.getAsInt())) : Optional.empty();
        byId.ifPresent(names::add);
        busDriver.ifPresent(names::add);
        for (String name : Set.copyOf(names)) {
            Optional.ofNullable(ALIASES.get(name)).ifPresent(names::add);
        }
        return byId.or(() -> busDriver).orElse(UNKNOWN);
    }
}
