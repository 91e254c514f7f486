/**
 * What each of Kubernetes' own controllers may do, by the name of its service account in kube-system: "GROUPS RESOURCES
 * VERBS", joined by "; ". "core" is the group without a name, " =NAMES" holds a rule to objects of these names,
 * "events" is to write events in both of their groups. Source: the ClusterRoles system:controller:* of kube-apiserver
 * 1.34; kubernetes.io "Using RBAC Authorization", Controller roles.
 */
export const CONTROLLER_RULES: Readonly<Record<string, string>> = {
  "attachdetach-controller":
    "core persistentvolumeclaims,persistentvolumes list,watch; core nodes get,list,watch; " +
    "core nodes/status patch,update; core pods list,watch; events; " +
    "storage.k8s.io volumeattachments create,delete,get,list,watch; storage.k8s.io csidrivers get,list,watch; " +
    "storage.k8s.io csinodes get,list,watch",
  "certificate-controller":
    "certificates.k8s.io certificatesigningrequests delete,get,list,watch; " +
    "certificates.k8s.io certificatesigningrequests/approval,certificatesigningrequests/status update; " +
    "certificates.k8s.io signers =kubernetes.io/kube-apiserver-client-kubelet approve; " +
    "certificates.k8s.io signers =kubernetes.io/kube-apiserver-client,kubernetes.io/kube-apiserver-client-kubelet,kubernetes.io/kubelet-serving,kubernetes.io/legacy-unknown sign; " +
    "authorization.k8s.io subjectaccessreviews create; events",
  "clusterrole-aggregation-controller": "rbac.authorization.k8s.io clusterroles escalate,get,list,patch,update,watch",
  "cronjob-controller":
    "batch cronjobs get,list,update,watch; batch jobs create,delete,get,list,patch,update,watch; " +
    "batch cronjobs/status update; batch cronjobs/finalizers update; core pods delete,list,watch; events",
  "daemon-set-controller":
    "apps,extensions daemonsets get,list,watch; apps,extensions daemonsets/status update; " +
    "apps,extensions daemonsets/finalizers update; core nodes list,watch; " +
    "core pods create,delete,list,patch,watch; core pods/binding create; " +
    "apps controllerrevisions create,delete,get,list,patch,update,watch; events",
  "deployment-controller":
    "apps,extensions deployments get,list,update,watch; apps,extensions deployments/status update; " +
    "apps,extensions deployments/finalizers update; " +
    "apps,extensions replicasets create,delete,get,list,patch,update,watch; core pods get,list,update,watch; " +
    "events",
  "disruption-controller":
    "apps,extensions deployments get,list,watch; apps,extensions replicasets get,list,watch; " +
    "core replicationcontrollers get,list,watch; policy poddisruptionbudgets get,list,watch; " +
    "apps statefulsets get,list,watch; policy poddisruptionbudgets/status update; core pods/status patch,update; " +
    "* */scale get; events",
  "endpoint-controller":
    "core pods,services get,list,watch; core endpoints create,delete,get,list,update,watch; " +
    "core endpoints/restricted create; events",
  "endpointslice-controller":
    "core nodes,pods,services get,list,watch; core services/finalizers update; " +
    "discovery.k8s.io endpointslices create,delete,get,list,update,watch; events",
  "endpointslicemirroring-controller":
    "core endpoints,services get,list,watch; core services/finalizers update; core endpoints/finalizers update; " +
    "discovery.k8s.io endpointslices create,delete,get,list,update,watch; events",
  "ephemeral-volume-controller":
    "core pods get,list,watch; core pods/finalizers update; core persistentvolumeclaims create,get,list,watch; " +
    "events",
  "expand-controller":
    "core persistentvolumes get,list,patch,update,watch; core persistentvolumeclaims/status patch,update; " +
    "core persistentvolumeclaims get,list,watch; events; core services get",
  "generic-garbage-collector": "* * delete,get,list,patch,update,watch; events",
  "horizontal-pod-autoscaler":
    "autoscaling horizontalpodautoscalers get,list,watch; autoscaling horizontalpodautoscalers/status update; " +
    "* */scale get,update; core pods list,watch; metrics.k8s.io pods list,watch; " +
    "custom.metrics.k8s.io * get,list,watch; external.metrics.k8s.io * get,list,watch; events",
  "job-controller":
    "batch jobs get,list,patch,update,watch; batch jobs/status update; batch jobs/finalizers update; " +
    "core pods create,delete,list,patch,watch; events",
  "legacy-service-account-token-cleaner":
    "core configmaps =kube-apiserver-legacy-service-account-token-tracking get; core secrets delete,patch",
  "namespace-controller":
    "core namespaces delete,get,list,watch; core namespaces/finalize,namespaces/status update; " +
    "* * delete,deletecollection,get,list,watch",
  "node-controller":
    "core nodes delete,get,list,patch,update,watch; core nodes/status patch,update; " +
    "core pods/status patch,update; core pods delete,get,list,watch; events",
  "persistent-volume-binder":
    "core persistentvolumes create,delete,get,list,update,watch; core persistentvolumes/status update; " +
    "core persistentvolumeclaims get,list,update,watch; core persistentvolumeclaims/status update; " +
    "core pods create,delete,get,list,watch; storage.k8s.io storageclasses get,list,watch; " +
    "core nodes list,watch; events; core events watch; core services get",
  "pod-garbage-collector": "core pods delete,list,watch; core nodes get,list,watch; core pods/status patch",
  "pv-protection-controller": "core persistentvolumes get,list,update,watch; events",
  "pvc-protection-controller": "core persistentvolumeclaims get,list,update,watch; core pods get,list,watch; events",
  "replicaset-controller":
    "apps,extensions replicasets get,list,update,watch; apps,extensions replicasets/status update; " +
    "apps,extensions replicasets/finalizers update; core pods create,delete,list,patch,watch; events",
  "replication-controller":
    "core replicationcontrollers get,list,update,watch; core replicationcontrollers/status update; " +
    "core replicationcontrollers/finalizers update; core pods create,delete,list,patch,watch; events",
  "resource-claim-controller":
    "core pods get,list,watch; core pods/finalizers update; " +
    "resource.k8s.io resourceclaims create,delete,get,list,watch; " +
    "resource.k8s.io resourceclaims,resourceclaims/status patch,update; core pods/status patch,update; events",
  "resourcequota-controller": "* * list,watch; core resourcequotas/status update; events",
  "root-ca-cert-publisher": "core configmaps create,update; events",
  "route-controller": "core nodes list,watch; core nodes/status patch; events",
  "selinux-warning-controller":
    "events; core persistentvolumes get,list,watch; core persistentvolumeclaims get,list,watch; " +
    "core pods get,list,watch; storage.k8s.io csidrivers get,list,watch",
  "service-account-controller": "core serviceaccounts create; events",
  "service-cidrs-controller":
    "networking.k8s.io servicecidrs get,list,patch,update,watch; " +
    "networking.k8s.io servicecidrs/finalizers patch,update; networking.k8s.io servicecidrs/status patch,update; " +
    "networking.k8s.io ipaddresses get,list,watch; events",
  "service-controller":
    "core services get,list,watch; core services/status patch,update; core nodes list,watch; events",
  "statefulset-controller":
    "core pods list,watch; apps statefulsets get,list,watch; apps statefulsets/status update; " +
    "apps statefulsets/finalizers update; core pods create,delete,get,patch,update; " +
    "apps controllerrevisions create,delete,get,list,patch,update,watch; " +
    "core persistentvolumeclaims create,get,list,watch; events; core persistentvolumeclaims delete,update; " +
    "core pods/finalizers update",
  "ttl-after-finished-controller": "batch jobs delete,get,list,watch; events",
  "ttl-controller": "core nodes list,patch,update,watch; events",
  "validatingadmissionpolicy-status-controller":
    "admissionregistration.k8s.io validatingadmissionpolicies get,list,watch; " +
    "admissionregistration.k8s.io validatingadmissionpolicies/status get,patch,update; events",
  "volumeattributesclass-protection-controller":
    "core persistentvolumeclaims get,list,watch; core persistentvolumes get,list,watch; " +
    "storage.k8s.io volumeattributesclasses get,list,update,watch; events",
};

/** The same of other parts of a cluster, by what follows "system:" in the names of their ClusterRoles. */
export const COMPONENT_RULES: Readonly<Record<string, string>> = {
  heapster: "core events,namespaces,nodes,pods get,list,watch; extensions deployments get,list,watch",
  "kube-aggregator": "core endpoints,services get,list,watch",
  "kube-controller-manager":
    "events; coordination.k8s.io leases create; coordination.k8s.io leases =kube-controller-manager get,update; " +
    "core secrets,serviceaccounts create; core secrets delete; " +
    "core configmaps,namespaces,secrets,serviceaccounts get; core secrets,serviceaccounts update; " +
    "authentication.k8s.io tokenreviews create; authorization.k8s.io subjectaccessreviews create; " +
    "* * list,watch; core serviceaccounts/token create",
  "kube-dns": "core endpoints,services list,watch",
  "kube-scheduler":
    "events; coordination.k8s.io leases create; " +
    "coordination.k8s.io leases =kube-scheduler get,list,update,watch; " +
    "coordination.k8s.io leasecandidates create,delete,deletecollection,get,list,patch,update,watch; " +
    "core nodes get,list,watch; core pods delete,get,list,watch; core bindings,pods/binding create; " +
    "core pods/status patch,update; core replicationcontrollers,services get,list,watch; " +
    "apps,extensions replicasets get,list,watch; apps statefulsets get,list,watch; " +
    "policy poddisruptionbudgets get,list,watch; core persistentvolumeclaims,persistentvolumes get,list,watch; " +
    "authentication.k8s.io tokenreviews create; authorization.k8s.io subjectaccessreviews create; " +
    "storage.k8s.io csinodes get,list,watch; storage.k8s.io volumeattachments get,list,watch; " +
    "core namespaces get,list,watch; storage.k8s.io csidrivers get,list,watch; " +
    "storage.k8s.io csistoragecapacities get,list,watch; resource.k8s.io deviceclasses get,list,watch; " +
    "resource.k8s.io resourceclaims get,list,patch,update,watch; " +
    "resource.k8s.io resourceclaims/status get,list,patch,update,watch; core pods/finalizers update; " +
    "resource.k8s.io resourceslices get,list,watch",
  "kubelet-api-admin":
    "core nodes get,list,watch; core nodes proxy; core nodes/log,nodes/metrics,nodes/proxy,nodes/stats *; " +
    "core nodes/configz,nodes/healthz,nodes/pods *",
  node:
    "authentication.k8s.io tokenreviews create; " +
    "authorization.k8s.io localsubjectaccessreviews,subjectaccessreviews create; core services get,list,watch; " +
    "core nodes create,get,list,watch; core nodes/status patch,update; core nodes patch,update; " +
    "core events create,patch,update; core pods get,list,watch; core pods create,delete; " +
    "core pods/status patch,update; core pods/eviction create; core configmaps,secrets get,list,watch; " +
    "core persistentvolumeclaims,persistentvolumes get; core endpoints get; " +
    "certificates.k8s.io certificatesigningrequests create,get,list,watch; " +
    "coordination.k8s.io leases create,delete,get,patch,update; storage.k8s.io volumeattachments get; " +
    "core serviceaccounts/token create; core persistentvolumeclaims/status get,patch,update; " +
    "storage.k8s.io csidrivers get,list,watch; storage.k8s.io csinodes create,delete,get,patch,update; " +
    "node.k8s.io runtimeclasses get,list,watch; resource.k8s.io resourceclaims get; " +
    "resource.k8s.io resourceslices deletecollection; core serviceaccounts get",
  "node-problem-detector": "core nodes get; core nodes/status patch; events",
  "persistent-volume-provisioner":
    "core persistentvolumes create,delete,get,list,watch; core persistentvolumeclaims get,list,update,watch; " +
    "storage.k8s.io storageclasses get,list,watch; core events watch; events",
  "volume-scheduler":
    "core persistentvolumes get,list,patch,update,watch; storage.k8s.io storageclasses get,list,watch; " +
    "core persistentvolumeclaims get,list,patch,update,watch",
};
