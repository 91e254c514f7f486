import type { KubeObject } from "@causeway/kubernetes";
import { apiError } from "../errors/status.ts";
import { at, records, text } from "../json/json.ts";

/**
 * In the order of kubeadm's --kubelet-preferred-address-types. A name is not looked up: a tenant could have this server
 * ask for any.
 */
const ADDRESSES = ["InternalIP", "ExternalIP"];
const KUBELET_PORT = 10_250;

/** Where the kubelet of a Node listens. Throws 500 for a Node without an address. */
export function kubeletAddress(node: KubeObject): { host: string; port: number } {
  const addresses = records(at(node, "status", "addresses"));
  const found = ADDRESSES.map((type) => addresses.find((each) => each["type"] === type)).find((each) => each);
  const port = at(node, "status", "daemonEndpoints", "kubeletEndpoint", "Port");
  if (found) return { host: text(found["address"]), port: typeof port === "number" && port > 0 ? port : KUBELET_PORT };
  const known = addresses.map((each) => `{${text(each["type"])} ${text(each["address"])}}`).join(" ");
  throw apiError(500, "InternalError", `no preferred addresses found; known addresses: [${known}]`);
}

/** A Host header. */
export function hostHeader({ host, port }: { readonly host: string; readonly port: number }): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
