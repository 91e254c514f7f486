import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ExternalAuthenticators } from "@causeway/apiserver";
import { CausewayError, type Clock, type Log, type Metrics } from "@causeway/foundation";
import type { Backups } from "../backup/backups.ts";
import { createBackupController } from "../backup/controller.ts";
import { refuseAuditSink } from "../audit-sink.ts";
import { notOffered } from "../backup/store.ts";
import { flagArgs } from "../flags.ts";
import { refuseIssuers, versionProblem } from "../issuers.ts";
import type { ControlPlaneRuntime, ControlPlaneSpec, ControlPlaneState } from "../runtime.ts";
import { ProcessControlPlane } from "./control-plane.ts";
import { openPrograms } from "./programs.ts";
import { recentLines } from "./recent-lines.ts";

/** Where the programs and their data are. */
export interface ProcessRuntimeOptions {
  /** Keeps everything of the control planes: etcd's data, keys, logs. */
  readonly dir: string;
  /** Folder with the programs, as VERSION/PROGRAM. */
  readonly programs: string;
  /** The address that control planes listen on, such as 0.0.0.0. Default: the one that each is reached at. */
  readonly listen?: string;
  /** Folder of a tunnel's sockets (ID.sock) that lead to the nodes. */
  readonly tunnels?: string;
  /**
   * Networks of the OIDC issuers that tenants may name. kube-apiserver resolves their names itself: it is not kept from
   * others. Default: they may name none.
   */
  readonly issuerNetworks?: readonly string[];
  /** Networks of the sinks of audit events that tenants may name. Default: they may name none. */
  readonly auditNetworks?: readonly string[];
  /** What verifies tokens in addition to the API server, by the name of `authentication.external.type`. */
  readonly authenticators?: ExternalAuthenticators;
  /** Where control planes are backed up and restored from. Undefined: none is. */
  readonly backups?: Backups | undefined;
  readonly metrics?: Metrics | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Control planes as programs of Kubernetes on this machine. */
export interface ProcessRuntime extends ControlPlaneRuntime {
  /** Ends every program, in order. Their data remains. */
  stop(): Promise<void>;
}

/**
 * Control planes as processes of Kubernetes' own programs on this machine: each has an etcd, an API server, a
 * controller manager and a scheduler. Programs that an earlier process left behind after kill -9 are found by their pid
 * files and start times, and ended first.
 */
export function createProcessRuntime(options: ProcessRuntimeOptions): ProcessRuntime {
  const { dir, programs, clock, authenticators = {} } = options;
  if (process.platform !== "linux")
    throw new CausewayError("PROCESS_RUNTIME_UNSUPPORTED", "control planes as processes need Linux", {
      hint: "Use the embedded runtime.",
    });
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const installed = openPrograms(programs);
  const running = new Map<string, ProcessControlPlane>();
  const listeners = new Set<(id: string) => void>();
  const folderOf = (id: string): string => {
    if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?\.[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(id))
      throw new CausewayError("PROCESS_RUNTIME_UNSUPPORTED", `"${id}" cannot name a folder`);
    return join(dir, id);
  };
  const socketOf = (id: string): string | undefined =>
    options.tunnels === undefined ? undefined : join(options.tunnels, `${id}.sock`);
  const open = (id: string): ProcessControlPlane => {
    const known = running.get(id);
    if (known) return known;
    const opened = new ProcessControlPlane({
      dir: folderOf(id),
      listen: options.listen,
      tunnel: socketOf(id),
      authenticators,
      auditNetworks: options.auditNetworks ?? [],
      backups: options.backups,
      clock,
      log: options.log.with({ controlPlane: id }),
      changed: () => {
        wakeWhenServing(id);
        for (const listener of listeners) listener(id);
      },
    });
    running.set(id, opened);
    return opened;
  };
  const { backups, metrics } = options;
  const loop = createBackupController({
    name: "process-backup",
    backups,
    observe: async (id) => running.get(id)?.backupTarget,
    ids: () => [...running.keys()],
    publish(id, state) {
      const controlPlane = running.get(id);
      if (controlPlane) controlPlane.backup = state;
    },
    clock,
    log: options.log,
    ...(metrics ? { metrics } : {}),
  });
  /** Runs since the first control plane that has backups. */
  let looping: Promise<void> | undefined;
  const life = new AbortController();
  const serving = new Set<string>();
  /** Its first backup is due when it serves for the first time. */
  const wakeWhenServing = (id: string): void => {
    if (serving.has(id) || running.get(id)?.state?.ready !== true) return;
    serving.add(id);
    loop.wake(id);
  };
  // Control planes whose objects were deleted while nothing ran are never requested again, but their programs must not
  // run on.
  const cleaned = Promise.all(readdirSync(dir).map((id) => open(id).endLeftovers()));
  return {
    async ensure(spec, signal) {
      await cleaned;
      refuseUnsupported(spec, authenticators);
      refuseIssuers(spec.authentication.jwt, options.issuerNetworks);
      refuseAuditSink(spec.audit, { networks: options.auditNetworks });
      if (spec.restore !== undefined && backups === undefined) throw notOffered();
      const folder = await installed.of(spec.version, signal);
      const controlPlane = open(spec.id);
      await controlPlane.apply(spec, folder, signal);
      if (spec.backup !== undefined) looping ??= loop.run(life.signal);
      // Also where backups were switched off: nothing is reported of them any more.
      if (looping !== undefined) loop.wake(spec.id);
      return controlPlane.state ?? leftover();
    },
    observe(id) {
      const state = running.get(id)?.state;
      if (state !== undefined) return Promise.resolve(state);
      return Promise.resolve(existsSync(folderOf(id)) ? leftover() : undefined);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async tunnel(id) {
      const socket = socketOf(id);
      return socket === undefined ? undefined : { socket };
    },
    async output(id) {
      return recentLines(join(folderOf(id), "run", "kube-apiserver.log"), clock.now());
    },
    async remove(id) {
      await cleaned;
      const controlPlane = open(id);
      await controlPlane.stop();
      await controlPlane.endLeftovers();
      running.delete(id);
      serving.delete(id);
      rmSync(folderOf(id), { recursive: true, force: true });
    },
    async stop() {
      await cleaned;
      life.abort(new Error("stopped"));
      await looping?.catch(() => {});
      await Promise.all([...running.values()].map((each) => each.stop()));
    },
  };
}

/** What only other runtimes can do is refused, and not left out; flags, before anything is changed. */
function refuseUnsupported(
  { authentication, flags, allowedCidrs, join: joined, backup, restore, version }: ControlPlaneSpec,
  authenticators: ExternalAuthenticators,
): void {
  if (allowedCidrs !== undefined)
    throw new CausewayError("RUNTIME_HAS_NO_ACCESS_LIST", "the process runtime has no spec.endpoint.allowedCIDRs", {
      hint: "Remove the field. Control planes with spec.runtime Pods have it.",
    });
  if (joined !== undefined && (backup !== undefined || restore !== undefined))
    throw new CausewayError(
      "PROCESS_RUNTIME_UNSUPPORTED",
      "spec.backup and spec.restore need a dedicated etcd, without spec.datastore",
      { hint: "Remove spec.backup and spec.restore." },
    );
  const old = versionProblem(authentication.jwt, version);
  if (old !== undefined)
    throw new CausewayError("PROCESS_RUNTIME_UNSUPPORTED", old, {
      hint: "Remove spec.authentication.jwt, or choose a newer version.",
    });
  for (const program of ["apiServer", "controllerManager"] as const) flagArgs(program, flags);
  if (authentication.external === undefined || Object.hasOwn(authenticators, authentication.external.type)) return;
  throw new CausewayError(
    "PROCESS_RUNTIME_UNSUPPORTED",
    `the process runtime does not support spec.authentication.${authentication.external.type}`,
    { hint: "Use the embedded runtime, or run causeway run keystone-auth as a webhook." },
  );
}

/** Data of a control plane that this process has not started yet: it exists, and is not ready. */
function leftover(): ControlPlaneState {
  return {
    ready: false,
    runtime: "Process",
    endpoint: { host: "", port: 0 },
    version: "",
    names: [],
    limits: { objects: 0, bytes: 0 },
    authentication: {},
    message: "the programs of the control plane are being started",
  };
}
