import type { CloudConfig } from "./config/config.ts";
import { fingerprint } from "./config/fingerprint.ts";
import { connectCloud, type ConnectOptions } from "./connect.ts";
import type { CallStats, Cloud } from "./types/cloud.ts";
import type { CloudWatch } from "./watch/interface.ts";
import { watchCloud, type WatchOptions } from "./watch/watch.ts";

/** A cloud, and the informers over its lists. */
export interface CloudClient {
  readonly cloud: Cloud;
  readonly watch: CloudWatch;
}

/**
 * Clouds shared by all who need the same: one session, one budget and one set of informers for each content of a
 * config.
 */
export interface CloudPool {
  /** Any difference in the config (region, credentials, content of a CA file) gives another client. */
  get(config: CloudConfig): CloudClient;
  /** Ends a client: its informers poll no longer, and the next `get` of its config makes another. */
  release(cloud: Cloud): Promise<void>;
  /** The calls of all its clouds together, released ones included. */
  stats(): CallStats;
  close(): Promise<void>;
}

/** A config that is other than before has another client: there is nothing to read again. */
export type PoolOptions = Omit<ConnectOptions, "reload"> & Pick<WatchOptions, "intervals" | "rarely">;

/** Clients that share informers and the request budget of each project. */
export function createCloudPool(options: PoolOptions = {}): CloudPool {
  const clients = new Map<string, CloudClient>();
  const ended: CallStats[] = [];
  const end = async ({ cloud, watch }: CloudClient) => {
    await watch.close();
    await cloud.close();
    ended.push(cloud.stats());
    // One sum in place of many: a process may release clients for years.
    ended.splice(0, ended.length, sumOf(ended));
  };
  return {
    get(config) {
      const key = fingerprint(config);
      const known = clients.get(key);
      if (known) return known;
      const cloud = connectCloud(config, options);
      const client = { cloud, watch: watchCloud(cloud, options) };
      clients.set(key, client);
      return client;
    },
    async release(cloud) {
      const [key, client] = [...clients].find(([, one]) => one.cloud === cloud) ?? [];
      if (key === undefined || client === undefined) return;
      clients.delete(key);
      await end(client);
    },
    stats: () => sumOf([...ended, ...[...clients.values()].map(({ cloud }) => cloud.stats())]),
    async close() {
      const all = [...clients.values()];
      clients.clear();
      await Promise.all(all.map(end));
    },
  };
}

function sumOf(all: readonly CallStats[]): CallStats {
  const byRoute: Record<string, number> = {};
  for (const stats of all) {
    for (const [route, count] of Object.entries(stats.byRoute)) byRoute[route] = (byRoute[route] ?? 0) + count;
  }
  const total = all.reduce((sum, stats) => sum + stats.total, 0);
  return { total, writes: all.reduce((sum, stats) => sum + stats.writes, 0), byRoute };
}
