import { InputError, type Clock, type Log, type Metrics } from "@causeway/foundation";
import type { ApiServer } from "@causeway/apiserver";
import {
  createEmbeddedRuntime,
  createProcessRuntime,
  createRuntimes,
  installedVersions,
  type Backups,
  type ControlPlaneRuntime,
} from "@causeway/hosted-control-plane";
import { authenticators } from "../workloads/authenticators.ts";

/** What runs hosted control planes. */
export interface RuntimeChoice {
  /** For those that name none. */
  readonly default: "Embedded" | "Process";
  /** Folder of Kubernetes' programs; undefined: runtime Process is not offered. */
  readonly programs: string | undefined;
}

/**
 * What the options of `causeway up` chose.
 * @throws PROGRAMS_NOT_GIVEN, PROGRAMS_NOT_FOUND
 */
export function chosenRuntime(options: { readonly runtime: string; readonly programs?: string }): RuntimeChoice {
  const { runtime, programs } = options;
  if (programs !== undefined) newestVersion(programs);
  if (runtime !== "process") return { default: "Embedded", programs };
  if (programs === undefined)
    throw new InputError("PROGRAMS_NOT_GIVEN", "--runtime process needs Kubernetes' programs", {
      hint: "Specify the folder that has them, as VERSION/PROGRAM, with --programs.",
    });
  return { default: "Process", programs };
}

/**
 * The newest version that is installed in `programs`.
 * @throws PROGRAMS_NOT_FOUND
 */
export function newestVersion(programs = ""): string {
  const numbers = (version: string) => version.slice(1).split(".").map(Number);
  const [newest] = installedVersions(programs).toSorted((a, b) => {
    const [x, y] = [numbers(a), numbers(b)];
    return (y[0] ?? 0) - (x[0] ?? 0) || (y[1] ?? 0) - (x[1] ?? 0) || (y[2] ?? 0) - (x[2] ?? 0);
  });
  if (newest !== undefined) return newest;
  throw new InputError("PROGRAMS_NOT_FOUND", `no version of Kubernetes is installed in ${programs}`, {
    hint: "It needs a folder for each version, such as v1.34.4, with etcd, kube-apiserver, kube-controller-manager and kube-scheduler.",
  });
}

/** What the offered runtimes run with. */
export interface RuntimeOptions {
  readonly choice: RuntimeChoice;
  readonly apiServer: ApiServer;
  /** Folder of the state of control planes as processes. */
  readonly dir: string;
  readonly nodes: { readonly networks: readonly string[]; readonly tunnels?: string } | undefined;
  /** Networks of the OIDC issuers that tenants may name. */
  readonly issuerNetworks: readonly string[];
  /** Networks of the sinks of audit events that tenants may name. */
  readonly auditNetworks: readonly string[];
  /** Where control planes as processes are backed up and restored from; undefined: none is. */
  readonly backups: Backups | undefined;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** The runtimes that are offered, as one. */
export function openRuntime(options: RuntimeOptions): { runtime: ControlPlaneRuntime; stop(): Promise<void> } {
  const { choice, apiServer, dir, nodes, issuerNetworks, auditNetworks, backups, metrics, clock, log } = options;
  const embedded = createEmbeddedRuntime({ apiServer, issuerNetworks, auditNetworks, ...(nodes ? { nodes } : {}) });
  if (choice.programs === undefined)
    return { runtime: createRuntimes({ runtimes: { Embedded: embedded }, default: "Embedded" }), stop: async () => {} };
  const tunnels = nodes?.tunnels === undefined ? {} : { tunnels: nodes.tunnels };
  const tools = { authenticators, issuerNetworks, auditNetworks, backups, metrics, clock, log };
  const processes = createProcessRuntime({ dir, programs: choice.programs, ...tunnels, ...tools });
  const runtimes = { Embedded: embedded, Process: processes };
  return { runtime: createRuntimes({ runtimes, default: choice.default }), stop: () => processes.stop() };
}
