import type { KubeObject } from "@causeway/kubernetes";
import type { User } from "../contract/user.ts";
import { at, fields, record, records, text, texts, type Json } from "../json/json.ts";
import type { RequestInfo } from "../contract/request-info.ts";

/** Who asks for what. */
export interface Digest {
  readonly user: User;
  readonly info: RequestInfo;
}

/** A FlowSchema, ready to be matched. */
export interface FlowSchema {
  readonly name: string;
  readonly uid: string;
  readonly level: string;
  readonly precedence: number;
  readonly distinguisher: "" | "ByUser" | "ByNamespace";
  readonly rules: readonly Rule[];
}

interface Rule {
  readonly subjects: readonly Json[];
  readonly resources: readonly ResourceRule[];
  readonly paths: readonly PathRule[];
}

interface ResourceRule {
  readonly verbs: readonly string[];
  readonly groups: readonly string[];
  readonly resources: readonly string[];
  readonly namespaces: readonly string[];
  readonly clusterScope: boolean;
}

interface PathRule {
  readonly verbs: readonly string[];
  readonly urls: readonly string[];
}

/** Reads a FlowSchema; one without a precedence has 1000, the default of Kubernetes. */
export function flowSchemaOf(object: KubeObject): FlowSchema {
  const spec = record(fields(object)["spec"]);
  const by = text(at(spec, "distinguisherMethod", "type"));
  return {
    name: object.metadata.name,
    uid: object.metadata.uid ?? "",
    level: text(at(spec, "priorityLevelConfiguration", "name")),
    precedence: Number(spec["matchingPrecedence"] ?? 1000),
    distinguisher: by === "ByUser" || by === "ByNamespace" ? by : "",
    rules: records(spec["rules"]).map(ruleOf),
  };
}

function ruleOf(rule: Json): Rule {
  return {
    subjects: records(rule["subjects"]),
    resources: records(rule["resourceRules"]).map((r) => ({
      verbs: texts(r["verbs"]),
      groups: texts(r["apiGroups"]),
      resources: texts(r["resources"]),
      namespaces: texts(r["namespaces"]),
      clusterScope: r["clusterScope"] === true,
    })),
    paths: records(rule["nonResourceRules"]).map((r) => ({
      verbs: texts(r["verbs"]),
      urls: texts(r["nonResourceURLs"]),
    })),
  };
}

/** In the order in which they are tried: the lowest precedence first, then by name. */
export function inOrder(a: FlowSchema, b: FlowSchema): number {
  return a.precedence - b.precedence || (a.name < b.name ? -1 : 1);
}

/** Whether a FlowSchema is about a request: one of its rules has both the user and the resource or path. */
export function matches({ rules }: FlowSchema, { user, info }: Digest): boolean {
  return rules.some(
    (rule) =>
      rule.subjects.some((s) => isSubject(s, user)) &&
      (info.isResource
        ? rule.resources.some((r) => allowsResource(r, info))
        : rule.paths.some((p) => allowsPath(p, info))),
  );
}

/** The value by which requests of one schema are divided into flows. */
export function distinguisherOf({ distinguisher }: FlowSchema, { user, info }: Digest): string {
  if (distinguisher === "ByUser") return user.name;
  return distinguisher === "ByNamespace" ? info.namespace : "";
}

function isSubject(subject: Json, user: User): boolean {
  switch (subject["kind"]) {
    case "User": {
      const name = at(subject, "user", "name");
      return name === "*" || name === user.name;
    }
    case "Group": {
      const name = text(at(subject, "group", "name"));
      return name === "*" || user.groups.includes(name);
    }
    case "ServiceAccount": {
      const prefix = `system:serviceaccount:${text(at(subject, "serviceAccount", "namespace"))}:`;
      const name = text(at(subject, "serviceAccount", "name"));
      return name === "*" ? user.name.startsWith(prefix) : user.name === prefix + name;
    }
    default:
      return false;
  }
}

function has(list: readonly string[], value: string): boolean {
  return (list.length === 1 && list[0] === "*") || list.includes(value);
}

function allowsResource(rule: ResourceRule, info: RequestInfo): boolean {
  if (!has(rule.verbs, info.verb) || !has(rule.groups, info.group)) return false;
  if (!has(rule.resources, info.subresource ? `${info.plural}/${info.subresource}` : info.plural)) return false;
  return info.namespace === "" ? rule.clusterScope : has(rule.namespaces, info.namespace);
}

function allowsPath({ verbs, urls }: PathRule, { verb, path }: RequestInfo): boolean {
  return has(verbs, verb) && urls.some((url) => covers(url, path));
}

/** "/healthz" and "/healthz/*" both cover what is below. */
function covers(url: string, path: string): boolean {
  if (url === "*" || url === path) return true;
  const prefix = url.endsWith("*") ? url.slice(0, -1) : url;
  return path.startsWith(prefix.endsWith("/") ? prefix : `${prefix}/`);
}
