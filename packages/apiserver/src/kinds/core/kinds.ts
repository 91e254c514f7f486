import { define, STATUS, WRITE_STATUS } from "../../contract/define.ts";
import { coreEvents } from "../events/kinds.ts";
import { namespaceStrategy } from "./namespace.ts";
import { nodeStrategy } from "./node.ts";
import { podStrategy } from "./pod.ts";
import type { Resource, Subresource } from "../../contract/resource.ts";
import { claimStrategy } from "./claim.ts";
import { configMapStrategy, secretStrategy } from "./secret.ts";
import { serviceStrategy } from "./service.ts";
import {
  COMPONENT_STATUS_COLUMNS,
  CONFIG_MAP_COLUMNS,
  ENDPOINTS_COLUMNS,
  NAMESPACE_COLUMNS,
  SECRET_COLUMNS,
  SERVICE_ACCOUNT_COLUMNS,
  SERVICE_COLUMNS,
} from "./columns.ts";
import { PERSISTENT_VOLUME_CLAIM_COLUMNS, PERSISTENT_VOLUME_COLUMNS } from "./volume-columns.ts";
import { volumeStrategy } from "./volume.ts";
import { NODE_COLUMNS } from "./node-columns.ts";
import { POD_COLUMNS } from "./pod-columns.ts";

const PROXIED = ["create", "delete", "get", "patch", "update"];

/** A subresource that is served by a connection to a kubelet; its kind has the parameters of the query. */
function connect(name: Subresource["name"], kind: string, verbs: readonly string[] = ["create", "get"]): Subresource {
  return { name, verbs, type: { group: "", version: "v1", kind } };
}

/** The kinds of the core group, "v1". */
export function coreKinds(): Resource[] {
  return [
    define({
      kind: "Namespace",
      plural: "namespaces",
      shortNames: ["ns"],
      clusterScoped: true,
      subresources: [STATUS, { name: "finalize", verbs: ["update"] }],
      verbs: ["create", "delete", "get", "list", "patch", "update", "watch"],
      selectable: ["status.phase"],
      columns: NAMESPACE_COLUMNS,
      strategy: namespaceStrategy,
    }),
    define({
      kind: "Secret",
      plural: "secrets",
      columns: SECRET_COLUMNS,
      selectable: ["type"],
      strategy: secretStrategy,
    }),
    define({
      kind: "ConfigMap",
      plural: "configmaps",
      shortNames: ["cm"],
      columns: CONFIG_MAP_COLUMNS,
      strategy: configMapStrategy,
    }),
    coreEvents(),
    define({
      kind: "Node",
      plural: "nodes",
      shortNames: ["no"],
      clusterScoped: true,
      subresources: [STATUS, connect("proxy", "NodeProxyOptions", PROXIED)],
      selectable: ["spec.unschedulable"],
      columns: NODE_COLUMNS,
      strategy: nodeStrategy,
    }),
    define({
      kind: "Pod",
      plural: "pods",
      generation: true,
      shortNames: ["po"],
      categories: ["all"],
      subresources: [
        STATUS,
        { name: "binding", verbs: ["create"], type: { group: "", version: "v1", kind: "Binding" } },
        { name: "ephemeralcontainers", verbs: WRITE_STATUS },
        { name: "resize", verbs: WRITE_STATUS },
        { name: "eviction", verbs: ["create"], type: { group: "policy", version: "v1", kind: "Eviction" } },
        { name: "log", verbs: ["get"] },
        connect("exec", "PodExecOptions"),
        connect("attach", "PodAttachOptions"),
        connect("portforward", "PodPortForwardOptions"),
        connect("proxy", "PodProxyOptions", PROXIED),
      ],
      selectable: [
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.podIPs",
        "status.nominatedNodeName",
      ],
      columns: POD_COLUMNS,
      strategy: podStrategy,
    }),
    define({ kind: "Binding", plural: "bindings", verbs: ["create"] }),
    define({
      kind: "Service",
      plural: "services",
      shortNames: ["svc"],
      categories: ["all"],
      subresources: [STATUS, connect("proxy", "ServiceProxyOptions", PROXIED)],
      selectable: ["spec.clusterIP", "spec.type"],
      columns: SERVICE_COLUMNS,
      strategy: serviceStrategy(),
    }),
    define({
      kind: "Endpoints",
      plural: "endpoints",
      shortNames: ["ep"],
      columns: ENDPOINTS_COLUMNS,
      deprecated: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
    }),
    define({
      kind: "ComponentStatus",
      plural: "componentstatuses",
      shortNames: ["cs"],
      clusterScoped: true,
      verbs: ["get", "list"],
      columns: COMPONENT_STATUS_COLUMNS,
      deprecated: "v1 ComponentStatus is deprecated in v1.19+",
    }),
    define({
      kind: "ServiceAccount",
      plural: "serviceaccounts",
      shortNames: ["sa"],
      subresources: [
        {
          name: "token",
          verbs: ["create"],
          type: { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest" },
        },
      ],
      columns: SERVICE_ACCOUNT_COLUMNS,
    }),
    define({
      kind: "PersistentVolume",
      plural: "persistentvolumes",
      shortNames: ["pv"],
      clusterScoped: true,
      subresources: [STATUS],
      columns: PERSISTENT_VOLUME_COLUMNS,
      strategy: volumeStrategy,
    }),
    define({
      kind: "PersistentVolumeClaim",
      plural: "persistentvolumeclaims",
      shortNames: ["pvc"],
      subresources: [STATUS],
      columns: PERSISTENT_VOLUME_CLAIM_COLUMNS,
      strategy: claimStrategy,
    }),
  ];
}
