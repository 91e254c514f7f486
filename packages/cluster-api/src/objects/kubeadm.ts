import type { Cluster, KubeadmConfigSpec } from "@causeway/api";

type ClusterSpec = NonNullable<KubeadmConfigSpec["clusterConfiguration"]>;
type InitSpec = NonNullable<KubeadmConfigSpec["initConfiguration"]>;
type Arguments = readonly { readonly name: string; readonly value: string }[];

/** What kubeadm's ClusterConfiguration takes from the Cluster and the Machine. */
export interface ClusterFactsForKubeadm {
  readonly cluster: Cluster;
  /** Such as "v1.34.0": it settles which kubeadm API is written. */
  readonly version: string | undefined;
}

/** kubeadm.k8s.io/v1beta4 from Kubernetes 1.31, v1beta3 before. */
export function kubeadmApi(version: string | undefined): { readonly apiVersion: string; readonly old: boolean } {
  const minor = /^v?1\.(\d+)/.exec(version ?? "")?.[1];
  const old = minor !== undefined && Number(minor) < 31;
  return { apiVersion: `kubeadm.k8s.io/${old ? "v1beta3" : "v1beta4"}`, old };
}

/** `a: b` in v1beta3, a list of names and values in v1beta4. */
export function argumentsOf(args: Arguments, old: boolean): unknown {
  return old ? Object.fromEntries(args.map(({ name, value }) => [name, value])) : args;
}

/** `discoverySeconds: 300` is `discovery: 300s` to kubeadm. */
export function durationsOf(timeouts: Readonly<Record<string, number | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(timeouts).flatMap(([name, seconds]) =>
      seconds === undefined ? [] : [[name.replace(/Seconds$/, ""), `${seconds}s`]],
    ),
  );
}

/** host:port of the Cluster's endpoint; undefined while it has none. */
export function endpointText(cluster: Cluster | undefined): string | undefined {
  const { host, port } = cluster?.spec.controlPlaneEndpoint ?? {};
  if (!host || !port) return undefined;
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** kubeadm's ClusterConfiguration: what the user wrote, completed from the Cluster. */
export function clusterConfiguration(
  spec: ClusterSpec | undefined,
  { cluster, version }: ClusterFactsForKubeadm,
): Record<string, unknown> {
  const { apiVersion, old } = kubeadmApi(version);
  const {
    apiServer,
    controllerManager,
    scheduler,
    etcd,
    caCertificateValidityPeriodDays,
    certificateValidityPeriodDays,
    ...rest
  } = spec ?? {};
  const { encryptionAlgorithm, ...same } = rest;
  const { pods, services, serviceDomain } = cluster.spec.clusterNetwork ?? {};
  const networking = {
    ...(serviceDomain ? { dnsDomain: serviceDomain } : {}),
    ...(pods?.cidrBlocks?.length ? { podSubnet: pods.cidrBlocks.join(",") } : {}),
    ...(services?.cidrBlocks?.length ? { serviceSubnet: services.cidrBlocks.join(",") } : {}),
  };
  const endpoint = endpointText(cluster);
  return {
    apiVersion,
    kind: "ClusterConfiguration",
    clusterName: cluster.metadata.name,
    ...(version ? { kubernetesVersion: version } : {}),
    ...(endpoint ? { controlPlaneEndpoint: endpoint } : {}),
    networking,
    ...same,
    ...(apiServer ? { apiServer: component(apiServer, old) } : {}),
    ...(controllerManager ? { controllerManager: component(controllerManager, old) } : {}),
    ...(scheduler ? { scheduler: component(scheduler, old) } : {}),
    ...(etcd ? { etcd: etcdOf(etcd, old) } : {}),
    ...(old
      ? {}
      : {
          ...(encryptionAlgorithm ? { encryptionAlgorithm } : {}),
          ...validity("caCertificateValidityPeriod", caCertificateValidityPeriodDays),
          ...validity("certificateValidityPeriod", certificateValidityPeriodDays),
        }),
  };
}

/** kubeadm's InitConfiguration of the first machine. */
export function initConfiguration(
  spec: InitSpec | undefined,
  { machine, version }: { readonly machine: string; readonly version: string | undefined },
): Record<string, unknown> {
  const { apiVersion, old } = kubeadmApi(version);
  const { nodeRegistration, bootstrapTokens, timeouts, ...same } = spec ?? {};
  const { kubeletExtraArgs, imagePullSerial, ...registration } = nodeRegistration ?? {};
  return {
    apiVersion,
    kind: "InitConfiguration",
    ...same,
    ...(bootstrapTokens
      ? {
          bootstrapTokens: bootstrapTokens.map(({ ttlSeconds, ...token }) => ({
            ...token,
            ...(ttlSeconds === undefined ? {} : { ttl: `${ttlSeconds}s` }),
          })),
        }
      : {}),
    nodeRegistration: {
      name: machine,
      ...registration,
      ...(imagePullSerial === undefined || old ? {} : { imagePullSerial }),
      ...(kubeletExtraArgs?.length ? { kubeletExtraArgs: argumentsOf(kubeletExtraArgs, old) } : {}),
    },
    ...(timeouts && !old ? { timeouts: durationsOf(timeouts) } : {}),
  };
}

interface Component {
  readonly extraArgs?: Arguments;
  readonly extraEnvs?: readonly unknown[];
}

function component(given: Component & object, old: boolean): Record<string, unknown> {
  const { extraArgs, extraEnvs, ...same } = given;
  return {
    ...same,
    ...(extraArgs?.length ? { extraArgs: argumentsOf(extraArgs, old) } : {}),
    ...(extraEnvs?.length && !old ? { extraEnvs } : {}),
  };
}

function etcdOf({ local, external }: NonNullable<ClusterSpec["etcd"]>, old: boolean): Record<string, unknown> {
  return { ...(local ? { local: component(local, old) } : {}), ...(external ? { external } : {}) };
}

function validity(name: string, days: number | undefined): Record<string, string> {
  return days === undefined ? {} : { [name]: `${days * 24}h0m0s` };
}
