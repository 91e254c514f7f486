import { canonicalIp, canonicalJson, parseIp } from "@causeway/foundation";
import {
  keyOf,
  watchInformer,
  type Change,
  type Informer,
  type ObjectKey,
  type Pod,
  type Service,
  type ServicePort,
  type Source,
} from "@causeway/kubernetes";
import { by } from "./caches.ts";
import { isReady, isTerminal } from "./pods.ts";
import { hasLabels } from "./selector.ts";

/** What the controllers of EndpointSlices and Endpoints have in common. */

/** Of EndpointSlices and Endpoints whose Service has no virtual address; its value is "". */
export const headlessLabel = "service.kubernetes.io/headless";

/** The Service has endpoints that a controller keeps. */
export function hasSelector({ spec }: Service): boolean {
  return spec.type !== "ExternalName" && Object.keys(spec.selector ?? {}).length > 0;
}

/** No virtual address: DNS returns the pods' own addresses. */
export function isHeadless({ spec }: Service): boolean {
  return !spec.clusterIP || spec.clusterIP === "None";
}

/** Pods of the Service's namespace; an empty selector selects all, so see hasSelector first. */
export function podsSelectedBy({ spec, metadata }: Service, pods: Informer<Pod>): Pod[] {
  return pods
    .byIndex(by.namespace, metadata.namespace ?? "")
    .filter((pod) => hasLabels(pod.metadata.labels, spec.selector ?? {}));
}

/** A pod that ended, or that has no address, is no endpoint. */
export function isEndpoint(pod: Pod): boolean {
  return !isTerminal(pod) && addressesOf(pod).length > 0;
}

/** One of each family at most; empty until the kubelet has reported one. */
export function addressesOf({ status }: Pod): string[] {
  return status?.podIPs?.map(({ ip }) => ip) ?? (status?.podIP ? [status.podIP] : []);
}

/** The pod's addresses of one family, in their canonical form. */
export function addressesOfFamily(pod: Pod, family: "IPv4" | "IPv6"): string[] {
  const version = family === "IPv4" ? 4 : 6;
  return addressesOf(pod).flatMap((text) => (parseIp(text)?.version === version ? [canonicalIp(text) ?? text] : []));
}

/** A port of a Service as a number on one pod. */
export interface ResolvedPort {
  name: string;
  port: number;
  protocol: string;
  appProtocol?: string;
}

/**
 * The Service's ports on this pod; a target port by name counts where a container, or a sidecar, has a port of that
 * name and protocol.
 */
export function portsOn(pod: Pod, { spec }: Service): ResolvedPort[] {
  return (spec.ports ?? []).flatMap((servicePort) => {
    const { name = "", protocol = "TCP", appProtocol } = servicePort;
    const port = targetPort(pod, servicePort);
    return port === undefined ? [] : [{ name, port, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) }];
  });
}

function targetPort({ spec }: Pod, { targetPort: target, port, protocol = "TCP" }: ServicePort): number | undefined {
  if (typeof target !== "string") return target || port;
  const sidecars = (spec.initContainers ?? []).filter((container) => container["restartPolicy"] === "Always");
  return [...spec.containers, ...sidecars]
    .flatMap(({ ports = [] }) => ports)
    .find((each) => each.name === target && (each.protocol ?? "TCP") === protocol)?.containerPort;
}

/** The pod's hostname, if the Service is the one of its subdomain. */
export function hostnameOf({ spec, metadata }: Pod, service: Service): string | undefined {
  const isOwn = spec["subdomain"] === service.metadata.name && metadata.namespace === service.metadata.namespace;
  return isOwn && typeof spec["hostname"] === "string" && spec["hostname"] !== "" ? spec["hostname"] : undefined;
}

/** The reference to the pod that an endpoint has. */
export function targetRefOf({ metadata }: Pod) {
  const { namespace, name, uid } = metadata;
  return {
    kind: "Pod",
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
  };
}

/** The Services that a pod's change concerns: those that select it, or did. */
export function watchServicePods(services: Informer<Service>, pods: Informer<Pod>): Source {
  const selecting = (pod: Pod): ObjectKey[] =>
    services
      .byIndex(by.namespace, pod.metadata.namespace ?? "")
      .filter((service) => hasSelector(service) && hasLabels(pod.metadata.labels, service.spec.selector ?? {}))
      .map(keyOf);
  return watchInformer(pods, ({ object, previous }: Change<Pod>) => {
    if (previous && facts(previous) === facts(object)) return [];
    return previous ? [...selecting(previous), ...selecting(object)] : selecting(object);
  });
}

/** What endpoints show of a pod. */
function facts(pod: Pod): string {
  const { uid, labels, deletionTimestamp } = pod.metadata;
  const { nodeName } = pod.spec;
  return canonicalJson([uid, labels, deletionTimestamp, nodeName, addressesOf(pod), isReady(pod), isTerminal(pod)]);
}
