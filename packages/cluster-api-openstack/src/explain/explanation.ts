import { isDeepStrictEqual } from "node:util";
import type { PlannedEvent } from "@causeway/kubernetes";
import type { DryRunCloud } from "../dry-run/cloud.ts";
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
}

/** Describes a step before it is done to `cloud`: the differences are those to the resource as it is there now. */
export function explainStep(
  step: ClusterStep | MachineStep,
  calls: readonly PlannedCall[],
  cloud: DryRunCloud,
): ExplainedStep {
  const { do: type, ...rest } = step;
  const data = rest as Readonly<Record<string, unknown>>;
  const body = (data["body"] ?? {}) as Readonly<Record<string, unknown>>;
  const target = text(body["name"]) ?? text(data["name"]) ?? text(data["address"]) ?? text(data["id"]);
  return { step: { type, ...data }, calls, aim: { target, differences: differencesOf(step, cloud) } };
}

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

function differencesOf(step: ClusterStep | MachineStep, cloud: DryRunCloud): Difference[] {
  return changes(step, cloud).filter(({ from, to }) => !isDeepStrictEqual(from, to));
}

/** What is changed of a server and its ports. */
function serverChanges(step: ClusterStep | MachineStep, cloud: DryRunCloud): Difference[] {
  switch (step.do) {
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

function changes(step: ClusterStep | MachineStep, cloud: DryRunCloud): Difference[] {
  switch (step.do) {
    case "update-subnet": {
      const from = cloud.subnets.find((s) => s.id === step.id)?.dns_nameservers;
      return [{ field: "dns_nameservers", from, to: step.dnsNameservers }];
    }
    case "update-router": {
      const from = cloud.routers.find((r) => r.id === step.id)?.external_gateway_info;
      return [{ field: "external_gateway_info", from, to: step.gateway }];
    }
    case "update-listener":
      return [{ field: "allowed_cidrs", from: step.listener.allowed_cidrs, to: step.allowedCidrs }];
    case "replace-members": {
      const from = cloud.members.get(step.poolId)?.map((m) => `${m.address}:${m.protocol_port}`);
      return [{ field: "members", from, to: step.members.map((m) => `${m.address}:${m.protocol_port}`) }];
    }
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
