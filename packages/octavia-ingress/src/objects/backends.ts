import type { Service } from "@causeway/kubernetes";

/** A port of a Service, by name or number. */
export interface BackendPort {
  readonly name?: string | undefined;
  readonly number?: number | undefined;
}

/** The node port of a Service's port, or why there is none. */
export function nodePortOf(
  service: Service | undefined,
  port: BackendPort,
): { readonly port: number } | { readonly problem: string } {
  if (!service) return { problem: "does not exist" };
  const wanted = port.name === undefined || port.name === "" ? port.number : port.name;
  const found = (service.spec.ports ?? []).find((p) => (typeof wanted === "string" ? p.name : p.port) === wanted);
  if (!found) return { problem: `has no port ${wanted ?? "(none given)"}` };
  if ((found.nodePort ?? 0) === 0)
    return { problem: `has no node port for port ${wanted}; its type must be NodePort or LoadBalancer` };
  return { port: found.nodePort ?? 0 };
}
