import type { PlannedEvent, Wait } from "@causeway/kubernetes";
import { nextTreeChange, partsInCreate, treeChanges, type Ownership } from "@causeway/octavia-tree";
import type { LoadBalancer } from "@causeway/openstack";
import { isCertificateOf, isPoolName, OWNER_TAG, POLICY_DESCRIPTION, type Owner } from "../names.ts";
import { refsOf, type ObservedBalancer, type WantedBalancer } from "./balancer.ts";
import { planAddress } from "./plan-address.ts";
import { planGroup, releaseGroups } from "./security-group/plan-group.ts";
import type { BalancerStep } from "./steps.ts";

/** What waits for the cloud is checked again after this long (ms) even if no change was seen. */
const RESYNC = 60_000;

/** What a load balancer needs next; its owner's plan adds status and finalizer. */
export interface BalancerPlan {
  readonly steps: readonly BalancerStep[];
  readonly events: readonly PlannedEvent[];
  readonly wait?: Wait;
  /** Where clients reach it; undefined: nowhere yet. */
  readonly address?: string;
  /** Why it cannot be as it is wanted. */
  readonly failure?: string;
  /** The tree is as it is wanted. */
  readonly settled: boolean;
}

const nothing: BalancerPlan = { steps: [], events: [], settled: false };

/** Parts of the owner's load balancer that this controller may delete: it owns all listeners of it. */
export function ownershipOf(owner: Owner): Ownership {
  return {
    listener: ({ name, tags }) => name.startsWith(owner.name) || tags.includes(owner.tag),
    pool: ({ name }) => isPoolName(name),
    policy: ({ policy }) => policy.description === POLICY_DESCRIPTION,
    policyDescription: POLICY_DESCRIPTION,
  };
}

/** The next changes towards a wanted load balancer. `served`: clients have had its address. */
export function planBalancer(
  wanted: WantedBalancer,
  observed: ObservedBalancer,
  from: { readonly now: number; readonly served: boolean },
): BalancerPlan {
  const { now, served } = from;
  const certificates = missingCertificates(wanted, observed);
  if (certificates.length > 0) return { ...nothing, steps: certificates };
  const refusal = refuse(observed);
  if (refusal !== undefined) return failed(refusal, now);
  const [lb, ...surplus] = observed.found;
  if (!lb) return planCreate(wanted, observed, now);
  const extra = surplus.find(({ provisioning_status: status }) => !status.startsWith("PENDING_"));
  if (extra) return { ...nothing, steps: [deletion(extra, `Deleting second load balancer ${extra.id}`)] };
  if (lb.provisioning_status === "ERROR") return planBroken(lb, observed, { now, served });
  const address = planAddress(wanted.address, observed, lb);
  const tree = planTree(wanted, observed, lb, now);
  const group = groupSteps(wanted, observed);
  const steps = [...address.steps, ...tree.steps, ...group];
  const reached = lb.provisioning_status === "PENDING_CREATE" ? undefined : address.address;
  return {
    steps,
    events: [...address.events, ...tree.events],
    settled: tree.settled && surplus.length === 0 && group.length === 0,
    ...(tree.wait ? { wait: tree.wait } : {}),
    ...(reached === undefined ? {} : { address: reached }),
    ...(address.failure === undefined ? {} : { failure: address.failure }),
  };
}

/** Open where members are, before or after the load balancer is there. */
function groupSteps({ owner, tree }: WantedBalancer, { group }: ObservedBalancer): BalancerStep[] {
  if (!group) return [];
  const ports = tree.pools.flatMap(({ members }) => members.map(({ protocol_port: port }) => port));
  return planGroup(owner, group, ports);
}

function failed(failure: string, now: number): BalancerPlan {
  return { ...nothing, failure, wait: { for: "the blocking condition to clear", until: now + RESYNC } };
}

/** A load balancer of our name that another owner's tag claims, or two of which nothing says which is ours. */
function refuse({ found, owner }: ObservedBalancer): string | undefined {
  const other = found.find((lb) => isAnothers(lb, owner));
  if (other)
    return `load balancer ${other.id} is named ${other.name}, and its tags name another owner; delete it or remove the tag. Do two clusters have the same cluster-name?`;
  const untagged = found.filter(({ tags }) => !tags.includes(owner.tag));
  if (found.length > 1 && untagged.length > 0)
    return `${found.length} load balancers are named ${owner.name}; delete those that are not wanted`;
  return undefined;
}

/** Whether another Ingress, class or Gateway has tagged it as its own; one without any such tag may be adopted. */
export function isAnothers({ tags }: Pick<LoadBalancer, "tags">, owner: Owner): boolean {
  return !tags.includes(owner.tag) && tags.some((tag) => OWNER_TAG.test(tag));
}

function missingCertificates({ certificates }: WantedBalancer, { stored }: ObservedBalancer): BalancerStep[] {
  const refs = refsOf(stored);
  return [...certificates.keys()].flatMap((name) => (refs.has(name) ? [] : [{ type: "store-certificate", name }]));
}

function deletion({ id }: LoadBalancer, message: string): BalancerStep {
  return { type: "delete-load-balancer", id, event: { type: "Normal", reason: "Deleting", message } };
}

function planCreate(wanted: WantedBalancer, { held }: ObservedBalancer, now: number): BalancerPlan {
  const until = Math.max(held.uncertain ?? 0, held.broken ?? 0);
  if (until > now) return { ...nothing, wait: { for: `${wanted.owner.name} to be created again`, until } };
  const { owner, place, tree } = wanted;
  const body = {
    name: owner.name,
    description: wanted.description,
    vip_subnet_id: place.subnetId,
    ...(place.vipAddress === undefined ? {} : { vip_address: place.vipAddress }),
    ...(place.provider === undefined ? {} : { provider: place.provider }),
    ...(place.flavorId === undefined ? {} : { flavor_id: place.flavorId }),
    tags: [...tree.tags],
    ...partsInCreate(tree, POLICY_DESCRIPTION),
  };
  const event = { type: "Normal", reason: "Creating", message: `Creating load balancer ${owner.name}` } as const;
  return { ...nothing, steps: [{ type: "create-load-balancer", body, event }] };
}

/**
 * One that never served is recreated, ever more slowly. One that serves is left to a person: its data path may still
 * work.
 */
function planBroken(
  lb: LoadBalancer,
  { held, owner, floatingIp }: ObservedBalancer,
  { now, served }: { now: number; served: boolean },
): BalancerPlan {
  const ours = lb.tags.includes(owner.tag);
  if (served || !ours)
    return failed(
      `load balancer ${lb.id} is in ERROR; fail it over (openstack loadbalancer failover ${lb.id}), or delete it to have it created again`,
      now,
    );
  if (held.broken !== undefined && held.broken > now)
    return { ...nothing, wait: { for: `broken load balancer ${lb.id} to be deleted`, until: held.broken } };
  const step = deletion(lb, `Deleting load balancer ${lb.id}, which went to ERROR`);
  // Its successor gets the same address.
  const free: BalancerStep[] = floatingIp ? [{ type: "detach-floating-ip", id: floatingIp.id }] : [];
  return { ...nothing, steps: [...free, { ...step, broken: true } as BalancerStep] };
}

function planTree(
  wanted: WantedBalancer,
  observed: ObservedBalancer,
  lb: LoadBalancer,
  now: number,
): Pick<BalancerPlan, "steps" | "events" | "wait" | "settled"> {
  const { tree, held, owner } = observed;
  if (lb.provisioning_status !== "ACTIVE" || !tree)
    return { ...nothing, wait: { for: `load balancer ${lb.id} to be ACTIVE`, until: now + RESYNC } };
  const owns = ownershipOf(owner);
  const isHeld = (step: BalancerStep): boolean => held.braked(step) !== undefined;
  // It is marked as ours before anything else of it is changed.
  const adopted = lb.tags.includes(owner.tag) || wanted.tree.tags.length === 0;
  const tags = [...lb.tags, ...wanted.tree.tags];
  const adoption: BalancerStep = { type: "update-load-balancer", id: lb.id, change: { tags } };
  const change = adopted ? nextTreeChange(wanted.tree, tree, owns, isHeld) : adoption;
  if (change && held.busy !== undefined && held.busy > now)
    return { ...nothing, wait: { for: `load balancer ${lb.id} to be changeable`, until: held.busy } };
  if (change) return { steps: [change], events: [], settled: false };
  const untils = [...treeChanges(wanted.tree, tree, owns)].flatMap((step) => held.braked(step) ?? []);
  const until = Math.min(...untils);
  if (Number.isFinite(until))
    return { ...nothing, wait: { for: "changes that did not settle or were refused", until, onlyHeld: true } };
  return { steps: staleCertificates(wanted, observed), events: [], settled: true };
}

/** Certificates of the owner that no listener uses any more. */
function staleCertificates(wanted: WantedBalancer, { stored, tree, owner }: ObservedBalancer): BalancerStep[] {
  const used = new Set(
    (tree?.listeners ?? []).flatMap((l) => [l.default_tls_container_ref ?? "", ...(l.sni_container_refs ?? [])]),
  );
  const wantedRefs = new Set(
    [...refsOf(stored)].flatMap(([name, ref]) => (wanted.certificates.has(name) ? [ref] : [])),
  );
  return stored
    .filter(({ name, ref }) => isCertificateOf(owner, name) && !used.has(ref) && !wantedRefs.has(ref))
    .map(({ name, ref }) => ({ type: "delete-certificate", name, ref }));
}

/**
 * Deletes what an owner has in the cloud: its address, its load balancer, its certificates. Settled when nothing is
 * left.
 */
export function planRelease(
  observed: ObservedBalancer,
  from: { readonly keepFloatingIp: boolean; readonly now: number },
): BalancerPlan {
  const { found, leaving, owner, stored, held } = observed;
  const { now, keepFloatingIp } = from;
  const ours = found.filter((lb) => !isAnothers(lb, owner));
  const steps: BalancerStep[] = [];
  for (const lb of ours) {
    if (lb.provisioning_status.startsWith("PENDING_")) continue;
    steps.push(...release(observed, lb, keepFloatingIp), deletion(lb, `Deleting load balancer ${lb.id}`));
  }
  const until = Math.max(now + RESYNC, held.busy ?? 0);
  if (steps.length > 0 && held.busy !== undefined && held.busy > now)
    return { ...nothing, wait: { for: "the load balancer to be changeable", until: held.busy } };
  if (steps.length > 0) return { ...nothing, steps };
  if (ours.length + leaving.length > 0)
    return { ...nothing, wait: { for: `load balancer ${owner.name} to be deleted`, until } };
  if (held.uncertain !== undefined && held.uncertain > now)
    return { ...nothing, wait: { for: `${owner.name}, whose creation got no response`, until: held.uncertain } };
  const left: BalancerStep[] = stored
    .filter(({ name }) => isCertificateOf(owner, name))
    .map(({ name, ref }) => ({ type: "delete-certificate", name, ref }));
  if (observed.group) left.push(...releaseGroups(observed.group, observed.group.groups));
  const free = keepFloatingIp ? [] : observed.own.filter(({ port_id }) => (port_id ?? "") === "");
  left.push(...free.map(({ id }) => ({ type: "delete-floating-ip", id }) as const));
  return { ...nothing, steps: left, settled: left.length === 0 };
}

/** Ours are deleted unless they are to be kept; a user's are only detached. */
function release({ floatingIp, owner }: ObservedBalancer, lb: LoadBalancer, keep: boolean): BalancerStep[] {
  if (!floatingIp || floatingIp.port_id !== lb.vip_port_id) return [];
  const ours = floatingIp.description === owner.floatingIpDescription && !keep;
  return [{ type: ours ? "delete-floating-ip" : "detach-floating-ip", id: floatingIp.id }];
}
