import { rmSync } from "node:fs";
import { totalmem } from "node:os";
import { CausewayError, messageOf, silentLog, systemClock, type Log } from "@causeway/foundation";
import { makeKubeconfig } from "../clusters/kubeconfig.ts";
import { checkName } from "../clusters/cluster-options.ts";
import { ServerState } from "../clusters/server-state.ts";
import { stateFiles } from "../store/state-files.ts";
import { ThreadTime } from "../contract/thread-time.ts";
import type { ApiServer, ApiServerOptions, IsolationOptions, LogicalCluster } from "../interface.ts";
import { migrate } from "./migrate.ts";
import type { Report } from "./messages.ts";
import type { ClusterInfo } from "../contract/cluster-info.ts";
import { programOf } from "./programs.ts";
import { collectWhenIdle } from "./idle-collector.ts";
import { startWatchdog } from "./watchdog.ts";
import { Workers } from "./workers.ts";

const DEFAULTS = { workers: 2, heap: 768, resident: 1280, stuckAfter: 10_000 } as const;

/** Milliseconds after which the watchdog of the management process is started. */
const FIRST_ANSWERS = 1000;

/** Starts an API server whose logical clusters are served by worker processes, apart from the management cluster. */
export async function startIsolated(options: ApiServerOptions, isolation: IsolationOptions): Promise<ApiServer> {
  const { dir, clock = systemClock, log = silentLog, host = "127.0.0.1", encryption, history, connections } = options;
  if (dir === undefined) {
    throw new CausewayError("APISERVER_ISOLATION_NEEDS_DIR", "worker processes keep their state in a folder", {
      hint: 'Specify `dir`, or `isolation: "none"`.',
    });
  }
  const { workers: initial, heap, resident, stuckAfter } = { ...DEFAULTS, ...isolation };
  const largest = Math.max(initial, Math.floor(hostMemory() / resident));
  const thread = new ThreadTime();
  const listeners = new Set<(cluster: string) => void>();
  migrate(dir, { initial, largest, capacity: isolation.capacity, limits: { heap, resident }, log });
  const workers = new Workers({
    dir,
    host,
    files: stateFiles(dir),
    initial,
    largest,
    ...(isolation.capacity === undefined ? {} : { capacity: isolation.capacity }),
    limits: { heap, resident, stuckAfter },
    program: isolation.program ?? programOf("worker"),
    clock,
    log,
    changed: (cluster) => listeners.forEach((listener) => listener(cluster)),
    ...(encryption ? { encryption } : {}),
    ...(history === undefined ? {} : { history }),
    ...(connections ? { connections } : {}),
  });
  const workerProblems = (): readonly string[] =>
    workers.status.flatMap(({ name, problem }) => (problem === undefined ? [] : [`worker ${name}: ${problem}`]));
  const state = new ServerState({ ...options, clock, log, thread, tenants: "elsewhere", workerProblems });
  try {
    await state.open();
    await workers.start();
  } catch (error) {
    await Promise.all([workers.close(), state.close()]);
    throw error;
  }
  // Those who wait for the server have it for themselves first.
  let watchdog: { stop(): void } | undefined;
  let collecting: { stop(): void } | undefined;
  const failed = (error: unknown): void =>
    log.error("the watchdog of the management process ended", { reason: messageOf(error) });
  const watching = setTimeout(() => {
    watchdog = startWatchdog({ thread, near: Infinity, report: reportTo(log), failed, ...watchdogOf(isolation) });
    collecting = collectWhenIdle();
  }, FIRST_ANSWERS);
  watching.unref();
  const logical = (info: ClusterInfo): LogicalCluster => logicalCluster(info, { workers, clock });
  return {
    get management() {
      return state.management();
    },
    localClient: (user, fieldManager) => state.localClient(user, fieldManager),
    ensureCluster: async (name, clusterOptions = {}) => {
      checkName(name);
      return logical(await workers.ensure(name, clusterOptions));
    },
    cluster: (name) => {
      const info = workers.info(name);
      return info && logical(info);
    },
    clusterProblem: (name) => workers.problem(name),
    removeCluster: (name) => workers.remove(name),
    async reload() {
      await Promise.all([state.reload(), workers.reload()]);
    },
    async backup(file) {
      const copies: string[] = [];
      const path = (worker: string): string => {
        const copy = `${file}.${process.pid}.worker-${worker}`;
        copies.push(copy);
        return copy;
      };
      try {
        const { sources, missing } = await workers.snapshots(path);
        const backup = await state.backup(file, sources);
        return missing.length === 0 ? backup : { ...backup, missing };
      } finally {
        for (const copy of copies)
          for (const suffix of ["", "-journal", "-wal", "-shm"]) rmSync(`${copy}${suffix}`, { force: true });
      }
    },
    get workers() {
      return workers.status;
    },
    get problems() {
      return state.problems;
    },
    get metrics() {
      return state.metrics;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      clearTimeout(watching);
      watchdog?.stop();
      collecting?.stop();
      await Promise.all([workers.close(), state.close()]);
    },
  };
}

/** MiB of the host, or of the control group that this process is limited to. */
function hostMemory(): number {
  const limit = process.constrainedMemory();
  return Math.min(totalmem(), limit > 0 ? limit : Infinity) / 2 ** 20;
}

/** A logical cluster of a worker process, as it was when it was last opened. */
function logicalCluster(
  { name }: ClusterInfo,
  { workers, clock }: { readonly workers: Workers; readonly clock: NonNullable<ApiServerOptions["clock"]> },
): LogicalCluster {
  const info = (): ClusterInfo => {
    const known = workers.info(name);
    if (known) return known;
    throw new CausewayError("APISERVER_CLOSED", "the cluster is not served any more", {
      hint: "Create the cluster again.",
    });
  };
  return {
    name,
    get url() {
      return info().url;
    },
    get port() {
      return info().port;
    },
    get authority() {
      return info().authority;
    },
    get parked() {
      return workers.parked(name);
    },
    kubeconfig: (options = {}) => {
      const { url, servingAuthority, authority } = info();
      return makeKubeconfig({ name, server: url, servingAuthority, authority, clock }, options);
    },
  };
}

function watchdogOf({ abortAfter, watchdog }: IsolationOptions): { abortAfter?: number; program?: string } {
  return {
    ...(abortAfter === undefined ? {} : { abortAfter }),
    ...(watchdog === undefined ? {} : { program: watchdog }),
  };
}

/** Logs what held the thread, once it is free again. */
function reportTo(log: Log): (report: Report) => void {
  let longest: Report | undefined;
  return (report) => {
    if (report.stuck !== 0) {
      longest = report;
      return;
    }
    const [cluster, request] = longest?.holder.split("\n") ?? [];
    log.warn("a request held the thread of the management process", { seconds: longest?.stuck, cluster, request });
    longest = undefined;
  };
}
