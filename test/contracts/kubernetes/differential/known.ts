import type { Json } from "../interface.ts";

const at = (object: Json, field: string): Json => (object[field] ?? {}) as Json;

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

/**
 * The reason why one refuses what the other takes, if it is known; what comes of the object after that is not
 * comparable.
 */
export function knownRefusal(kind: string, theirs: unknown, ours: unknown): string | undefined {
  const [real, own] = [theirs, ours].map((side) => (Array.isArray(side) ? (side[0] as Json) : {}));
  if (real?.["code"] !== 422) return undefined;
  const causes = causesOf(real);
  const reported = new Set(own?.["code"] === 422 ? causesOf(own).map((c) => JSON.stringify(c)) : []);
  const ownOnly = [...reported].some((cause) => !causes.some((c) => JSON.stringify(c) === cause));
  const missing = causes.filter((cause) => !reported.has(JSON.stringify(cause)));
  if (ownOnly || missing.length === 0) return undefined;
  const isKnown = ({ kinds, fields }: KnownRefusal): boolean =>
    kinds.includes(kind) && missing.every((cause) => fields.test(String(cause["field"])));
  return REFUSALS.find(isKnown)?.reason;
}

function causesOf(answer: Json): readonly Json[] {
  const causes = at(at(answer, "body"), "details")["causes"];
  return Array.isArray(causes) ? (causes as Json[]) : [];
}
