import type { Service } from "@causeway/kubernetes";

/** A port of a Service, by name or number. */
export interface BackendPort {
  readonly name?: string | undefined;
  readonly number?: number | undefined;
}

type ServicePort = NonNullable<Service["spec"]["ports"]>[number];
type Found = { readonly service: Service; readonly port: ServicePort } | { readonly problem: string };

/** The node port of a Service's port, or why there is none. */
export function nodePortOf(
  service: Service | undefined,
  port: BackendPort,
): { readonly port: number } | { readonly problem: string } {
  const found = portOf(service, port);
  if ("problem" in found) return found;
  const { nodePort = 0 } = found.port;
  if (nodePort > 0) return { port: nodePort };
  return { problem: `has no node port for port ${wordOf(port)}; its type must be NodePort or LoadBalancer` };
}

/** A Service's port, for its pods; or why there is none. */
export function podPortOf(service: Service | undefined, port: BackendPort): Found {
  if (service?.spec.type === "ExternalName") return { problem: "is of type ExternalName, which has no pods" };
  return portOf(service, port);
}

function portOf(service: Service | undefined, port: BackendPort): Found {
  if (!service) return { problem: "does not exist" };
  const wanted = wordOf(port);
  const found = (service.spec.ports ?? []).find((p) => (typeof wanted === "string" ? p.name : p.port) === wanted);
  return found ? { service, port: found } : { problem: `has no port ${wanted ?? "(none given)"}` };
}

function wordOf({ name, number }: BackendPort): string | number | undefined {
  return name === undefined || name === "" ? number : name;
}
