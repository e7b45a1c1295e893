{{- define "erdma.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- /* The release's name is left out where it says the same. */}}
{{- define "erdma.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- $name := include "erdma.name" . }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "erdma.agent" -}}
{{ include "erdma.fullname" . }}-agent
{{- end }}

{{- define "erdma.cleanup" -}}
{{ include "erdma.fullname" . }}-cleanup
{{- end }}

{{- /* What never changes, as selectors must not. */}}
{{- define "erdma.selectorLabels" -}}
app.kubernetes.io/name: {{ include "erdma.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "erdma.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "erdma.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "erdma.image" -}}
{{ .Values.agent.image.repository }}:{{ .Values.agent.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "erdma.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- .Values.serviceAccount.name | default (include "erdma.agent" .) }}
{{- else }}
{{- .Values.serviceAccount.name | default "default" }}
{{- end }}
{{- end }}

{{- /* Whether rules name instances, so that the agent has to know its own: from its Node object. */}}
{{- define "erdma.namesInstances" -}}
{{- range .Values.agent.exposedLocalERIs }}
{{- if not (hasPrefix "i-*" (trim .)) }}yes{{ end }}
{{- end }}
{{- end }}

{{- /* Whether the agent needs the cluster's API; without, it gets no token. */}}
{{- define "erdma.usesApi" -}}
{{- if not .Values.config.localERIDiscovery }}yes{{ end }}
{{- include "erdma.namesInstances" . }}
{{- end }}

{{- /* Whether the pod shares the host's pid namespace: to run the host's modprobe, or to see whose a queue pair is. */}}
{{- define "erdma.hostPid" -}}
{{- if or .Values.agent.manageDriver .Values.agent.podMetrics }}yes{{ end }}
{{- end }}

{{- /* Nodes that run the agent, and so those that are cleaned. */}}
{{- define "erdma.placement" -}}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
affinity:
{{- if .Values.affinity }}
  {{- toYaml .Values.affinity | nindent 2 }}
{{- else }}
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms:
        - matchExpressions:
            # A virtual node has no kubelet that a device plugin could register with.
            - key: type
              operator: NotIn
              values: [virtual-kubelet]
            {{- with .Values.agent.instanceTypes }}
            - key: node.kubernetes.io/instance-type
              operator: In
              values:
                {{- toYaml . | nindent 16 }}
            {{- end }}
{{- end }}
{{- end }}
