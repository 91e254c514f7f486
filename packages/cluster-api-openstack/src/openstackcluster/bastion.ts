import type { OpenStackClusterStatus } from "@causeway/api";
import type { FloatingIp, Port } from "@causeway/openstack";
import { bastionName, description } from "../resources/naming.ts";
import { isOwnedAddress } from "../resources/ownership.ts";
import { bastionHash, bastionHashAnnotation, bastionSpec } from "./bastion-spec.ts";
import { found, missing, type ClusterContext, type Part } from "./model.ts";
import { duplicates, tagSteps, type NetworkPart } from "./network.ts";
import { portOf } from "./port-index.ts";
import type { RouterPart } from "./router.ts";
import type { SecurityGroupsPart } from "./security-groups.ts";
import type { ClusterStep } from "./steps.ts";

type BastionStatus = NonNullable<OpenStackClusterStatus["bastion"]>;

/** The bastion's part of a plan. The cluster is provisioned without it. */
export interface BastionPart extends Part {
  /** undefined: there is no bastion, and nothing of one. */
  readonly status: BastionStatus | undefined;
}

interface Surroundings {
  readonly network: NetworkPart;
  readonly router: RouterPart;
  readonly groups: SecurityGroupsPart;
}

const type = "BastionReady";

/** An OpenStackServer with a floating IP while the spec enables it; neither of them otherwise. */
export function planBastion(context: ClusterContext, around: Surroundings): BastionPart | undefined {
  const { spec, status } = context.object;
  if (spec.bastion && spec.bastion.enabled !== false) return planEnabled(context, around);
  const { bastion } = context;
  if (bastion) {
    const deleting = bastion.metadata.deletionTimestamp !== undefined;
    const steps: ClusterStep[] = deleting ? [] : [{ for: type, type: "delete-bastion", name: bastion.metadata.name }];
    const finding = missing(type, "DeletingBastion", `Deleting OpenStackServer ${bastion.metadata.name}`);
    return { finding, steps, status: status?.bastion, wait: "the bastion to be deleted" };
  }
  const steps = bastionAddresses(context).map((ip): ClusterStep => releaseStep(ip));
  if (steps.length === 0 && !status?.bastion) return undefined;
  return { finding: missing(type, "Disabled", "spec.bastion is not enabled"), steps, status: undefined };
}

function planEnabled(context: ClusterContext, { network, router, groups }: Surroundings): BastionPart {
  const { object, bastion, clusterName } = context;
  const before = object.status?.bastion;
  const wait = (reason: string, message: string, steps: readonly ClusterStep[] = []): BastionPart => ({
    finding: missing(type, reason, message),
    steps,
    status: before,
    wait: message,
  });
  const needsGroup = object.spec.managedSecurityGroups !== undefined;
  if (!network.network || network.subnets.length === 0 || (needsGroup && !groups.groups.bastion))
    return wait("WaitingForNetwork", "the network and the security group of the bastion");
  const spec = bastionSpec(object, {
    network: network.network,
    subnets: network.subnets,
    group: groups.groups.bastion,
  });
  if (!spec) return { ...wait("InvalidBastion", "spec.bastion.spec is missing"), events: [] };
  const hash = bastionHash(spec);
  const name = bastionName(clusterName);
  if (!bastion) {
    const create: ClusterStep = { for: type, type: "create-bastion", name, cluster: clusterName, spec, hash };
    return wait("CreatingBastion", `OpenStackServer ${name} to be created`, [create]);
  }
  if (bastion.metadata.deletionTimestamp !== undefined)
    return wait("DeletingBastion", `OpenStackServer ${name} to be deleted`);
  const recorded = bastion.metadata.annotations?.[bastionHashAnnotation];
  if (recorded !== undefined && recorded !== hash)
    return wait("RecreatingBastion", `OpenStackServer ${name} to be recreated: spec.bastion has changed`, [
      { for: type, type: "delete-bastion", name },
    ]);
  // Upstream's provider leaves no hash: its bastion is adopted as it is.
  const adopt: ClusterStep[] = recorded === undefined ? [{ for: type, type: "record-bastion", name, hash }] : [];
  if (bastion.status?.ready !== true) {
    const why = bastion.status?.conditions?.find((c) => c.type === "InstanceReady")?.message;
    return wait("BastionNotReady", `OpenStackServer ${name} to be ready${why ? `: ${why}` : ""}`, adopt);
  }
  return withAddress(context, router, adopt);
}

function withAddress(context: ClusterContext, router: RouterPart, adopt: readonly ClusterStep[]): BastionPart {
  const { object, bastion, cloud } = context;
  const status = bastionStatus(context);
  const port = portOf(cloud, bastion?.status?.resources?.ports?.[0]?.id);
  if (!router.external) return { finding: found(type, "BastionReady", status.ip), steps: adopt, status };
  if (!port || !router.connected) {
    const message = "the bastion's port to be connected to the external network";
    return { finding: missing(type, "BastionNotReady", message), steps: adopt, status, wait: message };
  }
  const { ip, steps, problem } = floatingAddress(context, port, router.external.id);
  if (problem !== undefined) return { finding: missing(type, "FloatingIPError", problem), steps: adopt, status };
  const all = [...adopt, ...steps];
  if (!ip) {
    const finding = missing(type, "CreatingFloatingIP", "Creating a floating IP for the bastion");
    return { finding, steps: all, status: { ...object.status?.bastion, ...status } };
  }
  const floatingIP = ip.floating_ip_address;
  return { finding: found(type, "BastionReady", floatingIP), steps: all, status: { ...status, floatingIP } };
}

/** The server's state, without its floating IP. */
function bastionStatus({ bastion }: ClusterContext): BastionStatus {
  const { instanceID, instanceState, addresses, resources } = bastion?.status ?? {};
  const ip = addresses?.find((a) => a.type === "InternalIP")?.address;
  const values = {
    id: instanceID,
    name: bastion?.metadata.name,
    ip,
    state: instanceState,
    sshKeyName: bastion?.spec.sshKeyName,
  };
  const known = Object.entries(values).filter(([, value]) => value !== undefined && value !== "");
  return { ...Object.fromEntries(known), ...(resources ? { resources } : {}) };
}

interface Address {
  readonly ip?: FloatingIp;
  readonly steps: readonly ClusterStep[];
  readonly problem?: string;
}

/**
 * The floating IP of the spec, or the one at the port, or the one recorded, or another; created together with its
 * association.
 */
function floatingAddress(context: ClusterContext, port: Port, externalId: string): Address {
  const { cloud, object, crn } = context;
  const given = object.spec.bastion?.floatingIP;
  const attached = cloud.floatingIps.find((ip) => ip.port_id === port.id);
  if (given === undefined || attached?.floating_ip_address === given) {
    const recorded = bastionAddresses(context);
    if (recorded.length > 1)
      return {
        steps: [],
        problem: duplicates(
          "floating IPs",
          description(crn),
          recorded.map((ip) => ip.id),
        ),
      };
    const ip = attached ?? recorded[0];
    if (ip) return { ip, steps: [...tagSteps("floatingips", ip, given ? [] : context.tags), ...associate(ip, port)] };
    const body = {
      floating_network_id: externalId,
      description: description(crn),
      port_id: port.id,
      ...(port.fixed_ips[0] ? { fixed_ip_address: port.fixed_ips[0].ip_address } : {}),
    };
    return { steps: [{ for: type, type: "create-floating-ip", body }] };
  }
  const ip = cloud.floatingIps.find((f) => f.floating_ip_address === given);
  if (!ip) return { steps: [], problem: `Floating IP ${given} of spec.bastion.floatingIP is not in the project` };
  if (ip.port_id !== null && ip.port_id !== port.id)
    return { steps: [], problem: `Floating IP ${given} of spec.bastion.floatingIP is attached to port ${ip.port_id}` };
  const release = bastionAddresses(context).map(releaseStep);
  return { ip, steps: [...release, ...associate(ip, port)] };
}

function associate(ip: FloatingIp, port: Port): ClusterStep[] {
  if (ip.port_id !== null) return [];
  return [{ for: type, type: "associate-floating-ip", id: ip.id, portId: port.id, address: ip.floating_ip_address }];
}

function releaseStep(ip: FloatingIp): ClusterStep {
  return { for: type, type: "delete-floating-ip", id: ip.id, address: ip.floating_ip_address };
}

/**
 * Floating IPs that were created for the bastion: at its port, or recorded. One that the spec names belongs to the
 * user.
 */
export function bastionAddresses({ object, bastion, cloud, crn }: ClusterContext): FloatingIp[] {
  const ports = new Set(
    (bastion?.status?.resources?.ports ?? object.status?.bastion?.resources?.ports ?? []).map((p) => p.id),
  );
  const recorded = object.status?.bastion?.floatingIP;
  if (ports.size === 0 && recorded === undefined) return [];
  const mark = { description: description(crn), projectId: cloud.projectId };
  return cloud.floatingIps.filter(
    (ip) =>
      isOwnedAddress(ip, mark) &&
      ip.floating_ip_address !== object.spec.bastion?.floatingIP &&
      ip.floating_ip_address !== object.spec.apiServer?.floatingIP &&
      (ip.floating_ip_address === recorded || (ip.port_id !== null && ports.has(ip.port_id))),
  );
}
