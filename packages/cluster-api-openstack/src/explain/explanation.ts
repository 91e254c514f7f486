import { isDeepStrictEqual } from "node:util";
import type { PlannedEvent } from "@causeway/kubernetes";
import { isOfMembers, treeAfter, type ObservedTree } from "@causeway/octavia-tree";
import type { DryRunCloud } from "../dry-run/cloud.ts";
import { observedTree } from "../openstackcluster/endpoint-tree.ts";
import type { ClusterStep } from "../openstackcluster/steps.ts";
import type { MachineStep } from "../openstackmachine/steps.ts";
import type { PlannedCall } from "./step-calls.ts";

/** A field that a step changes. */
interface Difference {
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** One planned step: its data, its calls, and what it is about. */
export interface ExplainedStep {
  readonly step: { readonly type: string };
  readonly calls: readonly PlannedCall[];
  readonly aim: { readonly target?: string | undefined; readonly differences: readonly Difference[] };
}

/** What the reconciles of one object would do from now on, if nothing else happened. */
export interface Explanation {
  /**
   * In their order. What takes time in a cloud is assumed to be ready at once; IDs and addresses of new resources are
   * made up.
   */
  readonly rounds: readonly (readonly ExplainedStep[])[];
  /** False: more rounds follow than are shown. */
  readonly complete: boolean;
  readonly wait: { readonly for: string } | undefined;
  /** Of the first round, and warnings of the others. */
  readonly events: readonly PlannedEvent[];
  /** As it would be published in the end. */
  readonly status: unknown;
  /** As it is published now. */
  readonly published: unknown;
}

/** Describes a step before it is done to `cloud`: the differences are those to the resource as it is there now. */
export function explainStep(
  step: ClusterStep | MachineStep,
  calls: readonly PlannedCall[],
  cloud: DryRunCloud,
): ExplainedStep {
  const data = shown(step);
  const body = (data["body"] ?? {}) as Readonly<Record<string, unknown>>;
  const target = text(body["name"]) ?? text(data["name"]) ?? text(data["address"]) ?? text(data["id"]);
  return { step: data, calls, aim: { target, differences: differencesOf(step, cloud) } };
}

/** A change below the API's load balancer is shown under its own type. */
function shown(step: ClusterStep | MachineStep): { readonly type: string } & Readonly<Record<string, unknown>> {
  if (step.type === "change-load-balancer") {
    const { type: _name, change, ...data } = step;
    return { ...data, ...change };
  }
  return { ...step };
}

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

function differencesOf(step: ClusterStep | MachineStep, cloud: DryRunCloud): Difference[] {
  return changes(step, cloud).filter(({ from, to }) => !isDeepStrictEqual(from, to));
}

/** What is changed of a server and its ports. */
function serverChanges(step: ClusterStep | MachineStep, cloud: DryRunCloud): Difference[] {
  switch (step.type) {
    case "update-port": {
      const port = cloud.ports.find((p) => p.id === step.id);
      return [
        ...(step.pairs ? [{ field: "allowed_address_pairs", from: port?.allowed_address_pairs, to: step.pairs }] : []),
        ...(step.groups ? [{ field: "security_groups", from: port?.security_groups, to: step.groups }] : []),
      ];
    }
    case "set-server-tags":
      return [{ field: "tags", from: cloud.servers.find((s) => s.id === step.id)?.tags, to: step.tags }];
    case "set-server-metadata": {
      const from = cloud.servers.find((s) => s.id === step.id)?.metadata ?? {};
      const kept = Object.entries(from).filter(([key]) => !step.remove.includes(key));
      return [{ field: "metadata", from, to: { ...Object.fromEntries(kept), ...step.set } }];
    }
    default:
      return [];
  }
}

/** What is changed below the API's load balancer. */
function treeDifferences(
  { loadBalancerId, change }: Extract<ClusterStep, { type: "change-load-balancer" }>,
  cloud: DryRunCloud,
): Difference[] {
  if (change.type === "update-listener") {
    const { allowed_cidrs, default_pool_id } = cloud.listeners.find((l) => l.id === change.id) ?? {};
    const before: Readonly<Record<string, unknown>> = { allowed_cidrs, default_pool_id };
    return Object.entries(change.change).map(([field, to]) => ({ field, from: before[field], to }));
  }
  const lb = cloud.loadBalancers.find((l) => l.id === loadBalancerId);
  if (!isOfMembers(change) || !lb) return [];
  const tree = observedTree(cloud, lb);
  const members = ({ pools }: ObservedTree) =>
    pools
      .find(({ pool }) => pool.id === change.poolId)
      ?.members.map(({ address, protocol_port: port }) => `${address}:${port}`);
  return [{ field: "members", from: members(tree), to: members(treeAfter(tree, change)) }];
}

function changes(step: ClusterStep | MachineStep, cloud: DryRunCloud): Difference[] {
  switch (step.type) {
    case "update-subnet": {
      const from = cloud.subnets.find((s) => s.id === step.id)?.dns_nameservers;
      return [{ field: "dns_nameservers", from, to: step.dnsNameservers }];
    }
    case "update-router": {
      const from = cloud.routers.find((r) => r.id === step.id)?.external_gateway_info;
      return [{ field: "external_gateway_info", from, to: step.gateway }];
    }
    case "change-load-balancer":
      return treeDifferences(step, cloud);
    case "set-tags":
    case "set-port-tags": {
      const all = [cloud.networks, cloud.subnets, cloud.routers, cloud.ports, cloud.securityGroups, cloud.floatingIps];
      const from = all.flatMap((list) => [...list]).find((resource) => resource.id === step.id)?.tags;
      return [{ field: "tags", from, to: step.tags }];
    }
    case "associate-floating-ip": {
      const from = cloud.floatingIps.find((ip) => ip.id === step.id)?.port_id;
      return [{ field: "port_id", from, to: step.portId }];
    }
    default:
      return serverChanges(step, cloud);
  }
}

/** The warnings of later rounds follow the events of the first; each is shown once. */
export function joined(events: readonly PlannedEvent[], more: readonly PlannedEvent[] = []): PlannedEvent[] {
  const fresh = more.filter(({ type, message }) => type === "Warning" && !events.some((e) => e.message === message));
  return [...events, ...fresh];
}
