import type { Json } from "../interface.ts";

/** A difference that stays: why, and what to leave out of the real server's object so that it is as ours. */
export interface Known {
  readonly reason: string;
  readonly kind: string;
  readonly strip: (object: Json) => void;
}

const at = (object: Json, field: string): Json => (object[field] ?? {}) as Json;

const ADMITTED = /^(kube-api-access-|node\.kubernetes\.io\/(not-ready|unreachable)$)/;

function withoutAdmitted(holder: Json, field: string, key: string): void {
  if (!Array.isArray(holder[field])) return;
  const kept = (holder[field] as Json[]).filter((item) => !ADMITTED.test(String(item[key])));
  if (kept.length > 0) holder[field] = kept;
  else delete holder[field];
}

export const KNOWN: readonly Known[] = [
  {
    reason: "pods are not given an account, its token, a priority and the tolerations that nodes' conditions ask for",
    kind: "Pod",
    strip(pod) {
      const spec = at(pod, "spec");
      for (const field of ["priority", "preemptionPolicy", "serviceAccount", "serviceAccountName"]) delete spec[field];
      withoutAdmitted(spec, "tolerations", "key");
      withoutAdmitted(spec, "volumes", "name");
      for (const group of ["containers", "initContainers"]) {
        for (const container of (spec[group] ?? []) as Json[]) withoutAdmitted(container, "volumeMounts", "name");
      }
    },
  },
];

/** What the real server refuses and ours takes, because rules of a kind are not all here: by kind and fields. */
export interface KnownRefusal {
  readonly reason: string;
  readonly kinds: readonly string[];
  /** Every cause is about such a field. */
  readonly fields: RegExp;
}

const POD_RULES =
  /^spec\.(template\.spec\.)?(volumes|(initC|c)ontainers|tolerations|hostAliases|nodeName|serviceAccountName|securityContext|imagePullSecrets|terminationGracePeriodSeconds|nodeSelector|hostNetwork|restartPolicy|dnsPolicy)/;

export const REFUSALS: readonly KnownRefusal[] = [
  {
    reason: "the specs of pods are not held to all rules: volumes' sources, probes, ports, host networks, accounts",
    kinds: ["Pod", "Deployment", "Job"],
    fields: POD_RULES,
  },
  {
    reason: "jobs are not held to all rules of their own: completions, indexes, counts in their status",
    kinds: ["Job"],
    fields: /^(spec\.(completions|parallelism|backoffLimit|selector|ttlSecondsAfterFinished|completionMode)|status)/,
  },
];

/** The reason why one refuses what the other takes, if it is known; what comes of the object after that is not comparable. */
export function knownRefusal(kind: string, theirs: unknown, ours: unknown): string | undefined {
  const [real, own] = [theirs, ours].map((side) => (Array.isArray(side) ? (side[0] as Json) : {}));
  if (real?.["code"] !== 422) return undefined;
  const causes = causesOf(real);
  const told = new Set(own?.["code"] === 422 ? causesOf(own).map((c) => JSON.stringify(c)) : []);
  const ownOnly = [...told].some((cause) => !causes.some((c) => JSON.stringify(c) === cause));
  const missing = causes.filter((cause) => !told.has(JSON.stringify(cause)));
  if (ownOnly || missing.length === 0) return undefined;
  const isKnown = ({ kinds, fields }: KnownRefusal): boolean =>
    kinds.includes(kind) && missing.every((cause) => fields.test(String(cause["field"])));
  return REFUSALS.find(isKnown)?.reason;
}

function causesOf(answer: Json): readonly Json[] {
  const causes = at(at(answer, "body"), "details")["causes"];
  return Array.isArray(causes) ? (causes as Json[]) : [];
}

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
