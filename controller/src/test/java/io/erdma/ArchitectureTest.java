package io.erdma;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleName;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** The arrows between modules and packages, and what each may use. */
@AnalyzeClasses(
        packages = "io.erdma",
        importOptions = {ImportOption.DoNotIncludeTests.class, ArchitectureTest.NoTestJars.class})
class ArchitectureTest {
    /** The stand-ins come from other modules as jars. */
    static final class NoTestJars implements ImportOption {
        @Override
        public boolean includes(Location location) {
            return !location.contains("-tests.jar");
        }
    }

    private static final String[] NATIVE = {
        "io.erdma.libc..", "io.erdma.verbs..", "io.erdma.netlink..", "io.erdma.sysfs.."
    };
    private static final String[] DEVICE_PLUGIN = {
        "io.erdma.device..", "io.erdma.inventory..", "io.erdma.health..", "io.erdma.plugin..", "io.erdma.log.."
    };
    private static final String[] CONTROLLER = {
        "io.erdma.node..",
        "io.erdma.cluster..",
        "io.erdma.cli..",
        "io.erdma.doctor..",
        "io.erdma.nccl..",
        "io.erdma.traffic..",
        "io.erdma.pods.."
    };
    private static final String PROTO = "io.erdma.proto..";

    @ArchTest
    static final ArchRule nativeKnowsNobody = noClasses()
            .that()
            .resideInAnyPackage(NATIVE)
            .should()
            .dependOnClassesThat(resideInAPackage(PROTO)
                    .or(JavaClass.Predicates.resideInAnyPackage(DEVICE_PLUGIN))
                    .or(JavaClass.Predicates.resideInAnyPackage(CONTROLLER)));

    @ArchTest
    static final ArchRule protoKnowsNobody = noClasses()
            .that()
            .resideInAPackage(PROTO)
            .should()
            .dependOnClassesThat(
                    resideInAPackage("io.erdma..").and(JavaClass.Predicates.resideOutsideOfPackage(PROTO)));

    @ArchTest
    static final ArchRule devicePluginKnowsOnlyNativeAndProto = noClasses()
            .that()
            .resideInAnyPackage(DEVICE_PLUGIN)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(CONTROLLER);

    @ArchTest
    static final ArchRule devicePluginKnowsNoCommandLineAndNoMetricsLibrary = noClasses()
            .that()
            .resideInAnyPackage(DEVICE_PLUGIN)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("picocli..", "io.micrometer..", "io.prometheus..", "org.snakeyaml..");

    @ArchTest
    static final ArchRule onlyNativeTouchesNativeCode = noClasses()
            .that()
            .resideOutsideOfPackages(NATIVE)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("jnr..", "com.kenai.jffi..");

    @ArchTest
    static final ArchRule nativeUsesNoServerMetricsOrCommandLine = noClasses()
            .that()
            .resideInAnyPackage(NATIVE)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.grpc..",
                    "com.google.protobuf..",
                    "io.netty..",
                    "io.micrometer..",
                    "picocli..",
                    "org.snakeyaml..");

    /** It is a third of the agent's memory, so that nothing may touch it by the way. */
    @ArchTest
    static final ArchRule onlyTheClustersPackagesHaveAKubernetesClient = noClasses()
            .that()
            .resideOutsideOfPackages("io.erdma.node.kube..", "io.erdma.cluster..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.fabric8..");

    @ArchTest
    static final ArchRule onlyTheClustersClientAndDownloadsUseTheLargeHttpClient = noClasses()
            .that()
            .resideOutsideOfPackages("io.erdma.node.kube..", "io.erdma.node.driver..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("java.net.http..");

    @ArchTest
    static final ArchRule theClustersObjectsKnowNoNode = noClasses()
            .that()
            .resideInAPackage("io.erdma.cluster.crd..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.erdma.node..", "io.erdma.cli..");

    /** VerbsContext is the part of Verbs that holds one open device. */
    @ArchTest
    static final ArchRule theVerbsSignaturesAreForVerbsAlone = noClasses()
            .that(resideInAPackage("io.erdma..")
                    .and(not(simpleName("LibIbverbs")))
                    .and(not(simpleName("Verbs")))
                    .and(not(simpleName("VerbsContext"))))
            .should()
            .dependOnClassesThat(simpleName("LibIbverbs"));

    @ArchTest
    static final ArchRule theStoryIsToldInOneDirection = layeredArchitecture()
            .consideringOnlyDependenciesInLayers()
            .layer("device")
            .definedBy("io.erdma.device..")
            .layer("inventory")
            .definedBy("io.erdma.inventory..")
            .layer("health")
            .definedBy("io.erdma.health..")
            .layer("plugin")
            .definedBy("io.erdma.plugin..")
            .layer("node")
            .definedBy("io.erdma.node..")
            .layer("doctor")
            .definedBy("io.erdma.doctor..")
            .layer("cli")
            .definedBy("io.erdma.cli..")
            .whereLayer("inventory")
            .mayOnlyBeAccessedByLayers("health", "plugin", "node", "doctor", "cli")
            .whereLayer("health")
            .mayOnlyBeAccessedByLayers("plugin", "node", "cli")
            .whereLayer("plugin")
            .mayOnlyBeAccessedByLayers("node", "cli")
            .whereLayer("node")
            .mayOnlyBeAccessedByLayers("doctor", "cli")
            .whereLayer("doctor")
            .mayOnlyBeAccessedByLayers("cli");

    /** What the agent does, each part apart: the agent alone joins them, by what they tell each other of. */
    @ArchTest
    static final ArchRule theAgentsPartsKnowOnlyWhatTheyBuildOn = layeredArchitecture()
            .consideringOnlyDependenciesInLayers()
            .layer("agent")
            .definedBy("io.erdma.node")
            .layer("interfaces")
            .definedBy("io.erdma.node.interfaces..")
            .layer("kube")
            .definedBy("io.erdma.node.kube..")
            .layer("net")
            .definedBy("io.erdma.node.net..")
            .layer("driver")
            .definedBy("io.erdma.node.driver..")
            .layer("metrics")
            .definedBy("io.erdma.node.metrics..")
            .layer("http")
            .definedBy("io.erdma.node.http..")
            .layer("page")
            .definedBy("io.erdma.node.page..")
            .layer("pods")
            .definedBy("io.erdma.pods..")
            .layer("traffic")
            .definedBy("io.erdma.traffic..")
            .layer("doctor")
            .definedBy("io.erdma.doctor..")
            .layer("cli")
            .definedBy("io.erdma.cli..")
            .whereLayer("agent")
            .mayOnlyBeAccessedByLayers("cli")
            .whereLayer("interfaces")
            .mayOnlyBeAccessedByLayers("agent")
            .whereLayer("kube")
            .mayOnlyBeAccessedByLayers("agent", "interfaces", "metrics", "cli")
            .whereLayer("net")
            .mayOnlyBeAccessedByLayers("agent", "interfaces", "metrics", "cli")
            .whereLayer("driver")
            .mayOnlyBeAccessedByLayers("agent", "metrics", "page", "doctor", "cli")
            .whereLayer("metrics")
            .mayOnlyBeAccessedByLayers("agent")
            .whereLayer("http")
            .mayOnlyBeAccessedByLayers("agent")
            .whereLayer("page")
            .mayOnlyBeAccessedByLayers("agent")
            .whereLayer("pods")
            .mayOnlyBeAccessedByLayers("agent", "driver", "metrics", "page", "doctor", "cli")
            .whereLayer("traffic")
            .mayOnlyBeAccessedByLayers("agent", "metrics", "page", "cli");

    /** Numbers of the kernel and what they mean; the command line shows them without an agent. */
    @ArchTest
    static final ArchRule theTrafficIsReadFromSysfsAlone = classes()
            .that()
            .resideInAPackage("io.erdma.traffic..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("java..", "io.erdma.sysfs..", "io.erdma.traffic..");

    @ArchTest
    static final ArchRule libcIsCalledOnlyWithinNative =
            noClasses().that().resideOutsideOfPackages(NATIVE).should().dependOnClassesThat(simpleName("LibC"));

    /** The agent must not pay for the command line's classes. */
    @ArchTest
    static final ArchRule theAgentKnowsNoCommandLine = noClasses()
            .that()
            .resideInAPackage("io.erdma.node..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.erdma.cli..", "picocli..");

    /** Facts come as records, so that each check is a table. */
    @ArchTest
    static final ArchRule theDoctorOnlyJudges = noClasses()
            .that()
            .resideInAPackage("io.erdma.doctor..")
            .should()
            .dependOnClassesThat()
            .belongToAnyOf(java.nio.file.Files.class, java.io.File.class, System.class, java.lang.Process.class);

    /** Logs are judged without looking at anything else, not even at this machine. */
    @ArchTest
    static final ArchRule theLogsJudgeKnowsOnlyTheJdk = classes()
            .that()
            .resideInAPackage("io.erdma.nccl..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("java.lang..", "java.util..", "java.nio.charset..", "io.erdma.nccl..");

    @ArchTest
    static final ArchRule nobodyPrintsButTheCommandLine = noClasses()
            .that()
            .resideOutsideOfPackage("io.erdma.cli..")
            .should()
            .accessField(System.class, "out")
            .orShould()
            .accessField(System.class, "err");

    @ArchTest
    static final ArchRule packagesFormNoCycles =
            slices().matching("io.erdma.(**)").should().beFreeOfCycles();

    @Test
    void nobodySleepsNotEvenTests() {
        noClasses()
                .should()
                .callMethod(Thread.class, "sleep", long.class)
                .orShould()
                .callMethod(Thread.class, "sleep", Duration.class)
                .orShould()
                .callMethod(Thread.class, "sleep", long.class, int.class)
                .orShould()
                .callMethod(TimeUnit.class, "sleep", long.class)
                .because("what is waited for is a condition or a clock of the test")
                .check(new ClassFileImporter().importPackages("io.erdma"));
    }

    /** HealthMonitor parks after a fault of its own, so that one that recurs does not turn the loop at full speed. */
    @ArchTest
    static final ArchRule nobodyParksInsteadOfSleeping = noClasses()
            .that(not(simpleName("HealthMonitor")))
            .should()
            .callMethod(LockSupport.class, "parkNanos", long.class)
            .orShould()
            .callMethod(LockSupport.class, "parkNanos", Object.class, long.class)
            .because("threads wait on a condition that ends their wait when the agent stops");
}
