import { isIP } from "node:net";
import { invalidValue, required } from "../../errors/problems.ts";
import { holding, needed, oneOf, portNumber, whereGiven, type FieldRule } from "../shared/rules.ts";

const PROTOCOLS = ["TCP", "UDP", "SCTP"];

function cidr(value: unknown, field: string): ReturnType<FieldRule[1]> {
  const [address = "", bits = ""] = String(value as string).split("/");
  const isNetwork = isIP(address) !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (isIP(address) === 4 ? 32 : 128);
  const why = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
  return isNetwork ? [] : [invalidValue(field, value ?? "", why)];
}

function domainPath(value: unknown, field: string): ReturnType<FieldRule[1]> {
  const why = 'must be a domain-prefixed path (such as "acme.io/foo")';
  return /^[a-z0-9.-]+\/[A-Za-z0-9/._-]+$/.test(String(value as string)) ? [] : [invalidValue(field, value, why)];
}

function absolute(value: unknown, field: string): ReturnType<FieldRule[1]> {
  return String(value as string).startsWith("/") ? [] : [invalidValue(field, value, "must be an absolute path")];
}

const PEERS = ["podSelector", "namespaceSelector", "ipBlock"];

const peer = holding(PEERS, (field) => required(field, "must specify a peer"));

/** Rules of NetworkPolicies by field. */
export const POLICY_RULES: readonly FieldRule[] = [
  ["spec.ingress[].ports[].protocol", oneOf(...PROTOCOLS)],
  ["spec.ingress[].ports[].port", portNumber],
  ["spec.ingress[].from[]", peer],
  ["spec.ingress[].from[].ipBlock.cidr", cidr],
  ["spec.egress[].ports[].protocol", oneOf(...PROTOCOLS)],
  ["spec.egress[].ports[].port", portNumber],
  ["spec.egress[].to[]", peer],
  ["spec.egress[].to[].ipBlock.cidr", cidr],
  ["spec.policyTypes[]", oneOf("Ingress", "Egress")],
];

const BACKEND = "either `defaultBackend` or `rules` must be specified";

/** Rules of Ingresses by field; those about several fields are in specs.ts. */
export const INGRESS_RULES: readonly FieldRule[] = [
  ["spec", holding(["defaultBackend", "rules"], (field) => invalidValue(field, null, BACKEND))],
  ["spec.rules[].http.paths", needed()],
  ["spec.rules[].http.paths[].path", whereGiven(absolute)],
  ["spec.rules[].http.paths[].pathType", needed("pathType must be specified")],
];

/** Rules of IngressClasses by field. */
export const INGRESS_CLASS_RULES: readonly FieldRule[] = [
  ["spec.controller", needed()],
  ["spec.controller", whereGiven(domainPath)],
];
