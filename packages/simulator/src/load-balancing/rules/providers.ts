import { fault, invalid, noAction, noOption } from "../errors.ts";
import { driverOf } from "./drivers.ts";
import type { LoadBalancer } from "../model.ts";

/** The providers of this cloud, with their descriptions; the first is the default. */
export const providers: Readonly<Record<string, string>> = {
  amphora: "The Octavia Amphora driver",
  octavia: "Deprecated alias of the Octavia Amphora driver",
  ovn: "Octavia OVN driver",
};

const ovnProtocols = ["TCP", "UDP", "SCTP"];

/** 400 for a provider that is not there. */
export function checkProvider(name: string): string {
  if (Object.hasOwn(providers, name)) return name;
  throw fault(400, `Provider '${name}' is not enabled.`);
}

const isOvn = ({ provider }: LoadBalancer): boolean => driverOf(provider) === "ovn";

/** 501 for what OVN cannot do with a listener or pool protocol. */
export function checkProtocol(balancer: LoadBalancer, protocol: string): void {
  if (isOvn(balancer) && !ovnProtocols.includes(protocol)) {
    throw noOption("ovn", `OVN provider does not support ${protocol} protocol`);
  }
}

/** 400 for CIDRs of the VIP's other IP version; 501 for any with OVN. */
export function checkAllowedCidrs(balancer: LoadBalancer, cidrs: readonly string[] | null | undefined): void {
  const vip = balancer.vip_address;
  const otherFamily = cidrs?.find((cidr) => cidr.includes(":") !== vip.includes(":"));
  if (otherFamily !== undefined)
    throw invalid(`CIDR ${otherFamily} IP version incompatible with VIP ${vip} IP version.`);
  if (isOvn(balancer) && cidrs && cidrs.length > 0) {
    throw noOption("ovn", "OVN provider does not support allowed_cidrs option");
  }
}

/** 501 for all algorithms but SOURCE_IP_PORT with OVN. */
export function checkAlgorithm(balancer: LoadBalancer, algorithm: string): void {
  if (isOvn(balancer) && algorithm !== "SOURCE_IP_PORT") {
    throw noOption("ovn", `OVN provider does not support ${algorithm} algorithm`);
  }
}

/** 501 with OVN: it has no amphora to fail over. */
export function checkFailover(balancer: LoadBalancer): void {
  if (isOvn(balancer)) throw noOption("ovn", "OVN provider does not support loadbalancer failover");
}

/** What providers check of a member. */
export interface MemberAsk {
  readonly address: string;
  readonly monitor_address?: string | null | undefined;
  readonly monitor_port?: number | null | undefined;
}

/** 501 for a member that OVN cannot have: with a monitor's address or port, or of the other IP version. */
export function checkMember(balancer: LoadBalancer, member: MemberAsk): void {
  if (!isOvn(balancer)) return;
  if ((member.monitor_address ?? null) !== null || (member.monitor_port ?? null) !== null) {
    throw noOption("ovn", "OVN Load Balancer does not support different member monitor address or port.");
  }
  if (member.address.includes(":") !== balancer.vip_address.includes(":")) {
    throw noOption(
      "ovn",
      "OVN provider does not support mixing IPv4/IPv6 configuration within the same Load Balancer.",
    );
  }
}

/** 501 for monitors other than TCP and UDP-CONNECT with OVN. */
export function checkMonitorType(balancer: LoadBalancer, type: string): void {
  if (isOvn(balancer) && type !== "TCP" && type !== "UDP-CONNECT") {
    const why = `OVN provider does not support ${type} health monitor type. Supported types: UDP-CONNECT, TCP`;
    throw noOption("ovn", why);
  }
}

/** 501 with OVN, which does not read requests. */
export function checkL7(balancer: LoadBalancer, what: "l7policies" | "l7rules"): void {
  if (isOvn(balancer)) throw noAction("ovn", `This provider does not support creating ${what}.`);
}
