/** A control plane whose roots are in given stages of a rotation. */
import type { HostedControlPlane } from "@causeway/api";
import type { Secret } from "@causeway/kubernetes";
import { instant, type AuthoritiesFrom } from "../plan-authorities.ts";
import type { AuthorityFacts, Root, RootStage } from "../roots.ts";

/** The time of all plans. */
export const now = Date.UTC(2026, 5, 1);
/** In milliseconds. */
export const HOUR = 3600_000;
/** The time that is so many milliseconds later. */
export const at = (offset: number): string => instant(now + offset);
/** The rotation that is under way: it began an hour ago. */
export const rotation = at(-HOUR);

/** A root whose Secret says so. */
function root(stage: RootStage, changes: Partial<Root> = {}): Root {
  const pair = { certificate: "SIGNS", key: "k" };
  const isDouble = stage === "trust" || stage === "sign";
  return {
    secret: { apiVersion: "v1", kind: "Secret", metadata: { name: "demo" } } as Secret,
    stage,
    pair,
    ...(isDouble ? { other: { certificate: "OTHER", key: "o" } } : {}),
    ...(stage === "single" ? {} : { rotation }),
    ...changes,
  };
}

/** What a test changes. */
export interface Given {
  readonly stages?: readonly [ca: RootStage, sa: RootStage, proxy?: RootStage];
  readonly spec?: HostedControlPlane["spec"]["authorities"];
  readonly status?: NonNullable<HostedControlPlane["status"]>["authorities"];
  readonly oldMachines?: readonly string[];
  readonly settled?: boolean;
  readonly initialized?: boolean;
  readonly ca?: Partial<Root>;
  readonly proxy?: Partial<Root>;
  readonly expiresAt?: number;
  readonly createdAt?: number;
}

/** From what the rotation is planned. */
export function from(given: Given): AuthoritiesFrom {
  const [ca, sa, proxy] = given.stages ?? ["single", "single"];
  const facts: AuthorityFacts = {
    roots: { ca: root(ca, given.ca), sa: root(sa), ...(proxy ? { proxy: root(proxy, given.proxy) } : {}) },
    createdAt: given.createdAt ?? now - 1000 * HOUR,
    expiresAt: given.expiresAt ?? now + 100_000 * HOUR,
    machines: (given.oldMachines ?? []).map((name) => ({ name, createdAt: 0 })),
  };
  const object = {
    apiVersion: "controlplane.cluster.x-k8s.io/v1alpha1",
    kind: "HostedControlPlane",
    metadata: { name: "demo", namespace: "default" },
    spec: { version: "v1.34.0", ...(given.spec ? { authorities: given.spec } : {}) },
    ...(given.status ? { status: { authorities: given.status } } : {}),
  } as HostedControlPlane;
  return { object, facts, initialized: given.initialized ?? true, settled: given.settled ?? true, now };
}
