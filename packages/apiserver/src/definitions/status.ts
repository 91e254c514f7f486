import type { KubeObject } from "@causeway/kubernetes";
import { at, fields, record, records, same, text, texts, timestamp, type Json } from "../json/json.ts";
import type { ClusterView, Draft } from "../contract/resource.ts";
import { approvalCondition } from "./approval.ts";

/** Where CRDs are stored. */
export const DEFINITIONS = "apiextensions.k8s.io/customresourcedefinitions";

const ESTABLISHED = { reason: "InitialNamesAccepted", message: "the initial names have been accepted" };
const NOT_ACCEPTED = { reason: "NotAccepted", message: "not all names are accepted" };

/** The status that a CRD has once it is written: which of its names are free, and so whether it is served. */
export function statusOf(draft: Draft, cluster: ClusterView): Json {
  const before = record(draft["status"]);
  const { accepted, problem } = acceptNames(draft, cluster);
  const was = records(before["conditions"]).find((c) => c["type"] === "Established");
  const established = was?.["status"] === "True" || !problem;
  const spec = record(draft["spec"]);
  const storage = records(spec["versions"]).find((v) => v["storage"] === true);
  const stored = new Set([...texts(before["storedVersions"]), ...(storage ? [text(storage["name"])] : [])]);
  const now = timestamp(cluster.clock.now());
  const free = { status: "True", reason: "NoConflicts", message: "no conflicts found" };
  const approval = approvalCondition(draft);
  const conditions = [
    { type: "NamesAccepted", ...(problem ? { status: "False", ...problem } : free) },
    {
      type: "Established",
      ...(established ? { status: "True", ...ESTABLISHED } : { status: "False", ...NOT_ACCEPTED }),
    },
    ...(approval ? [{ type: "KubernetesAPIApprovalPolicyConformant", ...approval }] : []),
  ];
  return {
    ...before,
    conditions: conditions.reduce<readonly Json[]>(
      (all, c) => withCondition(all, c, now),
      records(before["conditions"]),
    ),
    acceptedNames: accepted,
    storedVersions: [...stored],
  };
}

/** The conditions with one set; its time moves only with its status. */
export function withCondition(conditions: readonly Json[], given: Json, now: string): Json[] {
  const was = conditions.find((c) => c["type"] === given["type"]);
  const since = was?.["status"] === given["status"] ? was?.["lastTransitionTime"] : now;
  const set = { lastTransitionTime: since, ...given };
  return was ? conditions.map((c) => (c === was ? set : c)) : [...conditions, set];
}

interface Accepted {
  readonly accepted: Json;
  readonly problem?: { readonly reason: string; readonly message: string };
}

/** Takes each name that no other CRD of the group has; the last conflict is reported. */
function acceptNames(draft: Draft, cluster: ClusterView): Accepted {
  const wanted = record(at(draft, "spec", "names"));
  const had = record(at(draft, "status", "acceptedNames"));
  const { resources, kinds } = namesInUse(draft, cluster);
  const accepted: Json = { ...had };
  let problem: Accepted["problem"];
  const take = (name: string, used: ReadonlySet<string>, reason: string): void => {
    const given = text(wanted[name]);
    if (given !== text(had[name]) && used.has(given)) problem = { reason, message: inUse(given) };
    else accepted[name] = given;
  };
  take("plural", resources, "PluralConflict");
  take("singular", resources, "SingularConflict");
  if (!same(wanted["shortNames"], had["shortNames"])) {
    const taken = texts(wanted["shortNames"]).filter((n) => !texts(had["shortNames"]).includes(n) && resources.has(n));
    const conflicts = taken.map(inUse);
    if (conflicts.length === 0) accepted["shortNames"] = wanted["shortNames"];
    else
      problem = {
        reason: "ShortNamesConflict",
        message: conflicts.length === 1 ? (conflicts[0] ?? "") : `[${conflicts.join(", ")}]`,
      };
  }
  take("kind", kinds, "KindConflict");
  take("listKind", kinds, "ListKindConflict");
  accepted["categories"] = wanted["categories"];
  // Members that are not given remain absent; kind and plural are always there.
  const entries = Object.entries({ plural: "", kind: "", ...accepted }).filter(
    ([name, value]) => name === "plural" || name === "kind" || (value !== undefined && value !== ""),
  );
  return { accepted: structuredClone(Object.fromEntries(entries)), ...(problem ? { problem } : {}) };
}

function inUse(name: string): string {
  return `${JSON.stringify(name)} is already in use`;
}

/** What the CRDs of a group have had accepted. */
function namesInUse(draft: Draft, cluster: ClusterView): { resources: Set<string>; kinds: Set<string> } {
  const [resources, kinds] = [new Set<string>(), new Set<string>()];
  for (const { accepted } of acceptedInGroup(cluster, text(at(draft, "spec", "group")), draft.metadata.name)) {
    for (const name of [accepted["plural"], accepted["singular"], ...texts(accepted["shortNames"])]) {
      resources.add(text(name));
    }
    for (const name of [accepted["kind"], accepted["listKind"]]) kinds.add(text(name));
  }
  return { resources, kinds };
}

function acceptedInGroup(cluster: ClusterView, group: string, but: string): { name: string; accepted: Json }[] {
  return groupMembers(cluster, group)
    .filter((object) => object.metadata.name !== but)
    .map((object) => ({ name: object.metadata.name, accepted: record(at(object, "status", "acceptedNames")) }));
}

/** The CRDs of a group. */
export function groupMembers(cluster: ClusterView, group: string): KubeObject[] {
  const { items } = cluster.store.list({ cluster: cluster.name, resource: DEFINITIONS });
  return items.map(({ object }) => object).filter((object) => at(object, "spec", "group") === group);
}

/** Whether a CRD waits for names that others have. */
export function waitsForNames(object: KubeObject): boolean {
  return !same(at(object, "spec", "names"), record(fields(object)["status"])["acceptedNames"]);
}
