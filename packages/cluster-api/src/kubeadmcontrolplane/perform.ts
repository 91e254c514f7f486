import { generateKeyPair } from "node:crypto";
import { promisify } from "node:util";
import { base64, CausewayError, createAuthority, issueCertificate, type KeyPair } from "@causeway/foundation";
import { clusterSecretType, labels, Machine, type Cluster } from "@causeway/api";
import {
  ConfigMap,
  DaemonSet,
  Deployment,
  isNotFound,
  ownerReference,
  publishStatus,
  renderKubeconfig,
  Secret,
  type RemoteCluster,
} from "@causeway/kubernetes";
import { stringify } from "yaml";
import { certificateSecretName, pairIn, type CertificatePurpose } from "../objects/certificates.ts";
import type { Context } from "../objects/context.ts";
import { clusterConfiguration, endpointText } from "../objects/kubeadm.ts";
import { lockOf } from "../objects/metadata.ts";
import { createOnce, performWrite } from "../objects/pipeline.ts";
import { fieldManager } from "../objects/steps.ts";
import type { EtcdPlace } from "../objects/access.ts";
import type { Observed } from "./observed.ts";
import { findSecret } from "./gather.ts";
import type { ControlPlaneStep } from "./steps.ts";

/** Owns the conditions of Machines that the control plane reports. */
const conditionManager = "causeway-kubeadm-control-plane";
const year = 365 * 24 * 3600_000;
const authorityNames: Readonly<Partial<Record<CertificatePurpose, string>>> = {
  ca: "kubernetes",
  etcd: "etcd-ca",
  proxy: "front-proxy-ca",
};

/**
 * Makes one step true. Safe to repeat: a Secret that exists is never written over, and a member that is gone counts as
 * removed.
 */
export async function perform(
  context: Context,
  order: { readonly step: ControlPlaneStep; readonly observed: Observed },
  signal: AbortSignal,
): Promise<void> {
  const { step, observed } = order;
  switch (step.type) {
    case "create-certificates":
      for (const purpose of step.purposes) await createCertificate(context, { observed, purpose }, signal);
      return;
    case "write-kubeconfig":
      return writeKubeconfig(context, observed, signal);
    case "update-kubeadm-config":
      return updateKubeadmConfig(context, { observed, version: step.version }, signal);
    case "set-addon-image":
      return setAddonImage(context, { step, observed }, signal);
    case "move-leader":
      return accessOf(context).moveLeader(placeOf(observed), step.to, signal);
    case "remove-member":
      return accessOf(context).removeMember(placeOf(observed), step.member, signal);
    case "set-conditions": {
      const options = { status: { conditions: step.conditions }, fieldManager: conditionManager, signal };
      try {
        await publishStatus(context.informers.client, Machine, step.machine, options);
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
      return;
    }
    default:
      return performWrite(context, step, signal);
  }
}

async function createCertificate(
  context: Context,
  { observed, purpose }: { readonly observed: Observed; readonly purpose: CertificatePurpose },
  signal: AbortSignal,
): Promise<void> {
  const cluster = clusterOf(observed);
  const pair = await newPair(observed, { purpose, now: context.clock.now() });
  const data = { "tls.crt": base64(pair.certificate), "tls.key": base64(pair.key) };
  const object = clusterSecret(observed, {
    cluster,
    name: certificateSecretName(cluster.metadata.name, purpose),
    data,
  });
  await createOnce(context, { resource: Secret, object }, signal);
}

async function newPair(
  { control }: Observed,
  { purpose, now }: { readonly purpose: CertificatePurpose; readonly now: number },
): Promise<KeyPair> {
  if (purpose === "sa") {
    const { publicKey, privateKey } = await promisify(generateKeyPair)("rsa", {
      modulusLength: 2048,
      publicKeyEncoding: { type: "spki", format: "pem" },
      privateKeyEncoding: { type: "pkcs1", format: "pem" },
    });
    return { certificate: publicKey, key: privateKey };
  }
  const days = control.spec.kubeadmConfigSpec?.clusterConfiguration?.caCertificateValidityPeriodDays;
  const lifetime = days === undefined ? 10 * year : days * 24 * 3600_000;
  return createAuthority({ commonName: authorityNames[purpose] ?? purpose, lifetime, now });
}

async function writeKubeconfig(context: Context, observed: Observed, signal: AbortSignal): Promise<void> {
  const cluster = clusterOf(observed);
  const { namespace = "", name } = cluster.metadata;
  const authority = pairIn(await findSecret(context, { namespace, name: certificateSecretName(name, "ca") }, signal));
  const endpoint = endpointText(cluster);
  if (!authority || !endpoint) throw new TypeError("the kubeconfig was planned too early");
  const client = await issueCertificate(authority, {
    commonName: "kubernetes-admin",
    organizations: ["system:masters"],
    usages: ["client"],
    lifetime: year,
    now: context.clock.now(),
  });
  const text = renderKubeconfig({
    server: `https://${endpoint}`,
    ca: authority.certificate,
    certificate: client.certificate,
    key: client.key,
    clusterName: name,
    userName: `${name}-admin`,
  });
  const object = clusterSecret(observed, { cluster, name: `${name}-kubeconfig`, data: { value: base64(text) } });
  const standing = await findSecret(context, { namespace, name: object.metadata.name }, signal);
  if (!standing) return createOnce(context, { resource: Secret, object }, signal);
  const body = { metadata: lockOf(standing), data: object.data };
  await context.informers.client.patch(
    Secret,
    { namespace, name: object.metadata.name },
    { type: "merge", body },
    { fieldManager, signal },
  );
}

function clusterSecret(
  { control }: Observed,
  given: { readonly cluster: Cluster; readonly name: string; readonly data: Record<string, string> },
): Secret {
  const { namespace = "", name } = given.cluster.metadata;
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: given.name,
      namespace,
      labels: { [labels.clusterName]: name },
      ownerReferences: [ownerReference(control, { controller: true })],
    },
    type: clusterSecretType,
    data: given.data,
  };
}

/** Machines join with the configuration in the cluster: it must name the version of the next one. */
async function updateKubeadmConfig(
  context: Context,
  { observed, version }: { readonly observed: Observed; readonly version: string },
  signal: AbortSignal,
): Promise<void> {
  const cluster = clusterOf(observed);
  const { client } = remoteOf(context, cluster);
  const key = { namespace: "kube-system", name: "kubeadm-config" };
  const standing = await client.get(ConfigMap, key, { signal });
  const { clusterConfiguration: spec } = observed.control.spec.kubeadmConfigSpec ?? {};
  const text = stringify(clusterConfiguration(spec, { cluster, version }), { version: "1.1", lineWidth: 0 });
  const body = { metadata: lockOf(standing), data: { ClusterConfiguration: text } };
  await client.patch(ConfigMap, key, { type: "merge", body }, { fieldManager, signal });
}

/** A strategic merge patch: containers are merged by their name. */
async function setAddonImage(
  context: Context,
  order: { readonly step: Extract<ControlPlaneStep, { type: "set-addon-image" }>; readonly observed: Observed },
  signal: AbortSignal,
): Promise<void> {
  const { addon, image } = order.step;
  const { client } = remoteOf(context, clusterOf(order.observed));
  const body = { spec: { template: { spec: { containers: [{ name: addon, image }] } } } };
  const key = { namespace: "kube-system", name: addon };
  const patch = { type: "strategic", body } as const;
  const options = { fieldManager, signal };
  if (addon === "coredns") await client.patch(Deployment, key, patch, options);
  else await client.patch(DaemonSet, key, patch, options);
}

function clusterOf({ cluster }: Observed): Cluster {
  if (cluster) return cluster;
  throw new TypeError("a step was planned without a Cluster");
}

function placeOf(observed: Observed): EtcdPlace {
  const { namespace = "", name } = clusterOf(observed).metadata;
  const nodes = observed.machines.flatMap(({ machine }) =>
    machine.status?.nodeRef ? [machine.status.nodeRef.name] : [],
  );
  return { cluster: { namespace, name }, nodes };
}

function accessOf({ access }: Context): NonNullable<Context["access"]> {
  if (access) return access;
  throw new CausewayError("CAPI_ETCD_UNREACHABLE", "members of etcd cannot be inspected here", {
    hint: "Run the control-plane provider where it reaches the workload clusters.",
  });
}

function remoteOf({ remoteClusters }: Context, { metadata }: Cluster): RemoteCluster {
  const remote = remoteClusters.get({ namespace: metadata.namespace ?? "", name: metadata.name });
  if (remote) return remote;
  throw new CausewayError("CAPI_WORKLOAD_UNREACHABLE", `the workload cluster ${metadata.name} cannot be reached`, {
    hint: "The step is retried; check the Cluster's condition RemoteConnectionProbe.",
  });
}
