import { AddonSet, Cluster, manifest, type Manifest } from "@causeway/api";
import { InputError, silentLog, systemClock } from "@causeway/foundation";
import { connectCloud, type CloudConfig } from "@causeway/openstack";
import { checkManifests, createMissing } from "../../clusters/manifests.ts";
import { cloudOf, newCluster } from "../../clusters/new-cluster.ts";
import { withManagement } from "../../clusters/place.ts";
import { requireNamed } from "../../clusters/require-named.ts";
import { waitUntil } from "../../clusters/wait.ts";
import type { CreateClusterOptions } from "./command.ts";
import { ownName } from "../../terminal/own-name.ts";

/**
 * Creates a cluster, and waits until its workers are ready.
 * @throws CLUSTER_EXISTS, CLUSTER_REFUSED, CLUSTER_LEFTOVERS, FLAVOR_NOT_FOUND, IMAGE_NOT_FOUND,
 * CLUSTER_CREATE_TIMEOUT, and what `cloudOf` and `newCluster` throw
 */
export async function createCluster(name: string, options: CreateClusterOptions, signal: AbortSignal): Promise<void> {
  const cloud = cloudOf(options.osCloud);
  await withManagement(options, async ({ client, namespace }) => {
    const key = { namespace, name };
    const manifests = [...newCluster(key, cloud, options), ...addonManifests(key, options.addons)];
    if (await client.find(Cluster, key, { signal })) {
      throw new InputError("CLUSTER_EXISTS", `cluster ${namespace}/${name} exists`, {
        hint: `See it with ${ownName()} describe cluster ${name} -n ${namespace}; choose another name for a new one.`,
      });
    }
    await checkCloud(cloud, options, signal);
    await checkManifests(client, manifests, signal);
    await createMissing(client, manifests, signal);
    if (!options.wait) return void process.stdout.write(`cluster ${namespace}/${name} is being created\n`);
    const check = async (): Promise<string | undefined> => {
      const { status } = await client.get(Cluster, key, { signal });
      const ready = status?.workers?.readyReplicas ?? 0;
      if (status?.initialization?.controlPlaneInitialized !== true) return "its control plane is not ready";
      return ready >= options.replicas ? undefined : `${ready} of ${options.replicas} workers are ready`;
    };
    await waitUntil(check, { ...key, timeout: options.timeout, signal, code: "CLUSTER_CREATE_TIMEOUT" });
    process.stdout.write(
      `cluster ${namespace}/${name} is ready: ${ownName()} kubeconfig cluster ${name} -n ${namespace}\n`,
    );
  });
}

/** The set of built-in add-ons of a cluster, which belongs to it as soon as its controller sees it. */
function addonManifests(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  chosen: CreateClusterOptions["addons"],
): Manifest[] {
  if (chosen === undefined || chosen.length === 0) return [];
  const addons = chosen.map((each) => ({ name: each.toLowerCase(), catalogue: { name: each } }));
  return [
    manifest(AddonSet, {
      apiVersion: "addons.causeway.dev/v1alpha1",
      kind: "AddonSet",
      metadata: { namespace, name },
      spec: { clusterName: name, addons },
    }),
  ];
}

/** Checks that the cloud has the flavor and the image, before anything is made. */
async function checkCloud(config: CloudConfig, options: CreateClusterOptions, signal: AbortSignal): Promise<void> {
  const cloud = connectCloud(config, { clock: systemClock, log: silentLog });
  try {
    const [flavors, images] = await Promise.all([
      cloud.compute.flavors.all({}, { signal }),
      cloud.image.images.all({}, { signal }),
    ]);
    requireNamed("flavor", options.flavor, flavors);
    requireNamed("image", options.image, images);
  } finally {
    await cloud.close();
  }
}
