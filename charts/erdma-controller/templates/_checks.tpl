{{- /* What a schema can't say, or not so that one knows what to do. Each template that makes pods begins with it. */}}
{{- define "erdma.check" -}}
{{- $problems := list }}
{{- if has .Release.Namespace (list "default" "kube-public" "kube-node-lease") }}
{{- $problems = append $problems (printf "the namespace %s is for other things, and the agents are privileged: use one of their own, --namespace ack-erdma-controller --create-namespace" .Release.Namespace) }}
{{- end }}
{{- if and (not .Values.config.localERIDiscovery) (not .Values.config.externalController) }}
{{- $problems = append $problems "config.localERIDiscovery=false takes each node's devices from its ERdmaDevice object, and this chart has no controller that writes them: set config.externalController=true if another one or a person does, else leave config.localERIDiscovery=true" }}
{{- end }}
{{- if and (not .Values.config.localERIDiscovery) .Values.agent.exposedLocalERIs }}
{{- $problems = append $problems "agent.exposedLocalERIs chooses among the devices found on the node, and config.localERIDiscovery=false does not look for them: set only one of them" }}
{{- end }}
{{- if .Values.agent.installDriver }}
{{- if not .Values.agent.manageDriver }}
{{- $problems = append $problems "agent.installDriver=true needs agent.manageDriver=true" }}
{{- end }}
{{- if ne .Values.agent.verbsAccess "privileged" }}
{{- $problems = append $problems "agent.installDriver=true runs the installer with all rights of the host's root, so it needs agent.verbsAccess=privileged" }}
{{- end }}
{{- if not .Values.agent.driverUrl }}
{{- $problems = append $problems "agent.installDriver=true needs agent.driverUrl: where the installer is" }}
{{- end }}
{{- if not .Values.agent.driverSha256 }}
{{- $problems = append $problems "agent.installDriver=true needs agent.driverSha256: what is not checked is not run as root on the host" }}
{{- end }}
{{- if and (contains "{version}" .Values.agent.driverUrl) (not .Values.agent.erdmaInstallerVersion) }}
{{- $problems = append $problems "agent.driverUrl asks for a {version}: set agent.erdmaInstallerVersion" }}
{{- end }}
{{- end }}
{{- if and .Values.monitoring.podMonitor.enabled .Values.monitoring.serviceMonitor.enabled }}
{{- $problems = append $problems "monitoring.podMonitor and monitoring.serviceMonitor would both scrape every agent: enable one of them" }}
{{- end }}
{{- if eq (get .Values.config "enableWebhook" | toString) "true" }}
{{- $problems = append $problems "config.enableWebhook=true: this chart has no webhook; set it to false, and mind that pods annotated with network.alibabacloud.com/erdma-smcr get no SMC-R" }}
{{- end }}
{{- if eq (get .Values.config "enableDevicePlugin" | toString) "false" }}
{{- $problems = append $problems "config.enableDevicePlugin=false: the device plugin is what this chart installs; leave it true" }}
{{- end }}
{{- if $problems }}
{{- fail (printf "%d of the values can't be used:\n  - %s" (len $problems) (join "\n  - " $problems)) }}
{{- end }}
{{- end }}

{{- /* Values of the Go controller's chart that mean something only to its controller. */}}
{{- define "erdma.withoutEffect" -}}
{{- $names := list }}
{{- range $name := list "controller" "credentials" "webhookFailurePolicy" "webhookTimeoutSeconds" }}
{{- if hasKey $.Values $name }}{{ $names = append $names $name }}{{ end }}
{{- end }}
{{- range $name := list "region" "manageNonOwnedENIs" "clusterDomain" "enableInitContainerInject" "smcInitImage" }}
{{- if hasKey $.Values.config $name }}{{ $names = append $names (printf "config.%s" $name) }}{{ end }}
{{- end }}
{{- join ", " $names }}
{{- end }}
