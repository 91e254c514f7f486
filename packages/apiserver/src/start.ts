import { CausewayError, silentLog, systemClock } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import { ServerState } from "./clusters/server-state.ts";
import { isSplit } from "./isolation/placement.ts";
import type { ApiServer, ApiServerOptions, StartApiServer } from "./interface.ts";

/**
 * The first objects of clusters, for `ApiServerOptions.firstObjects`: what a server in memory makes, to be stored in a
 * program that is built from these sources.
 */
export async function firstObjects(): Promise<readonly KubeObject[]> {
  const state = new ServerState({ clock: systemClock, log: silentLog });
  try {
    await state.open();
    return state.firstObjects;
  } finally {
    await state.close();
  }
}

/**
 * Starts an API server: the management cluster at "/", and every logical cluster that `dir` knows of.
 * Throws STATE_TOO_NEW, STATE_LOCKED (the state folder), APISERVER_PORT_TAKEN, APISERVER_CANNOT_LISTEN.
 */
export const startApiServer: StartApiServer = async (options: ApiServerOptions = {}): Promise<ApiServer> => {
  const { isolation = "none" } = options;
  // What tenants need is loaded for those who have them.
  if (isolation !== "none") return (await import("./isolation/isolated-server.ts")).startIsolated(options, isolation);
  if (options.dir !== undefined && isSplit(options.dir)) {
    throw new CausewayError("APISERVER_STATE_SPLIT", `${options.dir} has logical clusters in worker processes`, {
      hint: "Start the server with `isolation`.",
    });
  }
  const state = new ServerState({ ...options, clock: options.clock ?? systemClock, log: options.log ?? silentLog });
  try {
    await state.open();
  } catch (error) {
    await state.close();
    throw error;
  }
  return {
    get management() {
      return state.management();
    },
    localClient: (user, fieldManager) => state.localClient(user, fieldManager),
    ensureCluster: (name, clusterOptions = {}) => state.ensureCluster(name, clusterOptions),
    cluster: (name) => state.cluster(name),
    removeCluster: (name) => state.removeCluster(name),
    reload: () => state.reload(),
    clusterProblem: () => undefined,
    backup: (file) => state.backup(file),
    workers: [],
    get problems() {
      return state.problems;
    },
    get metrics() {
      return state.metrics;
    },
    onChange: () => () => {},
    close: () => state.close(),
  };
};
