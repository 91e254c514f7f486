import type { Json } from "../interface.ts";

/** A difference that stays: why, and what to leave out of the real server's object so that it is as ours. */
export interface Known {
  readonly reason: string;
  readonly kind: string;
  readonly strip: (object: Json) => void;
}

const at = (object: Json, field: string): Json => (object[field] ?? {}) as Json;

export const KNOWN: readonly Known[] = [
  {
    reason: "nodes are not born with the not-ready taint: nothing in the embedded server would take it off",
    kind: "Node",
    strip(node) {
      const spec = at(node, "spec");
      if (!Array.isArray(spec["taints"])) return;
      const taints = (spec["taints"] as Json[]).filter((t) => t["key"] !== "node.kubernetes.io/not-ready");
      if (taints.length > 0) spec["taints"] = taints;
      else delete spec["taints"];
    },
  },
];

/** Both answers without what is known to differ, and the reasons that made a difference. */
export function withoutKnown(
  theirs: unknown,
  ours: unknown,
): { readonly pair: readonly unknown[]; readonly reasons: readonly string[] } {
  const reasons = new Set<string>();
  const pair = [theirs, ours].map((side) => {
    const copy = structuredClone(side);
    for (const object of objectsIn(copy)) {
      for (const known of KNOWN.filter((k) => k.kind === object["kind"])) {
        const before = JSON.stringify(object);
        known.strip(object);
        if (JSON.stringify(object) !== before) reasons.add(known.reason);
      }
    }
    return copy;
  });
  return { pair, reasons: [...reasons] };
}

/** The Kubernetes objects in an answer; those in a list are of its kind. */
function objectsIn(value: unknown, kind = ""): Json[] {
  if (Array.isArray(value)) return value.flatMap((item) => objectsIn(item, kind));
  if (typeof value !== "object" || value === null) return [];
  const object = value as Json;
  if (object["body"] !== undefined) return objectsIn(object["body"]);
  if (object["list"] !== undefined)
    return objectsIn(object["items"], String(at(object, "list")["kind"]).replace(/List$/, ""));
  if (object["metadata"] === undefined) return [];
  object["kind"] ??= kind;
  return [object];
}
