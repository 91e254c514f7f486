import type { MagnumRow } from "../../database/rows.ts";
import type { EtcdMember } from "../../etcd/client.ts";
import type { Resource, StackName } from "../../inventory/model.ts";
import type { MigrationRecord } from "../../record/record.ts";
import type { PhasePlan, Step } from "../../phase.ts";
import type { Workload } from "../../workloads/workloads.ts";
import type { StackProject } from "./stack-projects.ts";

/** What is read for `planRetire`. */
export interface RetireFacts {
  /** Those that Heat still has. */
  readonly stacks: readonly StackName[];
  /** Those that Heat is about to give up: it does so after its response. */
  readonly leaving: readonly StackName[];
  /** Masters' members of etcd that are left, and whether the hosted one votes. */
  readonly oldMembers: readonly EtcdMember[];
  readonly hasHostedMember: boolean;
  /** Machines whose servers Heat made. */
  readonly oldMachines: readonly string[];
  /** Nodes of masters in the cluster. */
  readonly masterNodes: readonly string[];
  /** Resources of the inventory that are in the cloud still, and may be deleted. */
  readonly leftovers: readonly Resource[];
  /** Ids of resources that the cloud is changing or deleting: it refuses another change meanwhile. */
  readonly changing: ReadonlySet<string>;
  /** Resources that are the cluster's from now on, of those that the cloud has. */
  readonly kept: readonly Resource[];
  readonly isMigrating: boolean;
  /** What the Magnum API reports of the cluster. */
  readonly status: { readonly status: string; readonly reason: string } | undefined;
  /** What Heat has in Keystone of stacks, abandoned ones, too. "unknown": no administrator's cloud was given. */
  readonly stackProjects: readonly StackProject[] | "unknown";
  readonly magnum: MagnumFacts;
  readonly driver: DriverFacts;
}

/** A program of the driver's in the cluster, or what it was configured with. */
export interface DriverObject {
  readonly kind: Workload["kind"] | "Secret" | "ConfigMap";
  readonly name: string;
}

/** What the driver has in namespace kube-system of the cluster. */
export interface DriverFacts {
  /** In the order in which they are deleted: programs before the password of the trustee, which they use. */
  readonly objects: readonly DriverObject[];
  /** Objects with the driver's names that are not known to name the trustee: they may be a user's. */
  readonly kept: readonly string[];
  /** Pods that use an object with the trustee's password. */
  readonly users: readonly string[];
  /** Other objects that name the trustee. */
  readonly others: readonly string[];
}

/** What the old Magnum has of the cluster. */
export interface MagnumFacts {
  /** "unknown": no command was given that reads its database. */
  readonly row: MagnumRow | "unknown" | undefined;
  /** Undefined: Keystone has none. "unknown": no administrator's cloud was given. */
  readonly trustee: { readonly isEnabled: boolean } | "unknown" | undefined;
  /** Nodes that did not renew their Lease since the trustee was disabled. */
  readonly silentNodes: readonly string[];
}

/** A step of phase retire. None of them can be rolled back. */
export type RetireStep = Step &
  (
    | { readonly type: "abandon"; readonly stack: StackName }
    | { readonly type: "remove-member"; readonly id: string }
    | { readonly type: "delete-node"; readonly name: string }
    | { readonly type: "delete-driver-object"; readonly object: DriverObject }
    | { readonly type: "delete-resource"; readonly resource: Resource }
    | { readonly type: "hand-over" }
    | { readonly type: "delete-stack-project"; readonly project: StackProject }
    | { readonly type: "disable-trustee"; readonly id: string }
    | { readonly type: "delete-trustee"; readonly id: string; readonly trustId: string }
    | { readonly type: "delete-row"; readonly row: MagnumRow }
  );

/**
 * Heat forgets the stacks before anything is deleted: it could delete what lives. What only the masters needed goes
 * then. All steps are planned; each is decided again before it is done.
 */
export function planRetire(facts: RetireFacts, { inventory, namespace, name }: MigrationRecord): PhasePlan<RetireStep> {
  const problem = refusalOf(facts, inventory);
  if (problem) return { steps: [], refused: problem, proof: [] };
  const [leaving] = facts.leaving;
  if (leaving) return { steps: [], wait: `Heat to complete the change of stack ${leaving.name}`, proof: [] };
  const rest = [...stackProjectSteps(facts), ...magnumSteps(facts.magnum, inventory)];
  const first: RetireStep[] = [
    // The stacks of other node groups use the network of the cluster's own.
    ...facts.stacks.toReversed().map((stack): RetireStep => ({
      type: "abandon",
      stack,
      what: `abandon stack ${stack.name} (${stack.id}); its resources remain`,
    })),
    ...facts.oldMembers.map((member): RetireStep => ({
      type: "remove-member",
      id: member.id,
      what: `remove member ${member.name || member.id} from etcd`,
    })),
    ...facts.masterNodes.map((node): RetireStep => ({ type: "delete-node", name: node, what: `delete Node ${node}` })),
    // Nothing of them works with the trustee gone.
    ...facts.driver.objects.map((object): RetireStep => ({
      type: "delete-driver-object",
      object,
      what: `delete ${object.kind} kube-system/${object.name} of Magnum's driver`,
    })),
    ...facts.leftovers
      .filter(({ id }) => !facts.changing.has(id))
      .map((resource): RetireStep => ({
        type: "delete-resource",
        resource,
        what: `delete ${resource.type} ${resource.name} (${resource.id})`,
      })),
    ...(facts.isMigrating
      ? [{ type: "hand-over", what: `hand MagnumCluster ${namespace}/${name} over to the Magnum API` } as const]
      : []),
  ];
  const busy = busyOf(facts);
  if (
    busy !== undefined &&
    !first.some(({ type }) => ["abandon", "remove-member", "delete-node", "delete-driver-object"].includes(type))
  )
    return { steps: [], wait: `the cloud to complete the change of ${busy.type} ${busy.name} (${busy.id})`, proof: [] };
  const holder = holderUserOf(first[0], facts.driver);
  if (holder !== undefined) return { steps: [], wait: holder, proof: [] };
  if (first.length > 0) return { steps: [...first, ...rest], batch: batchOf(first), proof: [] };
  if (facts.status?.status !== "UPDATE_COMPLETE")
    return {
      steps: [],
      wait: `the Magnum API to report UPDATE_COMPLETE: it reports ${facts.status?.status ?? "nothing"} ${facts.status?.reason ?? ""}`,
      proof: [],
    };
  const user = trusteeUserOf(facts);
  if (user !== undefined) return { steps: [], wait: user, proof: [] };
  const silent = silentNodeOf(facts.magnum);
  if (silent !== undefined) return { steps: [], wait: silent, proof: [] };
  return {
    steps: rest,
    proof: [
      `Heat has none of the ${inventory.stacks.length} stacks of cluster ${inventory.name}`,
      "etcd has the hosted member alone",
      ...passwordsOf(facts),
      ...facts.kept.map((kept) => `kept: ${kept.type} ${kept.name} (${kept.id})`),
      `the Magnum API reports UPDATE_COMPLETE for cluster ${inventory.uuid}`,
      facts.stackProjects === "unknown"
        ? "left: accounts of the abandoned stacks in Heat's domain of Keystone (run retire again with --admin-cloud)"
        : "Keystone has no accounts of the abandoned stacks",
      ...leftOf(facts.magnum, inventory),
    ],
  };
}

/**
 * The resource to wait for: those of the next types may depend on it. Others of its own type can be deleted meanwhile.
 */
function busyOf({ leftovers, changing }: RetireFacts): Resource | undefined {
  const next = leftovers.filter(({ type }) => type === leftovers[0]?.type);
  return next.every(({ id }) => changing.has(id)) ? next[0] : undefined;
}

/** Resources of one type go together: those of the next type may depend on them. */
function batchOf(steps: readonly RetireStep[]): number {
  const typeOf = (step: RetireStep): string | undefined =>
    step.type === "delete-resource" ? step.resource.type : undefined;
  const [first] = steps;
  const type = first && typeOf(first);
  if (type === undefined) return 1;
  const end = steps.findIndex((step) => typeOf(step) !== type);
  return end === -1 ? steps.length : end;
}

/** Checked before the first step, which cannot be undone. */
function refusalOf(
  { hasHostedMember, oldMachines }: RetireFacts,
  { name }: MigrationRecord["inventory"],
): PhasePlan<RetireStep>["refused"] {
  if (!hasHostedMember)
    return {
      code: "MIGRATE_NO_MEMBER",
      message: "etcd has no member of the hosted control plane",
      hint: "Run switch again.",
    };
  const [machine] = oldMachines;
  if (machine === undefined) return undefined;
  return {
    code: "MIGRATE_HEAT_MACHINES",
    message: `${oldMachines.length} Machines of cluster ${name} have servers that Heat made, such as ${machine}`,
    hint: "Run roll first: their credentials are the trustee's.",
  };
}

/** By them machines reported to Heat, of which it lost sight when it abandoned the stacks. */
function stackProjectSteps({ stackProjects }: RetireFacts): RetireStep[] {
  if (stackProjects === "unknown") return [];
  return stackProjects.map((project): RetireStep => ({
    type: "delete-stack-project",
    project,
    what: `delete project ${project.name} of Heat's domain and its ${project.users.length} users from Keystone`,
  }));
}

/**
 * The trustee is disabled first, and deleted only when the cluster was seen to work without it. The row knows the
 * trustee's id: it goes last.
 */
function magnumSteps({ row, trustee }: MagnumFacts, { uuid }: MigrationRecord["inventory"]): RetireStep[] {
  if (row === undefined || row === "unknown") return [];
  const { trusteeId: id, trustId } = row;
  if (id !== "" && trustee === "unknown") return [];
  const known = id === "" || trustee === "unknown" ? undefined : trustee;
  return [
    ...(known?.isEnabled === true
      ? [{ type: "disable-trustee", id, what: `disable trustee ${id} of Magnum in Keystone` } as const]
      : []),
    ...(known
      ? [
          {
            type: "delete-trustee",
            id,
            trustId,
            what: `delete trust ${trustId} and trustee ${id} from Keystone, when every Node was seen live without it`,
          } as const,
        ]
      : []),
    { type: "delete-row", row, what: `delete the rows of cluster ${uuid} from Magnum's database` },
  ];
}

/** What would fail, or not start again, without the Secret or ConfigMap that is to be deleted next. */
function holderUserOf(step: RetireStep | undefined, { users }: DriverFacts): string | undefined {
  if (step?.type !== "delete-driver-object" || !/^(Secret|ConfigMap)$/.test(step.object.kind)) return undefined;
  return users[0] === undefined ? undefined : userText(users[0]);
}

const userText = (user: string): string =>
  `${user} to end: it has the password of Magnum's trustee, whose user will be deleted`;

/** Where the trustee's password is, as far as that is known. */
function passwordsOf({ driver: { kept }, magnum: { row } }: RetireFacts): string[] {
  if (row !== "unknown") {
    // Once the row is gone, nothing says who the trustee was.
    const is = (row?.trusteeId ?? "") === "" ? "is not known to name" : "does not name";
    return [
      "no pod of kube-system has the password of Magnum's trustee",
      ...kept.map((one) => `kept: ${one}, which ${is} Magnum's trustee`),
    ];
  }
  return kept.map(
    (one) => `left: ${one}, which may have the password of Magnum's trustee (run retire again with --magnum-sql)`,
  );
}

/** Which lists of the cluster's kube-system the next steps depend on. */
export interface DriverReads {
  readonly users: boolean;
  readonly others: boolean;
}

/**
 * Objects of the driver go after stacks, members and Nodes, and the trustee is disabled after all that; until then, and
 * after it, nothing asks who has its password.
 */
export function driverReads(
  facts: Pick<
    RetireFacts,
    "stacks" | "leaving" | "oldMembers" | "masterNodes" | "leftovers" | "isMigrating" | "magnum"
  >,
): DriverReads {
  const { stacks, leaving, oldMembers, masterNodes, leftovers, isMigrating, magnum } = facts;
  const { trustee } = magnum;
  const isDisabled = trustee !== undefined && trustee !== "unknown" && !trustee.isEnabled;
  const users = !isDisabled && [stacks, leaving, oldMembers, masterNodes].every((one) => one.length === 0);
  return { users, others: users && leftovers.length === 0 && !isMigrating };
}

/** What fails with the trustee: it is not touched before that is gone. */
function trusteeUserOf({ driver, magnum }: RetireFacts): string | undefined {
  const [user] = driver.users;
  if (user !== undefined) return userText(user);
  const { row, trustee } = magnum;
  if (row === undefined || row === "unknown" || trustee === undefined || trustee === "unknown") return undefined;
  const [other] = driver.others;
  if (other === undefined) return undefined;
  return `${other} to be deleted, or to have other credentials: it names Magnum's trustee ${row.trusteeId}, which will be deleted`;
}

function silentNodeOf({ row, trustee, silentNodes }: MagnumFacts): string | undefined {
  const [silent] = silentNodes;
  if (silent === undefined || row === undefined || row === "unknown") return undefined;
  if (trustee === undefined || trustee === "unknown" || trustee.isEnabled) return undefined;
  return `Node ${silent} to renew its Lease while trustee ${row.trusteeId} is disabled`;
}

/** What of the old Magnum is left, and what to do about it. */
function leftOf({ row, trustee }: MagnumFacts, { uuid }: MigrationRecord["inventory"]): string[] {
  if (row === undefined) return [`Magnum's database has no row of cluster ${uuid}, and Keystone no trustee of it`];
  const warning = `do not delete cluster ${uuid} by the old Magnum, which would delete its load balancers`;
  if (row === "unknown") return [`left: Magnum's row and its trustee (run retire again with --magnum-sql); ${warning}`];
  const id = trustee === "unknown" ? ` ${row.trusteeId}` : "";
  return [`left: Magnum's row and trustee${id} (run retire again with --admin-cloud); ${warning}`];
}

/**
 * Of masters only, by the driver's names; and what Heat made for workers whose servers are gone. Types in the order in
 * which they can go.
 */
const order = [
  "OS::Nova::Server",
  "OS::Neutron::FloatingIP",
  "OS::Octavia::LoadBalancer",
  "OS::Neutron::Port",
  "OS::Cinder::Volume",
  "OS::Nova::ServerGroup",
  "OS::Neutron::SecurityGroup",
] as const;

/** Heat's types of resources that are deleted, in the order of `order`. */
export type DeletedType = (typeof order)[number];

const isDeleted = (type: string): type is DeletedType => (order as readonly string[]).includes(type);

/** What may be deleted, of what the cloud has still. A worker's volumes and ports only when its server is gone. */
export function leftoversOf(
  { resources }: Pick<MigrationRecord["inventory"], "resources">,
  has: (resource: Resource) => boolean,
  isFree: (resource: Resource) => boolean,
): Resource[] {
  return resources
    .filter((one) => isDeleted(one.type) && (isMasters(one) || (isWorkers(one) && isFree(one))) && has(one))
    .toSorted((a, b) => order.indexOf(a.type as DeletedType) - order.indexOf(b.type as DeletedType));
}

const isMasters = ({ name, parent }: Resource): boolean =>
  name.startsWith("kube-master") ||
  /^(kube_master_|etcd_volume$|master_nodes_server_group$|secgroup_kube_master$)/.test(name) ||
  parent === "etcd_lb";

const isWorkers = ({ name, type }: Resource): boolean =>
  (name.startsWith("kube_minion_") && /^OS::Neutron::(Port|FloatingIP)$/.test(type)) ||
  (/^(docker_volume|kube_node_volume)$/.test(name) && type === "OS::Cinder::Volume");

/** Network, address and load balancer of the API, and what workers use: they are the cluster's from now on. */
export function keptOf(resources: readonly Resource[], has: (resource: Resource) => boolean): Resource[] {
  return resources.filter(
    (one) =>
      /^OS::(Neutron|Octavia)::(Net|Subnet|Router|LoadBalancer|FloatingIP|SecurityGroup)$/.test(one.type) &&
      !isMasters(one) &&
      has(one),
  );
}
