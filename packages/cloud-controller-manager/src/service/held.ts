import { keyOf, type Node, type Service } from "@causeway/kubernetes";
import type { LoadBalancer } from "@causeway/openstack";
import { errorKey, immutableKey, failedCreateKey, failoverKey, methodKey, uncertainKey } from "@causeway/octavia-tree";
import { wishesOf } from "./brake.ts";
import type { GatherFrom } from "./observed.ts";
import type { Parameters } from "./parameters/parameters.ts";
import type { OneStep } from "./steps.ts";

/** Until when (ms since epoch) something must not be tried again. */
export interface Held {
  readonly uncertain: number | undefined;
  readonly busy: number | undefined;
  /**
   * The load balancer is PENDING after a change of its members, and likely to be ACTIVE from then on: it is planned for
   * as if it were.
   */
  readonly expectedActive?: number;
  /** How often in a row the load balancer refused a change as immutable. */
  readonly refusals: number;
  readonly broken: number | undefined;
  /** Members are left as they are, for more nodes may come or go. */
  readonly nodes: number | undefined;
  /** Pools whose provider refused the wanted method. */
  readonly refusedMethods: ReadonlySet<string>;
  /** The cloud does not let us fail the load balancer over. */
  readonly failoverRefused: boolean;
  /** Until when a step waits that did not settle what it was to settle, or was refused; undefined: it does not. */
  readonly braked: (step: OneStep) => number | undefined;
  /** Since when (ms since epoch) the load balancer has been PENDING without a break. */
  readonly pendingSince: number | undefined;
}

interface HeldOf {
  readonly service: Service;
  readonly lbName: string;
  readonly lb: LoadBalancer | undefined;
  readonly parameters: Parameters;
  readonly nodes: readonly Node[];
  /** It is the one of the other family. */
  readonly second?: boolean;
}

/** The same with when a load balancer whose members we change is expected to be ACTIVE. */
export function withExpected(held: Held, expectedActive: number | undefined): Held {
  if (expectedActive === undefined) return held;
  return { ...held, expectedActive, busy: Math.max(expectedActive, held.busy ?? 0) };
}

/** What is held for one load balancer of a Service, from what this process remembers of refusals and creates. */
export function heldOf({ backoffs, watch, bursts, pending, brake, earlier, whole }: GatherFrom, found: HeldOf): Held {
  const { service, lbName, lb, parameters, nodes, second } = found;
  const key = keyOf(service);
  const { method } = parameters;
  const pools = lb && method !== undefined ? watch.pools.byIndex("loadbalancer", lb.id) : [];
  const refused = pools.filter(({ id }) => method !== undefined && backoffs.count(methodKey(id, method)) > 0);
  return {
    uncertain: latest(
      backoffs.until(uncertainKey(lbName)),
      backoffs.until(failedCreateKey(lbName), backoffs.has(failedCreateKey(lbName)) ? wishesOf(service) : ""),
      lb || whole === true ? undefined : earlier.until(service, nodes.length * (service.spec.ports?.length ?? 0)),
    ),
    busy: lb && backoffs.until(immutableKey(lb.id)),
    refusals: lb ? backoffs.count(immutableKey(lb.id)) : 0,
    broken: backoffs.until(errorKey(lbName)),
    nodes: bursts.heldUntil(),
    refusedMethods: new Set(refused.map(({ id }) => id)),
    braked: (step) => brake.holdOf(key, second === true ? { type: "of-second", step } : step)?.until,
    failoverRefused: lb !== undefined && backoffs.count(failoverKey(lb.id)) > 0,
    pendingSince: lb && pending.since(lb),
  };
}

function latest(...times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}
