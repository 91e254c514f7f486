import { formatIp, parseCidr } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import { SYSTEM } from "../../contract/user.ts";
import { at, fields, record, records, same, text, texts, timestamp, type Json } from "../../json/json.ts";
import { invalidValue, required } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";
import { AGE, NAME } from "../../tables/table.ts";
import { networkOf, serviceNetworks, type ServiceNetwork } from "../core/addresses.ts";
import { define, STATUS } from "../../contract/define.ts";
import type { ClusterView, Resource } from "../../contract/resource.ts";

const GROUP = "networking.k8s.io";
/** Where IPAddresses are stored. */
export const IP_ADDRESSES = `${GROUP}/ipaddresses`;
/** Where ServiceCIDRs are stored. */
export const SERVICE_CIDRS = `${GROUP}/servicecidrs`;
const IMMUTABLE = "field is immutable";

/** ServiceCIDR and IPAddress (networking.k8s.io/v1, KEP-1880). */
export function serviceRangeKinds(): Resource[] {
  return [
    define({
      group: GROUP,
      kind: "ServiceCIDR",
      plural: "servicecidrs",
      clusterScoped: true,
      subresources: [STATUS],
      columns: [NAME, { name: "CIDRs", cell: (o) => texts(at(o, "spec", "cidrs")).join(",") }, AGE],
      strategy: {
        prepareCreate(draft, { user, cluster }) {
          draft["status"] = user === SYSTEM ? { conditions: [ready(cluster.clock.now())] } : {};
        },
        applyDefaults(draft) {
          draft["status"] ??= {};
        },
        validate(object, old, { subresource }) {
          if (subresource) return [];
          return old ? cidrChangeProblems(cidrsOf(object), cidrsOf(old)) : cidrProblems(cidrsOf(object));
        },
      },
    }),
    define({
      group: GROUP,
      kind: "IPAddress",
      plural: "ipaddresses",
      shortNames: ["ip"],
      clusterScoped: true,
      columns: [NAME, { name: "ParentRef", cell: parentText }, AGE],
      strategy: {
        validate(object, old) {
          const parent = fields(object)["spec"] === undefined ? undefined : record(fields(object)["spec"])["parentRef"];
          const was = old && at(old, "spec", "parentRef");
          if (old && !same(parent, was)) return [invalidValue("spec.parentRef", parent, IMMUTABLE)];
          return parentProblems(parent);
        },
      },
    }),
  ];
}

function ready(now: number): Json {
  const message = "Kubernetes default Service CIDR is ready";
  return { type: "Ready", status: "True", lastTransitionTime: timestamp(now), reason: "", message };
}

function cidrsOf(object: KubeObject): readonly string[] {
  return texts(at(object, "spec", "cidrs"));
}

function cidrProblems(cidrs: readonly string[]): FieldProblem[] {
  const field = "spec.cidrs";
  if (cidrs.length === 0) return [required(field, "at least one CIDR required")];
  if (cidrs.length > 2) return [invalidValue(field, { CIDRs: cidrs }, "may only hold up to 2 values")];
  const problems = cidrs.flatMap((cidr, i) => textProblems(`${field}[${i}]`, cidr));
  const [first, second] = cidrs.map((c) => parseCidr(c)?.version);
  if (first !== undefined && first === second) {
    const why = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
    problems.push(invalidValue(field, cidrs, why));
  }
  return problems;
}

function textProblems(field: string, cidr: string): FieldProblem[] {
  const parsed = parseCidr(cidr);
  if (!parsed) {
    return [invalidValue(field, cidr, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)")];
  }
  const base = formatIp({ version: parsed.version, value: parsed.network });
  const canonical = `${base}/${parsed.prefix}`;
  if (parsed.address !== parsed.network) {
    return [invalidValue(field, cidr, "must not have bits set beyond the prefix length")];
  }
  return canonical === cidr ? [] : [invalidValue(field, cidr, `must be in canonical form ("${canonical}")`)];
}

/** Networks remain; a second one of the other family may come. */
function cidrChangeProblems(now: readonly string[], was: readonly string[]): FieldProblem[] {
  const changed = was.findIndex((cidr, i) => now[i] !== cidr);
  const grows = was.length === 1 && now.length === 2;
  if (now.length !== was.length && !grows) return [invalidValue("spec.cidrs", now, IMMUTABLE)];
  const fixed = changed < 0 ? [] : [invalidValue(`spec.cidrs[${changed}]`, now[changed], IMMUTABLE)];
  return grows ? [...fixed, ...cidrProblems(now)] : fixed;
}

function parentText(object: Json): string {
  const parent = record(at(object, "spec", "parentRef"));
  return ["group", "resource", "namespace", "name"]
    .map((n) => text(parent[n]))
    .filter(Boolean)
    .join("/");
}

function parentProblems(parent: unknown): FieldProblem[] {
  if (parent === undefined || parent === null) return [required("spec.parentRef")];
  return ["resource", "name"]
    .filter((name) => !text(record(parent)[name]))
    .map((name) => required(`spec.parentRef.${name}`));
}

/** The networks that services may have addresses of: the cluster's own, then those that ServiceCIDR objects add. */
export function networksOf({ name, store, serviceCidr }: ClusterView): readonly ServiceNetwork[] {
  const added = store.list({ cluster: name, resource: SERVICE_CIDRS }).items.filter(({ object }) => isReady(object));
  const cidrs = added.flatMap(({ object }) => cidrsOf(object)).filter((c) => !serviceCidr.split(",").includes(c));
  const parsed = [...new Set(cidrs)].map(parseCidr).filter((c) => c !== undefined);
  return [...serviceNetworks(serviceCidr), ...parsed.map(networkOf)];
}

function isReady(object: KubeObject): boolean {
  if (object.metadata.deletionTimestamp) return false;
  const conditions = records(at(object, "status", "conditions"));
  return conditions.find((c) => c["type"] === "Ready")?.["status"] !== "False";
}
