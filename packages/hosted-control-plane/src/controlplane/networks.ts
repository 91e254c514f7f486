import type { Cluster } from "@causeway/api";
import { cidrsOverlap, parseCidr, type Cidr } from "@causeway/foundation";
import type { ControlPlaneProblem } from "../runtime.ts";

/** Of a Cluster that declares none. */
export const DEFAULT_SERVICE_CIDR = "10.96.0.0/12";

interface Range {
  readonly use: "services" | "pods";
  readonly text: string;
  readonly cidr: Cidr | undefined;
}

/**
 * Why a control plane cannot have the networks that its Cluster declares; undefined: it can. The networks of nodes are
 * not known here: the infrastructure compares them.
 */
export function networkProblem({ metadata, spec }: Cluster): ControlPlaneProblem | undefined {
  const declared = spec.clusterNetwork;
  const of = `spec.clusterNetwork of Cluster ${metadata.namespace ?? ""}/${metadata.name}`;
  const own = declared?.services?.cidrBlocks ?? [];
  const services = rangesOf("services", own.length === 0 ? [DEFAULT_SERVICE_CIDR] : own);
  const pods = rangesOf("pods", declared?.pods?.cidrBlocks ?? []);
  const unreadable = [...services, ...pods].find(({ cidr }) => cidr === undefined);
  if (unreadable !== undefined)
    return refused(
      `${of}: ${JSON.stringify(unreadable.text)} of ${unreadable.use} is not a network such as 10.97.0.0/16`,
    );
  const unfit = services.find(({ cidr }) => cidr !== undefined && !isOfServices(cidr));
  if (unfit !== undefined)
    return refused(
      `${of}: ${unfit.text} of services is not an IPv4 network of /8 to /30, nor one of IPv6 of /64 to /126`,
    );
  for (const service of services) {
    const pod = pods.find((each) => overlap(service, each));
    if (pod === undefined) continue;
    const byDefault = own.length === 0 ? " (the default)" : "";
    return refused(`${of}: ${service.text} of services${byDefault} and ${pod.text} of pods overlap`);
  }
  return undefined;
}

/** What the embedded API server takes, which has the widest bounds; kube-apiserver reports its own. */
function isOfServices({ version, prefix }: Cidr): boolean {
  const [least, most] = version === 4 ? [8, 30] : [64, 126];
  return prefix >= least && prefix <= most;
}

function rangesOf(use: Range["use"], texts: readonly string[]): Range[] {
  return texts.map((text) => ({ use, text, cidr: parseCidr(text) }));
}

function overlap(one: Range, other: Range): boolean {
  return one.cidr !== undefined && other.cidr !== undefined && cidrsOverlap(one.cidr, other.cidr);
}

function refused(message: string): ControlPlaneProblem {
  return { code: "CONTROL_PLANE_NETWORK_INVALID", message, actor: "user" };
}
