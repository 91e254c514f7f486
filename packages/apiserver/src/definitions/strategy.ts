import type { KubeObject } from "@causeway/kubernetes";
import { at, fields, record, records, same, text, texts, timestamp, type Json } from "../json.ts";
import type { ClusterView, Draft, Resource, Strategy } from "../kinds/resource.ts";
import { conversionProblems } from "./conversion-rules.ts";
import { defaultClientConfig } from "../webhooks/client-config.ts";
import { validateCustomResourceDefinitionSchema } from "../schema/index.ts";
import { invalidValue, notSupported, required } from "../server/problems.ts";
import type { FieldProblem } from "../server/status.ts";

export const DEFINITIONS = "apiextensions.k8s.io/customresourcedefinitions";
/** Holds a deleted definition until its objects are gone. */
export const CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";

const VERSION = /^v[1-9]\d*((alpha|beta)[1-9]\d*)?$/;

/** CustomResourceDefinitions: checked when written, and established at once when their names are free. */
export const crdStrategy: Strategy = {
  prepareCreate(draft) {
    draft.metadata.finalizers = [...new Set([...(draft.metadata.finalizers ?? []), CLEANUP_FINALIZER])];
  },
  prepareUpdate(draft, old, { subresource }) {
    if (subresource === "status") draft["spec"] = structuredClone(fields(old)["spec"]);
    else draft["status"] = structuredClone(fields(old)["status"]);
  },
  fill(draft, { cluster, subresource }) {
    if (subresource) return;
    fillNames(draft);
    draft["status"] = statusOf(draft, cluster);
  },
  validate(object, old, { subresource }) {
    return subresource ? [] : definitionProblems(object, old);
  },
};

function fillNames(draft: Draft): void {
  const spec = record(draft["spec"]);
  const names = record(spec["names"]);
  names["singular"] ??= text(names["kind"]).toLowerCase();
  names["listKind"] ??= `${text(names["kind"])}List`;
  spec["conversion"] ??= { strategy: "None" };
  defaultClientConfig(at(spec, "conversion", "webhook", "clientConfig"));
}

function definitionProblems(object: KubeObject, old: KubeObject | undefined): FieldProblem[] {
  const spec = record(fields(object)["spec"]);
  const names = record(spec["names"]);
  const problems: FieldProblem[] = [];
  const wanted = `${text(names["plural"])}.${text(spec["group"])}`;
  for (const name of ["plural", "kind"]) if (!text(names[name])) problems.push(required(`spec.names.${name}`));
  if (!text(spec["group"])) problems.push(required("spec.group"));
  if (object.metadata.name !== wanted) {
    problems.push(invalidValue("metadata.name", object.metadata.name, `must be spec.names.plural+"."+spec.group`));
  }
  if (!["Cluster", "Namespaced"].includes(text(spec["scope"]))) {
    problems.push(notSupported("spec.scope", spec["scope"] ?? "", ["Cluster", "Namespaced"]));
  }
  problems.push(...versionsProblems(spec));
  const established = records(record(old && fields(old)["status"])["conditions"]).some(
    (c) => c["type"] === "Established" && c["status"] === "True",
  );
  problems.push(...conversionProblems(spec, old && record(fields(old)["spec"]), established));
  problems.push(...storedVersionProblems(object, spec));
  if (old) problems.push(...fixedProblems(spec, record(fields(old)["spec"])));
  return problems;
}

/** Nothing may be stored in a version that nobody can read any more. */
function storedVersionProblems(object: KubeObject, spec: Json): FieldProblem[] {
  const versions = records(spec["versions"]);
  const stored = texts(at(object, "status", "storedVersions"));
  return stored.flatMap((name, i) => {
    if (versions.some((v) => v["name"] === name)) return [];
    const until = `until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    const why = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions ${until}`;
    return [invalidValue(`status.storedVersions[${i}]`, name, why)];
  });
}

function versionsProblems(spec: Json): FieldProblem[] {
  const versions = records(spec["versions"]);
  const problems: FieldProblem[] = [];
  const storage = versions.filter((v) => v["storage"] === true);
  if (storage.length !== 1) {
    const names = versions.map((v) => text(v["name"]));
    problems.push(invalidValue("spec.versions", names, "must have exactly one version marked as storage version"));
  }
  versions.forEach((version, i) => {
    const path = `spec.versions[${i}]`;
    if (!text(version["name"])) problems.push(required(`${path}.name`));
    const schema = at(version, "schema", "openAPIV3Schema");
    if (schema === undefined) return problems.push(required(`${path}.schema.openAPIV3Schema`, "schemas are required"));
    problems.push(...validateCustomResourceDefinitionSchema(schema, `${path}.schema.openAPIV3Schema`));
    return undefined;
  });
  return problems;
}

function fixedProblems(spec: Json, was: Json): FieldProblem[] {
  const why = "field is immutable";
  const fixed = [["group"], ["scope"], ["names", "kind"], ["names", "plural"]];
  return fixed
    .filter((path) => !same(at(spec, ...path), at(was, ...path)))
    .map((path) => invalidValue(`spec.${path.join(".")}`, at(spec, ...path), why));
}

function statusOf(draft: Draft, cluster: ClusterView): Json {
  const spec = record(draft["spec"]);
  const before = record(draft["status"]);
  const clash = nameClash(draft, cluster);
  const now = timestamp(cluster.clock.now());
  const accepted = clash
    ? { status: "False", reason: clash.reason, message: clash.message }
    : { status: "True", reason: "NoConflicts", message: "no conflicts found" };
  const established = clash
    ? { status: "False", reason: "NotAccepted", message: "not all names are accepted" }
    : { status: "True", reason: "InitialNamesAccepted", message: "the initial names have been accepted" };
  const others = records(before["conditions"]).filter(
    (c) => !["NamesAccepted", "Established"].includes(text(c["type"])),
  );
  const condition = (type: string, given: Json): Json => {
    const was = records(before["conditions"]).find((c) => c["type"] === type);
    const since = was !== undefined && was["status"] === given["status"] ? was["lastTransitionTime"] : now;
    return { type, ...given, lastTransitionTime: since };
  };
  const storage = records(spec["versions"]).find((v) => v["storage"] === true);
  const stored = new Set([...texts(before["storedVersions"]), text(storage?.["name"])]);
  return {
    ...before,
    conditions: [condition("NamesAccepted", accepted), condition("Established", established), ...others],
    acceptedNames: clash ? (before["acceptedNames"] ?? { kind: "", plural: "" }) : structuredClone(spec["names"]),
    storedVersions: [...stored].filter(Boolean),
  };
}

function nameClash(draft: Draft, cluster: ClusterView): { reason: string; message: string } | undefined {
  const spec = record(draft["spec"]);
  const names = record(spec["names"]);
  const group = text(spec["group"]);
  const plural = text(names["plural"]);
  const others = cluster.catalog.all().filter((r) => r.group === group && r.plural !== plural);
  const taken = (name: string): boolean =>
    others.some((r: Resource) => r.plural === name || r.singular === name || r.shortNames.includes(name));
  if (others.some((r) => r.kind === names["kind"] || r.listKind === names["listKind"])) {
    return { reason: "KindConflict", message: `"${text(names["kind"])}" is already in use` };
  }
  const word = [plural, text(names["singular"]), ...texts(names["shortNames"])].find(taken);
  return word === undefined ? undefined : { reason: "NameConflict", message: `"${word}" is already in use` };
}

/** v1 before v1beta1 before v1alpha1, newer before older; other names last, by the alphabet. */
export function byPriority(a: string, b: string): number {
  const rank = (v: string): [number, number, number] => {
    if (!VERSION.test(v)) return [9, 0, 0];
    const [, major = "0", , stage, minor = "0"] = /^v(\d+)((alpha|beta)(\d+))?$/.exec(v) ?? [];
    return [stage === undefined ? 0 : stage === "beta" ? 1 : 2, -Number(major), -Number(minor)];
  };
  const [x, y] = [rank(a), rank(b)];
  return x[0] - y[0] || x[1] - y[1] || x[2] - y[2] || a.localeCompare(b);
}
