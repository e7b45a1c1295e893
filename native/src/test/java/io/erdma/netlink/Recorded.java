package io.erdma.netlink;

import io.erdma.sysfs.NodeFixture;
import java.util.ArrayList;
import java.util.List;

/** Messages of recordings. */
final class Recorded {
    static final String VETH = "veth-namespace";
    static final String ROUTED = "routed-namespace";

    private Recorded() {}

    /** All messages of a recording, with those that end or acknowledge. */
    static List<NetlinkMessage> messages(String node, String file) throws NetlinkFormatException {
        var messages = new ArrayList<NetlinkMessage>();
        for (byte[] datagram : NodeFixture.datagrams(node, file)) {
            messages.addAll(NetlinkMessage.split(datagram));
        }
        return messages;
    }

    /** The recording put together as the answer that it was. */
    static NetlinkAnswer<NetlinkMessage> answer(String node, String file, boolean dump) throws NetlinkFormatException {
        List<byte[]> datagrams = NodeFixture.datagrams(node, file);
        var answer = NetlinkAnswer.ofMessages(
                NetlinkMessage.split(datagrams.get(0)).get(0).sequence(), dump);
        boolean complete = false;
        for (byte[] datagram : datagrams) {
            complete = answer.accept(datagram);
        }
        if (!complete) {
            throw new IllegalStateException(node + "/" + file + " does not end");
        }
        return answer;
    }
}
