import { secretData, timestamp, type Secret } from "@causeway/kubernetes";
import { firstKeys, newFernetKey, rotatedKeys, type FernetKeys } from "../credentials/keys.ts";
import {
  keysGenerationAnnotation,
  retiredAnnotation,
  rotatedAtAnnotation,
  stagedAnnotation,
  timesOf,
} from "./rotation.ts";
import type { Step } from "./steps.ts";

/** Secrets with keys of Fernet, as they are made and after a rotation. */

/** What such a Secret has. */
export interface KeysSecret {
  readonly data: Record<string, string>;
  readonly annotations: Record<string, string>;
}

/** Keys of a new deployment. */
export function newKeys(staged: number | undefined, now: number): KeysSecret {
  const rotated = { [rotatedAtAnnotation]: timestamp(now) };
  const times = staged === undefined ? {} : { [stagedAnnotation]: Array(staged).fill(secondsOf(now)).join(" ") };
  return { data: secretData(firstKeys(newFernetKey, staged)), annotations: { ...rotated, ...times } };
}

/** Undefined: another leader has rotated them meanwhile. Twice in a row would end tokens early. */
export function keysAfter(
  found: Secret | undefined,
  step: Extract<Step, { type: "rotate-keys" }>,
  now: number,
): KeysSecret | undefined {
  if (!found || (found.metadata.annotations?.[rotatedAtAnnotation] ?? "") !== step.since) return undefined;
  const keys = keysOf(found);
  const waiting = timesOf(found, stagedAnnotation);
  const staging = { before: Math.max(1, waiting.length), after: step.staged ?? 1 };
  const retired = retiredAfter(found, Object.keys(keys).length - staging.before, { kept: step.kept, now });
  const kept = typeof step.kept === "number" ? step.kept : retired.length + 1 + staging.after;
  // As the keys themselves: the last one signs now, and new ones come in front.
  const left = waiting.slice(0, -1);
  const made = Array<number>(Math.max(0, staging.after - left.length)).fill(secondsOf(now));
  return {
    data: secretData(rotatedKeys(keys, kept, staging)),
    annotations: {
      [rotatedAtAnnotation]: timestamp(now),
      ...(step.staged === undefined ? {} : { [stagedAnnotation]: [...made, ...left].slice(-staging.after).join(" ") }),
      ...(typeof step.kept === "number" ? {} : { [retiredAnnotation]: retired.join(" ") }),
      ...(step.generation === undefined ? {} : { [keysGenerationAnnotation]: String(step.generation) }),
    },
  };
}

const secondsOf = (milliseconds: number): number => Math.floor(milliseconds / 1000);

/**
 * When the keys that are kept next to the signing one ended to sign, in seconds, the oldest first. What is not known
 * counts from now.
 */
function retiredAfter(
  found: Secret,
  count: number,
  { kept, now }: { readonly kept: number | { readonly minutes: number }; readonly now: number },
): number[] {
  if (typeof kept === "number") return [];
  const at = secondsOf(now);
  const others = Math.max(0, count - 1);
  const times = timesOf(found, retiredAnnotation).toReversed().slice(0, others).toReversed();
  const all = [...Array<number>(others - times.length).fill(at), ...times, at];
  return all.filter((time) => time + kept.minutes * 60 > at);
}

function keysOf({ data = {} }: Secret): FernetKeys {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]),
  );
}
