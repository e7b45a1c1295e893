package io.erdma.cli;

import static java.util.Objects.requireNonNull;

import io.erdma.pods.ContainerName;
import io.erdma.pods.ContainerName.PodName;
import io.erdma.pods.Owner;
import io.erdma.pods.PodLogs;
import io.erdma.pods.PodNames;
import io.erdma.pods.ProcTree;
import io.erdma.pods.ProcessStatus;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;

/**
 * A process of a pod on this node, by which the pod's side can be seen.
 *
 * @param container as Kubernetes names it; absent where only the pod is known
 */
record PodProcess(long pid, String program, PodName pod, Optional<String> container, Map<String, String> environment) {
    /** What keeps a pod's namespaces open; it has nothing of the pod's image. */
    private static final String PAUSE = "pause";

    PodProcess {
        requireNonNull(program, "program is null");
        requireNonNull(pod, "pod is null");
        requireNonNull(container, "container is null");
        environment = Map.copyOf(environment);
    }

    String describe() {
        return "pod " + pod + container.map(name -> ", container " + name).orElse("") + ", process " + pid + " ("
                + program + ")";
    }

    /** What was found, or why nothing was. */
    sealed interface Search {
        record Found(PodProcess process) implements Search {}

        record NotFound(String why, String next) implements Search {}
    }

    /** Of its processes, the first that was granted an RDMA device, else the first. */
    static Search find(PodName pod, Path proc, Path logs) {
        ProcTree tree = new ProcTree(proc);
        PodNames names = new PodLogs(logs).read();
        if (names.problem().isPresent()) {
            return new Search.NotFound(names.problem().get(), "run this on the node of the pod, as root");
        }
        List<PodProcess> all = LongStream.of(
                        tree.pids().stream().mapToLong(Long::longValue).toArray())
                .mapToObj(pid -> of(pid, pod, tree, names, proc))
                .flatMap(Optional::stream)
                .toList();
        Optional<PodProcess> found = all.stream()
                .filter(process -> holdsDevice(process.pid(), proc))
                .findFirst()
                .or(() -> all.stream().findFirst());
        if (found.isPresent()) {
            return new Search.Found(found.get());
        }
        return names.pods().containsValue(pod)
                ? new Search.NotFound(
                        "no process of it can be seen" + (tree.seesAllProcesses() ? "" : " from this pid namespace"),
                        tree.seesAllProcesses()
                                ? "does it run? kubectl describe pod -n " + pod.namespace() + " " + pod.pod()
                                : "run this in the host's pid namespace (hostPID: true)")
                : new Search.NotFound(
                        "this node has no pod of that name",
                        "run this on its node: kubectl get pod -n " + pod.namespace() + " " + pod.pod() + " -o wide");
    }

    private static Optional<PodProcess> of(long pid, PodName pod, ProcTree tree, PodNames names, Path proc) {
        Optional<Owner> owner = tree.container(pid).map(names::owner).filter(one -> isOf(pod, one));
        Optional<ProcessStatus> status =
                tree.status(pid).filter(one -> !one.name().equals(PAUSE));
        return owner.isEmpty() || status.isEmpty()
                ? Optional.empty()
                : Optional.of(new PodProcess(
                        pid,
                        status.get().name(),
                        pod,
                        owner.get() instanceof Owner.Named(ContainerName name)
                                ? Optional.of(name.container())
                                : Optional.empty(),
                        environment(proc.resolve(Long.toString(pid)).resolve("environ"))));
    }

    private static boolean isOf(PodName pod, Owner owner) {
        return switch (owner) {
            case Owner.Named(ContainerName name) -> name.podName().equals(pod);
            case Owner.Unnamed unnamed -> unnamed.pod().filter(pod::equals).isPresent();
            case Owner.Host _ -> false;
        };
    }

    private static boolean holdsDevice(long pid, Path proc) {
        Path nodes = proc.resolve(Long.toString(pid)).resolve("root/dev/infiniband");
        return Files.isDirectory(nodes)
                && NodeFiles.names(nodes).orElse(List.of()).stream().anyMatch(name -> name.startsWith("uverbs"));
    }

    private static Map<String, String> environment(Path file) {
        Map<String, String> variables = new HashMap<>();
        for (String variable : NodeFiles.text(file).orElse("").split("\0", -1)) {
            int equals = variable.indexOf('=');
            if (equals > 0) {
                variables.put(variable.substring(0, equals), variable.substring(equals + 1));
            }
        }
        return variables;
    }
}
