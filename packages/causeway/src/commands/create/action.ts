import { Cluster } from "@causeway/api";
import { CausewayError, InputError, silentLog, systemClock } from "@causeway/foundation";
import { createClient, isAlreadyExists, type KubernetesClient } from "@causeway/kubernetes";
import { connectCloud } from "@causeway/openstack";
import { managementCluster } from "../../clusters/place.ts";
import { cloudOf, newCluster } from "../../clusters/new-cluster.ts";
import type { CreateClusterOptions } from "./command.ts";

const PAUSE = 500;

/**
 * Creates a cluster, and waits until its workers are ready.
 * @throws CLUSTER_EXISTS, FLAVOR_NOT_FOUND, IMAGE_NOT_FOUND, CLUSTER_CREATE_TIMEOUT, and what `newCluster` throws
 */
export async function createCluster(name: string, options: CreateClusterOptions, signal: AbortSignal): Promise<void> {
  const config = managementCluster(options);
  const key = { namespace: options.namespace ?? config.namespace ?? "default", name };
  const manifests = newCluster(key, options);
  const client = createClient(config);
  try {
    if (await client.find(Cluster, key, { signal })) {
      throw new InputError("CLUSTER_EXISTS", `cluster ${key.namespace}/${name} exists`, {
        hint: `See it with causeway describe cluster ${name} -n ${key.namespace}; choose another name for a new one.`,
      });
    }
    await checkCloud(options, signal);
    for (const { type, object } of manifests) {
      await client.create(type, object, { signal }).catch((error: unknown) => {
        // Left by an attempt that ended before its Cluster, which comes last, was made.
        if (!isAlreadyExists(error)) throw error;
      });
    }
    if (!options.wait) return void process.stdout.write(`cluster ${key.namespace}/${name} is being created\n`);
    await untilReady(client, key, options, signal);
    process.stdout.write(
      `cluster ${key.namespace}/${name} is ready: causeway kubeconfig cluster ${name} -n ${key.namespace}\n`,
    );
  } finally {
    await client.close();
  }
}

/** Looks whether the cloud has the flavor and the image before anything is made. */
async function checkCloud(options: CreateClusterOptions, signal: AbortSignal): Promise<void> {
  const cloud = connectCloud(cloudOf(options.osCloud), { clock: systemClock, log: silentLog });
  try {
    const [flavors, images] = await Promise.all([
      cloud.compute.flavors.all({}, { signal }),
      cloud.image.images.all({}, { signal }),
    ]);
    require("flavor", options.flavor, flavors);
    require("image", options.image, images);
  } finally {
    await cloud.close();
  }
}

interface Named {
  readonly id: string;
  readonly name?: string | null;
}

function require(what: "flavor" | "image", name: string, all: readonly Named[]): void {
  if (all.some((one) => one.name === name)) return;
  const names = [...new Set(all.map((one) => one.name ?? one.id))].sort();
  throw new InputError(
    `${what.toUpperCase()}_NOT_FOUND`,
    `there is no ${what} ${name} in the cloud; there are: ${names.join(", ")}`,
    {
      hint: `Choose one of them with --${what}. Nothing was made.`,
    },
  );
}

async function untilReady(
  client: KubernetesClient,
  key: { readonly namespace: string; readonly name: string },
  { timeout, replicas }: CreateClusterOptions,
  signal: AbortSignal,
): Promise<void> {
  const end = systemClock.now() + timeout * 1000;
  for (;;) {
    const { status } = await client.get(Cluster, key, { signal });
    const ready = status?.workers?.readyReplicas ?? 0;
    if (status?.initialization?.controlPlaneInitialized === true && ready >= replicas) return;
    if (systemClock.now() > end) {
      throw new CausewayError(
        "CLUSTER_CREATE_TIMEOUT",
        `cluster ${key.namespace}/${key.name} is not ready after ${timeout} s: ${ready} of ${replicas} workers`,
        {
          hint: `See what it waits for: causeway describe cluster ${key.name} -n ${key.namespace}`,
        },
      );
    }
    await systemClock.sleep(PAUSE, signal);
  }
}
