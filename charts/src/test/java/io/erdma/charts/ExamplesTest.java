package io.erdma.charts;

import static org.assertj.core.api.Assertions.assertThat;

import io.erdma.nccl.Expectation;
import io.erdma.nccl.VariableRules;
import io.erdma.nccl.VariableRules.Judgement;
import io.erdma.nccl.VariableRules.Kind;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The examples ask for what they need, and say what is so. */
class ExamplesTest {
    private static final Path EXAMPLES = Golden.PROJECT.resolve("examples");
    private static final String DEVICE = "aliyun/erdma";
    private static final Chart CHART = Chart.of(Golden.PROJECT);

    /** What the training operator and the MPI operator know, as far as the examples go. */
    private static final Set<String> RUN_POLICY = Set.of("cleanPodPolicy", "backoffLimit", "ttlSecondsAfterFinished");

    private static final Set<String> REPLICA = Set.of("replicas", "restartPolicy", "template");

    /** Of {@code arena submit pytorch}. */
    private static final Set<String> ARENA = Set.of(
            "name",
            "namespace",
            "workers",
            "gpus",
            "device",
            "nproc-per-node",
            "env",
            "clean-task-policy",
            "share-memory",
            "working-dir",
            "image");

    // ---- jobs ----

    @ParameterizedTest
    @ValueSource(strings = {"mnist/pytorchjob.yaml", "mnist/pytorchjob-all-devices.yaml"})
    void pyTorchJobsAreThoseThatTheOperatorKnows(String file) throws IOException {
        Map<String, Object> job = Models.tree(read(file));

        assertThat(job).containsEntry("apiVersion", "kubeflow.org/v1").containsEntry("kind", "PyTorchJob");
        Map<String, Object> spec = map(job, "spec");
        assertThat(spec).containsOnlyKeys("runPolicy", "pytorchReplicaSpecs");
        assertThat(RUN_POLICY).containsAll(map(spec, "runPolicy").keySet());
        Map<String, Object> replicas = map(spec, "pytorchReplicaSpecs");
        assertThat(replicas).containsOnlyKeys("Master", "Worker");
        assertThat(map(replicas, "Master")).containsEntry("replicas", 1);
        int nodes = 0;
        for (String role : replicas.keySet()) {
            nodes += (int) map(replicas, role).get("replicas");
            Container container = training(map(replicas, role));
            assertThat(container.getName()).isEqualTo("pytorch");
            String gpus =
                    container.getResources().getLimits().get("nvidia.com/gpu").getAmount();
            assertThat(container.getCommand()).contains("--nproc_per_node=" + gpus);
        }
        assertThat(nodes).isEqualTo(2);
        assertThat(training(map(replicas, "Master")).getCommand()).contains("--nnodes=" + nodes);
    }

    @Test
    void theMpiJobIsOneThatTheOperatorKnows() throws IOException {
        Map<String, Object> job = Models.tree(read("mnist/mpijob.yaml"));

        assertThat(job).containsEntry("apiVersion", "kubeflow.org/v2beta1").containsEntry("kind", "MPIJob");
        Map<String, Object> spec = map(job, "spec");
        assertThat(spec).containsOnlyKeys("slotsPerWorker", "runPolicy", "mpiReplicaSpecs");
        assertThat(RUN_POLICY).containsAll(map(spec, "runPolicy").keySet());
        Map<String, Object> replicas = map(spec, "mpiReplicaSpecs");
        assertThat(replicas).containsOnlyKeys("Launcher", "Worker");
        assertThat(map(replicas, "Worker")).containsEntry("replicas", 2);
        training(map(replicas, "Worker"));
        Container launcher =
                template(map(replicas, "Launcher")).getSpec().getContainers().getFirst();
        // A launcher that held one would keep a share, and need a node with a device.
        assertThat(launcher.getResources()).isNull();
        assertThat(launcher.getArgs().getFirst()).contains("mpirun", "-np 2", "-x MASTER_ADDR");
    }

    @Test
    void theAllDevicesJobGoesWithItsValues() throws IOException {
        List<HasMetadata> objects =
                Models.read(CHART.installed(Chart.Request.DEFAULTS.with(EXAMPLES.resolve("all-devices.values.yaml"))));

        assertThat(Models.one(objects, ConfigMap.class).getData().get("config.yaml"))
                .contains("allocateAllDevices: true");
        // One share: with more of them a pod would be bound by what is left on the node, for nothing.
        Map<String, Object> replicas =
                map(map(Models.tree(read("mnist/pytorchjob-all-devices.yaml")), "spec"), "pytorchReplicaSpecs");
        assertThat(training(map(replicas, "Worker")).getResources().getLimits())
                .containsEntry(DEVICE, new Quantity("1"));
    }

    @Test
    void perftestMeasuresBetweenTwoNodes() throws IOException {
        List<HasMetadata> objects = Models.read(read("perftest/pair.yaml"));

        Service service = Models.one(objects, Service.class);
        List<Pod> pods = Models.all(objects, Pod.class);
        assertThat(pods).hasSize(2);
        for (Pod pod : pods) {
            assertThat(asksForDevice(pod.getSpec().getContainers().getFirst())).isTrue();
        }
        Pod server = pods.getFirst();
        Pod client = pods.getLast();
        assertThat(server.getMetadata().getLabels())
                .containsAllEntriesOf(service.getSpec().getSelector());
        assertThat(client.getSpec().getContainers().getFirst().getCommand())
                .startsWith(
                        server.getSpec().getContainers().getFirst().getCommand().toArray(String[]::new))
                .endsWith(service.getMetadata().getName());
        assertThat(spreads(client.getSpec(), server.getMetadata().getLabels())).isTrue();
    }

    // ---- NCCL's variables ----

    @Test
    void productionSettingsAreSafeInProduction() throws IOException {
        Map<String, String> variables = data("nccl/production.yaml");

        assertThat(variables).doesNotContainKeys("NCCL_IB_GID_INDEX", "NCCL_DEBUG");
        variables.forEach((name, value) -> {
            Judgement judgement = VariableRules.judge(name, value, Expectation.none());
            assertThat(judgement.kind()).as(name).isEqualTo(Kind.SYSTEM);
            assertThat(judgement.severity())
                    .as("%s=%s: %s", name, value, judgement.meaning())
                    .isEmpty();
        });
        assertThat(Integer.parseInt(variables.get("NCCL_IB_RETRY_CNT"))).isBetween(0, 7);
    }

    @Test
    void debuggingSettingsStandApartAndAreThoseThatTheCheckNeeds() throws IOException {
        assertThat(data("nccl/debugging.yaml"))
                .containsOnlyKeys("NCCL_DEBUG", "NCCL_DEBUG_SUBSYS")
                .containsEntry("NCCL_DEBUG", "INFO");
        assertThat(data("nccl/debugging.yaml").get("NCCL_DEBUG_SUBSYS").split(",", -1))
                .contains("INIT", "NET", "ENV");
    }

    // ---- Arena ----

    @Test
    void arenaGetsTheSameAsTheManifest() throws IOException {
        String script = read("mnist/arena.sh");
        List<MatchResult> flags = Pattern.compile("(?m)^ {4}--([a-z-]+)=(\\S+) \\\\$")
                .matcher(script)
                .results()
                .toList();

        assertThat(flags).extracting(flag -> flag.group(1)).allMatch(ARENA::contains);
        Map<String, String> environment = new TreeMap<>();
        Map<String, String> values = new HashMap<>();
        flags.forEach(flag -> {
            if (flag.group(1).equals("env")) {
                String[] parts = flag.group(2).split("=", 2);
                environment.put(parts[0], parts[1]);
            } else {
                values.put(flag.group(1), flag.group(2));
            }
        });
        assertThat(environment).isEqualTo(new TreeMap<>(data("nccl/production.yaml")));
        // The master is one of the workers.
        assertThat(values)
                .containsEntry("workers", "2")
                .containsEntry("gpus", "1")
                .containsEntry("device", DEVICE + "=1");
    }

    @Test
    void arenasScriptIsOneForTheShell() throws IOException, InterruptedException {
        Process shell = new ProcessBuilder(
                        "sh", "-n", EXAMPLES.resolve("mnist/arena.sh").toString())
                .redirectErrorStream(true)
                .start();

        assertThat(new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .isEmpty();
        assertThat(shell.waitFor()).isZero();
        assertThat(Files.isExecutable(EXAMPLES.resolve("mnist/arena.sh"))).isTrue();
    }

    // ---- the image ----

    @Test
    void theImageHasWhatNcclLoadsAndItsBuildChecksThat() throws IOException {
        String dockerfile = read("image/Dockerfile");

        assertThat(dockerfile)
                .contains("libibverbs1", "ibverbs-providers", "librdmacm1", "ibverbs-utils", "perftest")
                .contains("ls /usr/lib/*/libibverbs/liberdma-rdmav*.so")
                .doesNotContain("--mount", "<<");
        List<String> copied = Pattern.compile("(?m)^COPY (\\S+) \\S+$")
                .matcher(dockerfile)
                .results()
                .map(match -> match.group(1))
                .toList();
        assertThat(copied).isNotEmpty().allMatch(path -> Files.exists(EXAMPLES.resolve(path)));
        // Where the jobs look for it.
        assertThat(dockerfile).contains("/root/code/mnist/train.py");
    }

    // ---- the page ----

    @Test
    void thePageNamesEachExampleAndHowToStartAndVerifyIt() throws IOException {
        String page = read("README.md");
        String verify = page.substring(page.indexOf("<!-- verify -->"), page.indexOf("## Does the pod"));

        try (Stream<Path> files = Files.walk(EXAMPLES)) {
            List<String> names = files.filter(Files::isRegularFile)
                    .map(file -> EXAMPLES.relativize(file).toString())
                    .filter(name -> !name.equals("README.md") && !name.endsWith(".py"))
                    .toList();
            assertThat(names)
                    .hasSizeGreaterThan(7)
                    .allSatisfy(name -> assertThat(page).contains("](" + name + ")"));
        }
        for (String job :
                List.of("mnist-master-0", "mnist-mpi", "mnist-arena", "mnist-all-devices", "perftest-client")) {
            assertThat(verify).contains(job);
        }
        Pattern.compile("(?:-f |\\n)(examples/[\\w./-]+)")
                .matcher(page)
                .results()
                .map(match -> match.group(1))
                .forEach(path -> assertThat(Golden.PROJECT.resolve(path)).exists());
    }

    @Test
    void thePagesCommandsNameWhatTheChartMakes() throws IOException {
        String page = read("README.md");
        DaemonSet set = Models.one(Models.read(CHART.installed(Chart.Request.DEFAULTS)), DaemonSet.class);
        Container agent = set.getSpec().getTemplate().getSpec().getContainers().getFirst();

        assertThat(page)
                .contains("-n " + set.getMetadata().getNamespace() + " exec")
                .contains("daemonset/" + set.getMetadata().getName() + " --")
                .contains("--image=" + agent.getImage());
        assertThat(set.getSpec().getTemplate().getMetadata().getLabels())
                .containsEntry("app.kubernetes.io/component", "agent");
        Pattern.compile("daemonset/([\\w-]+)")
                .matcher(page)
                .results()
                .forEach(match ->
                        assertThat(match.group(1)).isEqualTo(set.getMetadata().getName()));
    }

    // ---- parts ----

    /** A replica that computes: its only container, checked for all that every one of them needs. */
    private static Container training(Map<String, Object> replica) throws IOException {
        assertThat(REPLICA).containsAll(replica.keySet());
        PodTemplateSpec template = template(replica);
        Container container = template.getSpec().getContainers().getFirst();
        assertThat(asksForDevice(container)).as(container.getName()).isTrue();
        assertThat(spreads(template.getSpec(), template.getMetadata().getLabels()))
                .isTrue();
        assertThat(container.getSecurityContext().getCapabilities().getAdd()).contains("IPC_LOCK");
        assertThat(container.getVolumeMounts())
                .anyMatch(mount -> mount.getMountPath().equals("/dev/shm"));
        if (container.getName().equals("pytorch")) {
            takesTheVariables(container);
        }
        return container;
    }

    private static void takesTheVariables(Container container) throws IOException {
        assertThat(container.getEnvFrom())
                .extracting(source -> source.getConfigMapRef().getName())
                .containsExactly(name("nccl/production.yaml"), name("nccl/debugging.yaml"));
        assertThat(container.getEnvFrom())
                .extracting(source -> source.getConfigMapRef().getOptional())
                .containsExactly(null, true);
    }

    private static PodTemplateSpec template(Map<String, Object> replica) {
        return Models.read(Serialization.asYaml(replica.get("template")), PodTemplateSpec.class);
    }

    private static boolean asksForDevice(Container container) {
        Quantity shares = container.getResources().getLimits().get(DEVICE);
        return shares != null
                && shares.getAmount().matches("[1-9][0-9]*")
                && shares.getFormat().isEmpty();
    }

    /** Whether no two such pods come to one node. */
    private static boolean spreads(PodSpec pod, Map<String, String> labels) {
        return pod.getAffinity().getPodAntiAffinity().getRequiredDuringSchedulingIgnoredDuringExecution().stream()
                .anyMatch(term -> term.getTopologyKey().equals("kubernetes.io/hostname")
                        && labels.entrySet()
                                .containsAll(
                                        term.getLabelSelector().getMatchLabels().entrySet()));
    }

    private static Map<String, String> data(String file) throws IOException {
        return Models.one(Models.read(read(file)), ConfigMap.class).getData();
    }

    private static String name(String file) throws IOException {
        return Models.read(read(file)).getFirst().getMetadata().getName();
    }

    @SuppressWarnings("unchecked") // a manifest is a tree of mappings
    private static Map<String, Object> map(Map<String, Object> tree, String key) {
        assertThat(tree).containsKey(key);
        return (Map<String, Object>) tree.get(key);
    }

    private static String read(String file) throws IOException {
        return Files.readString(EXAMPLES.resolve(file));
    }
}
