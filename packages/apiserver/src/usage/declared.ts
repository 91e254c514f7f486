import type { KubeObject } from "@causeway/kubernetes";
import { at, records, text } from "../json/json.ts";
import { nanosOf } from "../syntax/quantity.ts";
import type { Amount, Sample } from "./summary.ts";

/** The label of nodes whose kubelet plays pods, and the annotations of pods with what they are to use there. */
export const SIMULATED = "simulated.causeway.dev/node";
/** A quantity of processors, such as "250m". */
export const CPU = "simulated.causeway.dev/cpu";
/** A quantity of bytes, such as "64Mi". */
export const MEMORY = "simulated.causeway.dev/memory";

const BILLION = 1e9;

/** What a pod on a simulated node is declared to use; undefined: nothing is declared. */
export function declaredUse({ metadata }: KubeObject): Amount | undefined {
  const cpu = billionths(metadata.annotations?.[CPU]);
  const memory = billionths(metadata.annotations?.[MEMORY]);
  if (cpu === undefined && memory === undefined) return undefined;
  return { cpu: cpu ?? 0, memory: (memory ?? 0) / BILLION };
}

/** A text that is no quantity, or less than nothing, declares nothing. */
function billionths(written: string | undefined): number | undefined {
  const amount = written === undefined || written.length > 40 ? undefined : nanosOf(written);
  return amount === undefined || amount < 0n ? undefined : Number(amount);
}

/** The declared use, in equal parts for the containers that run. */
export function declaredSamples(pod: KubeObject, time: number): ReadonlyMap<string, Sample> {
  const use = declaredUse(pod);
  const running = runningContainers(pod);
  if (!use || running.length === 0) return new Map();
  const amount = { cpu: use.cpu / running.length, memory: use.memory / running.length };
  return new Map(running.map((name) => [name, { time, amount }]));
}

/** The names of the containers whose status is `running`. */
export function runningContainers(pod: KubeObject): string[] {
  const states = records(at(pod, "status", "containerStatuses"));
  return states.filter((each) => at(each, "state", "running") !== undefined).map((each) => text(each["name"]));
}
