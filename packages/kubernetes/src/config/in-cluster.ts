import { join } from "node:path";
import { readTextFile, InputError } from "@causeway/foundation";
import type { ClusterConfig } from "./interface.ts";

/** Where the kubelet puts a pod's service account. */
const DIRECTORY = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * How a pod reaches its own cluster: the service's address, and the projected token, which is read again when it
 * rotates.
 */
export function inClusterConfig(
  options: { env?: Readonly<Record<string, string | undefined>>; directory?: string } = {},
): ClusterConfig {
  const env = options.env ?? process.env;
  const directory = options.directory ?? DIRECTORY;
  const host = env["KUBERNETES_SERVICE_HOST"];
  const port = env["KUBERNETES_SERVICE_PORT"];
  if (!host || !port) throw notInCluster("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");
  const ca = read(join(directory, "ca.crt"));
  const tokenFile = join(directory, "token");
  if (read(tokenFile) === undefined) throw notInCluster(`${tokenFile} cannot be read`);
  const namespace = read(join(directory, "namespace"))?.trim();
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    tokenFile,
    ...(ca === undefined ? {} : { ca }),
    ...(namespace ? { namespace } : {}),
  };
}

function notInCluster(why: string): InputError {
  return new InputError("KUBERNETES_NOT_IN_CLUSTER", `this process has no service account of a pod: ${why}`, {
    hint: "Run it in a pod whose service account token is mounted, or give a kubeconfig.",
  });
}

function read(file: string): string | undefined {
  try {
    return readTextFile(file);
  } catch {
    return undefined;
  }
}
