import { datastoreAnnotation, poolAnnotation, poolNamespaceOf } from "../tenant.ts";
import { createPoolController, type Pool, type PoolControllerOptions } from "./controller.ts";
import type { PoolState } from "./state.ts";

/** The shared etcd of this management cluster, and those of others that control planes came from. */
export interface Pools {
  /** `namespace`: where it is. Default: the one of this management cluster. */
  state(namespace: string | undefined): PoolState | undefined;
  wake(): void;
  /** Removes the user and the data of a control plane; nothing to do is success. */
  remove(namespace: string | undefined, tenant: string, signal: AbortSignal): Promise<void>;
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Control planes that are handed over keep their data where it is: the shared etcd is kept by the management cluster
 * that made it, as long as any of them is in it.
 */
export function createPools(options: Omit<PoolControllerOptions, "foreign">): Pools {
  const { cluster, settings } = options;
  const ownName = poolNamespaceOf(settings.owner);
  const guests = (): { initialized: true }[] =>
    cluster.namespaces
      .list()
      .flatMap(({ metadata: { annotations = {} } }) =>
        annotations[poolAnnotation] === ownName && annotations[datastoreAnnotation] !== "Own"
          ? [{ initialized: true }]
          : [],
      );
  const own = createPoolController({ ...options, users: () => [...options.users(), ...guests()] });
  const others = new Map<string, Pool>();
  const running = new Set<Promise<void>>();
  let life: AbortSignal | undefined;
  const start = (pool: Pool, signal: AbortSignal): void => {
    const run = pool.run(signal);
    // `run` below waits for it, and throws it.
    run.catch(() => {});
    running.add(run);
  };
  const poolIn = (namespace = ownName): Pool => {
    if (namespace === ownName) return own;
    const found = others.get(namespace);
    if (found) return found;
    const { metrics: _metrics, ...rest } = options;
    const pool = createPoolController({ ...rest, foreign: namespace, users: () => [{ initialized: true }] });
    others.set(namespace, pool);
    if (life !== undefined) start(pool, life);
    return pool;
  };
  return {
    state: (namespace) => poolIn(namespace).state,
    wake() {
      own.wake();
      for (const pool of others.values()) pool.wake();
    },
    remove: (namespace, tenant, signal) => poolIn(namespace).remove(tenant, signal),
    async run(signal) {
      life = signal;
      for (const pool of others.values()) start(pool, signal);
      await own.run(signal);
      await Promise.all(running);
    },
  };
}
