{{- /*
The agent's settings: key in its file, where the value is in values.yaml, and what the agent does without it. Only what
differs from that goes into the file, so that the agent's log names what somebody chose. A test compares this list with
the agent's own and with values.yaml. Not here, as the chart sets them itself: probeAddress (from agent.probePort),
nodeName (from the pod), sysfsRoot and devRoot (where the pod has them).
*/}}
{{- define "erdma.settings" -}}
resourceName: {value: agent.resourceName, default: aliyun/erdma}
sharesPerDevice: {value: agent.sharesPerDevice, default: 200}
deviceSelector: {value: agent.deviceSelector, default: []}
allocateAllDevices: {value: agent.allocateAllDevices, default: false}
ncclIbHca: {value: agent.ncclIbHca, default: false}
cdi: {value: agent.cdi, default: "off"}
cdiDir: {value: agent.cdiDir, default: /var/run/cdi}
kubeletRootDir: {value: agent.kubeletRootDir, default: /var/lib/kubelet}
devicepluginPrestartContainer: {value: agent.devicepluginPrestartContainer, default: false}
verbsLibrary: {value: agent.verbsLibrary, default: libibverbs.so.1}
healthInterval: {value: agent.healthInterval, default: 5s}
rescanInterval: {value: agent.rescanInterval, default: 30s}
podMetrics: {value: agent.podMetrics, default: false}
fallbackAfter: {value: agent.fallbackAfter, default: 10m}
pageAddress: {value: agent.pageAddress, default: "127.0.0.1:9471"}
events: {value: agent.events, default: true}
nodeCondition: {value: agent.nodeCondition, default: false}
nodeLabel: {value: agent.nodeLabel, default: false}
logFormat: {value: agent.logFormat, default: text}
logLevel: {value: agent.logLevel, default: info}
preferDriver: {value: agent.preferDriver, default: ""}
manageDriver: {value: agent.manageDriver, default: true}
installDriver: {value: agent.installDriver, default: false}
erdmaInstallerVersion: {value: agent.erdmaInstallerVersion, default: ""}
driverUrl: {value: agent.driverUrl, default: ""}
driverSha256: {value: agent.driverSha256, default: ""}
localEriDiscovery: {value: config.localERIDiscovery, default: true}
exposedLocalEris: {value: agent.exposedLocalERIs, default: []}
metadataAddress: {value: agent.metadataAddress, default: http://100.100.100.200}
manageInterfaces: {value: agent.manageInterfaces, default: true}
routeMetric: {value: agent.routeMetric, default: 200}
jumboFrameMtu: {value: agent.jumboFrameMTU, default: 8500}
{{- end }}

{{- define "erdma.config" -}}
{{- $file := dict }}
{{- range $key, $setting := include "erdma.settings" . | fromYaml }}
{{- $value := $.Values }}
{{- range splitList "." $setting.value }}
{{- $value = index $value . }}
{{- end }}
{{- /* Numbers come as floating-point ones, and large ones would be written as 1e+06. */}}
{{- if kindIs "float64" $value }}
{{- $value = int64 $value }}
{{- end }}
{{- $default := $setting.default }}
{{- if kindIs "float64" $default }}
{{- $default = int64 $default }}
{{- end }}
{{- if and (not (kindIs "invalid" $value)) (ne (toJson $value) (toJson $default)) }}
{{- $_ := set $file $key $value }}
{{- end }}
{{- end }}
{{- if ne (int .Values.agent.probePort) 9470 }}
{{- $_ := set $file "probeAddress" (printf ":%d" (int .Values.agent.probePort)) }}
{{- end }}
{{- if $file }}
{{- toYaml $file }}
{{- else -}}
# Every setting has its default.
{{- end }}
{{- end }}
