import { CausewayError, messageOf } from "@causeway/foundation";
import { createJoinObjects } from "../process/join-objects.ts";
import type { ControlPlaneSpec } from "../runtime.ts";
import type { Step } from "./steps.ts";

/**
 * Creates what machines need to join, by the first address at which an API server responds. Throws
 * PODS_API_UNREACHABLE.
 */
export async function joinMachines(
  spec: ControlPlaneSpec,
  { server, addresses }: Extract<Step, { type: "create-join-objects" }>,
  signal: AbortSignal,
): Promise<void> {
  let last: unknown = new Error("no API server of it has an address");
  for (const address of addresses) {
    const { hostname, port } = new URL(address);
    const host = hostname.replaceAll(/^\[|\]$/g, "");
    try {
      return await createJoinObjects(spec, { server, host, port: Number(port || "443") }, signal);
    } catch (error) {
      last = error;
    }
  }
  throw new CausewayError("PODS_API_UNREACHABLE", `none of ${addresses.join(", ")} can be used: ${messageOf(last)}`, {
    hint: "Run causeway run hosted-control-plane where pods or Services of the service cluster can be reached.",
    cause: last,
  });
}
