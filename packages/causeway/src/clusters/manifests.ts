import { isDeepStrictEqual } from "node:util";
import { hasCode, InputError, messageOf } from "@causeway/foundation";
import { isAlreadyExists, Secret, type KubeObject, type KubernetesClient } from "@causeway/kubernetes";
import { credentialsManifest, credentialsOf, managedClusterManifests, type Manifest } from "@causeway/api";

/** What a cluster with a hosted control plane and one set of workers is made from. */
export interface ClusterPlan {
  readonly namespace: string;
  readonly name: string;
  /** Kubernetes version, "v1.34.0". */
  readonly version: string;
  readonly replicas: number;
  readonly flavor: string;
  readonly image: string;
  /** A clouds.yaml with the entry `cloudName`. */
  readonly cloudsYaml: string;
  readonly cloudName: string;
}

/** The name of a cluster's set of workers. */
export function workersOf(name: string): string {
  return `${name}-workers`;
}

/**
 * A cluster, in the order in which it is applied: the Cluster comes last, so that it is there only when all of it is.
 */
export function clusterManifests(options: ClusterPlan): readonly Manifest[] {
  const { namespace, name, version } = options;
  return [
    credentialsManifest(options, options.cloudsYaml),
    ...managedClusterManifests({
      namespace,
      name,
      controlPlane: { version },
      infrastructure: {
        identityRef: { type: "Secret", name: credentialsOf(name), cloudName: options.cloudName },
        managedSubnets: [{ cidr: "10.6.0.0/24", dnsNameservers: ["9.9.9.9"] }],
        managedSecurityGroups: { allowAllInClusterTraffic: true },
        apiServer: { enableFloatingIP: false, managedLoadBalancer: { enabled: false } },
      },
      podCidr: "10.244.0.0/16",
      serviceCidr: "10.96.0.0/12",
      pools: [
        {
          name: workersOf(name),
          version,
          replicas: options.replicas,
          machine: { flavor: { filter: { name: options.flavor } }, image: { filter: { name: options.image } } },
        },
      ],
    }),
  ];
}

/**
 * Creates what does not exist yet, in this order. Repeating it after an attempt that ended in between creates the rest.
 */
export async function createMissing(
  client: KubernetesClient,
  manifests: readonly Manifest[],
  signal: AbortSignal,
): Promise<void> {
  for (const { type, object } of manifests) {
    await client.create(type, object, { signal }).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }
}

/**
 * Has the API server default and validate all that is missing, without creating it, and compares the credentials with
 * what an earlier attempt left.
 * @throws CLUSTER_REFUSED, CLUSTER_LEFTOVERS
 */
export async function checkManifests(
  client: KubernetesClient,
  manifests: readonly Manifest[],
  signal: AbortSignal,
): Promise<void> {
  for (const { type, object } of manifests) {
    const key = { namespace: object.metadata.namespace ?? "default", name: object.metadata.name };
    try {
      await client.create(type, object, { dryRun: true, signal });
    } catch (error) {
      if (hasCode(error, "KUBERNETES_INVALID")) throw refused(object, error);
      if (!isAlreadyExists(error)) throw error;
      if (object.kind !== "Secret") continue;
      const found = await client.find(Secret, key, { signal });
      if (found && !isDeepStrictEqual(found.data, (object as Secret).data)) throw leftOver(key);
    }
  }
}

function refused({ kind, metadata }: KubeObject, cause: unknown): InputError {
  return new InputError("CLUSTER_REFUSED", `the API server refuses ${kind}/${metadata.name}: ${messageOf(cause)}`, {
    cause,
    hint: "Nothing was created. Correct the option that the message is about.",
  });
}

function leftOver({ namespace, name }: { readonly namespace: string; readonly name: string }): InputError {
  return new InputError("CLUSTER_LEFTOVERS", `Secret ${namespace}/${name} exists, with other credentials`, {
    hint: `Choose the cloud that it is for, or another name; if no cluster uses it: kubectl delete secret -n ${namespace} ${name}.`,
  });
}
