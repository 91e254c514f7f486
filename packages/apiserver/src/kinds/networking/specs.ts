import { BlockList, isIP } from "node:net";
import { isRecord, record, records, text, texts, type Json } from "../../json/json.ts";
import { label1035Faults, subdomainFaults } from "../../syntax/dns.ts";
import { forbiddenField, invalidValue, required } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";
import {
  between,
  dnsName,
  each,
  given,
  neededText,
  portNameFaults,
  PORTS,
  selectorProblems,
  supported,
} from "../shared/checks.ts";

/*
 * NetworkPolicies, Ingresses and their classes, beyond their single fields. Source: Kubernetes API reference,
 * networking.k8s.io/v1.
 */

const CIDR = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/** What is wrong with the spec of a NetworkPolicy beyond single fields. */
export function networkPolicyProblems(spec: Json): FieldProblem[] {
  const types = texts(spec["policyTypes"]);
  const many =
    types.length > 2 ? [invalidValue("spec.policyTypes", types, "may not specify more than two policyTypes")] : [];
  const ways = [
    ["ingress", "from"],
    ["egress", "to"],
  ] as const;
  const rules = ways.flatMap(([way, peers]) =>
    each(`spec.${way}`, spec[way], (rule, at) => [
      ...each(`${at}.ports`, rule["ports"], policyPortProblems),
      ...each(`${at}.${peers}`, rule[peers], peerProblems),
    ]),
  );
  return [...selectorProblems("spec.podSelector", spec["podSelector"]), ...rules, ...many];
}

function policyPortProblems(one: Json, field: string): FieldProblem[] {
  const { port, endPort: end } = one;
  const at = `${field}.endPort`;
  const named =
    typeof port === "string" ? portNameFaults(port).map((why) => invalidValue(`${field}.port`, port, why)) : [];
  if (end === undefined) return named;
  if (port === undefined) return [invalidValue(at, end, "may not be specified when `port` is not specified")];
  if (typeof port === "string") {
    return [...named, invalidValue(at, end, "may not be specified when `port` is non-numeric")];
  }
  const isBelow = typeof end === "number" && typeof port === "number" && end < port;
  // kube-apiserver shows the port.
  const order = isBelow ? [invalidValue(at, port, "must be greater than or equal to `port`")] : [];
  return [...order, ...between(at, end, PORTS)];
}

function peerProblems(peer: Json, field: string): FieldProblem[] {
  const { ipBlock: block } = peer;
  const problems = [
    ...selectorProblems(`${field}.podSelector`, peer["podSelector"]),
    ...selectorProblems(`${field}.namespaceSelector`, peer["namespaceSelector"]),
  ];
  if (!isRecord(block)) return problems;
  const excepted = texts(block["except"]).flatMap((except, i) => {
    const at = `${field}.ipBlock.except[${i}]`;
    if (!isCidr(except)) return [invalidValue(at, except, CIDR)];
    const isWithin = !isCidr(text(block["cidr"])) || isInside(except, text(block["cidr"]));
    return isWithin ? [] : [invalidValue(at, except, "must be a strict subset of `cidr`")];
  });
  problems.push(...excepted);
  const isMixed = given(peer, "podSelector") || given(peer, "namespaceSelector");
  return isMixed ? [...problems, forbiddenField(field, "may not specify both ipBlock and another peer")] : problems;
}

function isCidr(value: string): boolean {
  const [address = "", bits = ""] = value.split("/");
  return isIP(address) !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (isIP(address) === 4 ? 32 : 128);
}

/** Whether a network is a part, and not the whole, of another. */
function isInside(inner: string, outer: string): boolean {
  const [address = "", bits = ""] = inner.split("/");
  const [network = "", most = ""] = outer.split("/");
  if (isIP(address) !== isIP(network) || Number(bits) <= Number(most)) return false;
  const family = isIP(network) === 4 ? "ipv4" : "ipv6";
  const list = new BlockList();
  list.addSubnet(network, Number(most), family);
  return list.check(address, family);
}

const PATH_TYPES = ["Exact", "ImplementationSpecific", "Prefix"];
const WILDCARD =
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/** What is wrong with the spec of an Ingress beyond single fields. */
export function ingressProblems(spec: Json): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const { ingressClassName: name } = spec;
  problems.push(...records(spec["tls"]).flatMap((tls, i) => tlsProblems(tls, `spec.tls[${i}]`)));
  if (isRecord(spec["defaultBackend"]))
    problems.push(...backendProblems(spec["defaultBackend"], "spec.defaultBackend"));
  problems.push(
    ...each("spec.rules", spec["rules"], (rule, at) => [
      ...hostProblems(`${at}.host`, text(rule["host"])),
      ...each(`${at}.http.paths`, record(rule["http"])["paths"], pathProblems),
    ]),
  );
  return typeof name === "string" ? [...problems, ...dnsName("spec.ingressClassName", name)] : problems;
}

function tlsProblems(tls: Json, field: string): FieldProblem[] {
  return texts(tls["hosts"]).flatMap((host, i) => hostNameProblems(`${field}.hosts[${i}]`, host));
}

function hostProblems(field: string, host: string): FieldProblem[] {
  if (host === "") return [];
  if (isIP(host) !== 0) return [invalidValue(field, host, "must be a DNS name, not an IP address")];
  return hostNameProblems(field, host);
}

function hostNameProblems(field: string, host: string): FieldProblem[] {
  if (!host.includes("*")) return dnsName(field, host);
  const isWild = host.startsWith("*.") && subdomainFaults(host.slice(2)).length === 0;
  return isWild ? [] : [invalidValue(field, host, WILDCARD)];
}

const WRONG_PARTS = ["//", "/./", "/../", "%2f", "%2F"];
const WRONG_ENDS = ["/..", "/."];

function pathProblems(one: Json, field: string): FieldProblem[] {
  const path = text(one["path"]);
  const type = text(one["pathType"]);
  // Without a type nothing else is checked.
  if (type === "") return [];
  const problems = supported(`${field}.pathType`, type, PATH_TYPES);
  if ((type === "Exact" || type === "Prefix") && path.startsWith("/")) {
    const parts = WRONG_PARTS.filter((part) => path.includes(part)).map((part) => `must not contain '${part}'`);
    const ends = WRONG_ENDS.filter((end) => path.endsWith(end)).map((end) => `cannot end with '${end}'`);
    problems.push(...[...parts, ...ends].map((why) => invalidValue(`${field}.path`, path, why)));
  }
  return [...problems, ...backendProblems(record(one["backend"]), `${field}.backend`)];
}

function backendProblems(backend: Json, field: string): FieldProblem[] {
  const { service, resource } = backend;
  if (isRecord(resource) && isRecord(service)) {
    return [invalidValue(field, "", "cannot set both resource and service backends")];
  }
  if (isRecord(resource)) {
    const { kind, name } = resource;
    return [...neededText(`${field}.resource.kind`, kind), ...neededText(`${field}.resource.name`, name)];
  }
  if (!isRecord(service)) return [invalidValue(field, "", "resource or service backend is required")];
  const name = text(service["name"]);
  const at = `${field}.service.name`;
  const named = name === "" ? [required(at)] : label1035Faults(name).map((why) => invalidValue(at, name, why));
  return [...named, ...backendPortProblems(record(service["port"]), field)];
}

function backendPortProblems(port: Json, field: string): FieldProblem[] {
  const name = text(port["name"]);
  const number = port["number"] ?? 0;
  const at = `${field}.service.port`;
  if (name !== "" && number !== 0) return [invalidValue(field, "", "cannot set both port name & port number")];
  if (name !== "") return portNameFaults(name).map((why) => invalidValue(`${at}.name`, name, why));
  if (number === 0) return [required(field, "port name or number is required")];
  return between(`${at}.number`, number, PORTS);
}

/** What is wrong with the parameters that an IngressClass refers to. */
export function ingressClassProblems(spec: Json): FieldProblem[] {
  const { parameters } = spec;
  if (!isRecord(parameters)) return [];
  const field = "spec.parameters";
  const { scope, namespace } = parameters;
  const problems = [
    ...neededText(`${field}.kind`, parameters["kind"]),
    ...neededText(`${field}.name`, parameters["name"]),
    ...supported(`${field}.scope`, scope, ["Cluster", "Namespace"]),
  ];
  if (scope === "Namespace" && !text(namespace)) {
    problems.push(required(`${field}.namespace`, "`parameters.scope` is set to 'Namespace'"));
  }
  if (scope !== "Cluster" || namespace === undefined) return problems;
  return [...problems, forbiddenField(`${field}.namespace`, "`parameters.scope` is set to 'Cluster'")];
}
