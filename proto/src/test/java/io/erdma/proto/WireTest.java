package io.erdma.proto;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import io.erdma.proto.deviceplugin.v1beta1.AllocateRequest;
import io.erdma.proto.deviceplugin.v1beta1.AllocateResponse;
import io.erdma.proto.deviceplugin.v1beta1.CDIDevice;
import io.erdma.proto.deviceplugin.v1beta1.ContainerAllocateRequest;
import io.erdma.proto.deviceplugin.v1beta1.ContainerAllocateResponse;
import io.erdma.proto.deviceplugin.v1beta1.ContainerPreferredAllocationRequest;
import io.erdma.proto.deviceplugin.v1beta1.ContainerPreferredAllocationResponse;
import io.erdma.proto.deviceplugin.v1beta1.Device;
import io.erdma.proto.deviceplugin.v1beta1.DevicePluginGrpc;
import io.erdma.proto.deviceplugin.v1beta1.DevicePluginOptions;
import io.erdma.proto.deviceplugin.v1beta1.DevicePluginProto;
import io.erdma.proto.deviceplugin.v1beta1.DeviceSpec;
import io.erdma.proto.deviceplugin.v1beta1.Empty;
import io.erdma.proto.deviceplugin.v1beta1.ListAndWatchResponse;
import io.erdma.proto.deviceplugin.v1beta1.Mount;
import io.erdma.proto.deviceplugin.v1beta1.NUMANode;
import io.erdma.proto.deviceplugin.v1beta1.PreStartContainerRequest;
import io.erdma.proto.deviceplugin.v1beta1.PreStartContainerResponse;
import io.erdma.proto.deviceplugin.v1beta1.PreferredAllocationRequest;
import io.erdma.proto.deviceplugin.v1beta1.PreferredAllocationResponse;
import io.erdma.proto.deviceplugin.v1beta1.RegisterRequest;
import io.erdma.proto.deviceplugin.v1beta1.TopologyInfo;
import io.erdma.proto.pluginregistration.v1.InfoRequest;
import io.erdma.proto.pluginregistration.v1.PluginInfo;
import io.erdma.proto.pluginregistration.v1.PluginRegistrationProto;
import io.erdma.proto.pluginregistration.v1.RegistrationStatus;
import io.erdma.proto.pluginregistration.v1.RegistrationStatusResponse;
import io.erdma.proto.podresources.v1.AllocatableResourcesRequest;
import io.erdma.proto.podresources.v1.AllocatableResourcesResponse;
import io.erdma.proto.podresources.v1.ClaimResource;
import io.erdma.proto.podresources.v1.ContainerDevices;
import io.erdma.proto.podresources.v1.ContainerMemory;
import io.erdma.proto.podresources.v1.ContainerResources;
import io.erdma.proto.podresources.v1.DynamicResource;
import io.erdma.proto.podresources.v1.GetPodResourcesRequest;
import io.erdma.proto.podresources.v1.GetPodResourcesResponse;
import io.erdma.proto.podresources.v1.ListPodResourcesRequest;
import io.erdma.proto.podresources.v1.ListPodResourcesResponse;
import io.erdma.proto.podresources.v1.PodResources;
import io.erdma.proto.podresources.v1.PodResourcesListerGrpc;
import io.erdma.proto.podresources.v1.PodResourcesProto;
import io.grpc.MethodDescriptor;
import io.grpc.ServiceDescriptor;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The messages as bytes, written by hand from the kubelet's field tables: a tag is the field number times eight plus the
 * wire type (0 varint, 2 length-delimited), so a wrong number or type fails here.
 */
class WireTest {
    record Sample(Message expected, Parser<? extends Message> parser, ByteString bytes) {
        @Override
        public String toString() {
            return expected.getDescriptorForType().getFullName();
        }
    }

    static Stream<Sample> samples() {
        return Stream.of(
                sample(Empty.getDefaultInstance()),
                sample(
                        DevicePluginOptions.newBuilder()
                                .setPreStartRequired(true)
                                .setGetPreferredAllocationAvailable(true)
                                .build(),
                        varint(1, 1),
                        varint(2, 1)),
                sample(
                        RegisterRequest.newBuilder()
                                .setVersion("v1beta1")
                                .setEndpoint("erdma-1.sock")
                                .setResourceName("aliyun/erdma")
                                .setOptions(DevicePluginOptions.newBuilder().setGetPreferredAllocationAvailable(true))
                                .build(),
                        text(1, "v1beta1"),
                        text(2, "erdma-1.sock"),
                        text(3, "aliyun/erdma"),
                        nested(4, varint(2, 1))),
                sample(
                        ListAndWatchResponse.newBuilder()
                                .addDevices(Device.newBuilder().setID("a"))
                                .addDevices(Device.newBuilder().setID("b"))
                                .build(),
                        nested(1, text(1, "a")),
                        nested(1, text(1, "b"))),
                sample(
                        Device.newBuilder()
                                .setID("erdma_0/7")
                                .setHealth("Healthy")
                                .setTopology(TopologyInfo.newBuilder()
                                        .addNodes(NUMANode.newBuilder().setID(1)))
                                .build(),
                        text(1, "erdma_0/7"),
                        text(2, "Healthy"),
                        nested(3, nested(1, varint(1, 1)))),
                sample(
                        TopologyInfo.newBuilder()
                                .addNodes(NUMANode.getDefaultInstance())
                                .addNodes(NUMANode.newBuilder().setID(3))
                                .build(),
                        nested(1),
                        nested(1, varint(1, 3))),
                // int64: a negative number takes ten bytes, as a signed or 32-bit type would not.
                sample(
                        NUMANode.newBuilder().setID(-1).build(),
                        bytes(0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01)),
                sample(
                        PreferredAllocationRequest.newBuilder()
                                .addContainerRequests(ContainerPreferredAllocationRequest.newBuilder()
                                        .setAllocationSize(2))
                                .build(),
                        nested(1, varint(3, 2))),
                sample(
                        ContainerPreferredAllocationRequest.newBuilder()
                                .addAvailableDeviceIDs("a")
                                .addAvailableDeviceIDs("b")
                                .addMustIncludeDeviceIDs("b")
                                .setAllocationSize(300)
                                .build(),
                        text(1, "a"),
                        text(1, "b"),
                        text(2, "b"),
                        bytes(0x18, 0xac, 0x02)),
                sample(
                        PreferredAllocationResponse.newBuilder()
                                .addContainerResponses(ContainerPreferredAllocationResponse.newBuilder()
                                        .addDeviceIDs("a"))
                                .build(),
                        nested(1, text(1, "a"))),
                sample(
                        ContainerPreferredAllocationResponse.newBuilder()
                                .addDeviceIDs("a")
                                .addDeviceIDs("b")
                                .build(),
                        text(1, "a"),
                        text(1, "b")),
                sample(
                        AllocateRequest.newBuilder()
                                .addContainerRequests(
                                        ContainerAllocateRequest.newBuilder().addDevicesIds("a"))
                                .build(),
                        nested(1, text(1, "a"))),
                sample(
                        ContainerAllocateRequest.newBuilder()
                                .addDevicesIds("a")
                                .addDevicesIds("b")
                                .build(),
                        text(1, "a"),
                        text(1, "b")),
                sample(
                        AllocateResponse.newBuilder()
                                .addContainerResponses(
                                        ContainerAllocateResponse.newBuilder().putEnvs("K", "V"))
                                .build(),
                        nested(1, nested(1, text(1, "K"), text(2, "V")))),
                sample(
                        ContainerAllocateResponse.newBuilder()
                                .putEnvs("K", "V")
                                .addMounts(Mount.newBuilder().setContainerPath("/c"))
                                .addDevices(DeviceSpec.newBuilder().setContainerPath("/d"))
                                .putAnnotations("A", "B")
                                .addCdiDevices(CDIDevice.newBuilder().setName("aliyun.com/erdma=erdma_0"))
                                .build(),
                        nested(1, text(1, "K"), text(2, "V")),
                        nested(2, text(1, "/c")),
                        nested(3, text(1, "/d")),
                        nested(4, text(1, "A"), text(2, "B")),
                        nested(5, text(1, "aliyun.com/erdma=erdma_0"))),
                sample(
                        Mount.newBuilder()
                                .setContainerPath("/c")
                                .setHostPath("/h")
                                .setReadOnly(true)
                                .build(),
                        text(1, "/c"),
                        text(2, "/h"),
                        varint(3, 1)),
                sample(
                        DeviceSpec.newBuilder()
                                .setContainerPath("/dev/infiniband/uverbs0")
                                .setHostPath("/dev/infiniband/uverbs1")
                                .setPermissions("rw")
                                .build(),
                        text(1, "/dev/infiniband/uverbs0"),
                        text(2, "/dev/infiniband/uverbs1"),
                        text(3, "rw")),
                sample(CDIDevice.newBuilder().setName("v/c=d").build(), text(1, "v/c=d")),
                sample(
                        PreStartContainerRequest.newBuilder()
                                .addDevicesIds("a")
                                .addDevicesIds("b")
                                .build(),
                        text(1, "a"),
                        text(1, "b")),
                sample(PreStartContainerResponse.getDefaultInstance()),
                sample(ListPodResourcesRequest.getDefaultInstance()),
                sample(
                        ListPodResourcesResponse.newBuilder()
                                .addPodResources(PodResources.newBuilder().setName("p"))
                                .build(),
                        nested(1, text(1, "p"))),
                sample(AllocatableResourcesRequest.getDefaultInstance()),
                sample(
                        AllocatableResourcesResponse.newBuilder()
                                .addDevices(ContainerDevices.newBuilder().setResourceName("r"))
                                .addCpuIds(5)
                                .addCpuIds(6)
                                .addMemory(ContainerMemory.newBuilder().setMemoryType("memory"))
                                .build(),
                        nested(1, text(1, "r")),
                        nested(2, bytes(5, 6)),
                        nested(3, text(1, "memory"))),
                sample(
                        GetPodResourcesRequest.newBuilder()
                                .setPodName("p")
                                .setPodNamespace("n")
                                .build(),
                        text(1, "p"),
                        text(2, "n")),
                sample(
                        GetPodResourcesResponse.newBuilder()
                                .setPodResources(PodResources.newBuilder().setName("p"))
                                .build(),
                        nested(1, text(1, "p"))),
                sample(
                        PodResources.newBuilder()
                                .setName("p")
                                .setNamespace("n")
                                .addContainers(ContainerResources.newBuilder().setName("c"))
                                .addCpuIds(7)
                                .addMemory(ContainerMemory.newBuilder().setSize(1))
                                .build(),
                        text(1, "p"),
                        text(2, "n"),
                        nested(3, text(1, "c")),
                        nested(4, bytes(7)),
                        nested(5, varint(2, 1))),
                sample(
                        ContainerResources.newBuilder()
                                .setName("c")
                                .addDevices(ContainerDevices.newBuilder().setResourceName("r"))
                                .addCpuIds(1)
                                .addMemory(ContainerMemory.newBuilder().setMemoryType("m"))
                                .addDynamicResources(
                                        DynamicResource.newBuilder().setClaimName("d"))
                                .build(),
                        text(1, "c"),
                        nested(2, text(1, "r")),
                        nested(3, bytes(1)),
                        nested(4, text(1, "m")),
                        nested(5, text(2, "d"))),
                sample(
                        ContainerDevices.newBuilder()
                                .setResourceName("aliyun/erdma")
                                .addDeviceIds("a")
                                .addDeviceIds("b")
                                .setTopology(io.erdma.proto.podresources.v1.TopologyInfo.newBuilder()
                                        .addNodes(io.erdma.proto.podresources.v1.NUMANode.newBuilder()
                                                .setID(1)))
                                .build(),
                        text(1, "aliyun/erdma"),
                        text(2, "a"),
                        text(2, "b"),
                        nested(3, nested(1, varint(1, 1)))),
                sample(
                        ContainerMemory.newBuilder()
                                .setMemoryType("memory")
                                .setSize(-1L)
                                .setTopology(io.erdma.proto.podresources.v1.TopologyInfo.getDefaultInstance())
                                .build(),
                        text(1, "memory"),
                        bytes(0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01),
                        nested(3)),
                sample(
                        io.erdma.proto.podresources.v1.TopologyInfo.newBuilder()
                                .addNodes(io.erdma.proto.podresources.v1.NUMANode.newBuilder()
                                        .setID(2))
                                .build(),
                        nested(1, varint(1, 2))),
                sample(
                        io.erdma.proto.podresources.v1.NUMANode.newBuilder()
                                .setID(4)
                                .build(),
                        varint(1, 4)),
                sample(
                        DynamicResource.newBuilder()
                                .setClaimName("c")
                                .setClaimNamespace("n")
                                .addClaimResources(ClaimResource.newBuilder().setDriverName("d"))
                                .build(),
                        text(2, "c"),
                        text(3, "n"),
                        nested(4, text(2, "d"))),
                sample(
                        ClaimResource.newBuilder()
                                .addCdiDevices(io.erdma.proto.podresources.v1.CDIDevice.newBuilder()
                                        .setName("x"))
                                .setDriverName("d")
                                .setPoolName("p")
                                .setDeviceName("v")
                                .setShareId("")
                                .build(),
                        nested(1, text(1, "x")),
                        text(2, "d"),
                        text(3, "p"),
                        text(4, "v"),
                        // optional: present though empty
                        bytes(0x2a, 0)),
                sample(
                        io.erdma.proto.podresources.v1.CDIDevice.newBuilder()
                                .setName("x")
                                .build(),
                        text(1, "x")),
                sample(InfoRequest.getDefaultInstance()),
                sample(
                        PluginInfo.newBuilder()
                                .setType("DevicePlugin")
                                .setName("aliyun/erdma")
                                .setEndpoint("/e")
                                .addSupportedVersions("v1beta1")
                                .addSupportedVersions("v1")
                                .build(),
                        text(1, "DevicePlugin"),
                        text(2, "aliyun/erdma"),
                        text(3, "/e"),
                        text(4, "v1beta1"),
                        text(4, "v1")),
                sample(
                        RegistrationStatus.newBuilder()
                                .setPluginRegistered(true)
                                .setError("e")
                                .build(),
                        varint(1, 1),
                        text(2, "e")),
                sample(RegistrationStatusResponse.getDefaultInstance()));
    }

    @ParameterizedTest
    @MethodSource("samples")
    void readsTheBytesOfTheFieldTable(Sample sample) throws Exception {
        Message read = sample.parser().parseFrom(sample.bytes());

        assertThat(read).isEqualTo(sample.expected());
        assertThat(read.getUnknownFields().asMap()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("samples")
    void writesTheBytesOfTheFieldTable(Sample sample) {
        assertThat(sample.expected().toByteString()).isEqualTo(sample.bytes());
    }

    @ParameterizedTest
    @MethodSource("samples")
    void coversEveryFieldOfTheMessage(Sample sample) {
        // NUMANode and the like hold one; each field must be set, or its number would go untested.
        assertThat(sample.expected().getAllFields().keySet())
                .containsExactlyInAnyOrderElementsOf(
                        sample.expected().getDescriptorForType().getFields());
    }

    @Test
    void coversEveryMessageOfTheThreeFiles() {
        Set<String> known = new HashSet<>();
        for (var file : List.of(
                DevicePluginProto.getDescriptor(),
                PodResourcesProto.getDescriptor(),
                PluginRegistrationProto.getDescriptor())) {
            file.getMessageTypes().forEach(message -> known.add(message.getFullName()));
        }

        assertThat(samples().map(Sample::toString)).containsExactlyInAnyOrderElementsOf(known);
    }

    @Test
    void namesTheMethodsAsTheKubeletDoes() {
        assertThat(methods(io.erdma.proto.deviceplugin.v1beta1.RegistrationGrpc.getServiceDescriptor()))
                .containsExactly("v1beta1.Registration/Register UNARY");
        assertThat(methods(DevicePluginGrpc.getServiceDescriptor()))
                .containsExactlyInAnyOrder(
                        "v1beta1.DevicePlugin/GetDevicePluginOptions UNARY",
                        "v1beta1.DevicePlugin/ListAndWatch SERVER_STREAMING",
                        "v1beta1.DevicePlugin/GetPreferredAllocation UNARY",
                        "v1beta1.DevicePlugin/Allocate UNARY",
                        "v1beta1.DevicePlugin/PreStartContainer UNARY");
        assertThat(methods(PodResourcesListerGrpc.getServiceDescriptor()))
                .containsExactlyInAnyOrder(
                        "v1.PodResourcesLister/List UNARY",
                        "v1.PodResourcesLister/GetAllocatableResources UNARY",
                        "v1.PodResourcesLister/Get UNARY");
        assertThat(methods(io.erdma.proto.pluginregistration.v1.RegistrationGrpc.getServiceDescriptor()))
                .containsExactlyInAnyOrder(
                        "pluginregistration.Registration/GetInfo UNARY",
                        "pluginregistration.Registration/NotifyRegistrationStatus UNARY");
    }

    private static List<String> methods(ServiceDescriptor service) {
        return service.getMethods().stream()
                .map(method -> ((MethodDescriptor<?, ?>) method).getFullMethodName() + " " + method.getType())
                .toList();
    }

    private static Sample sample(Message expected, ByteString... fields) {
        return new Sample(expected, expected.getParserForType(), ByteString.copyFrom(List.of(fields)));
    }

    private static ByteString varint(int field, int value) {
        return bytes(field << 3, value);
    }

    private static ByteString text(int field, String value) {
        return delimited(field, ByteString.copyFromUtf8(value));
    }

    private static ByteString nested(int field, ByteString... content) {
        return delimited(field, ByteString.copyFrom(List.of(content)));
    }

    private static ByteString delimited(int field, ByteString content) {
        return bytes(field << 3 | 2, content.size()).concat(content);
    }

    private static ByteString bytes(int... values) {
        byte[] content = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            content[i] = (byte) values[i];
        }
        return ByteString.copyFrom(content);
    }
}
