import { createHash } from "node:crypto";
import type { WantedCondition } from "@causeway/kubernetes";
import { limitsOf, type DesiredPool } from "@causeway/octavia-tree";
import type { MemberCreate, PoolProtocol } from "@causeway/openstack";
import { poolName } from "../names.ts";
import type { BackendReference } from "../objects/gateway.ts";
import { membersOf } from "../objects/members.ts";
import type { Observed } from "./observed.ts";
import { isPermitted } from "./references.ts";

/** Octavia's greatest weight of a member. */
const HEAVIEST = 256;

/** The pool of a rule, and the condition ResolvedRefs if a reference of the rule leads nowhere. */
export interface RouteBackends {
  readonly pool: DesiredPool;
  /** Undefined: every reference is resolved. */
  readonly problem: WantedCondition | undefined;
}

/** One pool for the backends of a rule. What cannot be reached gives no members; a pool without members answers 503. */
export function backendsOf(
  observed: Observed,
  from: { readonly kind: string; readonly namespace: string; readonly protocol: PoolProtocol },
  refs: readonly BackendReference[],
): RouteBackends {
  const { owner, config, balancer } = observed;
  const weights = refs.map(({ weight = 1 }) => weight);
  const scale = Math.max(1, Math.max(0, ...weights) / HEAVIEST);
  const several = refs.length > 1;
  const members = new Map<string, MemberCreate>();
  let problem: WantedCondition | undefined;
  for (const ref of refs) {
    const found = membersBehind(observed, from, ref);
    problem ??= found.problem;
    const { weight = 1 } = ref;
    if (weight === 0) continue;
    for (const member of found.members) {
      const place = `${member.address} ${member.protocol_port}`;
      const scaled = (members.get(place)?.weight ?? 0) + Math.max(1, Math.round(weight / scale));
      members.set(place, several ? { ...member, weight: Math.min(HEAVIEST, scaled) } : member);
    }
  }
  return {
    problem,
    pool: {
      poolName: nameOf(observed, from, refs),
      poolProtocol: from.protocol,
      algorithm: "ROUND_ROBIN",
      persistence: null,
      members: [...members.values()],
      monitor: undefined,
      monitorName: "",
      serial: config.balancer.serial,
      memberCosts: limitsOf(balancer.found[0]?.provider).memberCosts,
    },
  };

  function nameOf(_: Observed, { namespace, protocol }: typeof from, all: readonly BackendReference[]): string {
    const [first] = all;
    if (first && all.length === 1 && protocol === "HTTP" && first.weight !== 0)
      return poolName(owner, first.namespace ?? namespace, first.name, { number: first.port });
    const text = JSON.stringify([protocol, all.map((r) => [r.namespace ?? namespace, r.name, r.port, r.weight ?? 1])]);
    return createHash("sha256").update(text).digest("hex");
  }
}

function membersBehind(
  observed: Observed,
  { kind, namespace: own }: { readonly kind: string; readonly namespace: string },
  ref: BackendReference,
): { readonly members: readonly MemberCreate[]; readonly problem?: WantedCondition } {
  const { group = "", kind: of = "Service", name, namespace = own, port } = ref;
  const refused = (reason: string, message: string) =>
    ({ members: [], problem: { type: "ResolvedRefs", status: "False", reason, message } }) as const;
  if (group !== "" || of !== "Service") return refused("InvalidKind", `backend ${of} ${name} is not a Service`);
  if (!isPermitted(observed.grants, { kind, namespace: own }, { group: "", kind: "Service", namespace, name }))
    return refused("RefNotPermitted", `no ReferenceGrant of namespace ${namespace} allows Service ${name}`);
  const place = (observed.class?.balancer ?? observed.config.balancer).members;
  const { members, problem } = membersOf(observed, place, { service: `${namespace}/${name}`, port: { number: port } });
  if (problem === undefined) return { members };
  return { ...refused("BackendNotFound", `Service ${namespace}/${name} ${problem}`), members };
}
