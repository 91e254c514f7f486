import { parseIp } from "@causeway/foundation";
import { array, at, isRecord, record, records, text, texts, type Json } from "../../json/json.ts";
import { labelValueFaults, qualifiedNameFaults, subdomainFaults } from "../../syntax/names.ts";
import { forbiddenField, invalidValue, notSupported, required } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";
import { addressProblem, rangeProblem, reachProblems } from "./address-rules.ts";
import { label, portNumber } from "../shared/rules.ts";
import { familyProblems } from "./service-families.ts";
import { hasHealthPort, hasNodePorts, isExternal } from "./service-changes.ts";

const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const PROTOCOLS = ["SCTP", "TCP", "UDP"];
const BALANCED = "may only be used when `type` is 'LoadBalancer'";

interface Around {
  readonly was: Json | undefined;
  /** The node port in the error where two ports would share one; undefined where none are given. */
  readonly shared: number | undefined;
}

/** What is wrong with a Service, in kube-apiserver's words. */
export function serviceProblems(service: Json, { was: old, shared }: Around): FieldProblem[] {
  const spec = record(service["spec"]);
  const was = old && record(old["spec"]);
  const ports = records(spec["ports"]);
  return [
    ...(was ? fixedProblems(spec, was) : []),
    ...typeProblems(spec, ports),
    ...ports.flatMap((p, i) => portProblems(p, `spec.ports[${i}]`, ports.length > 1)),
    ...repeatedPorts(ports, hasNodePorts(spec) ? shared : undefined),
    ...selectorProblems(record(spec["selector"])),
    ...affinityProblems(spec),
    ...(spec["type"] === "ExternalName" ? [] : familyProblems(spec, was)),
    ...externalProblems(texts(spec["externalIPs"]), texts(was?.["externalIPs"])),
    ...balancerProblems(spec, was),
    ...trafficProblems(spec, was),
  ];
}

function typeProblems(spec: Json, ports: readonly Json[]): FieldProblem[] {
  const type = text(spec["type"]);
  const isHeadless = texts(spec["clusterIPs"]).join() === "None";
  const problems: FieldProblem[] = [];
  if (!TYPES.includes(type)) problems.push(notSupported("spec.type", type, TYPES));
  if (ports.length === 0 && !isHeadless && type !== "ExternalName") problems.push(required("spec.ports"));
  if (isHeadless && (type === "NodePort" || type === "LoadBalancer")) {
    problems.push(invalidValue("spec.clusterIPs[0]", "None", `may not be set to 'None' for ${type} services`));
  }
  if (type === "ExternalName") problems.push(...addressless(spec), ...aliasProblems(text(spec["externalName"])));
  return problems;
}

/** An external name has no addresses here. */
function addressless(spec: Json): FieldProblem[] {
  const has = (name: string): boolean =>
    name === "ipFamilyPolicy" ? Boolean(spec[name]) : texts(spec[name]).length > 0;
  return ["clusterIPs", "ipFamilies", "ipFamilyPolicy"]
    .filter(has)
    .map((name) => forbiddenField(`spec.${name}`, "may not be set for ExternalName services"));
}

function aliasProblems(name: string): FieldProblem[] {
  const plain = name.replace(/\.$/, "");
  if (plain === "") return [required("spec.externalName")];
  return subdomainFaults(plain).map((why) => invalidValue("spec.externalName", plain, why));
}

const NAME = { length: 15, charset: /^[-a-z0-9]+$/, letter: /[a-z]/ };

/** What is wrong with the name of a port (IANA service names). */
function portNameFaults(name: string): string[] {
  return [
    ...(name.length > NAME.length ? ["must be no more than 15 characters"] : []),
    ...(NAME.charset.test(name) ? [] : ["must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"]),
    ...(NAME.letter.test(name) ? [] : ["must contain at least one letter (a-z)"]),
    ...(name.includes("--") ? ["must not contain consecutive hyphens"] : []),
    ...(/^-|-$/.test(name) ? ["must not begin or end with a hyphen"] : []),
  ];
}

function portProblems(port: Json, field: string, isNamed: boolean): FieldProblem[] {
  const name = text(port["name"]);
  const protocol = text(port["protocol"]);
  const target = port["targetPort"] ?? 0;
  const app = port["appProtocol"];
  return [
    ...(isNamed && !name ? [required(`${field}.name`)] : []),
    ...(name ? label(name, `${field}.name`) : []),
    ...portNumber(port["port"] ?? 0, `${field}.port`),
    ...(PROTOCOLS.includes(protocol) ? [] : [notSupported(`${field}.protocol`, protocol, PROTOCOLS)]),
    ...(typeof target === "string"
      ? portNameFaults(target).map((why) => invalidValue(`${field}.targetPort`, target, why))
      : portNumber(target, `${field}.targetPort`)),
    ...(typeof app === "string"
      ? qualifiedNameFaults(app).map((why) => invalidValue(`${field}.appProtocol`, app, why))
      : []),
  ];
}

/** A port as kube-apiserver shows one that is listed twice. */
function portShown({ port, protocol }: Json): Json {
  return { Name: "", Protocol: protocol, AppProtocol: null, Port: port ?? 0, TargetPort: 0, NodePort: 0 };
}

/** Names, numbers of one protocol, and node ports occur once each; allocated ones are shared by ports of one number. */
function repeatedPorts(ports: readonly Json[], shared: number | undefined): FieldProblem[] {
  const seen = new Set<string>();
  const twice = (key: string, field: string, value: unknown): FieldProblem[] => {
    const isKnown = seen.has(key);
    seen.add(key);
    const message = `Duplicate value: ${JSON.stringify(value)}`;
    return isKnown ? [{ field, message, reason: "FieldValueDuplicate" }] : [];
  };
  return ports.flatMap((port, i) => {
    const field = `spec.ports[${i}]`;
    const protocol = text(port["protocol"]);
    const name = text(port["name"]);
    const chosen = port["nodePort"];
    const number = String(port["port"] as number);
    const node = chosen ? `is ${String(chosen as number)}` : shared === undefined ? "" : `of ${number}`;
    return [
      ...(name ? twice(`name ${name}`, `${field}.name`, name) : []),
      ...twice(`port ${number}/${protocol}`, field, portShown(port)),
      ...(node ? twice(`node ${node}/${protocol}`, `${field}.nodePort`, chosen ?? shared) : []),
    ];
  });
}

function selectorProblems(selector: Json): FieldProblem[] {
  return Object.entries(selector).flatMap(([key, value]) => [
    ...qualifiedNameFaults(key).map((why) => invalidValue("spec.selector", key, why)),
    ...labelValueFaults(text(value)).map((why) => invalidValue("spec.selector", value, why)),
  ]);
}

function affinityProblems(spec: Json): FieldProblem[] {
  const affinity = text(spec["sessionAffinity"]);
  if (affinity === "None") return [];
  if (affinity !== "ClientIP") return [notSupported("spec.sessionAffinity", affinity, ["ClientIP", "None"])];
  const field = "spec.sessionAffinityConfig.clientIP.timeoutSeconds";
  const seconds = at(spec, "sessionAffinityConfig", "clientIP", "timeoutSeconds");
  const isRight = typeof seconds === "number" && seconds > 0 && seconds <= 86_400;
  return isRight ? [] : [invalidValue(field, seconds, "must be greater than 0 and less than 86400")];
}

function externalProblems(ips: readonly string[], before: readonly string[]): FieldProblem[] {
  return ips.flatMap((ip, i) => {
    const field = `spec.externalIPs[${i}]`;
    const wrong = before.includes(ip) ? [] : addressProblem(ip, field);
    return wrong.length > 0 ? wrong : reachProblems(ip, field);
  });
}

/** The path of the ranges is kube-apiserver's, though the field is spelt otherwise. */
function balancerProblems(spec: Json, was: Json | undefined): FieldProblem[] {
  const isBalanced = spec["type"] === "LoadBalancer";
  const ranges = texts(spec["loadBalancerSourceRanges"]).map((range) => range.trim());
  const before = texts(was?.["loadBalancerSourceRanges"]).map((range) => range.trim());
  const field = "spec.LoadBalancerSourceRanges";
  const problems = ranges.flatMap((r, i) => (before.includes(r) ? [] : rangeProblem(r, `${field}[${i}]`)));
  const { loadBalancerClass: kind, allocateLoadBalancerNodePorts: allocates } = spec;
  if (isBalanced) {
    const faults = typeof kind === "string" ? qualifiedNameFaults(kind) : [];
    return [...problems, ...faults.map((why) => invalidValue("spec.loadBalancerClass", kind, why))];
  }
  if (ranges.length > 0) problems.push(forbiddenField(field, BALANCED));
  if (allocates !== undefined) problems.push(forbiddenField("spec.allocateLoadBalancerNodePorts", BALANCED));
  if (kind !== undefined) problems.push(forbiddenField("spec.loadBalancerClass", BALANCED));
  if (spec["type"] !== "ClusterIP") return problems;
  const ports = records(spec["ports"]).flatMap(({ nodePort }, i) => (nodePort ? [`spec.ports[${i}].nodePort`] : []));
  return [...problems, ...ports.map((path) => forbiddenField(path, "may not be used when `type` is 'ClusterIP'"))];
}

const POLICIES = ["Cluster", "Local"];
const DISTRIBUTIONS = ["PreferClose"];

function trafficProblems(spec: Json, was: Json | undefined): FieldProblem[] {
  const { externalTrafficPolicy: external, internalTrafficPolicy: internal, healthCheckNodePort: health } = spec;
  const problems: FieldProblem[] = [];
  if (external !== undefined && !isExternal(spec)) {
    const why = "may only be set for externally-accessible services";
    problems.push(invalidValue("spec.externalTrafficPolicy", external, why));
  } else if (external !== undefined && !POLICIES.includes(text(external))) {
    problems.push(notSupported("spec.externalTrafficPolicy", external, POLICIES));
  }
  if (!hasHealthPort(spec)) {
    const why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    if (health) problems.push(invalidValue("spec.healthCheckNodePort", health, why));
  } else if (health !== undefined) problems.push(...portNumber(health, "spec.healthCheckNodePort"));
  if (was && hasHealthPort(was) && hasHealthPort(spec) && health !== was["healthCheckNodePort"]) {
    problems.push(forbiddenField("spec.healthCheckNodePort", "field is immutable"));
  }
  if (internal !== undefined && !POLICIES.includes(text(internal))) {
    problems.push(notSupported("spec.internalTrafficPolicy", internal, POLICIES));
  }
  const spread = spec["trafficDistribution"];
  const isKnown = spread === undefined || DISTRIBUTIONS.includes(text(spread));
  return isKnown ? problems : [...problems, notSupported("spec.trafficDistribution", spread, DISTRIBUTIONS)];
}

/** What an update may not change. */
function fixedProblems(spec: Json, was: Json): FieldProblem[] {
  const stays = was["type"] === "LoadBalancer" && spec["type"] === "LoadBalancer";
  const { loadBalancerClass: kind } = spec;
  const isOther = stays && kind !== was["loadBalancerClass"];
  const problem = invalidValue("spec.loadBalancerClass", kind ?? null, "may not change once set");
  return [...addressChanges(spec, was), ...(isOther ? [problem] : [])];
}

function addressChanges(spec: Json, was: Json): FieldProblem[] {
  if (spec["type"] === "ExternalName" || was["type"] === "ExternalName") return [];
  const [now, before] = [texts(spec["clusterIPs"]), texts(was["clusterIPs"])];
  const changed = (i: number): FieldProblem => invalidValue(`spec.clusterIPs[${i}]`, now, "may not change once set");
  if (now.length === before.length) return before.flatMap((ip, i) => (ip === now[i] ? [] : [changed(i)]));
  if (now.length === 0) return [invalidValue("spec.clusterIPs[0]", null, "primary clusterIP can not be unset")];
  return before.length > 0 && now[0] !== before[0] ? [changed(0)] : [];
}

/** What a Service says in vain. */
export function serviceWarnings(spec: Json): string[] {
  const isHeadless = texts(spec["clusterIPs"]).join() === "None";
  const hasOutside = texts(spec["externalIPs"]).length > 0;
  const isAlias = spec["type"] === "ExternalName";
  const said: [boolean, string][] = [
    [isHeadless && text(spec["loadBalancerIP"]) !== "", "spec.loadBalancerIP is ignored for headless services"],
    [isHeadless && hasOutside, "spec.externalIPs is ignored for headless services"],
    [isHeadless && spec["sessionAffinity"] !== "None", "spec.SessionAffinity is ignored for headless services"],
    [isAlias && hasOutside, 'spec.externalIPs is ignored when spec.type is "ExternalName"'],
    [
      !isAlias && text(spec["externalName"]) !== "",
      'spec.externalName is ignored when spec.type is not "ExternalName"',
    ],
  ];
  return said.filter(([isSo]) => isSo).map(([, warning]) => warning);
}

/** What is wrong with the status of a Service. */
export function ingressProblems(service: Json, old: Json): FieldProblem[] {
  const path = "status.loadBalancer.ingress";
  const points = array(at(service, "status", "loadBalancer", "ingress")).filter(isRecord);
  const before = records(at(old, "status", "loadBalancer", "ingress")).map((point) => point["ip"]);
  if (points.length > 0 && at(service, "spec", "type") !== "LoadBalancer") {
    return [forbiddenField(path, "may only be used when `spec.type` is 'LoadBalancer'")];
  }
  return points.flatMap((point, i) => [
    ...(before.includes(point["ip"]) ? [] : pointProblems(point, `${path}[${i}]`)),
    ...modeProblems(point, `${path}[${i}]`),
    ...hostProblems(text(point["hostname"]), `${path}[${i}].hostname`),
  ]);
}

function pointProblems(point: Json, field: string): FieldProblem[] {
  const ip = text(point["ip"]);
  return ip ? addressProblem(ip, `${field}.ip`) : [];
}

function modeProblems({ ip, ipMode: mode }: Json, field: string): FieldProblem[] {
  if (mode === undefined) return text(ip) ? [required(`${field}.ipMode`, "must be specified when `ip` is set")] : [];
  if (!text(ip)) return [forbiddenField(`${field}.ipMode`, "may not be specified when `ip` is not set")];
  return ["Proxy", "VIP"].includes(text(mode)) ? [] : [notSupported(`${field}.ipMode`, mode, ["Proxy", "VIP"])];
}

function hostProblems(host: string, field: string): FieldProblem[] {
  if (host === "") return [];
  const faults = subdomainFaults(host).map((why) => invalidValue(field, host, why));
  return parseIp(host) ? [...faults, invalidValue(field, host, "must be a DNS name, not an IP address")] : faults;
}
