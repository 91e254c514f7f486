import { createHash } from "node:crypto";
import {
  annotations as known,
  Cluster,
  credentialsOf,
  finalizers,
  managedClusterManifests,
  type HostedControlPlane,
  type HostedControlPlaneSpec,
  type Machine,
  type MagnumCluster,
  type MagnumNodeGroup,
  type ManagedCluster,
  type Manifest,
  type NodePool,
  type OpenStackCluster,
} from "@causeway/api";
import { canonicalJson, formatCidr, parseCidr, parseIp } from "@causeway/foundation";
import { ownerReference } from "@causeway/kubernetes";
import { isUuid } from "../wire/fields.ts";
import { addonManifests, type AddonInstallation } from "./addons.ts";
import { healingManifests } from "./healing.ts";
import { labelSettings, type LabelSettings } from "./labels.ts";
import { joinFlag, labelAnnotation } from "./node-labels.ts";
import { appliedAnnotation, CLOUD, kubeProxyLabel, magnumLabels, poolNameOf } from "./names.ts";
import { keptGroups } from "./pools.ts";
import { proxyBootstrap } from "./proxies.ts";
import { registryBootstrap, together } from "./registry.ts";
import { scalingBounds } from "./scaling.ts";
import { authoritiesOf, rolloutAfterOf } from "./plan-rotation.ts";

/** Where Keystone is, for clusters whose users come in by it. */
export interface KeystoneAddress {
  readonly authUrl: string;
  readonly certificateAuthority?: string;
}

/** What an installation says about all clusters. */
export interface Installation extends KeystoneAddress, AddonInstallation {
  /** Networks of the operator, which access lists always have: controllers and probes come from there. */
  readonly managementCidrs?: readonly string[] | undefined;
  /** Runtime of new control planes; undefined: what the controller of hosted control planes chooses. */
  readonly runtime?: HostedControlPlaneSpec["runtime"] | undefined;
}

/** The MachineDeployments there are, by name: where an autoscaler decides, its number is kept. */
export type StandingPools = ReadonlyMap<
  string,
  { readonly replicas?: number | undefined; readonly annotations?: Readonly<Record<string, string>> | undefined }
>;

/** What is read of the objects that there are, to say what they are to be. */
interface ExistingObjects {
  readonly pools: StandingPools;
  readonly cluster?: Cluster | undefined;
  readonly controlPlane: HostedControlPlane | undefined;
  readonly infrastructure?: OpenStackCluster | undefined;
  readonly machines: readonly Machine[];
  /** Each node group has all its nodes, all ready, and no others. */
  readonly isSettled: boolean;
}

/** What exists of a cluster that was not begun. */
export const nothingStands: ExistingObjects = {
  pools: new Map(),
  controlPlane: undefined,
  machines: [],
  isSettled: false,
};

/** The last request of a number of nodes. An autoscaler's number is kept until there is another request. */
const askedAnnotation = "magnum.causeway.dev/node-count";

const GROUP_ROLE = "magnum.openstack.org/role";
const GROUP_NAME = "magnum.openstack.org/nodegroup";

/**
 * What a cluster is to consist of, in the order in which it is applied; each object has a digest of itself. Its
 * credentials are not among them.
 */
export function desiredManifests(
  cluster: MagnumCluster,
  installation: Installation,
  standing: ExistingObjects,
): readonly Manifest[] {
  const { metadata, spec } = cluster;
  const settings = labelSettings(spec.labels ?? {});
  const rolloutAfter = rolloutAfterOf({ ...standing, object: cluster });
  const plan: ManagedCluster = {
    namespace: metadata.namespace ?? "",
    name: metadata.name,
    owner: ownerReference(cluster),
    labels: { [magnumLabels.uuid]: spec.uuid },
    controlPlane: desiredControlPlane(cluster, installation, standing),
    infrastructure: infrastructureOf(cluster, settings),
    podCidr: settings.podCidr,
    serviceCidr: settings.serviceCidr,
    pools: keptGroups(cluster).map((group) => ({
      ...poolOf(cluster, group, standing.pools),
      ...(rolloutAfter === undefined ? {} : { rolloutAfter }),
    })),
  };
  const all = [
    ...managedClusterManifests(plan),
    ...healingManifests(cluster),
    ...addonManifests(cluster, installation, standing.cluster),
  ];
  return all.map((one) => {
    const { type, object } = withServices(one, cluster, settings);
    const digest = createHash("sha256").update(canonicalJson(object)).digest("hex").slice(0, 32);
    const annotations = { ...object.metadata.annotations, [appliedAnnotation]: digest };
    return held({ type, object: { ...object, metadata: { ...object.metadata, annotations } } });
  });
}

/**
 * A Cluster has its controller's finalizer from the first write on, so that one that is deleted before its controller
 * has seen it remains until the machines that others make meanwhile are gone. No part of the digest: those of before
 * are not written again.
 */
function held({ type, object }: Manifest): Manifest {
  if (object.kind !== Cluster.kind) return { type, object };
  return { type, object: { ...object, metadata: { ...object.metadata, finalizers: [finalizers.cluster] } } };
}

/** What a cluster's row wants of its HostedControlPlane: each field that the controller applies. */
export function desiredControlPlane(
  cluster: MagnumCluster,
  installation: Installation,
  standing: ExistingObjects,
): HostedControlPlaneSpec {
  const { spec } = cluster;
  const settings = labelSettings(spec.labels ?? {});
  const authorities = authoritiesOf({ ...standing, object: cluster });
  const runtime = runtimeOf(standing.controlPlane) ?? installation.runtime;
  const hasKeystone = settings.keystone ?? spec.driverDefaults === true;
  return {
    version: spec.version,
    ...replicasOf(cluster, runtime, installation),
    ...endpointOf(cluster, settings, { installation, standing, runtime }),
    ...flagsOf(settings, runtime),
    ...(authorities === undefined ? {} : { authorities }),
    ...(hasKeystone ? { authentication: { keystone: keystoneUsers(installation, spec.projectID) } } : {}),
  };
}

/**
 * A Cluster says which controllers are run for it outside of it: of Cinder volumes, unless it says no; of Ingresses;
 * and what its cloud controller does by default.
 */
function withServices({ type, object }: Manifest, { spec }: MagnumCluster, settings: LabelSettings): Manifest {
  if (object.kind !== Cluster.kind) return { type, object };
  const { provider, method, monitor = spec.driverDefaults === true ? true : undefined } = settings.loadBalancers;
  const said = {
    [known.volumes]: settings.addons.cinderCsi ? undefined : "none",
    [known.ingress]: settings.addons.octaviaIngress ? "octavia" : undefined,
    [known.loadBalancerProvider]: provider,
    [known.loadBalancerMethod]: method,
    [known.loadBalancerMonitor]: monitor === undefined ? undefined : String(monitor),
  };
  const given = Object.entries(said).filter((entry): entry is [string, string] => entry[1] !== undefined);
  // The digest of a Cluster of before remains.
  if (given.length === 0) return { type, object };
  const annotations = { ...object.metadata.annotations, ...Object.fromEntries(given) };
  return { type, object: { ...object, metadata: { ...object.metadata, annotations } } };
}

type Runtime = HostedControlPlaneSpec["runtime"];

/**
 * Only runtime Pods runs several API servers. Which one runs the control plane is known once it has been chosen; until
 * then there is one. Where the installation says which one, that one is chosen, and what a control plane has remains.
 */
function replicasOf(
  { spec }: MagnumCluster,
  runtime: Runtime,
  installation: Installation,
): Pick<HostedControlPlaneSpec, "runtime" | "replicas"> {
  if (runtime === "Pods") return { runtime, replicas: spec.masterCount };
  return runtime === undefined || installation.runtime === undefined ? {} : { runtime };
}

/**
 * Who reaches the API. Only load balancers of runtime Pods have access lists: a cluster with one is not created with
 * another runtime. Nodes come from their subnet, or from the address of their router.
 */
function endpointOf(
  { spec }: MagnumCluster,
  { access, nodeCidr }: LabelSettings,
  on: { readonly installation: Installation; readonly standing: ExistingObjects; readonly runtime: Runtime },
): Pick<HostedControlPlaneSpec, "endpoint" | "runtime"> {
  const { installation, standing } = on;
  // With other runtimes it would be a port of the operator's host, which all control planes share.
  const { apiserverPort } = spec.template;
  const isOwn = on.runtime === "Pods" || access.length > 0;
  const port = apiserverPort === undefined || !isOwn ? {} : { port: apiserverPort };
  if (access.length === 0) return Object.keys(port).length === 0 ? {} : { endpoint: port };
  const routers = (standing.infrastructure?.status?.router?.ips ?? []).flatMap((ip) => {
    const found = parseIp(ip);
    return found === undefined ? [] : [`${ip}/${found.version === 4 ? 32 : 128}`];
  });
  const allowed = new Set([...access, ...(installation.managementCidrs ?? []), nodeCidr, ...routers]);
  return { runtime: "Pods", endpoint: { ...port, allowedCIDRs: [...allowed].toSorted() } };
}

/** The embedded runtime has no programs with flags, and refuses them: there they have no effect, which is reported. */
function flagsOf({ flags }: LabelSettings, runtime: Runtime): Pick<HostedControlPlaneSpec, "flags"> {
  return flags === undefined || runtime === undefined || runtime === "Embedded" ? {} : { flags };
}

/** The runtime of a control plane; undefined: none was chosen yet. */
export function runtimeOf(controlPlane: HostedControlPlane | undefined): HostedControlPlaneSpec["runtime"] {
  return controlPlane?.status?.runtime ?? controlPlane?.spec.runtime;
}

function keystoneUsers({ authUrl, certificateAuthority }: KeystoneAddress, project: string) {
  return {
    authURL: authUrl,
    ...(certificateAuthority === undefined ? {} : { certificateAuthority }),
    projects: [project],
    // The role of Magnum's own authorization policy.
    roleMappings: [{ keystoneRole: "k8s_admin", groups: ["system:masters"] }],
  };
}

const parameter = (idOrName: string) => (isUuid(idOrName) ? { id: idOrName } : { filter: { name: idOrName } });

function infrastructureOf(
  { metadata, spec }: MagnumCluster,
  settings: LabelSettings,
): ManagedCluster["infrastructure"] {
  const { template, fixedNetwork, fixedSubnet } = spec;
  const dns = (template.dnsNameserver ?? "8.8.8.8").split(",").map((one) => one.trim());
  return {
    identityRef: { type: "Secret", name: credentialsOf(metadata.name), cloudName: CLOUD },
    ...(fixedNetwork === undefined
      ? { managedSubnets: [{ cidr: settings.nodeCidr, dnsNameservers: dns }] }
      : {
          network: parameter(fixedNetwork),
          ...(fixedSubnet === undefined ? {} : { subnets: [parameter(fixedSubnet)] }),
        }),
    ...(template.externalNetworkID === undefined ? {} : { externalNetwork: parameter(template.externalNetworkID) }),
    managedSecurityGroups: { allowAllInClusterTraffic: true, ...kubeletRules(spec.kubeletSources ?? []) },
    apiServer: { enableFloatingIP: false, managedLoadBalancer: { enabled: false } },
  };
}

/** What is no network is left out: the cloud would refuse the rule, and every other one with it. */
function kubeletRules(sources: readonly string[]) {
  const workerNodesSecurityGroupRules = sources.flatMap((cidr) => {
    const network = parseCidr(cidr);
    if (network === undefined) return [];
    return [
      {
        name: `kubelet-${cidr}`,
        description: "Kubelet API from the control plane",
        direction: "ingress" as const,
        etherType: network.version === 6 ? ("IPv6" as const) : ("IPv4" as const),
        protocol: "tcp",
        portRangeMin: 10250,
        portRangeMax: 10250,
        remoteIPPrefix: formatCidr(network),
      },
    ];
  });
  return workerNodesSecurityGroupRules.length === 0 ? {} : { workerNodesSecurityGroupRules };
}

/** A flavor's id may be any text: a number or a UUID is read as an id, all else as a name. */
const flavorOf = (flavor: string) =>
  isUuid(flavor) || /^\d+$/.test(flavor) ? { id: flavor } : { filter: { name: flavor } };

function poolOf(cluster: MagnumCluster, group: MagnumNodeGroup, standing: StandingPools): NodePool {
  const { metadata, spec } = cluster;
  const settings = labelSettings(group.labels ?? spec.labels ?? {});
  const bounds = scalingBounds(group, spec.labels ?? {});
  const disk = group.dockerVolumeSize;
  const machine: NodePool["machine"] = {
    flavor: flavorOf(group.flavorID ?? spec.flavorID ?? "m1.small"),
    image: isUuid(group.imageID) ? { id: group.imageID } : { filter: { name: group.imageID } },
    ...(spec.keypair === undefined ? {} : { sshKeyName: spec.keypair }),
    ...(settings.bootVolume === undefined
      ? {}
      : { rootVolume: { sizeGiB: settings.bootVolume.size, ...typed(settings.bootVolume.type) } }),
    ...(disk === undefined
      ? {}
      : {
          additionalBlockDevices: [
            {
              name: "docker",
              sizeGiB: disk,
              storage: { type: "Volume" as const, volume: typed(settings.dockerVolumeType) },
            },
          ],
        }),
    serverMetadata: [{ key: "magnum_cluster", value: spec.uuid }],
  };
  const proxied = spec.addons === "KubeProxy" ? { [kubeProxyLabel]: "true" } : {};
  const ownLabels = { before: { [GROUP_ROLE]: group.role, [GROUP_NAME]: group.name }, after: proxied };
  const kubelet = [{ name: "node-labels", value: joinFlag(group, ownLabels) }, ...settings.kubelet];
  const name = poolNameOf(metadata.name, group);
  const bootstrap = together(proxyBootstrap(cluster, settings), registryBootstrap(cluster));
  // Of what was there from the beginning, so that nodes of before remain as they are.
  const content = bootstrap === undefined ? { machine, kubelet } : { machine, kubelet, bootstrap };
  const digest = createHash("sha256").update(canonicalJson(content)).digest("hex").slice(0, 8);
  return {
    name,
    templates: `${name}-${digest}`,
    version: group.version,
    replicas: nodesOf(group, bounds !== undefined, standing.get(name)),
    machine,
    kubeletArgs: kubelet,
    ...(bootstrap === undefined ? {} : { bootstrap }),
    labels: { [magnumLabels.nodeGroup]: group.uuid },
    machineAnnotations: labelAnnotation(group, ownLabels),
    ...(settings.availabilityZone === undefined ? {} : { failureDomain: settings.availabilityZone }),
    taints: taintsOf(group),
    ...(bounds === undefined ? {} : { annotations: scalingAnnotations(group, bounds) }),
    ...(group.maxBatchSize === undefined ? {} : { maxSurge: group.maxBatchSize }),
  };
}

/** Rows from before taints were checked may have empty values, and one key and effect twice: the first one counts. */
function taintsOf({ nodeTaints = [] }: MagnumNodeGroup): NonNullable<NodePool["taints"]> {
  const isFirst = ({ key, effect }: (typeof nodeTaints)[number], at: number) =>
    nodeTaints.findIndex((one) => one.key === key && one.effect === effect) === at;
  return nodeTaints
    .filter(isFirst)
    .map(({ value, ...taint }) => ({ ...taint, ...(value ? { value } : {}), propagation: "Always" as const }));
}

const typed = (type: string | undefined) => (type === undefined ? {} : { type });

/**
 * Of a group that is scaled automatically the last node remains: from it the autoscaler knows what another would have.
 */
function nodesOf(
  group: MagnumNodeGroup,
  isScaled: boolean,
  pool:
    | { readonly replicas?: number | undefined; readonly annotations?: Readonly<Record<string, string>> | undefined }
    | undefined,
): number {
  if (!isScaled) return group.nodeCount;
  const isAutoscalers = pool?.annotations?.[askedAnnotation] === askedOf(group);
  return Math.max(1, isAutoscalers ? (pool?.replicas ?? group.nodeCount) : group.nodeCount);
}

/** A request of a number of nodes, and when it was made: the same number may be requested again. */
const askedOf = ({ nodeCount, resizedAt }: MagnumNodeGroup): string =>
  resizedAt === undefined ? String(nodeCount) : `${nodeCount} ${resizedAt}`;

/** What the autoscaler's clusterapi provider reads, and what was requested last. */
function scalingAnnotations(
  group: MagnumNodeGroup,
  { min, max }: { min: number; max: number },
): Record<string, string> {
  return {
    [askedAnnotation]: askedOf(group),
    "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size": String(min),
    "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size": String(max),
  };
}
