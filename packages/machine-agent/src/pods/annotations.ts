import type { Pod } from "@causeway/kubernetes";

/** Begins the annotations that say what a simulated pod does, and the label of simulated nodes. */
export const DOMAIN = "simulated.causeway.dev";
/** Label of a Node whose pods are simulated. */
export const SIMULATED_LABEL = `${DOMAIN}/node`;

/** What becomes of the containers of a pod. */
export type Outcome = "run" | "hang" | "image-pull-error" | "not-ready" | "crash-loop";

const OUTCOMES: readonly string[] = ["run", "hang", "image-pull-error", "not-ready", "crash-loop"] satisfies Outcome[];

/** What a pod's annotations ask for. Times are in milliseconds. */
export interface PodBehaviour {
  readonly outcome: Outcome;
  /** From the start of the pod to the start of its containers. */
  readonly startAfter: number;
  /** From the start of a container to its end; undefined: it runs until it is stopped. */
  readonly finishAfter: number | undefined;
  readonly exitCode: number;
  /** From the request to stop to the end of the containers, within the grace period. */
  readonly stopAfter: number;
  /** Annotations with values that mean nothing. */
  readonly problems: readonly string[];
}

/** Containers of a Job end after this time where no annotation says otherwise: a Job that never ends is of no use. */
const JOB_TAKES = 1000;
const LONGEST = 30 * 24 * 3600_000;
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3600_000 };

/** Reads `simulated.causeway.dev/…`. */
export function askedOf({ metadata, spec }: Pod): PodBehaviour {
  const problems: string[] = [];
  const read = <T>(name: string, parse: (text: string) => T | undefined, otherwise: T): T => {
    const text = metadata.annotations?.[`${DOMAIN}/${name}`];
    if (text === undefined) return otherwise;
    const value = parse(text);
    if (value === undefined) problems.push(`${DOMAIN}/${name}: ${text.slice(0, 100)}`);
    return value ?? otherwise;
  };
  const isJob = metadata.ownerReferences?.some((owner) => owner.kind === "Job" && owner.controller === true) ?? false;
  const isCrashing = metadata.annotations?.[`${DOMAIN}/outcome`] === "crash-loop";
  const finishAfter = isCrashing ? 0 : isJob && spec["restartPolicy"] !== "Always" ? JOB_TAKES : undefined;
  return {
    outcome: read<Outcome>("outcome", (text) => (OUTCOMES.includes(text) ? (text as Outcome) : undefined), "run"),
    startAfter: read("start-after", duration, 0),
    finishAfter: read("finish-after", duration, finishAfter),
    exitCode: read("exit-code", exitCode, isCrashing ? 1 : 0),
    stopAfter: read("stop-after", duration, 0),
    problems,
  };
}

/** "1500ms", "5s", "2m", "1h". */
function duration(text: string): number | undefined {
  const [, digits, unit = ""] = /^(\d{1,9})(ms|s|m|h)$/.exec(text) ?? [];
  return digits === undefined ? undefined : Math.min(Number(digits) * (UNITS[unit] ?? 0), LONGEST);
}

function exitCode(text: string): number | undefined {
  return /^\d{1,3}$/.test(text) && Number(text) <= 255 ? Number(text) : undefined;
}
