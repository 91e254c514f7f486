import { labelProblem } from "@causeway/magnum-api";
import { driftOf } from "./drift.ts";
import { groupImages, imageProblem } from "./images.ts";
import type { Balancer, Finding, Inventory, Machine, NodeGroup, Resource } from "./model.ts";
import { cloudTypeOf } from "./types.ts";
import { dockerProblem, etcdProblem, removedAdmission, removedApis, versionProblem } from "./versions.ts";
import type { BalancerFacts, ClusterFacts, StackFacts } from "./read.ts";

type Labels = Readonly<Record<string, string>>;

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const textOrNull = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);
const count = (value: unknown): number => (typeof value === "number" ? value : 0);
const labelsOf = (value: unknown): Labels =>
  typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, String(one)]))
    : {};

const kept = [
  "create_timeout",
  "discovery_url",
  "docker_volume_size",
  "fixed_network",
  "fixed_subnet",
  "floating_ip_enabled",
  "master_lb_enabled",
];

/** What was found, and what blocks a migration. Pure. */
export function inventoryOf(facts: ClusterFacts): Inventory {
  const { cluster, template, stacks } = facts;
  const resources = stacks.flatMap(resourcesOf);
  const labels = labelsOf(cluster.labels);
  const main = stacks.find(({ id }) => id === cluster.stack_id);
  const master = facts.groups.find((group) => group["role"] === "master");
  const masters = machinesOf(facts, main, /^kube-master/);
  const groups = facts.groups.filter((group) => group["role"] !== "master").map((group) => groupOf(facts, group));
  const [first] = [...masters, ...groups.flatMap(({ machines }) => machines)];
  const port = facts.ports.find(({ device_id }) => device_id === first?.serverId);
  const known = {
    uuid: cluster.uuid,
    name: cluster.name,
    projectId: text(cluster["project_id"]),
    userId: text(cluster["user_id"]),
    templateId: cluster.cluster_template_id,
    template,
    status: cluster.status,
    version: versionOf(cluster.coe_version ?? labels["kube_tag"] ?? ""),
    apiAddress: cluster.api_address ?? "",
    keypair: cluster.keypair,
    labels,
    stacks: stacks.map(({ id, name }) => ({ id, name })),
    masterUuid: text(master?.["uuid"]),
    masterFlavorId: textOrNull(cluster["master_flavor_id"]) ?? textOrNull(master?.["flavor_id"]),
    masters,
    groups,
    api: balancerOf(facts, resources, "api_lb"),
    etcd: balancerOf(facts, resources, "etcd_lb"),
    networkId: port?.network_id ?? "",
    subnetId: port?.fixed_ips[0]?.subnet_id ?? "",
    resources,
    attributes: Object.fromEntries(kept.map((name) => [name, cluster[name] ?? null])),
  };
  return { ...known, findings: findingsOf(known, facts) };
}

const versionOf = (tag: string): string => (tag === "" || tag.startsWith("v") ? tag : `v${tag}`);

function resourcesOf({ resources }: StackFacts): Resource[] {
  return resources
    .filter(({ physical_resource_id: id }) => id !== "")
    .map((one) => ({
      name: one.resource_name,
      type: cloudTypeOf(one.resource_type),
      id: one.physical_resource_id,
      parent: one.parent_resource ?? "",
    }));
}

function machinesOf({ servers, ports }: ClusterFacts, stack: StackFacts | undefined, names: RegExp): Machine[] {
  const ids = new Set(
    (stack?.resources ?? [])
      .filter((one) => one.resource_type === "OS::Nova::Server" && names.test(one.resource_name))
      .map((one) => one.physical_resource_id),
  );
  return servers
    .filter(({ id }) => ids.has(id))
    .map((server) => {
      const own = ports.filter(({ device_id }) => device_id === server.id);
      return {
        serverId: server.id,
        name: server.name,
        address: own[0]?.fixed_ips[0]?.ip_address ?? "",
        flavorId: text(server.flavor.id),
        portIds: own.map(({ id }) => id).toSorted(),
      };
    })
    .toSorted((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
}

function groupOf(facts: ClusterFacts, group: Readonly<Record<string, unknown>>): NodeGroup {
  const { cluster, stacks } = facts;
  const stack = stacks.find(({ id }) => id === (group["stack_id"] ?? cluster.stack_id));
  return {
    uuid: text(group["uuid"]),
    name: text(group["name"]),
    role: text(group["role"]),
    isDefault: group["is_default"] === true,
    flavorId: textOrNull(group["flavor_id"]),
    imageId: text(group["image_id"]),
    nodeCount: count(group["node_count"]),
    minNodeCount: count(group["min_node_count"]),
    maxNodeCount: typeof group["max_node_count"] === "number" ? group["max_node_count"] : null,
    ...(count(group["docker_volume_size"]) > 0 ? { dockerVolumeSize: count(group["docker_volume_size"]) } : {}),
    labels: labelsOf(group["labels"]),
    machines: machinesOf(facts, stack, /^kube-minion/),
  };
}

function balancerOf({ balancers }: ClusterFacts, resources: readonly Resource[], parent: string): Balancer | undefined {
  const own = resources.find((one) => one.type === "OS::Octavia::LoadBalancer" && one.parent === parent);
  const found = balancers.find(({ balancer }) => balancer.id === own?.id);
  return found && balancerView(found);
}

function balancerView({ balancer, port, poolId, members }: BalancerFacts): Balancer {
  return {
    id: balancer.id,
    vip: balancer.vip_address,
    port,
    poolId,
    subnetId: balancer.vip_subnet_id,
    members: members.map((one) => ({ id: one.id, name: one.name, address: one.address, port: one.protocol_port })),
  };
}

/** Heat reads a stack for a moment after it was deleted. */
const isComplete = (status: string): boolean => status.endsWith("_COMPLETE") && !status.startsWith("DELETE");

type Rule = (inventory: Omit<Inventory, "findings">, facts: ClusterFacts) => string | undefined;

/** Each cause for which a cluster cannot be migrated, by its code. */
const blocking: Readonly<Record<string, Rule>> = {
  MIGRATE_DRIVER_UNKNOWN: ({ resources, template }) => {
    if (template["coe"] !== "kubernetes")
      return `its template's coe is ${String(template["coe"])}; only kubernetes is migrated`;
    const has = (name: string) => resources.some((one) => one.name === name && one.type === "OS::Heat::ResourceGroup");
    return has("kube_masters") && has("kube_minions")
      ? undefined
      : "its stack has no resource groups kube_masters and kube_minions; only driver k8s_fedora_coreos_v1 is migrated";
  },
  MIGRATE_STATUS: ({ status }) => (isComplete(status) ? undefined : `its status is ${status}; it has to be …_COMPLETE`),
  MIGRATE_STACK_STATUS: (_, { stacks, cluster }) => {
    const bad = stacks.find((one) => !isComplete(one.status));
    if (bad) return `stack ${bad.name} is ${bad.status}; it has to be …_COMPLETE`;
    return stacks.some(({ id }) => id === cluster.stack_id) ? undefined : `stack ${cluster.stack_id} does not exist`;
  },
  MIGRATE_VERSION: ({ version }) => versionProblem(version),
  MIGRATE_DOCKER: ({ version, labels }) => dockerProblem(version, labels),
  MIGRATE_ADMISSION_REMOVED: ({ version, labels }) => removedAdmission(version, labels),
  MIGRATE_ETCD_VERSION: ({ labels }) => etcdProblem(labels),
  MIGRATE_TLS_DISABLED: ({ template }) =>
    template["tls_disabled"] === true
      ? "TLS is disabled: its etcd and its API have no certificates to take over"
      : undefined,
  MIGRATE_NO_LOAD_BALANCER: ({ api }) =>
    api
      ? undefined
      : "its API has no load balancer (master_lb_enabled is false): the address is a master's own and cannot be kept",
  MIGRATE_LABEL_REFUSED: ({ labels, groups }) =>
    [labels, ...groups.map((group) => group.labels)].map((one) => labelProblem(one)).find((one) => one !== undefined),
  MIGRATE_SERVER_NOT_ACTIVE: (_, { servers }) => {
    const bad = servers.find(({ status }) => status !== "ACTIVE");
    return bad ? `server ${bad.name} (${bad.id}) is ${bad.status}` : undefined;
  },
  MIGRATE_COUNT_DIFFERS: ({ groups }) => {
    const bad = groups.find((group) => group.machines.length !== group.nodeCount);
    return bad
      ? `node group ${bad.name} has ${bad.machines.length} servers, and Magnum says ${bad.nodeCount}`
      : undefined;
  },
};

/** The driver writes the CA's key to masters with "true" of any case alone. */
function caKeyNote(labels: Labels): string | undefined {
  return /^true$/i.test(labels["cert_manager_api"] ?? "")
    ? undefined
    : "label cert_manager_api is not true: its masters do not have the private key of its CA, unless it was put there; freeze and import need --ca-key FILE, which Magnum's certificate manager has";
}

function findingsOf(known: Omit<Inventory, "findings">, facts: ClusterFacts): Finding[] {
  const blocks = Object.entries(blocking).flatMap(([code, rule]) => {
    const message = rule(known, facts);
    return message === undefined ? [] : [{ code, message: `Cluster ${known.name}: ${message}`, blocks: true }];
  });
  const healing = /^(true|yes|1)$/i.test(known.labels["auto_healing_enabled"] ?? "")
    ? "auto_healing_enabled: its program is stopped, and a MachineHealthCheck replaces unhealthy machines after roll"
    : undefined;
  const drift = driftOf(facts);
  const notes = Object.entries({
    MIGRATE_DRIFT:
      drift.length === 0 ? undefined : `its migration keeps what runs, not what its template says: ${drift.join("; ")}`,
    MIGRATE_AUTO_HEALING: healing,
    MIGRATE_CA_KEY_NEEDED: caKeyNote(known.labels),
    MIGRATE_API_REMOVED: removedApis(known.version),
  });
  const images = groupImages(known.groups, facts.images).flatMap(({ groups, ...image }) => {
    const problem = imageProblem(image);
    return problem === undefined ? [] : [{ ...problem, groups: groups.join(", ") }];
  });
  return [
    ...blocks,
    ...images.map(({ code, message, hint, groups }) => ({
      code,
      message: `Cluster ${known.name}: node group ${groups}: ${message}; roll will be refused without another one. ${hint}`,
      blocks: false,
    })),
    ...notes.flatMap(([code, note]) =>
      note === undefined ? [] : [{ code, message: `Cluster ${known.name}: ${note}`, blocks: false }],
    ),
  ];
}
