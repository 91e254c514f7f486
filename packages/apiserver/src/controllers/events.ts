import { randomBytes } from "node:crypto";
import type { KubeObject } from "@causeway/kubernetes";
import { messageOf } from "@causeway/foundation";
import type { Cluster } from "../contract/cluster.ts";
import { timestamp } from "../json/json.ts";
import { internalCall } from "../contract/call.ts";
import { create } from "../registry/create.ts";
import { builtIn } from "../contract/controller.ts";

/** What an Event of type Warning says. */
export interface Warning {
  readonly reason: string;
  readonly action: string;
  readonly message: string;
  /** The controller that reports. */
  readonly from: string;
}

/** Emits a warning Event about an object. An Event that cannot be written is logged. */
export function warn(cluster: Cluster, object: KubeObject, { reason, action, message, from }: Warning): void {
  const { namespace = "default", name, uid = "" } = object.metadata;
  const now = timestamp(cluster.clock.now());
  const body = {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: eventName(name) },
    involvedObject: {
      apiVersion: object.apiVersion,
      kind: object.kind,
      ...(object.metadata.namespace ? { namespace } : {}),
      name,
      uid,
    },
    type: "Warning",
    reason,
    action,
    message,
    reportingComponent: from,
    reportingInstance: from,
    eventTime: now.replace("Z", ".000000Z"),
  };
  create(internalCall(cluster, builtIn(cluster, "", "events"), { namespace }), body).catch((error: unknown) => {
    cluster.log.warn("event not written", { reason, name, error: messageOf(error) });
  });
}

/**
 * As client-go names Events: the name of the object, and what makes it unique. Addresses of IPv6 have colons, which
 * names may not have.
 */
function eventName(name: string): string {
  const beginning = name
    .replaceAll(":", "-")
    .slice(0, 230)
    .replace(/[-.]+$/, "");
  return `${beginning}.${randomBytes(8).toString("hex")}`;
}
