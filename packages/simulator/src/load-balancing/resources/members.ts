import type { JsonObject } from "../../kernel/json.ts";
import type { Subnet } from "../../network/model.ts";
import { fault, invalidField } from "../errors.ts";
import {
  bool,
  common,
  given,
  integer,
  ip,
  listOf,
  orNull,
  owner,
  readCreate,
  unwrap,
  uuid,
  type InputOf,
} from "../kit/fields.ts";
import { listenerRefs, type poolKind } from "./pools.ts";
import { checkMember } from "../rules/providers.ts";
import { change, checkMutable } from "../rules/provisioning.ts";
import { born, type BalancerState, type LoadBalancer, type Member, type Pool } from "../model.ts";
import {
  checkQuota,
  checkWriter,
  found,
  mountChild,
  readBody,
  ROOT,
  type BalancerApp,
  type BalancerRequest,
  type Kind,
} from "../kit/routes.ts";
import { memberView } from "../views.ts";

const fields = {
  ...common,
  ...owner,
  address: { read: ip, required: true, put: false },
  protocol_port: { read: integer(1, 65535), required: true, put: false },
  weight: { read: integer(0, 256) },
  backup: { read: bool },
  subnet_id: { read: orNull(uuid), put: false },
  monitor_address: { read: orNull(ip) },
  monitor_port: { read: orNull(integer(1, 65535)) },
} as const;
/** What a member may be given, also inside a tree of one request. */
export const memberFields = fields;
/** A member as a request gives it. */
export type MemberInput = InputOf<typeof fields>;

/** Members. With one its pool is in transition, and the listeners that lead to the pool. */
export function memberKind(state: BalancerState): Kind<Member, typeof fields> {
  return {
    singular: "member",
    plural: "members",
    label: "Member",
    argument: "member_",
    quota: "member",
    fields,
    find: (id) => state.members.get(id),
    used: (projectId) => state.members.count("project_id", projectId),
    view: (row) => memberView(state, row),
    balancer: (row) => state.loadBalancers.get(state.pools.get(row.pool_id)?.loadbalancer_id ?? ""),
    parents: (row) => [...listenerRefs(state, row.pool_id), `pool:${row.pool_id}`],
    update: (row, input, balancer) => {
      checkMember(balancer, { ...input, address: row.address });
      const { project_id: _p, ...rest } = given(input);
      return state.members.update(row.id, rest);
    },
  };
}

type MemberKind = ReturnType<typeof memberKind>;

/** The routes below /lbaas/pools/{id}/members. PUT of the list replaces it (not with additive_only). */
export function mountMembers(app: BalancerApp, state: BalancerState, pools: ReturnType<typeof poolKind>): void {
  const kind = memberKind(state);
  const poolOf = (c: BalancerRequest) => found(pools, c.var.caller, c.req.param("pool") ?? "");
  /** The member if it is of this pool. */
  const inPool = (c: BalancerRequest): MemberKind => {
    const pool = poolOf(c);
    return { ...kind, find: (id) => [kind.find(id)].find((member) => member?.pool_id === pool.id) };
  };
  mountChild(app, state, {
    path: "pools/:pool/members",
    kind,
    rows: (c) => state.members.by("pool_id", poolOf(c).id),
    kindBelow: inPool,
    create(c, input, lock) {
      const pool = poolOf(c);
      const balancer = lock(state.loadBalancers.get(pool.loadbalancer_id), pool.loadbalancer_id);
      return makeMember(state, { balancer, pool }, input);
    },
  });
  app.put(`${ROOT}/pools/:pool/members`, async (c) => {
    checkWriter(c.var.caller);
    const elements = listOf(readElement)(unwrap(await readBody(c), "members", "members_"), "members");
    const pool = poolOf(c);
    const additive = c.req.query("additive_only")?.toLowerCase() === "true";
    state.kernel.atomic(() => replaceMembers(state, kind, { pool, elements, additive }));
    return c.body(null, 202);
  });
}

const readElement = (value: unknown): MemberInput => readCreate(fields, value, "members_.members");

interface Place {
  readonly balancer: LoadBalancer;
  readonly pool: Pool;
}

/** Inserts a member of a locked load balancer's pool; 409 for an address and port that are there. */
export function makeMember(state: BalancerState, { balancer, pool }: Place, input: MemberInput): Member {
  const { address = "", protocol_port: port = 0, subnet_id: subnetId = null } = input;
  const twin = state.members.by("pool_id", pool.id).find((m) => keyOf(m) === keyOf({ address, protocol_port: port }));
  if (twin) throw duplicate(address, port);
  if (subnetId !== null && !state.kernel.table<Subnet>("subnet").get(subnetId)) {
    throw fault(400, `Subnet ${subnetId} not found.`);
  }
  checkMember(balancer, { ...input, address });
  return state.members.insert({
    ...born(state.kernel, balancer.project_id, input),
    pool_id: pool.id,
    address,
    protocol_port: port,
    weight: input.weight ?? 1,
    backup: input.backup ?? false,
    subnet_id: subnetId,
    monitor_address: input.monitor_address ?? null,
    monitor_port: input.monitor_port ?? null,
  });
}

interface Replacement {
  readonly pool: Pool;
  readonly elements: readonly MemberInput[];
  readonly additive: boolean;
}

/** Batch PUT: members are known by address and port; those not named go, unless it is additive. */
function replaceMembers(state: BalancerState, kind: MemberKind, { pool, elements, additive }: Replacement): void {
  const balancer = state.loadBalancers.get(pool.loadbalancer_id);
  if (!balancer) throw invalidField("pool_id", pool.id, "Pool has no load balancer");
  checkMutable(balancer);
  const before = new Map(state.members.by("pool_id", pool.id).map((member) => [keyOf(member), member]));
  const named = new Set<string>();
  const touched: string[] = [];
  for (const input of elements) {
    const { address = "", protocol_port: port = 0 } = input;
    const key = keyOf({ address, protocol_port: port });
    if (named.has(key)) throw duplicate(address, port);
    named.add(key);
    const old = before.get(key);
    touched.push(old ? updated(state, old, input) : created(state, kind, { balancer, pool }, input));
  }
  for (const [key, old] of before) {
    if (named.has(key) || additive) continue;
    state.members.update(old.id, { provisioning_status: "PENDING_DELETE" });
    touched.push(`member:${old.id}`);
  }
  change(state, balancer, [...listenerRefs(state, pool.id), `pool:${pool.id}`, ...touched]);
}

function created(state: BalancerState, kind: MemberKind, place: Place, input: MemberInput): string {
  const projectId = place.pool.project_id;
  checkQuota(state, projectId, { label: kind.label, quota: kind.quota, used: kind.used(projectId) });
  return `member:${makeMember(state, place, input).id}`;
}

function updated(state: BalancerState, old: Member, input: MemberInput): string {
  const { project_id: _p, address: _a, protocol_port: _o, subnet_id: _s, ...rest } = given(input);
  // What has a default in a create has it here, too; all other fields keep their values unless named (seen on Zed).
  state.members.update(old.id, { weight: 1, backup: false, admin_state_up: true, ...rest });
  return `member:${old.id}`;
}

const keyOf = (member: Pick<Member, "address" | "protocol_port">): string =>
  `${member.address} ${member.protocol_port}`;

const duplicate = (address: string, port: number) =>
  fault(409, `Another member on this pool is already using ip ${address} on protocol_port ${port}`);

/** The full view of members created with their load balancer. */
export const memberViews = (state: BalancerState, pool: Pool): readonly JsonObject[] =>
  state.members.by("pool_id", pool.id).map((member) => memberView(state, member));
