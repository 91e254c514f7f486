import type { KubeObject, Secret } from "@causeway/kubernetes";
import type { AuthorityRotation } from "../runtime.ts";
import { copyName } from "./plan-keys.ts";
import type { Step } from "./steps.ts";
import { rotationAnnotation, rotationStageAnnotation } from "./tenant.ts";

/**
 * The stages of etcd's authority, as those of a control plane's: the next one is trusted too, then it signs and the old
 * one is trusted still, then there is one again.
 */
export type EtcdAuthorityStage = "single" | "trust" | "sign";

/** Those of a rotation that is under way, and the request that ends it. */
const ORDER = ["trust", "sign", "retire"] as const;

/** Where a Secret with etcd's authority is. */
export interface EtcdAuthorityPlace {
  readonly stage: EtcdAuthorityStage;
  /** Of the running rotation, or of the last one. */
  readonly rotation: string | undefined;
}

/** A Secret without annotations, or none, is in stage "single". */
export function placeOf(secret: Secret | undefined): EtcdAuthorityPlace {
  const { annotations = {} } = secret?.metadata ?? {};
  const stage = annotations[rotationStageAnnotation];
  return { stage: stage === "trust" || stage === "sign" ? stage : "single", rotation: annotations[rotationAnnotation] };
}

/** The stage that comes next on the way to where the rotation is wanted; undefined: it is there. */
export function nextStage(
  { stage, rotation }: EtcdAuthorityPlace,
  wanted: AuthorityRotation | undefined,
): EtcdAuthorityStage | undefined {
  // One that was begun goes to its end before another one begins.
  const isThis = wanted !== undefined && rotation === wanted.id;
  if (stage === "single") return wanted === undefined || isThis || wanted.stage === "single" ? undefined : "trust";
  const at = ORDER.indexOf(stage);
  const goal = isThis && wanted.stage !== "single" ? ORDER.indexOf(wanted.stage) : ORDER.length - 1;
  if (at >= goal) return undefined;
  return stage === "trust" ? "sign" : "single";
}

/**
 * Brings etcd's authority to its next stage, once all programs run with the present one: its copy is written, and the
 * Secret that programs use follows it (`keySteps`).
 */
export function etcdAuthoritySteps(
  live: ReadonlyMap<string, KubeObject>,
  wanted: AuthorityRotation | undefined,
  settled: boolean,
): { readonly steps: Step[]; readonly isRotating: boolean } {
  const copy = live.get(`Secret/${copyName("etcd-ca")}`) as Secret | undefined;
  if (copy === undefined) return { steps: [], isRotating: false };
  const place = placeOf(copy);
  const to = nextStage(place, wanted);
  if (to === undefined) return { steps: [], isRotating: false };
  if (!settled) return { steps: [], isRotating: true };
  const rotation = to === "trust" ? (wanted?.id ?? "") : (place.rotation ?? "");
  return { steps: [{ type: "rotate-etcd-authority", secret: copy, to, rotation }], isRotating: true };
}
