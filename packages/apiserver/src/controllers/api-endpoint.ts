import { hasCode, parseIp } from "@causeway/foundation";
import type { Cluster } from "../contract/cluster.ts";
import { internalCall } from "../contract/call.ts";
import { builtIn, type Controller } from "../contract/controller.ts";
import type { Draft, Resource } from "../contract/resource.ts";
import { fields, same, type Json } from "../json/json.ts";
import { create } from "../registry/create.ts";
import { change } from "../registry/update.ts";
import { startLoop } from "./loop.ts";

const KEY = { namespace: "default", name: "kubernetes" };
const LABELS = { "endpointslice.kubernetes.io/skip-mirror": "true" };

/**
 * Keeps the Endpoints and the EndpointSlice of Service default/kubernetes at the address that the cluster is reached
 * at, so that pods reach the API by the Service. A cluster that is reached by a name, a path or a loopback address has
 * none: no pod on another machine could use them. Source: kube-apiserver's endpoint reconcilers
 * (--endpoint-reconciler-type).
 */
export function apiEndpoint(cluster: Cluster): Controller {
  const endpoints = builtIn(cluster, "", "endpoints");
  const slices = builtIn(cluster, "discovery.k8s.io", "endpointslices");
  const loop = startLoop({
    name: "api-endpoint",
    cluster,
    async reconcile() {
      const at = apiAddress(cluster.url());
      if (at === undefined) return;
      await keep(cluster, endpoints, endpointsOf(at));
      await keep(cluster, slices, sliceOf(at));
    },
  });
  return {
    saw({ resource, object: { metadata } }) {
      if (resource !== endpoints && resource !== slices) return;
      if (metadata.name === KEY.name && metadata.namespace === KEY.namespace) loop.add(KEY.name);
    },
    resume() {
      if (apiAddress(cluster.url()) !== undefined) loop.add(KEY.name);
    },
    stop: () => loop.stop(),
  };
}

interface Address {
  readonly ip: string;
  readonly family: 4 | 6;
  readonly port: number;
}

/** Where pods reach the API at this URL; undefined when they cannot. */
export function apiAddress(url: string): Address | undefined {
  const { hostname, port, pathname } = new URL(url);
  const ip = hostname.replace(/^\[(.*)\]$/, "$1");
  const parsed = parseIp(ip);
  if (parsed === undefined || pathname !== "/") return undefined;
  if (ip === "::1" || ip === "::" || ip === "0.0.0.0" || ip.startsWith("127.")) return undefined;
  return { ip, family: ip.includes(":") ? 6 : 4, port: port === "" ? 443 : Number(port) };
}

interface Manifest extends Json {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string; readonly labels: Record<string, string> };
}

function endpointsOf({ ip, port }: Address): Manifest {
  return {
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: { ...KEY, labels: LABELS },
    subsets: [{ addresses: [{ ip }], ports: [{ name: "https", port, protocol: "TCP" }] }],
  };
}

function sliceOf({ ip, family, port }: Address): Manifest {
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { ...KEY, labels: { "kubernetes.io/service-name": KEY.name } },
    addressType: `IPv${family}`,
    endpoints: [{ addresses: [ip], conditions: { ready: true } }],
    ports: [{ name: "https", port, protocol: "TCP" }],
  };
}

/** Creates the object, or gives its fields their values again; writes nothing when they have them. */
async function keep(cluster: Cluster, resource: Resource, wanted: Manifest): Promise<void> {
  const call = internalCall(cluster, resource, KEY);
  const { metadata, apiVersion: _, kind: __, ...content } = wanted;
  const stored = cluster.store.get({ cluster: cluster.name, resource: resource.storage, ...KEY });
  if (stored === undefined) {
    await create(internalCall(cluster, resource, { namespace: KEY.namespace }), wanted).catch((error: unknown) => {
      if (!hasCode(error, "KUBERNETES_ALREADY_EXISTS")) throw error;
    });
    return;
  }
  const now = fields(stored.object);
  if (Object.entries(content).every(([field, value]) => same(now[field], value))) return;
  await change(call, ({ object }) => {
    const draft = structuredClone(object) as Draft;
    delete draft.metadata.resourceVersion;
    draft.metadata.labels = { ...draft.metadata.labels, ...metadata.labels };
    for (const [field, value] of Object.entries(content)) draft[field] = structuredClone(value);
    return { draft, tracked: false };
  });
}
