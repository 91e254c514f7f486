import type { Job, Plan } from "@causeway/kubernetes";
import { targetOf } from "../objects/claim.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

/** Deletes a Job `ttlSecondsAfterFinished` after its end. */
export function plan({ job }: Observed, now: number): Plan<Step, undefined> {
  const expiry = expiryOf(job);
  if (expiry === undefined) return { steps: [], status: undefined };
  if (expiry > now) return { steps: [], status: undefined, wait: { for: "ttlSecondsAfterFinished", until: expiry } };
  return { steps: [{ type: "delete-job", target: targetOf(job) }], status: undefined };
}

/** When the Job is to be deleted, in milliseconds since the epoch; undefined: it is not. */
export function expiryOf({ spec, status, metadata }: Job): number | undefined {
  const { ttlSecondsAfterFinished: ttl } = spec;
  if (ttl === undefined || metadata.deletionTimestamp !== undefined) return undefined;
  const end = status?.conditions?.find(
    (condition) => (condition.type === "Complete" || condition.type === "Failed") && condition.status === "True",
  );
  const finished = Date.parse(end?.lastTransitionTime ?? "");
  return Number.isNaN(finished) ? undefined : finished + ttl * 1_000;
}
