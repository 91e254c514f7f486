import { messageOf, type Clock } from "@causeway/foundation";
import { isConflict, isNotFound, Node, timestamp, type KubernetesClient } from "@causeway/kubernetes";
import {
  isBadRequest,
  isForbidden,
  isOpenStackConflict,
  isQuotaExceeded,
  type Cloud,
  type CloudWatch,
  type Route,
} from "@causeway/openstack";
import { reasons } from "./plan.ts";
import type { Refusals } from "./refusals.ts";
import type { Mark, PairedPort, Step } from "./steps.ts";
import { routeKey } from "./wanted.ts";

/** With what the steps of routes are performed. Refusals of the cloud are recorded in `refusals`. */
export interface PerformContext {
  readonly client: KubernetesClient;
  readonly cloud: Cloud;
  readonly watch: CloudWatch;
  readonly routerId: string;
  readonly refusals: Refusals;
  readonly clock: Clock;
}

/** Makes one step true. What the cloud refuses of one port or route is remembered and holds up no other. */
export async function perform(using: PerformContext, step: Step, signal: AbortSignal): Promise<void> {
  const { cloud, routerId, watch } = using;
  switch (step.type) {
    case "set-address-pairs":
      await Promise.all(step.ports.map((port) => setPairs(using, port, signal)));
      return;
    case "add-routes":
      return addRoutes(using, step.routes, signal);
    case "remove-routes":
      watch.routers.observe(await cloud.network.removeRoutes(routerId, step.routes, { signal }));
      return;
    case "mark-nodes":
      await Promise.all(step.nodes.map((mark) => markNode(using, mark, signal)));
      return;
  }
}

async function setPairs(
  { cloud, watch, refusals }: PerformContext,
  port: PairedPort,
  signal: AbortSignal,
): Promise<void> {
  const { ports } = cloud.network;
  try {
    const body = { allowed_address_pairs: [...port.pairs] };
    watch.ports.observe(await ports.update(port.id, body, { signal, ifRevision: port.revision }));
    refusals.accept(port.id);
  } catch (error) {
    if (isOpenStackConflict(error)) {
      // Another has written the port meanwhile: what it wrote is read, and kept.
      const now = await ports.find(port.id, { signal });
      return now ? watch.ports.observe(now) : watch.ports.forget(port.id);
    }
    if (!isRefused(error)) throw error;
    refusals.refuse(port.id, messageOf(error));
  }
}

/** All in one call; each by itself only when the cloud refuses one of them. */
async function addRoutes(using: PerformContext, routes: readonly Route[], signal: AbortSignal): Promise<void> {
  const { cloud, watch, routerId, refusals } = using;
  try {
    watch.routers.observe(await cloud.network.addRoutes(routerId, routes, { signal }));
    for (const route of routes) refusals.accept(routeKey(route));
  } catch (error) {
    if (!isRefused(error)) throw error;
    const [route, ...more] = routes;
    if (more.length > 0) for (const one of routes) await addRoutes(using, [one], signal);
    else if (route) refusals.refuse(routeKey(route), messageOf(error));
  }
}

function isRefused(error: unknown): boolean {
  return isBadRequest(error) || isForbidden(error) || isQuotaExceeded(error);
}

async function markNode({ client, clock }: PerformContext, mark: Mark, signal: AbortSignal): Promise<void> {
  const now = timestamp(clock.now());
  const condition = {
    type: "NetworkUnavailable",
    status: mark.available ? "False" : "True",
    reason: reasons[`${mark.available}`],
    message: mark.message,
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  };
  const patch = { type: "strategic", body: { status: { conditions: [condition] } } } as const;
  const key = { namespace: "", name: mark.name };
  await client.patch(Node, key, patch, { subresource: "status", signal }).catch((error: unknown) => {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  });
}
