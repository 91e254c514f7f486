import type { Static } from "typebox";
import type { Resource } from "@causeway/kubernetes";
import { age, column, conditionColumn, paused } from "../columns.ts";
import type { Kind } from "../kind.ts";
import { labels } from "../names.ts";
import { auditSink } from "./audit.ts";
import { authorities, authoritiesStatus } from "./authorities.ts";
import { jwtIssuers } from "./issuers.ts";
import { migrationStatus } from "./migration-status.ts";
import { podsSettings } from "./pods-settings.ts";
import { flagSettings } from "./program-flags.ts";
import { RUN_KUBERNETES, SERVED_KUBERNETES } from "./served.ts";
import { defineKind } from "../schema/define.ts";
import {
  anyText,
  checked,
  conditions,
  flag,
  immutable,
  instant,
  int32,
  int64,
  object,
  oneOf,
} from "../schema/fields.ts";
import { list, optional, setOf, templateMetadata, text } from "../schema/fields.ts";
import {
  contractReference,
  deletionTimeouts,
  machineTaints,
  readinessGates,
  scaleOfReplicas,
  versionCounts,
} from "../cluster/shapes.ts";

const port = (description: string) => optional(int32({ minimum: 1, maximum: 65535, description }));

/** The number of a part of a version in CEL: part 1 is the minor version, part 2 the patch. */
const part = (of: string, index: number) => `int(${of}.find('^v[0-9]+[.][0-9]+[.][0-9]+').split('.')[${index}])`;

/** What is no version is refused by its pattern, and by that alone. */
const isNoVersion = "!self.matches('^v[0-9]+[.][0-9]+[.][0-9]+')";

const versionRules = [
  {
    rule: `${isNoVersion} || ${part("self", 1)} > ${part("oldSelf", 1)} || (${part("self", 1)} == ${part("oldSelf", 1)} && ${part("self", 2)} >= ${part("oldSelf", 2)})`,
    message:
      "a control plane cannot be downgraded: its objects may be stored in forms that the older version does not know",
  },
  {
    rule: `${isNoVersion} || ${part("self", 1)} <= ${part("oldSelf", 1)} + 1`,
    message: "a control plane is upgraded by one minor version at a time",
  },
];

const runtimes = ["Embedded", "Process", "Pods"] as const;
const isPods = "has(self.runtime) && self.runtime == 'Pods'";
const isProcess = "has(self.runtime) && self.runtime == 'Process'";

/** Is the version of one of these minors? In CEL. */
const isOf = (minors: readonly string[]) =>
  `[${minors.map((minor) => `'${minor}.'`).join(", ")}].exists(minor, self.version.startsWith(minor))`;
const listed = (minors: readonly string[]) => minors.map((minor) => `${minor}.x`).join(", ");

/** Rules over several fields: what only runtime Pods does. */
const specRules = [
  {
    rule: "!has(self.endpoint) || !has(self.endpoint.allowedCIDRs) || self.endpoint.allowedCIDRs.all(each, isCIDR(each))",
    message: "each of spec.endpoint.allowedCIDRs is a network such as 192.0.2.0/24",
  },
  {
    rule: `!has(self.endpoint) || !has(self.endpoint.allowedCIDRs) || (${isPods})`,
    message: "spec.endpoint.allowedCIDRs needs runtime Pods: only its load balancers have access lists",
  },
  {
    rule: "!has(self.endpoint) || !has(self.endpoint.allowedCIDRs) || !has(self.pods) || !has(self.pods.exposure) || self.pods.exposure == 'LoadBalancer'",
    message: "spec.endpoint.allowedCIDRs needs spec.pods.exposure LoadBalancer",
  },
  {
    rule: `(${isPods}) || ${isOf(SERVED_KUBERNETES)} || (${isProcess}) && ${isOf(RUN_KUBERNETES)}`,
    message: `this version of Kubernetes is not served; served: ${listed(SERVED_KUBERNETES)}; with runtime Process: ${listed(RUN_KUBERNETES)}`,
  },
  {
    rule: `(${isPods}) || !has(self.replicas) || self.replicas == 1`,
    message:
      "only runtime Pods runs more than one API server for a control plane, or none to hibernate: set runtime to Pods, or replicas to 1",
  },
  { rule: `(${isPods}) || !has(self.pods)`, message: "spec.pods needs runtime Pods" },
  {
    rule: "!has(self.flags) || !has(self.runtime) || self.runtime != 'Embedded'",
    message: "spec.flags needs runtime Process or Pods: the embedded API server is no program with flags",
  },
  {
    rule: "!has(self.audit) || !has(self.runtime) || self.runtime != 'Embedded'",
    message: "spec.audit needs runtime Process or Pods: the embedded runtime sends no tenant its audit events",
  },
  {
    rule: "!has(self.runtime) || self.runtime != 'Embedded' || !(has(self.backup) || has(self.restore))",
    message:
      "spec.backup and spec.restore need runtime Pods or Process; `causeway backup` has all embedded control planes",
  },
  {
    rule: "!has(self.datastore) || !(has(self.backup) || has(self.restore))",
    message: "spec.backup and spec.restore need a dedicated etcd, without spec.datastore",
  },
  {
    rule: "has(self.restore) || !has(oldSelf.restore)",
    message: "spec.restore says what the control plane was created from, and is immutable",
  },
  {
    rule: "!has(self.restore) || has(oldSelf.restore)",
    message: "a control plane is restored when it is created: create another one with spec.restore",
  },
];

const hostedControlPlaneSpec = object({
  version: checked(
    text(1, 64, {
      pattern: "^v[0-9]+\\.[0-9]+\\.[0-9]+([-+][0-9A-Za-z.+-]+)?$",
      description: `Kubernetes version, such as "v1.34.0". Served: ${listed(SERVED_KUBERNETES)}; runtime Process runs the programs of ${listed(RUN_KUBERNETES)} that are installed, and runtime Pods serves what its table of images has. It cannot be lowered.`,
    }),
    versionRules,
  ),
  replicas: optional(
    int32({
      minimum: 0,
      maximum: 9,
      default: 1,
      description: "API servers. Only runtime Pods runs more than one; 0 there: it hibernates and keeps its data.",
    }),
  ),
  endpoint: optional(
    object(
      {
        host: optional(
          text(1, 512, { description: "Address or name that nodes and people use. Chosen by the runtime when unset." }),
        ),
        port: port("Port of the API. Chosen by the runtime when unset."),
        allowedCIDRs: optional(
          setOf(text(2, 64), {
            min: 1,
            max: 100,
            description:
              "Networks whose clients reach the API through its load balancer; nodes and controllers have to be among them. Only with runtime Pods and a load balancer that has access lists. Default: all.",
          }),
        ),
      },
      { description: "Where the API server is reached." },
    ),
  ),
  names: optional(
    setOf(text(1, 253), { max: 100, description: "More names and addresses for the serving certificate." }),
  ),
  limits: optional(
    object(
      {
        objects: optional(
          int64({ minimum: 1, description: "Objects at most, events and CRDs included. Default 50,000." }),
        ),
        bytes: optional(
          int64({
            minimum: 1,
            description:
              "Bytes of the objects' JSON at most; with an etcd of its own, etcd's quota; in the shared etcd, its budget there. Default 1 GiB; in the shared etcd by size: 128 MiB, 512 MiB or 2 GiB.",
          }),
        ),
      },
      { description: "What the control plane may store. Writes beyond it are refused." },
    ),
  ),
  datastore: optional(
    object(
      {
        stage: oneOf(["Reserve", "Follow", "Serve"], {
          description:
            "How far it has come: ports are reserved; etcd is a member and no API is served; all programs run.",
        }),
        members: list(
          object({
            name: text(1, 253, { description: "Name of a member that exists." }),
            peerURL: text(1, 512, { pattern: "^https://.+", description: "Where its peers reach it." }),
          }),
          { min: 1, max: 20, description: "The members that exist." },
        ),
        peerHost: text(1, 253, {
          description: "Address at which those members reach the member of this control plane.",
        }),
      },
      {
        description:
          "Joins an etcd that exists, in place of one of its own: for clusters that come from elsewhere. Secret CLUSTER-etcd has its authority and certificates. Only with runtime Process.",
      },
    ),
  ),
  authentication: optional(
    object(
      {
        keystone: optional(
          object(
            {
              authURL: text(1, 1024, {
                pattern: "^https?://.+",
                description: "Keystone v3, as the API server reaches it.",
              }),
              certificateAuthority: optional(
                text(1, 65_536, { description: "PEM certificates of the authority of Keystone's certificate." }),
              ),
              projects: setOf(text(1, 64), {
                min: 1,
                max: 100,
                description: "Ids of the projects whose tokens are accepted. Each is a group of RBAC.",
              }),
              domains: optional(
                setOf(text(1, 64), {
                  min: 1,
                  max: 100,
                  description:
                    "Ids or names of domains: users, groups and projects of others are refused, so that a name is one user's. Default: all.",
                }),
              ),
              roleMappings: optional(
                list(
                  object({
                    keystoneRole: text(1, 255, { description: "A role that the user has in the project." }),
                    username: optional(text(1, 255, { description: "Replaces the user's name." })),
                    groups: optional(setOf(text(1, 255), { max: 20, description: "Added to the user's groups." })),
                  }),
                  { max: 50, description: 'What roles mean in the cluster, such as the group "system:masters".' },
                ),
              ),
            },
            { description: "Users of an OpenStack cloud come in with their tokens or application credentials." },
          ),
        ),
        jwt: optional(jwtIssuers),
      },
      { description: "Who is believed in addition to the control plane's own certificates and tokens." },
    ),
  ),
  runtime: optional(
    immutable(
      oneOf(runtimes, {
        description:
          "What runs it: the embedded API server, processes of Kubernetes' own programs, or pods of a service cluster. Default: what `causeway up --runtime` says when it is created.",
      }),
    ),
  ),
  pods: optional(podsSettings),
  flags: optional(flagSettings),
  authorities: optional(authorities),
  audit: optional(auditSink),
  backup: optional(
    object(
      {
        fullEveryHours: optional(
          int32({ minimum: 1, maximum: 720, description: "Hours between two backups of all data. Default: 24." }),
        ),
        changesEverySeconds: optional(
          int32({
            minimum: 10,
            maximum: 86_400,
            description: "Seconds between two backups of what changed: to these moments one can restore. Default: 300.",
          }),
        ),
        keepDays: optional(
          int32({ minimum: 1, maximum: 3650, description: "How many days back one can restore. Default: 7." }),
        ),
      },
      { description: "Backs its data and keys up to the operator's object store. Only with runtime Pods or Process." },
    ),
  ),
  restore: optional(
    immutable(
      object(
        {
          from: text(1, 300, {
            pattern: "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[0-9a-zA-Z-]+$",
            description:
              "NAME/UID of the control plane that was backed up, in a namespace of the same name: the end of its status.backup.folder.",
          }),
          at: optional(
            instant({ description: "The newest backup from then or before is restored. Default: the newest." }),
          ),
        },
        {
          description:
            "Created from a backup, with its keys. Only with runtime Pods or Process, and only when it is created.",
        },
      ),
    ),
  ),
  brokenWebhooks: optional(
    oneOf(["Report", "Exempt"], {
      description:
        "What becomes of webhooks of the tenant that break its cluster: they fail requests of nodes, of kube-system or for the deletion of namespaces. Report (default): condition WebhooksHealthy names them. Exempt: one that cannot be called also gets a match condition, which remains until its owner removes it: it is not called for nodes, namespaces, and what is in kube-system and kube-node-lease.",
    }),
  ),
  worker: optional(
    oneOf(["Shared", "Own"], {
      description:
        "The process that serves it: one that it shares with other control planes (default), or its own. Read when it is made.",
    }),
  ),
  rollout: optional(object({ after: optional(instant()) })),
  machineTemplate: optional(
    object({
      metadata: optional(templateMetadata),
      spec: optional(
        object({
          infrastructureRef: optional(contractReference("Not used: there are no machines.")),
          deletion: optional(object(deletionTimeouts)),
          readinessGates: optional(readinessGates),
          taints: optional(machineTaints),
        }),
      ),
    }),
  ),
});
checked(hostedControlPlaneSpec, specRules);

const {
  version: _version,
  replicas: _replicas,
  endpoint: _endpoint,
  datastore: _datastore,
  restore: _restore,
  authorities: _authorities,
  ...templateFields
} = hostedControlPlaneSpec.properties;
/**
 * What a template may say: version and replicas come from the topology; endpoint, datastore and rotations belong to one
 * control plane.
 */
export const hostedControlPlaneTemplateFields = templateFields;

const hostedControlPlaneStatus = object({
  conditions: conditions(),
  initialization: optional(object({ controlPlaneInitialized: optional(flag()) })),
  externalManagedControlPlane: optional(flag({ description: "True: the control plane has no Machines." })),
  endpoint: optional(object({ host: text(1, 512), port: int32({ minimum: 1, maximum: 65535 }) })),
  version: optional(text(1, 256)),
  runtime: optional(oneOf(runtimes, { description: "What runs it." })),
  limits: optional(object({ objects: int64(), bytes: int64() }, { description: "The limits in force." })),
  datastore: optional(
    object(
      {
        peerURL: optional(text(1, 512, { description: "Where the other members reach its etcd." })),
        clientURL: optional(text(1, 512, { description: "Where its etcd is reached on its own machine." })),
        apiAddress: optional(text(1, 512, { description: "Where its API listens, behind the endpoint." })),
        stage: optional(oneOf(["Reserve", "Follow", "Serve"], { description: "The stage in force." })),
      },
      { description: "Of a control plane that joins an etcd." },
    ),
  ),
  authorities: optional(authoritiesStatus),
  backup: optional(
    object(
      {
        folder: optional(
          text(1, 512, { description: "NAMESPACE/NAME/UID: where the backups are in the object store." }),
        ),
        points: optional(int32({ description: "Moments that one can restore to." })),
        oldest: optional(instant({ description: "Of the oldest backup." })),
        newest: optional(instant({ description: "Of the newest backup." })),
        newestFull: optional(instant({ description: "Of the newest backup of all data." })),
      },
      { description: "What there is to restore from." },
    ),
  ),
  storage: optional(
    object(
      {
        bytes: optional(int64({ description: "Keys and values, and what etcd needs for each." })),
        budget: optional(int64({ description: "More is refused." })),
      },
      { description: "What it stores in the shared etcd, as it was measured last." },
    ),
  ),
  migration: optional(migrationStatus),
  versions: versionCounts(32),
  selector: optional(anyText()),
  replicas: optional(int32()),
  readyReplicas: optional(int32()),
  availableReplicas: optional(int32()),
  upToDateReplicas: optional(int32()),
  observedGeneration: optional(int64({ minimum: 1 })),
});

/** Version, runtime, limits and endpoint of a control plane without machines. */
export type HostedControlPlaneSpec = Static<typeof hostedControlPlaneSpec>;
/** Whether the API is served, at which version, and what a rotation waits for. */
export type HostedControlPlaneStatus = Static<typeof hostedControlPlaneStatus>;
/** A control plane without machines of its own. */
export type HostedControlPlane = Resource<HostedControlPlaneSpec, HostedControlPlaneStatus>;

const integer = { type: "integer" } as const;

/** Its kind, for clients and for the CRD: `hcp`, v1alpha1, with a scale subresource. */
export const HostedControlPlane: Kind<HostedControlPlane> = defineKind({
  group: "controlplane.cluster.x-k8s.io",
  version: "v1alpha1",
  kind: "HostedControlPlane",
  description: "A control plane without machines of its own.",
  shortNames: ["hcp"],
  labels: { "cluster.x-k8s.io/v1beta2": "v1alpha1", [labels.provider]: "control-plane-hosted" },
  columns: [
    column("Cluster", `.metadata.labels.cluster\\.x-k8s\\.io/cluster-name`),
    conditionColumn("Available", "Available"),
    column("Desired", ".spec.replicas", integer),
    column("Current", ".status.replicas", integer),
    column("Ready", ".status.readyReplicas", integer),
    column("Initialized", ".status.initialization.controlPlaneInitialized"),
    column("Host", ".status.endpoint.host"),
    column("Port", ".status.endpoint.port", integer),
    paused,
    age,
    column("Version", ".spec.version"),
  ],
  scale: scaleOfReplicas,
  spec: hostedControlPlaneSpec,
  status: hostedControlPlaneStatus,
});
