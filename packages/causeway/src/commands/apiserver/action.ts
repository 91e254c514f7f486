import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { InputError, whenAborted } from "@causeway/foundation";
import { startApiServer, type ApiServerOptions, type IsolationOptions } from "@causeway/apiserver";
import { serveAdmin } from "../../composition/admin-socket.ts";
import { makeStateFolder } from "../../composition/folder.ts";
import type { ApiServerFlags } from "./command.ts";
import { commandLog } from "../../terminal/text-log.ts";

/**
 * Milliseconds that who waits for the server has it for himself: what it has to see to takes as long as the first
 * answers.
 */
const FIRST_ANSWERS = 50;

/** What a program that was built of these sources has next to them. */
export interface BuiltWith extends Pick<IsolationOptions, "program" | "watchdog"> {
  /** The first objects of clusters. */
  readonly firstObjects?: NonNullable<ApiServerOptions["firstObjects"]>;
}

/** Milliseconds without progress after which the process is aborted, so that what supervises it starts it again. */
const ABORT_AFTER = 60_000;

/** Where pods get their addresses from, each node a part of it: the same as in clusters of `causeway up`. */
const POD_NETWORK = "10.244.0.0/16";

/**
 * Runs an API server alone until the signal aborts. Logical clusters that its state folder has are served by worker
 * processes.
 * @throws STATE_NOT_WRITABLE, STATE_TOO_NEW, STATE_LOCKED, APISERVER_PORT_TAKEN, APISERVER_CANNOT_LISTEN,
 * SERVING_CERTIFICATE_INVALID, FLAG_INVALID
 */
export async function apiserver(
  flags: ApiServerFlags,
  signal: AbortSignal,
  { firstObjects, ...programs }: BuiltWith = {},
): Promise<void> {
  const { state, port } = flags;
  const serving = servingOf(flags);
  makeStateFolder(state);
  const log = commandLog(flags.logLevel);
  // What runs workloads is loaded for those who want it.
  const workloads = flags.controllers === true ? (await import("../../workloads/start.ts")).startWorkloads : undefined;
  const server = await startApiServer({
    dir: state,
    controllersAfter: FIRST_ANSWERS,
    host: flags.bindAddress,
    log,
    ...(port ? { port } : {}),
    ...serving,
    ...(firstObjects ? { firstObjects } : {}),
    ...(workloads ? { controllers: workloads, management: { controllers: true, podCidr: POD_NETWORK } } : {}),
    isolation: { ...programs, abortAfter: ABORT_AFTER },
  });
  let endAdmin = async (): Promise<void> => {};
  try {
    process.stdout.write(`Kubernetes API at ${server.management.url}\n`);
    endAdmin = await serveAdmin(state, { backup: ({ file }) => server.backup(String(file)) }, log);
    if (flags.kubeconfig) {
      const path = join(state, "admin.kubeconfig");
      writeFileSync(path, await server.management.kubeconfig(), { mode: 0o600 });
      chmodSync(path, 0o600);
      process.stdout.write(`  export KUBECONFIG=${path}\nPress Ctrl-C to stop it; its data remains in ${state}.\n`);
    }
    await whenAborted(signal);
  } finally {
    await endAdmin();
    await server.close();
  }
}

function servingOf({ tlsCertFile, tlsPrivateKeyFile, tlsAuthorityFile }: ApiServerFlags): ApiServerOptions {
  if (tlsCertFile === undefined || tlsPrivateKeyFile === undefined) {
    if ((tlsCertFile ?? tlsPrivateKeyFile ?? tlsAuthorityFile) === undefined) return {};
    throw new InputError("FLAG_INVALID", "--tls-cert-file and --tls-private-key-file must be used together.", {
      hint: "Set both, and --tls-authority-file if another CA signed the certificate; or set none of them.",
    });
  }
  const authorityFile = tlsAuthorityFile ?? tlsCertFile;
  return { serving: { certificateFile: tlsCertFile, keyFile: tlsPrivateKeyFile, authorityFile } };
}
