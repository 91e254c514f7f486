import { shortList } from "@causeway/foundation";
import type { MigrationRecord } from "../../record/record.ts";
import type { PhasePlan, Step } from "../../phase.ts";
import type { UnreachedKubelet } from "./kubelets.ts";
import type { UnreachedService } from "./services.ts";

/** The name of our member in the pool of the API's load balancer. */
export const memberNameOf = (name: string): string => `causeway-${name}`.slice(0, 255);

/** A member of the API's pool. `isReady`: Octavia has applied it, and its health monitor does not report a failure. */
export interface PoolMember {
  readonly id: string;
  readonly name: string;
  readonly address: string;
  readonly port: number;
  readonly isReady: boolean;
}

/** What is read for `planSwitch`. */
export interface SwitchFacts {
  readonly wantedStage: string | undefined;
  readonly isAvailable: boolean;
  readonly message: string;
  /** "HOST:PORT" where the hosted API listens. */
  readonly apiAddress: string | undefined;
  /** Uid of namespace kube-system, by the address that clients use and by the hosted API. */
  readonly uid: string | undefined;
  readonly hostedUid: string | undefined;
  /** Of ready nodes, until the load balancer leads to the hosted API. */
  readonly kubelets: readonly UnreachedKubelet[];
  /** Of webhooks and APIServices, until the load balancer leads to the hosted API. */
  readonly services: readonly UnreachedService[];
  /** The operator switches although webhooks and APIServices will fail. */
  readonly acceptsUnreachable: boolean;
  readonly isPoolBusy: boolean;
  readonly members: readonly PoolMember[];
  readonly masters: readonly { readonly name: string; readonly address: string; readonly active: readonly string[] }[];
  /** Service kubernetes leads to the address of the load balancer. */
  readonly hasEndpoints: boolean;
  readonly leases: readonly { readonly name: string; readonly holder: string; readonly isFresh: boolean }[];
}

/** A step of phase switch. */
export type SwitchStep = Step &
  (
    | { readonly type: "serve" }
    | { readonly type: "add-pool-member"; readonly address: string; readonly port: number }
    | { readonly type: "remove-pool-member"; readonly id: string }
    | { readonly type: "stop-control-plane"; readonly address: string }
    | { readonly type: "write-endpoints" }
  );

type Inventory = MigrationRecord["inventory"];
const only = (step: SwitchStep): PhasePlan<SwitchStep> => ({ steps: [step], proof: [] });
const wait = (what: string): PhasePlan<SwitchStep> => ({ steps: [], wait: what, proof: [] });

/**
 * The hosted API serves next to the old ones, on the same etcd; then the load balancer leads to it alone, and the old
 * ones are stopped.
 */
export function planSwitch(facts: SwitchFacts, { namespace, name, inventory }: MigrationRecord): PhasePlan<SwitchStep> {
  const { uid, hostedUid, apiAddress } = facts;
  if (facts.wantedStage !== "Serve")
    return only({
      type: "serve",
      what: `start the API server and controllers of HostedControlPlane ${namespace}/${name}`,
    });
  if (!facts.isAvailable || apiAddress === undefined)
    return {
      ...wait(`HostedControlPlane ${namespace}/${name} to be available: ${facts.message}`),
      publicWait: "the hosted control plane to be available",
    };
  if (hostedUid === undefined || uid === undefined) return wait("both API servers to respond");
  if (hostedUid !== uid)
    return {
      steps: [],
      refused: {
        code: "MIGRATE_OTHER_CLUSTER",
        message: `The hosted API server of ${name} serves other data than ${inventory.apiAddress}: kube-system is ${hostedUid}, not ${uid}`,
        hint: "Run rollback, and compare the URLs of etcd's members.",
      },
      proof: [],
    };
  const cut = kubeletProblem(facts, inventory);
  if (cut) return { steps: [], refused: cut, proof: [] };
  const uncalled = serviceProblem(facts.services, inventory);
  if (uncalled && !facts.acceptsUnreachable) return { steps: [], refused: uncalled, proof: [] };
  const plan = planLead({ ...facts, apiAddress }, inventory);
  return uncalled ? { ...plan, notes: [uncalled.message] } : plan;
}

/** The load balancer leads to the hosted API alone, then the masters stop. */
function planLead(facts: SwitchFacts & { readonly apiAddress: string }, inventory: Inventory): PhasePlan<SwitchStep> {
  const { members } = facts;
  if (facts.isPoolBusy) return wait(`load balancer ${inventory.api?.id ?? ""} to be ACTIVE`);
  const { host, port } = splitAddress(facts.apiAddress);
  const own = members.find((member) => member.address === host && member.port === port);
  if (!own)
    return only({
      type: "add-pool-member",
      address: host,
      port,
      what: `add ${facts.apiAddress} to pool ${inventory.api?.poolId ?? ""} of the API's load balancer`,
    });
  if (!own.isReady) return wait(`member ${own.name} of the API's load balancer to be ready`);
  const old = members.find((member) => member !== own);
  if (old)
    return only({
      type: "remove-pool-member",
      id: old.id,
      what: `remove ${old.address}:${old.port} from the API's load balancer`,
    });
  const running = facts.masters.find(({ active }) => active.length > 0);
  if (running)
    return only({
      type: "stop-control-plane",
      address: running.address,
      what: `stop ${running.active.join(", ")} on ${running.name} (${running.address})`,
    });
  if (!facts.hasEndpoints)
    return only({ type: "write-endpoints", what: "have Service default/kubernetes lead to the load balancer" });
  const stale = facts.leases.find(({ isFresh }) => !isFresh);
  if (stale) return wait(`the hosted control plane to hold Lease kube-system/${stale.name}`);
  return {
    steps: [],
    proof: [
      `${inventory.apiAddress} leads to ${facts.apiAddress} alone`,
      `kube-system has uid ${facts.uid ?? ""} at both addresses`,
      ...facts.leases.map((lease) => `Lease kube-system/${lease.name} is renewed by ${lease.holder}`),
      `the control plane's programs are stopped on ${facts.masters.length} masters, and their etcd runs on`,
    ],
  };
}

/** What works by the masters has to work by the hosted control plane: logs, exec, metrics of each node. */
function kubeletProblem({ kubelets }: SwitchFacts, { name }: Inventory): PhasePlan<SwitchStep>["refused"] {
  const cut = kubelets.filter(({ isUnreachable }) => !isUnreachable);
  const [first] = cut;
  if (first === undefined) return undefined;
  return {
    code: "MIGRATE_KUBELET_UNREACHABLE",
    message: `The hosted API server of ${name} does not reach the kubelet of ${cut.length} nodes that the masters reach, such as ${first.node}: ${first.problem}`,
    hint: "Open port 10250 of the nodes for the hosted control plane, or have a tunnel agent in the cluster; then run switch again. Nothing was switched.",
  };
}

/** Services that are named in a message; the others are counted. */
const NAMED = 5;

/** Requests that a webhook intercepts fail when it cannot be called, and namespaces are not deleted without an API. */
function serviceProblem(services: readonly UnreachedService[], { name }: Inventory): PhasePlan<SwitchStep>["refused"] {
  const cut = services.filter(({ isUnreachable }) => !isUnreachable);
  if (cut.length === 0) return undefined;
  const named = cut.map((service) => {
    const { users, problem } = service;
    return `Service ${service.namespace}/${service.name}:${service.port} of ${shortList(users, NAMED)}: ${problem}`;
  });
  return {
    code: "MIGRATE_SERVICE_UNREACHABLE",
    message: `The hosted API server of ${name} does not reach ${cut.length} Services of webhooks and APIServices that the masters reach: ${shortList(named, NAMED, { separator: "; " })}`,
    hint: "Have a tunnel agent in the cluster, or routes from the hosted control plane to the pods; then run switch again. Nothing was switched. With --accept-unreachable it is switched although these fail.",
  };
}

/** "HOST:PORT" or "[HOST]:PORT" of IPv6; the host is without brackets. */
export function splitAddress(address: string): { host: string; port: number } {
  const at = address.lastIndexOf(":");
  return { host: address.slice(0, at).replaceAll(/^\[|\]$/g, ""), port: Number(address.slice(at + 1)) };
}
