import { at, fields, isRecord, record, text } from "../json/json.ts";
import type { Draft, Strategy } from "../contract/resource.ts";
import { settledSpec } from "./fields.ts";
import { definitionProblems } from "./rules.ts";
import { statusOf } from "./status.ts";
import { defaultClientConfig } from "../webhooks/client-config.ts";

/** Holds a deleted CRD until its objects are gone. */
export const CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";

const VERSION = /^v[1-9]\d*((alpha|beta)[1-9]\d*)?$/;

/** CustomResourceDefinitions: checked when written, and established at once when their names are free. */
export const crdStrategy: Strategy = {
  initialFields: {
    metadata: {},
    spec: { group: "", names: { plural: "", kind: "" }, scope: "", versions: null },
    status: { conditions: null, acceptedNames: { plural: "", kind: "" }, storedVersions: null },
  },
  prepareCreate(draft) {
    draft.metadata.finalizers = [...new Set([...(draft.metadata.finalizers ?? []), CLEANUP_FINALIZER])];
  },
  prepareUpdate(draft, old, { subresource }) {
    if (subresource === "status") draft["spec"] = structuredClone(fields(old)["spec"]);
    else draft["status"] = structuredClone(fields(old)["status"]);
  },
  read(draft) {
    if (isRecord(draft["spec"])) draft["spec"] = settledSpec(draft["spec"], () => {});
    fillNames(draft);
    fillConditions(draft);
  },
  unknownFields(object) {
    const found: string[] = [];
    settledSpec(object["spec"], (path) => found.push(path));
    return found;
  },
  applyDefaults(draft, { cluster, subresource }) {
    if (subresource) return;
    draft["status"] = statusOf(draft, cluster);
  },
  validate(object, old, { subresource }) {
    return subresource ? [] : definitionProblems(object, old);
  },
};

function fillNames(draft: Draft): void {
  const { spec } = draft as { spec?: unknown };
  if (!isRecord(spec)) return;
  const names = record(spec["names"]);
  const kind = text(names["kind"]);
  if (!names["singular"] && kind !== "") names["singular"] = kind.toLowerCase();
  if (!names["listKind"] && kind !== "") names["listKind"] = `${kind}List`;
  spec["conversion"] ??= { strategy: "None" };
  defaultClientConfig(at(spec, "conversion", "webhook", "clientConfig"));
}

/** A condition has these whatever its writer left out. */
function fillConditions(draft: Draft): void {
  const { conditions } = record(draft["status"]);
  if (!Array.isArray(conditions)) return;
  for (const [i, given] of conditions.entries()) {
    if (isRecord(given)) conditions[i] = { type: "", status: "", lastTransitionTime: null, ...given };
  }
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
