import { isConflict, Secret, type KubernetesClient } from "@causeway/kubernetes";
import type { Clock, KeyPair } from "@causeway/foundation";
import type { Observed } from "./gather.ts";
import { clusterName } from "./names.ts";
import { newRoot } from "./new-root.ts";
import { instant } from "./plan-authorities.ts";
import {
  bundleOf,
  OTHER,
  retiredAtAnnotation,
  rotationAnnotation,
  stageAnnotation,
  type Root,
  type RotatedPurpose,
} from "./roots.ts";
import type { Step } from "./steps.ts";

type Rotate = Extract<Step, { type: "rotate-root" }>;

/** One write, on condition that no other process wrote: of two leaders that make a key, one key is kept. */
export async function rotateRoot(
  { client, clock }: { client: KubernetesClient; clock: Clock },
  step: Rotate,
  { object, cluster, authorities }: Observed,
  signal: AbortSignal,
): Promise<void | "deferred"> {
  const root = authorities?.roots[step.purpose];
  if (root === undefined) return undefined;
  const made = step.to === "trust" ? await newRoot(step.purpose, clusterName(object, cluster), clock.now()) : undefined;
  try {
    await client.update(Secret, nextSecret(step, { root, made, now: clock.now() }), { signal });
    return undefined;
  } catch (error) {
    if (isConflict(error)) return "deferred";
    throw error;
  }
}

/** The Secret of a root in the next stage. `made`: the new pair, for stage "trust". */
export function nextSecret(
  { purpose, to, rotation }: Rotate,
  { root, made, now }: { root: Root; made: KeyPair | undefined; now: number },
): Secret {
  const { secret, pair } = root;
  const [signer, other] = rolesIn(to, root, made);
  const { [OTHER.certificate]: _certificate, [OTHER.key]: _key, ...kept } = secret.data ?? {};
  const { [stageAnnotation]: _stage, ...annotations } = secret.metadata.annotations ?? {};
  const times = {
    ...(to === "trust" ? { [rotationAnnotation]: rotation } : {}),
    ...(to === "single" ? { [retiredAtAnnotation]: instant(now) } : { [stageAnnotation]: to }),
  };
  return {
    ...secret,
    metadata: { ...secret.metadata, annotations: { ...annotations, ...times } },
    data: { ...kept, ...rootData(purpose, signer ?? pair, other) },
  };
}

/** What the Secret of a root has: the pair that signs, and the one next to it. */
export function rootData(purpose: RotatedPurpose, pair: KeyPair, other: KeyPair | undefined): Record<string, string> {
  return {
    "tls.crt": encode(published(purpose, pair, other)),
    "tls.key": encode(pair.key),
    ...(other === undefined ? {} : { [OTHER.certificate]: encode(other.certificate), [OTHER.key]: encode(other.key) }),
  };
}

/** The pair that signs, and the one next to it. */
function rolesIn(
  to: Rotate["to"],
  { pair, other }: Root,
  made: KeyPair | undefined,
): readonly [KeyPair | undefined, KeyPair | undefined] {
  if (to === "trust") return [pair, made];
  return to === "sign" ? [other, pair] : [pair, undefined];
}

/** The contract's tls.crt: of an authority all that are trusted, the one that signs first; of a key its public half. */
function published(purpose: RotatedPurpose, pair: KeyPair, other: KeyPair | undefined): string {
  return purpose !== "sa" && other !== undefined ? bundleOf({ pair, other }) : pair.certificate;
}

function encode(text: string): string {
  return Buffer.from(text, "utf8").toString("base64");
}
