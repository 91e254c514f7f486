import type { Static, TSchema } from "typebox";
import type { Resource } from "@causeway/kubernetes";
import { age, column, conditionColumn } from "../columns.ts";
import type { Kind } from "../kind.ts";
import { defineKind } from "../schema/define.ts";
import { anyText, checked, conditions, flag, instant, int32, int64, list, listByKey } from "../schema/fields.ts";
import { mapOf, object, oneOf, optional, setOf, text } from "../schema/fields.ts";
import { backup, backups, backupStatus, monitoring, restore, restoreStatus } from "./backup-fields.ts";
import { canary } from "./canary-fields.ts";
import { cellOfGroup, cellRules, cells } from "./cell-fields.ts";
import { network, northboundStatus, southboundStatus } from "./network-fields.ts";
import { operators } from "./operator-fields.ts";
import { OPENSTACK_RELEASES, type OpenStackRelease } from "./releases.ts";
import { rotation } from "./rotation-fields.ts";
import { OPENSTACK_SERVICES } from "./services.ts";
import { tls } from "./tls-fields.ts";

const slurpReleases = OPENSTACK_RELEASES.filter(({ slurp }) => slurp).map(({ release }) => release);

/** To the next release, and from one SLURP release to the next, as a CEL expression. */
function allowedUpgrades(): string {
  const pairs = OPENSTACK_RELEASES.flatMap((from, index) => {
    const next = OPENSTACK_RELEASES[index + 1];
    const afterNext = OPENSTACK_RELEASES[index + 2];
    const skips = from.slurp && afterNext?.slurp === true ? [afterNext] : [];
    return [...(next ? [next] : []), ...skips].map((to) => `(oldSelf == '${from.release}' && self == '${to.release}')`);
  });
  return pairs.join(" || ");
}

const NAME = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
const OPTION = "^[A-Za-z0-9_][A-Za-z0-9_.-]*$";

const name = (description: string) => text(1, 63, { pattern: NAME, description });
const secretRef = (description: string) =>
  object({ name: text(1, 253, { description: "Its name." }) }, { description });
const port = (description: string) => int32({ minimum: 1, maximum: 65_535, description });

/** Options of a service's configuration file: section, option, value as text. */
const configuration = (description: string) =>
  list(
    object({
      section: text(1, 128, { description: "Section of the file, such as DEFAULT." }),
      option: text(1, 128, { pattern: OPTION, description: "Name of the option." }),
      value: text(0, 4096, { description: "Its value as the file has it. Lists are separated by commas." }),
    }),
    { max: 200, description },
  );

const resources = object(
  {
    cpu: optional(text(1, 32, { description: "Requested processors, such as 500m." })),
    memory: optional(text(1, 32, { description: "Requested and largest memory, such as 1Gi." })),
  },
  { description: "What each pod asks for." },
);

/** Packages of Python in addition to those of an image, each file by its hash: pip resolves nothing. */
const packages = listByKey(
  object({
    name: text(1, 128, {
      pattern: "^[a-z0-9]+(-[a-z0-9]+)*$",
      description: "Normalized name of the package, such as cinder-driver.",
    }),
    version: text(1, 64, { pattern: "^[0-9A-Za-z][0-9A-Za-z.!+_-]*$", description: "Its version." }),
    hashes: setOf(text(71, 71, { pattern: "^sha256:[0-9a-f]{64}$" }), {
      min: 1,
      max: 16,
      description: "Hashes of the files that may be installed, as pip prints them.",
    }),
  }),
  ["name"],
  {
    max: 64,
    description:
      "Packages of Python that the service's images have in addition, dependencies included. `causeway plan openstack` prints what to build, and pods use the reference with the digest of that.",
  },
);

const serviceOverride = object({
  name: oneOf(OPENSTACK_SERVICES, { description: "The service." }),
  enabled: optional(
    flag({ description: "Whether the service is deployed. Default true; for designate and manila false." }),
  ),
  replicas: optional(int32({ minimum: 1, maximum: 50, description: "Pods of each of its APIs and workers." })),
  image: optional(text(1, 512, { description: "Image of all its components, in place of that of the registry." })),
  packages: optional(packages),
  database: optional(
    oneOf(["Shared", "Own"], { description: "Own: a database cluster that no other service uses. Default Shared." }),
  ),
  broker: optional(
    oneOf(["Shared", "Own"], { description: "Own: a message broker that no other service uses. Default Shared." }),
  ),
  configuration: optional(configuration("Options that replace or extend those of the operator.")),
  secretConfiguration: optional(
    secretRef(
      "Secret whose keys are files of options with passwords; they are read last, in the order of their names. Designate's has its name servers in addition: pools.yaml, and files that this names in /etc/designate/designate.conf.d. Another Secret replaces them.",
    ),
  ),
  resources: optional(resources),
  startAfter: optional(
    setOf(text(1, 63), { max: 16, description: "Components that must be ready before those of this service start." }),
  ),
});

const nodeGroup = object({
  name: name("Name of the group, unique in the deployment."),
  nodeSelector: mapOf(text(0, 63), { description: "Labels of the nodes of the group." }),
  roles: setOf(oneOf(["Control", "Compute", "Network"]), {
    min: 1,
    max: 3,
    description: "What the nodes run: services (Control), servers (Compute), gateways of external networks (Network).",
  }),
  cell: optional(cellOfGroup),
  configuration: optional(
    list(
      object({
        service: oneOf(OPENSTACK_SERVICES, { description: "The service." }),
        options: configuration("Options on the nodes of this group."),
      }),
      { max: 12, description: "Options that replace those of the service on the nodes of this group." },
    ),
  ),
  physicalNetworks: optional(
    list(
      object({
        name: name("Physical network, as Neutron's segments name it."),
        bridge: text(1, 15, { description: "Bridge of Open vSwitch on the nodes." }),
        interface: optional(text(1, 15, { description: "Network interface that the bridge takes." })),
        vlanRanges: optional(
          setOf(text(1, 16), { max: 32, description: "Ranges of VLANs for tenants, such as 100:199." }),
        ),
      }),
      { max: 16, description: "Provider networks that these nodes reach: in a spine-leaf network one for each rack." },
    ),
  ),
});

const storage = object(
  {
    className: optional(text(1, 253, { description: "Storage class of databases, brokers and OVN." })),
    databaseSize: optional(text(1, 32, { default: "20Gi", description: "Volume of each database server." })),
    brokerSize: optional(text(1, 32, { default: "8Gi", description: "Volume of each broker." })),
    imageClaim: optional(
      text(1, 253, { description: "ReadWriteMany claim for images. Default: Ceph where it is set." }),
    ),
    serverStateClaim: optional(
      text(1, 253, { description: "ReadWriteMany claim, such as of CephFS, for Nova's state on every compute node." }),
    ),
    ceph: optional(
      object(
        {
          secret: secretRef("Secret with ceph.conf and the keyrings of glance, cinder and nova."),
          imagePool: optional(text(1, 128, { default: "images", description: "Pool of Glance." })),
          volumePool: optional(text(1, 128, { default: "volumes", description: "Pool of Cinder." })),
          serverPool: optional(text(1, 128, { default: "vms", description: "Pool of Nova." })),
        },
        { description: "An existing Ceph cluster." },
      ),
    ),
  },
  { description: "Where data is stored." },
);

const external = (what: string) =>
  object(
    {
      host: text(1, 253, { description: `Address or name of the ${what}.` }),
      port: optional(port("Its port.")),
      credentials: secretRef("Secret with keys username and password of an account that may create accounts."),
      services: optional(
        setOf(oneOf(OPENSTACK_SERVICES), { max: 20, description: "Services that use it. Default: all of them." }),
      ),
    },
    { description: `A ${what} that the operator does not run.` },
  );

const maintenance = object(
  {
    nodesAtOnce: optional(
      int32({
        minimum: 1,
        maximum: 100,
        description: "Compute nodes of one availability zone that are in maintenance at once. Default 1.",
      }),
    ),
    movesAtOnce: optional(
      int32({ minimum: 1, maximum: 50, description: "Servers of a node that move at once. Default 2." }),
    ),
    lostAfterSeconds: optional(
      int32({
        minimum: 30,
        maximum: 86_400,
        description: "How long a node may be not ready before it is lost. Default 300.",
      }),
    ),
  },
  { description: "How compute nodes are given free and back." },
);

const fields = {
  release: checked(
    oneOf(
      OPENSTACK_RELEASES.map(({ release }) => release),
      { description: "Release of OpenStack. It cannot be lowered, and nothing else may change with it." },
    ),
    [
      { rule: "self >= oldSelf", message: "release cannot be lowered: databases do not migrate back" },
      {
        rule: `self <= oldSelf || ${allowedUpgrades()}`,
        message: `release is raised to the next one, or from one SLURP release to the next SLURP release (${slurpReleases.join(", ")})`,
      },
    ],
  ),
  region: text(1, 64, { pattern: "^[A-Za-z0-9][A-Za-z0-9_-]*$", description: "Region of the catalogue." }),
  domain: text(1, 253, {
    pattern: "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$",
    description: "DNS domain of the public endpoints: Keystone is at identity.DOMAIN.",
  }),
  size: optional(
    oneOf(["Tiny", "Small", "Medium", "Large"], {
      default: "Small",
      description: "Replicas. Tiny: one of each, for tests. Small: three. Medium and Large: more workers, own brokers.",
    }),
  ),
  registry: optional(
    text(1, 256, { default: "registry.example.org/openstack", description: "Registry and folder of the images." }),
  ),
  paused: optional(flag({ description: "True: the operator writes nothing." })),
  storage: optional(storage),
  cells: optional(cells),
  nodeGroups: listByKey(nodeGroup, ["name"], { min: 1, max: 32, description: "Nodes by what they run." }),
  services: optional(
    listByKey(serviceOverride, ["name"], { max: 20, description: "What differs from the defaults, by service." }),
  ),
  externalDatabases: optional(
    list(external("database server"), { max: 8, description: "Databases that the operator does not run." }),
  ),
  externalBrokers: optional(
    list(external("message broker"), { max: 8, description: "Message brokers that the operator does not run." }),
  ),
  network: optional(network),
  operators: optional(operators),
  tls: optional(tls),
  rotation: optional(rotation),
  maintenance: optional(maintenance),
  backup: optional(backup),
  restore: optional(restore),
  monitoring: optional(monitoring),
  canary: optional(canary),
} satisfies Record<string, TSchema>;

const same = (field: string) =>
  `(has(self.${field}) == has(oldSelf.${field}) && (!has(self.${field}) || self.${field} == oldSelf.${field}))`;
const others = [
  "region",
  "domain",
  "size",
  "registry",
  "storage",
  "cells",
  "nodeGroups",
  "services",
  "network",
  "operators",
  "rotation",
  "maintenance",
  "backup",
  "restore",
  "monitoring",
  "canary",
];
const counter = (field: string) => ({
  rule: `!has(oldSelf.rotation) || !has(oldSelf.rotation.${field}) || (has(self.rotation) && has(self.rotation.${field}) && self.rotation.${field} >= oldSelf.rotation.${field} && self.rotation.${field} <= oldSelf.rotation.${field} + 1)`,
  message: `rotation.${field} is raised by one at a time and never lowered or removed`,
});
const openStackDeploymentSpec = checked(object(fields), [
  ...cellRules,
  {
    rule: `self.release == oldSelf.release || (${others.map(same).join(" && ")})`,
    message: "nothing else may change together with release; make the other change before or after the upgrade",
  },
  { rule: "self.region == oldSelf.region", message: "region is immutable: endpoints and servers carry it" },
  {
    rule: same("tls"),
    message:
      "tls is chosen when the deployment is created: during a rollout clients and APIs would not understand each other. To change it, create the deployment again with restore",
  },
  counter("passwords"),
  counter("keys"),
  {
    rule: "!has(self.restore) || (has(oldSelf.restore) && self.restore == oldSelf.restore)",
    message:
      "restore is set when the deployment is created, and may only be removed: to restore later, delete the deployment (its volumes and Secrets remain) and create it again",
  },
]);

const component = object({
  name: text(1, 63, { description: "Name of the component, such as nova-conductor." }),
  kind: oneOf(["Deployment", "StatefulSet", "DaemonSet", "Job", "External"], { description: "Its workload." }),
  state: oneOf(["Waiting", "Progressing", "Ready", "Degraded", "Failed"], { description: "What it does now." }),
  step: optional(text(0, 256, { description: "What is being done, such as 2 of 3 pods are available." })),
  waitingFor: optional(
    setOf(text(1, 63), { max: 32, description: "Dependencies that are not ready, or whose update comes first." }),
  ),
  rootCause: optional(text(0, 1024, { description: "What has to change before it can become ready." })),
});

const openStackDeploymentStatus = object({
  conditions: conditions(),
  observedGeneration: optional(int64({ minimum: 1 })),
  release: optional(anyText({ description: "Release that runs everywhere." })),
  phase: optional(anyText({ description: "One word for the state of the whole." })),
  ready: optional(anyText({ description: "Ready components of all, such as 40/61." })),
  components: optional(listByKey(component, ["name"], { max: 256, description: "The components, in their order." })),
  maintenance: optional(
    listByKey(
      object({
        node: text(1, 253, { description: "The node." }),
        phase: oneOf(
          ["Waiting", "Moving", "Blocked", "Empty", "Unreachable", "Evacuating", "Evacuated", "Returning", "Removing"],
          {
            description: "What is done with it.",
          },
        ),
        servers: int32({ minimum: 0, description: "Servers that are on it." }),
        message: text(0, 512, { description: "What it waits for." }),
      }),
      ["node"],
      { max: 512, description: "Nodes that are cordoned, lost, or on their way back." },
    ),
  ),
  upgrade: optional(
    object(
      {
        from: anyText({ description: "Release that is left." }),
        to: anyText({ description: "Release that is reached." }),
        step: anyText({ description: "The step that is under way." }),
        done: setOf(text(1, 63), { max: 128, description: "Steps that ended." }),
        startedAt: instant({ description: "When it began." }),
      },
      { description: "An upgrade that is under way." },
    ),
  ),
  backup: optional(backupStatus),
  backups: optional(backups),
  restore: optional(restoreStatus),
  northbound: optional(northboundStatus),
  southbound: optional(southboundStatus),
  rotation: optional(
    object(
      {
        passwords: optional(int64({ description: "The last finished rotation of passwords." })),
        keys: optional(int64({ description: "The last finished rotation of keys." })),
        step: optional(anyText({ description: "What a rotation under way does now." })),
      },
      { description: "Rotations." },
    ),
  ),
});

/** Release, services, nodes and configuration of a cloud. */
export type OpenStackDeploymentSpec = Static<typeof openStackDeploymentSpec> & { release: OpenStackRelease };
/** How far each service is, and what an upgrade waits for. */
export type OpenStackDeploymentStatus = Static<typeof openStackDeploymentStatus>;
/** A whole OpenStack cloud that runs as pods. */
export type OpenStackDeployment = Resource<OpenStackDeploymentSpec, OpenStackDeploymentStatus>;

/** Its kind, for clients and for the CRD: `osd`, v1alpha1. */
export const OpenStackDeployment: Kind<OpenStackDeployment> = defineKind({
  group: "openstack.causeway.dev",
  version: "v1alpha1",
  kind: "OpenStackDeployment",
  description: "A whole OpenStack cloud that runs as pods of this cluster.",
  shortNames: ["osd"],
  columns: [
    column("Release", ".status.release"),
    conditionColumn("Ready", "Ready"),
    column("Phase", ".status.phase"),
    column("Components", ".status.ready"),
    age,
  ],
  spec: openStackDeploymentSpec,
  status: openStackDeploymentStatus,
});
