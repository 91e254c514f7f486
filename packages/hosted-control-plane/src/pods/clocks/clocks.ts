import { messageOf, type Clock, type Log, type Metrics } from "@causeway/foundation";
import { isForbidden, Lease, type KubernetesClient } from "@causeway/kubernetes";
import type { NodeClock } from "../../runtime.ts";
import { EVERY, judgeClocks, READS, type ClockMemory, type Renewal } from "./plan-clocks.ts";

/** Where kubelets renew the Leases of their nodes, with the time of their own clocks. */
const NAMESPACE = "kube-node-lease";
/** By the first one nothing can be judged. */
const READS_TO_KNOW = READS + 1;
const MINUTE = 60_000;
/** Nodes that are named in one log line. */
const NAMED = 10;

/** The nodes whose clocks are compared, and who is informed. */
export interface NodeClocksOptions {
  /** Of the service cluster. */
  readonly client: Pick<KubernetesClient, "list">;
  /** Other nodes, or other differences, were found. */
  readonly changed: () => void;
  readonly metrics?: Metrics | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Compares the clocks of a service cluster's nodes with this program's. */
export interface NodeClocks {
  /** Of these nodes, those whose clocks are wrong. Undefined: nothing is known yet. */
  of(nodes: readonly string[]): readonly NodeClock[] | undefined;
  run(signal: AbortSignal): Promise<void>;
}

/** Reads the Leases of all nodes once a minute. */
export function createNodeClocks({ client, changed, metrics, clock, log }: NodeClocksOptions): NodeClocks {
  let memory: ClockMemory = new Map();
  let minutes: ReadonlyMap<string, number> = new Map();
  let reads = 0;
  let failure: string | undefined;
  let own: number | undefined;
  const gauge = metrics?.gauge({
    name: "causeway_service_cluster_clocks_off",
    help: "Nodes of the service cluster whose clocks differ by more than a minute.",
  });
  const read = async (signal: AbortSignal): Promise<void> => {
    const { items } = await client.list(Lease, { namespace: NAMESPACE, signal });
    const found = judgeClocks(memory, items.flatMap(renewalOf), clock.now());
    memory = found.memory;
    reads += 1;
    const rounded = new Map([...found.off].map(([node, ms]) => [node, minutesOf(ms, minutes.get(node))]));
    const ownMinutes = found.own === undefined ? undefined : minutesOf(found.own, own);
    if (ownMinutes !== own && ownMinutes !== undefined)
      log.warn("the clock of this program differs from those of most nodes of the service cluster", {
        minutes: ownMinutes,
      });
    own = ownMinutes;
    gauge?.set(rounded.size);
    if (isSame(minutes, rounded)) return;
    minutes = rounded;
    if (minutes.size > 0)
      log.warn("clocks of nodes of the service cluster are wrong", {
        nodes: minutes.size,
        minutes: Object.fromEntries([...minutes].slice(0, NAMED)),
      });
    changed();
  };
  return {
    of(nodes) {
      if (reads < READS_TO_KNOW || memory.size === 0) return undefined;
      return [...new Set(nodes)].toSorted().flatMap((node) => {
        const off = minutes.get(node);
        return off === undefined ? [] : [{ node, minutes: off }];
      });
    },
    async run(signal) {
      while (!signal.aborted) {
        try {
          await read(signal);
          failure = undefined;
        } catch (error) {
          if (signal.aborted) return;
          const hint = isForbidden(error) ? "apply the manifests of this version: the right is new" : undefined;
          if (failure !== messageOf(error))
            log.warn("Leases of nodes cannot be read", { error: messageOf(error), hint });
          failure = messageOf(error);
        }
        await clock.sleep(EVERY, signal).catch(() => {});
      }
    },
  };
}

/** What was reported remains within a minute: a Lease is some seconds old, and a half minute would change each time. */
function minutesOf(ms: number, before: number | undefined): number {
  return before !== undefined && Math.abs(ms - before * MINUTE) < MINUTE ? before : Math.round(ms / MINUTE);
}

function renewalOf({ metadata, spec }: Lease): Renewal[] {
  const at = Date.parse(spec?.renewTime ?? "");
  return Number.isNaN(at) ? [] : [{ node: metadata.name, at }];
}

function isSame(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): boolean {
  return a.size === b.size && [...a].every(([node, each]) => b.get(node) === each);
}
