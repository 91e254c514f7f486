import { messageOf, type Clock } from "@causeway/foundation";
import type { KubernetesClient } from "@causeway/kubernetes";

/** With what is probed by both API servers. */
export interface Probe {
  readonly source: KubernetesClient;
  /** The hosted API server itself, as an administrator. */
  readonly hosted: KubernetesClient;
  readonly clock: Clock;
  /** What was reached in this run, or by neither, is not probed again. */
  readonly checked: Set<string>;
}

/** One request that either API server forwards. */
export interface ProbeTarget {
  /** In `checked`. */
  readonly mark: string;
  readonly path: string;
  /** Whether an error is a response of what the request was forwarded to. */
  readonly isResponse: (error: unknown) => boolean;
}

/** Why the hosted API server does not reach a target; `isUnreachable`: the masters do not reach it either. */
export interface Unreached {
  readonly problem: string;
  readonly isUnreachable: boolean;
}

/** Targets that are probed at the same time, ms for each, and attempts: a tunnel may be connecting still. */
const TOGETHER = 8;
const TIMEOUT = 5_000;
const ATTEMPTS = 3;
const PAUSE = 1_000;

/** The targets that the hosted API server does not reach. Those that this run knows already are left out. */
export async function probeTargets<T extends ProbeTarget>(
  probe: Probe,
  targets: readonly T[],
  signal: AbortSignal,
): Promise<readonly (readonly [T, Unreached])[]> {
  const left = targets.filter(({ mark }) => !probe.checked.has(mark));
  const found: (readonly [T, Unreached])[] = [];
  for (let at = 0; at < left.length; at += TOGETHER) {
    const some = left.slice(at, at + TOGETHER);
    const results = await Promise.all(
      some.map(async (target) => [target, await probeOne(probe, target, signal)] as const),
    );
    for (const [target, unreached] of results) if (unreached !== undefined) found.push([target, unreached]);
  }
  return found;
}

async function probeOne(
  { source, hosted, clock, checked }: Probe,
  { mark, path, isResponse }: ProbeTarget,
  signal: AbortSignal,
): Promise<Unreached | undefined> {
  const failing = (client: KubernetesClient): Promise<string | undefined> =>
    client.request("GET", path, { signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT)]) }).then(
      () => undefined,
      (error: unknown) => (isResponse(error) ? undefined : messageOf(error).slice(0, 300)),
    );
  for (let attempt = 1; ; attempt += 1) {
    const problem = await failing(hosted);
    signal.throwIfAborted();
    if (problem === undefined) {
      checked.add(mark);
      return undefined;
    }
    const isUnreachable = (await failing(source)) !== undefined;
    signal.throwIfAborted();
    if (isUnreachable) checked.add(mark);
    if (isUnreachable || attempt === ATTEMPTS) return { problem, isUnreachable };
    await clock.sleep(PAUSE, signal);
  }
}
