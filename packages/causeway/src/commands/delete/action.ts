import { createInterface } from "node:readline/promises";
import { Cluster } from "@causeway/api";
import { CausewayError, InputError, systemClock } from "@causeway/foundation";
import { createClient, type KubernetesClient } from "@causeway/kubernetes";
import { findCluster } from "../../clusters/find.ts";
import { managementCluster } from "../../clusters/place.ts";
import type { DeleteClusterOptions } from "./command.ts";

const PAUSE = 500;

/**
 * Deletes a cluster, and waits until it is gone.
 * @throws CLUSTER_NOT_FOUND, DELETE_NOT_CONFIRMED, CLUSTER_DELETE_TIMEOUT
 */
export async function deleteCluster(name: string, options: DeleteClusterOptions, signal: AbortSignal): Promise<void> {
  const config = managementCluster(options);
  const client = createClient(config);
  try {
    const key = { namespace: options.namespace ?? config.namespace ?? "default", name };
    const { metadata } = await findCluster(client, key, signal);
    if (!options.yes && !(await confirmed(key, signal))) return;
    // Another cluster of the same name, made meanwhile, is not this one.
    await client.delete(Cluster, key, { ...(metadata.uid ? { preconditions: { uid: metadata.uid } } : {}), signal });
    if (!options.wait) return void process.stdout.write(`cluster ${key.namespace}/${name} is being deleted\n`);
    await untilGone(client, { ...key, uid: metadata.uid }, options.timeout, signal);
    process.stdout.write(`cluster ${key.namespace}/${name} deleted\n`);
  } finally {
    await client.close();
  }
}

async function confirmed(
  { namespace, name }: { namespace: string; name: string },
  signal: AbortSignal,
): Promise<boolean> {
  if (!process.stdin.isTTY) {
    throw new InputError(
      "DELETE_NOT_CONFIRMED",
      `cluster ${namespace}/${name} would be deleted, and there is no terminal`,
      {
        hint: "Delete it with --yes.",
      },
    );
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const question = `Delete cluster ${namespace}/${name} with its machines, load balancers and network? [y/N] `;
    return /^y(es)?$/i.test((await terminal.question(question, { signal })).trim());
  } finally {
    terminal.close();
  }
}

interface Deleted {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string | undefined;
}

async function untilGone(client: KubernetesClient, key: Deleted, timeout: number, signal: AbortSignal): Promise<void> {
  const end = systemClock.now() + timeout * 1000;
  for (;;) {
    const left = await client.find(Cluster, key, { signal });
    if (left === undefined || left.metadata.uid !== key.uid) return;
    if (systemClock.now() > end) {
      throw new CausewayError(
        "CLUSTER_DELETE_TIMEOUT",
        `cluster ${key.namespace}/${key.name} is not gone after ${timeout} s`,
        {
          hint: `See what it waits for: causeway describe cluster ${key.name} -n ${key.namespace}`,
        },
      );
    }
    await systemClock.sleep(PAUSE, signal);
  }
}
