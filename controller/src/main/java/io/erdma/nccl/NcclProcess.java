package io.erdma.nccl;

import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What the lines of one process say. Mostly it is one rank; with several GPUs in one process it is several, which share
 * its network.
 *
 * @param ranks in its largest communicator, ascending; empty when no line tells
 * @param ranksInJob size of that communicator, 0 when no line tells
 * @param networks by their names in {@code Using network …}: "IB", "Socket" or a plugin's
 * @param devices of the {@code NET/IB : Using} line
 * @param noDevice whether NCCL said that it found none
 * @param noNetwork whether NCCL gave up for want of a network
 * @param routes what its channels go through
 * @param gdrHca whether NCCL calls GPUDirect enabled for the device; absent when it doesn't say
 * @param signs of failures
 */
public record NcclProcess(
        String host,
        int pid,
        List<Integer> ranks,
        int ranksInJob,
        Set<String> networks,
        List<IbDevice> devices,
        boolean noDevice,
        boolean noNetwork,
        Routes routes,
        Optional<Boolean> gdrHca,
        Set<Sign> signs,
        Proofs proofs) {
    /**
     * What the channels of a process go through.
     *
     * @param ib over NCCL's verbs transport
     * @param ibIndexes the devices' indexes, bit by bit; those above 63 are left out
     * @param gdr some with GPUDirect
     * @param staged some over verbs without GPUDirect
     * @param local between GPUs of one host
     */
    public record Routes(boolean ib, long ibIndexes, boolean gdr, boolean staged, boolean socket, boolean local) {}

    /** The first line for each thing said. */
    public record Proofs(
            Optional<Evidence> devices,
            Optional<Evidence> network,
            Optional<Evidence> noDevice,
            Optional<Evidence> noNetwork,
            Optional<Evidence> ibChannel,
            Optional<Evidence> socketChannel) {}

    public NcclProcess {
        ranks = List.copyOf(ranks);
        networks = Set.copyOf(networks);
        devices = List.copyOf(devices);
        signs = Set.copyOf(signs);
    }

    boolean has(Sign sign) {
        return signs.contains(sign);
    }
}
