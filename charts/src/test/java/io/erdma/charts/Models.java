package io.erdma.charts;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBinding;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.fabric8.openshift.api.model.monitoring.v1.PodMonitor;
import io.fabric8.openshift.api.model.monitoring.v1.PrometheusRule;
import io.fabric8.openshift.api.model.monitoring.v1.ServiceMonitor;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/**
 * Manifests as the Kubernetes client's models. Those keep unknown fields and take numbers for texts without a word, so
 * both are looked for.
 */
final class Models {
    private static final Map<String, Class<? extends HasMetadata>> KINDS = Map.ofEntries(
            Map.entry("v1 Pod", Pod.class),
            Map.entry("v1 Service", Service.class),
            Map.entry("v1 ServiceAccount", ServiceAccount.class),
            Map.entry("v1 ConfigMap", ConfigMap.class),
            Map.entry("apps/v1 DaemonSet", DaemonSet.class),
            Map.entry("batch/v1 Job", Job.class),
            Map.entry("rbac.authorization.k8s.io/v1 ClusterRole", ClusterRole.class),
            Map.entry("rbac.authorization.k8s.io/v1 ClusterRoleBinding", ClusterRoleBinding.class),
            Map.entry("rbac.authorization.k8s.io/v1 Role", Role.class),
            Map.entry("rbac.authorization.k8s.io/v1 RoleBinding", RoleBinding.class),
            Map.entry("apiextensions.k8s.io/v1 CustomResourceDefinition", CustomResourceDefinition.class),
            Map.entry("monitoring.coreos.com/v1 PodMonitor", PodMonitor.class),
            Map.entry("monitoring.coreos.com/v1 ServiceMonitor", ServiceMonitor.class),
            Map.entry("monitoring.coreos.com/v1 PrometheusRule", PrometheusRule.class));

    private Models() {}

    /** @throws AssertionError names every field that the model does not know or takes for another type */
    static List<HasMetadata> read(String manifests) {
        return Chart.documents(manifests).stream().map(Models::readOne).toList();
    }

    static <T extends HasMetadata> List<T> all(List<HasMetadata> objects, Class<T> type) {
        return objects.stream().filter(type::isInstance).map(type::cast).toList();
    }

    /** The only one of its type. */
    static <T extends HasMetadata> T one(List<HasMetadata> objects, Class<T> type) {
        List<T> found = all(objects, type);
        if (found.size() != 1) {
            throw new AssertionError(found.size() + " objects of " + type.getSimpleName() + ", not one");
        }
        return found.getFirst();
    }

    @SuppressWarnings("unchecked") // a manifest is a mapping, or the cast fails
    static Map<String, Object> tree(String yaml) {
        return (Map<String, Object>) new Load(LoadSettings.builder().build()).loadFromString(yaml);
    }

    private static HasMetadata readOne(String document) {
        Map<String, Object> tree = tree(document);
        String kind = tree.get("apiVersion") + " " + tree.get("kind");
        Class<? extends HasMetadata> type = Optional.ofNullable(KINDS.get(kind))
                .orElseThrow(() -> new AssertionError("no model for " + kind + ":\n" + document));
        return read(document, type);
    }

    /** For parts of other objects, such as a pod's template. */
    static <T> T read(String document, Class<T> type) {
        T model = Serialization.unmarshal(document, type);
        List<String> problems = new ArrayList<>();
        findUnknown(model, "", problems);
        compare(tree(document), tree(Serialization.asYaml(model)), "", problems);
        if (!problems.isEmpty()) {
            throw new AssertionError(type.getSimpleName() + ": " + String.join("; ", problems) + "\n" + document);
        }
        return model;
    }

    private static void findUnknown(Object value, String path, List<String> problems) {
        if (value instanceof Map<?, ?> map) {
            map.forEach((key, entry) -> findUnknown(entry, path + "." + key, problems));
        } else if (value instanceof List<?> list) {
            for (int i = 0; i < list.size(); i++) {
                findUnknown(list.get(i), path + "[" + i + "]", problems);
            }
        } else if (value != null && value.getClass().getName().startsWith("io.fabric8.")) {
            for (Class<?> type = value.getClass(); type != Object.class; type = type.getSuperclass()) {
                for (Field field : type.getDeclaredFields()) {
                    inspect(value, field, path, problems);
                }
            }
        }
    }

    private static void inspect(Object owner, Field field, String path, List<String> problems) {
        if (Modifier.isStatic(field.getModifiers()) || owner instanceof Enum) {
            return;
        }
        Object value;
        try {
            field.setAccessible(true);
            value = field.get(owner);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(field + " cannot be read", e);
        }
        if (field.getName().equals("additionalProperties") && value instanceof Map<?, ?> unknown) {
            unknown.keySet().forEach(key -> problems.add("unknown field " + path + "." + key));
        } else {
            findUnknown(value, path + "." + field.getName(), problems);
        }
    }

    /** What was written has to come back as it was, a number as a number; what is empty may be left out. */
    private static void compare(Object written, Object back, String path, List<String> problems) {
        if (written instanceof Map<?, ?> map && (map.isEmpty() || back instanceof Map<?, ?>)) {
            map.forEach((key, value) -> compare(value, ((Map<?, ?>) back).get(key), path + "." + key, problems));
        } else if (written instanceof List<?> list
                && (list.isEmpty() || (back instanceof List<?> other && other.size() == list.size()))) {
            for (int i = 0; i < list.size(); i++) {
                compare(list.get(i), ((List<?>) back).get(i), path + "[" + i + "]", problems);
            }
        } else if (written instanceof Number one && back instanceof Number other) {
            if (one.doubleValue() != other.doubleValue()) {
                problems.add(path + " is written as " + shown(written) + " and read as " + shown(back));
            }
        } else if (written instanceof Integer && path.matches(".*\\.resources\\.(limits|requests)\\..*")) {
            // A quantity may be a number; the model writes all as texts.
            compare(written.toString(), back, path, problems);
        } else if (written == null ? back != null : !written.equals(back)) {
            problems.add(path + " is written as " + shown(written) + " and read as " + shown(back));
        }
    }

    private static String shown(Object value) {
        return value == null ? "nothing" : value + " (" + value.getClass().getSimpleName() + ")";
    }
}
