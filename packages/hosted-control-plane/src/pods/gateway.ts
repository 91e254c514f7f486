import type { ControlPlaneSpec } from "../runtime.ts";
import { API_SERVICE_PORT } from "./objects/credentials.ts";
import type { GatewaySettings, PodsSettings } from "./options.ts";
import type { Endpoint } from "./observed.ts";

/** On Service kube-apiserver: the TLS server name by which the gateway finds it. */
export const serverNameAnnotation = "controlplane.causeway.dev/server-name";

/** On it, too: the gateway refuses connections at once while the control plane hibernates. */
export const hibernatedAnnotation = "controlplane.causeway.dev/hibernated";

/** Is the control plane reached by the gateway that all tenants share? */
export function isBehindGateway({ pods }: Pick<ControlPlaneSpec, "pods">): boolean {
  return pods?.exposure === "Gateway";
}

/** The first label of its server name: no other control plane has it, since it has the hash of its namespace. */
export function gatewayLabel(namespaceName: string): string {
  return namespaceName.replace(/^hcp-/, "");
}

/** An endpoint once published never changes by itself, whatever the operator's domain is later. */
export function gatewayEndpoint(
  { endpoint }: Pick<ControlPlaneSpec, "endpoint">,
  namespaceName: string,
  { domain, port }: GatewaySettings,
): Endpoint {
  return { host: endpoint.host === "" ? `${gatewayLabel(namespaceName)}.${domain}` : endpoint.host, port };
}

/**
 * Where API servers listen, and what Service `kubernetes` inside the tenant leads to: the endpoint itself, or behind a
 * gateway the address of each node's proxy.
 */
export function insideOf(
  spec: Pick<ControlPlaneSpec, "pods">,
  endpoint: Endpoint,
  { gateway }: PodsSettings,
): Endpoint {
  if (!isBehindGateway(spec) || gateway === undefined) return endpoint;
  return { host: gateway.nodeAddress, port: API_SERVICE_PORT };
}
