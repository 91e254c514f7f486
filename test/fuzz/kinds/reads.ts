import type { Generator, Step } from "../input.ts";
import { FIXED, NAMESPACE, objectOf, pathOf, PLURALS, type Tree } from "../objects.ts";
import type { Random } from "../random.ts";
import { anyValue, hostileText, mutated } from "../values.ts";
import { JSON_TYPE } from "./json.ts";

const MOST_QUERY = 12_000;

const get = (path: string, headers?: Step["headers"]): Step => ({
  method: "GET",
  path,
  ...(headers ? { headers } : {}),
});
const encoded = (text: string): string =>
  encodeURIComponent(text.toWellFormed())
    .slice(0, MOST_QUERY)
    .replace(/%[0-9A-F]?$/, "");

/** Label and field selectors of lists, watches and collections to delete, and in the bodies of workloads. */
export const selector: Generator = (random) => {
  const plural = random.pick(["configmaps", "pods", "widgets", random.pick(PLURALS)]);
  if (random.chance(0.2))
    return [
      { method: "POST", path: `${pathOf("deployments")}?dryRun=All`, headers: JSON_TYPE, body: wideSelector(random) },
    ];
  const name = random.chance(0.6) ? "labelSelector" : "fieldSelector";
  const query = `${name}=${encoded(selectorText(random))}`;
  const kind = random.below(6);
  if (kind === 0) return [{ ...get(`${pathOf(plural)}?watch=true&${query}`), endless: true }];
  if (kind === 1) return [{ method: "DELETE", path: `${pathOf(plural)}?dryRun=All&${query}` }];
  return [get(`${pathOf(plural)}?${query}`)];
};

function selectorText(random: Random): string {
  const n = random.size(3000);
  const values = (): string => Array.from({ length: n }, (_, i) => `v${i}`).join(",");
  return random.pick([
    () => `app in (${values()})`,
    () => `app notin (${values()}),${"!b,".repeat(n)}c`,
    () => Array.from({ length: n }, (_, i) => `k${i}=v`).join(","),
    () => Array.from({ length: n }, (_, i) => `k${i}!=v`).join(","),
    () => Array.from({ length: n }, () => "app").join(","),
    () => `${"(".repeat(n)}a`,
    () => `a in ${"(".repeat(n)}`,
    () => ",".repeat(n),
    () => `metadata.name=${"a".repeat(n)}`,
    () => Array.from({ length: n }, () => "metadata.name!=x").join(","),
    () => `spec.text=${"\\,".repeat(n)}`,
    () => `a${"=".repeat(n)}b`,
    () => `${"a/".repeat(n)}b=c`,
    () => `a > ${"9".repeat(n)}`,
    () => `${"!".repeat(n)}a`,
    () => `${" ".repeat(n)}a${" ".repeat(n)}in${" ".repeat(n)}(b)`,
    () => hostileText(random),
  ])();
}

function wideSelector(random: Random): string {
  const values = Array.from({ length: random.size(10_000) }, (_, i) => `v${i}`);
  const matchExpressions = Array.from({ length: random.size(1000) }, (_, i) => ({
    key: `k${random.chance(0.5) ? i : 0}`,
    operator: random.pick(["In", "NotIn", "Exists", "DoesNotExist", "?"]),
    values: i === 0 ? values : ["a"],
  }));
  const object = objectOf("deployments", "wide");
  return mutated(
    random,
    { ...object, spec: { ...(object["spec"] as Tree), selector: { matchExpressions } } },
    random.below(2),
  );
}

/** Continue tokens: true ones, changed ones and invented ones. */
export const continued: Generator = (random) => {
  const plural = random.pick(["configmaps", "configmaps", random.pick(PLURALS)]);
  const first = get(`${pathOf(plural)}?limit=${random.pick([1, 2, 5])}`);
  const rest = random.pick([
    "",
    "&limit=1",
    "&limit=0",
    "&resourceVersion=1",
    "&resourceVersionMatch=Exact",
    "&limit=9999999999999999999",
  ]);
  const use = (token: string): Step => get(`${pathOf(plural)}?continue=${token}${rest}`);
  if (random.chance(0.3))
    return [first, use(random.pick(["{continue}", "{continue}A", "x{continue}", "{continue}{continue}"]))];
  const invented = random.chance(0.5)
    ? { v: "meta.k8s.io/v1", rv: random.pick([1, -1, 0, 1e15, 1.5]), start: hostileText(random) }
    : { v: anyValue(random), rv: anyValue(random), start: anyValue(random) };
  const text = random.chance(0.8) ? JSON.stringify(invented) : "[".repeat(random.size(3000));
  return [first, use(Buffer.from(text).toString("base64url").slice(0, MOST_QUERY))];
};

/** Options of all verbs, in unusual numbers and values. */
export const query: Generator = (random) => {
  const plural = random.pick(["configmaps", "pods", random.pick(PLURALS)]);
  const names = [
    "limit",
    "continue",
    "resourceVersion",
    "resourceVersionMatch",
    "timeoutSeconds",
    "timeout",
    "pretty",
    "dryRun",
    "fieldManager",
    "fieldValidation",
    "propagationPolicy",
    "gracePeriodSeconds",
    "orphanDependents",
    "sendInitialEvents",
    "allowWatchBookmarks",
    "includeObject",
    "labelSelector",
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    random.word(),
  ];
  const values = [
    "",
    "true",
    "1",
    "0",
    "-1",
    "All",
    "Exact",
    "NotOlderThan",
    "Metadata",
    "Strict",
    "1e9",
    "99999999999999999999",
  ];
  const value = (): string => (random.chance(0.7) ? random.pick(values) : encoded(hostileText(random)));
  const same = random.chance(0.3) ? random.pick(names) : undefined;
  const pairs = Array.from({ length: random.size(2000) }, () => `${same ?? random.pick(names)}=${value()}`);
  const options = `${pairs.join("&").slice(0, MOST_QUERY)}&dryRun=All`;
  const verb = random.below(7);
  if (verb < 2) return [get(`${pathOf(plural)}?${options}`)];
  if (verb === 2) return [{ ...get(`${pathOf(plural)}?watch=true&timeoutSeconds=1&${options}`), endless: true }];
  if (verb === 3)
    return [get(`${pathOf(plural, FIXED)}?${options}`, { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" })];
  const body = JSON.stringify(objectOf(plural, FIXED));
  if (verb === 4) return [{ method: "POST", path: `${pathOf(plural)}?${options}`, headers: JSON_TYPE, body }];
  if (verb === 5) return [{ method: "PUT", path: `${pathOf(plural, FIXED)}?${options}`, headers: JSON_TYPE, body }];
  return [{ method: "DELETE", path: `${pathOf(plural, FIXED)}?${options}` }];
};

/** Paths that lead nowhere, in other spellings, or to documents with strange arguments. */
export const path: Generator = (random) => {
  const part = (): string =>
    random.pick([
      () =>
        random.pick([
          "api",
          "apis",
          "v1",
          "namespaces",
          NAMESPACE,
          "pods",
          FIXED,
          "status",
          "scale",
          "log",
          "exec",
          "proxy",
          "openapi",
          "v3",
          "clusters",
          "watch",
        ]),
      () =>
        random.pick(["..", ".", "", "%2e%2e", "%2F", "%00", "%", "%zz", "\\", ";a=b", "*", ":", "@", "~", "^", "|"]),
      () => encoded(hostileText(random)).slice(0, 3000),
      () => random.word(),
    ])();
  const start = random.chance(0.6) ? random.pick(PLURALS.map((p) => pathOf(p, FIXED))) : "";
  const parts = Array.from({ length: random.size(300) }, part).join("/");
  const text = random.pick([
    () => `${start}/${parts}`,
    () => `//${parts}`,
    () => `/${"../".repeat(random.size(300))}api`,
    () => "/".repeat(random.size(3000)),
    () => `http://[/${parts}`,
  ])();
  const method = random.pick([
    "GET",
    "GET",
    "GET",
    "HEAD",
    "OPTIONS",
    "TRACE",
    "POST",
    "PUT",
    "PATCH",
    "DELETE",
    "BREW",
  ]);
  // What is real is not deleted or written by chance: the body of these is never an object.
  const isDelete = method === "DELETE";
  const { pathname } = { pathname: text.slice(0, MOST_QUERY) };
  return [
    {
      method,
      // Some lead to watches.
      endless: true,
      path: `${pathname}${isDelete ? "?dryRun=All" : ""}`,
      ...(method === "POST" || method === "PUT" || method === "PATCH" ? { headers: JSON_TYPE, body: "[]" } : {}),
    },
  ];
};

/** The kinds that are questions. */
export const review: Generator = (random) => {
  const kinds = {
    "authorization.k8s.io/v1": [
      "SelfSubjectAccessReview",
      "SubjectAccessReview",
      "LocalSubjectAccessReview",
      "SelfSubjectRulesReview",
    ],
    "authentication.k8s.io/v1": ["TokenReview", "SelfSubjectReview"],
  } as const;
  const group = random.pick(Object.keys(kinds) as (keyof typeof kinds)[]);
  const kind = random.pick<string>(kinds[group]);
  const groups = Array.from({ length: random.size(10_000) }, (_, i) => `g${i}`);
  const requirements = Array.from({ length: random.size(3000) }, (_, i) => ({
    key: `k${i}`,
    operator: "In",
    values: ["a"],
  }));
  const attributes = {
    namespace: NAMESPACE,
    verb: "get",
    group: "",
    resource: "pods",
    name: random.word(),
    ...(random.chance(0.3)
      ? { labelSelector: { requirements }, fieldSelector: { rawSelector: selectorText(random) } }
      : {}),
  };
  const spec =
    kind === "TokenReview"
      ? { token: random.pick([hostileText(random), jwt(random)]), audiences: groups }
      : { namespace: NAMESPACE, user: "u", groups, extra: { a: groups }, resourceAttributes: attributes };
  const plural = `${kind.toLowerCase()}s`;
  const place = kind === "LocalSubjectAccessReview" ? `/namespaces/${NAMESPACE}` : "";
  const body = mutated(random, { apiVersion: group, kind, metadata: {}, spec }, random.below(3));
  return [{ method: "POST", path: `/apis/${group}${place}/${plural}`, headers: JSON_TYPE, body }];
};

/** Something that looks like a signed token. */
export function jwt(random: Random): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const head = random.pick<unknown>([
    { alg: "none" },
    { alg: "RS256", kid: hostileText(random) },
    { alg: "HS256" },
    anyValue(random),
  ]);
  const claims = {
    iss: random.pick(["kubernetes/serviceaccount", "https://kubernetes.default.svc.cluster.local"]),
    sub: hostileText(random),
    aud: [random.word()],
    exp: 1e11,
    more: anyValue(random),
  };
  return [part(head), part(claims), random.word(40)].join(".");
}
