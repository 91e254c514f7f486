import type { ResolvedPort } from "@causeway/api";
import type { Port } from "@causeway/openstack";
import { tagsAfter } from "../resources/ownership.ts";
import type { MachineContext } from "./model.ts";
import type { MachineStep } from "./steps.ts";
import { addressPairs } from "./ports.ts";

const failure = { reason: "PortUpdateFailed", isUpdate: true } as const;

/**
 * What may change on the ports of a running server: security groups, allowed address pairs and tags. Groups and tags
 * that others have added remain.
 */
export function planPortUpdates(
  context: MachineContext,
  ports: readonly Port[],
  wanted: readonly ResolvedPort[],
): MachineStep[] {
  const { status } = context.object;
  return wanted.flatMap((spec): MachineStep[] => {
    const port = ports.find((p) => p.name === spec.name);
    if (!port) return [];
    const before = status?.resolved?.ports?.find((p) => p.name === spec.name);
    const pairs = changedPairs(port, spec, before);
    const groups = changedGroups(context, port, { wanted: spec.securityGroups ?? [], before });
    const tags = tagsAfter(port.tags, { wanted: spec.tags ?? [], before: before?.tags ?? [] });
    return [
      ...(pairs || groups
        ? [
            {
              type: "update-port",
              ...failure,
              id: port.id,
              ...(pairs ? { pairs } : {}),
              ...(groups ? { groups } : {}),
            } as const,
          ]
        : []),
      ...(tags ? [{ type: "set-port-tags", ...failure, id: port.id, tags } as const] : []),
    ];
  });
}

type Pairs = ReturnType<typeof addressPairs>;

/** Pairs are set as a whole; a spec that never had any leaves those of others alone. */
function changedPairs(port: Port, spec: ResolvedPort, before: ResolvedPort | undefined): Pairs | undefined {
  if (spec.allowedAddressPairs === undefined && before?.allowedAddressPairs === undefined) return undefined;
  const pairs = addressPairs(spec.allowedAddressPairs ? { allowedAddressPairs: spec.allowedAddressPairs } : {});
  return samePairs(port, pairs) ? undefined : pairs;
}

interface GroupChange {
  readonly wanted: readonly string[];
  readonly before: ResolvedPort | undefined;
}

/** Without any group of the spec a port has the project's default one, as Neutron gives a new port. */
function changedGroups({ cloud }: MachineContext, port: Port, { wanted, before }: GroupChange): string[] | undefined {
  const next = tagsAfter(port.security_groups, { wanted, before: before?.securityGroups ?? [] });
  if (!next || next.length > 0) return next;
  const fallback = cloud.securityGroups.find((g) => g.name === "default" && g.project_id === cloud.projectId);
  if (!fallback || (port.security_groups.length === 1 && port.security_groups[0] === fallback.id)) return undefined;
  return [fallback.id];
}

/** Neutron fills a missing MAC in with the port's own. */
function samePairs(port: Port, wanted: readonly { ip_address: string; mac_address?: string }[]): boolean {
  const key = (pair: { ip_address: string; mac_address?: string }) =>
    `${pair.ip_address}|${pair.mac_address ?? port.mac_address}`;
  return port.allowed_address_pairs.map(key).sort().join() === wanted.map(key).sort().join();
}
