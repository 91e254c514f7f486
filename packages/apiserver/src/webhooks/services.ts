import { array, at, fields, record, records, scalar, text, type Json } from "../json/json.ts";
import type { ClusterView } from "../contract/resource.ts";
import type { WebhookClientConfig } from "../contract/webhooks.ts";

interface Address {
  readonly host: string;
  readonly port: number;
}

const SERVICE_NAME = "kubernetes.io/service-name";

/**
 * Where a Service is reached from here. There is no service network in this process, so the address is that of a ready
 * endpoint, or of the name that an ExternalName Service represents. Throws what kube-apiserver's resolver says.
 */
export function resolveService(
  { name: cluster, store }: Pick<ClusterView, "name" | "store">,
  { namespace, name, port = 443 }: NonNullable<WebhookClientConfig["service"]>,
): Address {
  const found = store.get({ cluster, resource: "/services", namespace, name });
  if (!found) throw new Error(`service ${JSON.stringify(name)} not found`);
  const spec = record(fields(found.object)["spec"]);
  if (spec["type"] === "ExternalName") return { host: text(spec["externalName"]), port };
  const wanted = records(spec["ports"]).find((p) => p["port"] === port);
  if (!wanted) throw new Error(`no service port ${port} found for service ${JSON.stringify(name)}`);
  const portName = text(wanted["name"]);
  const slices = store
    .list({ cluster, resource: "discovery.k8s.io/endpointslices", namespace })
    .items.map(({ object }) => object)
    .filter((slice) => slice.metadata.labels?.[SERVICE_NAME] === name);
  const ready = slices.flatMap((slice) => fromSlice(fields(slice), portName));
  const endpoints = store.get({ cluster, resource: "/endpoints", namespace, name });
  const all = ready.length > 0 || !endpoints ? ready : fromEndpoints(fields(endpoints.object), portName);
  const chosen = all[Math.floor(Math.random() * all.length)];
  if (!chosen) throw new Error(`no endpoints available for service ${JSON.stringify(name)}`);
  return chosen;
}

function fromSlice(slice: Json, portName: string): Address[] {
  const port = portNamed(slice["ports"], portName);
  const isReady = (endpoint: Json): boolean => at(endpoint, "conditions", "ready") !== false;
  return records(slice["endpoints"])
    .filter(isReady)
    .flatMap((endpoint) => {
      const host = scalar(array(endpoint["addresses"])[0]);
      return port === undefined || host === "" ? [] : [{ host, port }];
    });
}

function fromEndpoints(endpoints: Json, portName: string): Address[] {
  return records(endpoints["subsets"]).flatMap((subset) => {
    const port = portNamed(subset["ports"], portName);
    if (port === undefined) return [];
    return records(subset["addresses"]).map((a) => ({ host: text(a["ip"]), port }));
  });
}

function portNamed(ports: unknown, name: string): number | undefined {
  const found = records(ports).find((p) => text(p["name"]) === name)?.["port"];
  return typeof found === "number" ? found : undefined;
}
