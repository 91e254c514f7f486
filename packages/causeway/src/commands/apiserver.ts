import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createLog, silentLog, whenAborted, type LogLevel } from "@causeway/foundation";
import { startApiServer, type ApiServerOptions } from "@causeway/apiserver";

export interface ApiServerFlags {
  readonly state: string;
  readonly bindAddress: string;
  readonly port?: number;
  readonly tlsCertFile?: string;
  readonly tlsPrivateKeyFile?: string;
  readonly tlsAuthorityFile?: string;
  readonly kubeconfig: boolean;
  readonly logLevel: LogLevel;
}

/** Milliseconds that who waits for the server has it for himself: what it has to see to takes as long as the first answers. */
const FIRST_ANSWERS = 50;

/**
 * Runs an API server alone until the signal aborts. `known` are the first objects of clusters, where the program was built with them.
 * @throws STATE_TOO_NEW, STATE_LOCKED, APISERVER_PORT_TAKEN, APISERVER_CANNOT_LISTEN, SERVING_CERTIFICATE_INVALID
 */
export async function apiserver(
  flags: ApiServerFlags,
  signal: AbortSignal,
  known?: ApiServerOptions["firstObjects"],
): Promise<void> {
  const { state, port } = flags;
  const server = await startApiServer({
    dir: state,
    housekeepingAfter: FIRST_ANSWERS,
    host: flags.bindAddress,
    log: flags.logLevel === "silent" ? silentLog : createLog({ level: flags.logLevel }),
    ...(port === undefined ? {} : { port }),
    ...servingOf(flags),
    ...(known ? { firstObjects: known } : {}),
  });
  try {
    process.stdout.write(`Kubernetes API at ${server.management.url}\n`);
    if (flags.kubeconfig) {
      const path = join(state, "admin.kubeconfig");
      writeFileSync(path, await server.management.kubeconfig(), { mode: 0o600 });
      chmodSync(path, 0o600);
      process.stdout.write(`  export KUBECONFIG=${path}\nPress Ctrl-C to stop it; what is in it stays in ${state}.\n`);
    }
    await whenAborted(signal);
  } finally {
    await server.close();
  }
}

function servingOf({ tlsCertFile, tlsPrivateKeyFile, tlsAuthorityFile }: ApiServerFlags): ApiServerOptions {
  if (tlsCertFile === undefined || tlsPrivateKeyFile === undefined) return {};
  const authorityFile = tlsAuthorityFile ?? tlsCertFile;
  return { serving: { certificateFile: tlsCertFile, keyFile: tlsPrivateKeyFile, authorityFile } };
}
