import type { KubeObject, Secret } from "@causeway/kubernetes";
import type { ControlPlaneProblem } from "../runtime.ts";
import type { Credentials, Step } from "./steps.ts";
import { turnAnnotation } from "./tenant.ts";

/** A key that data depends on is created as its copy first: the Secret that programs use is only ever made from it. */
export function copyName(name: string): string {
  return `${name}-copy`;
}

interface KeysFrom {
  readonly live: ReadonlyMap<string, KubeObject>;
  readonly namespaceName: string;
  /** Data was written with the keys: they are never created again. */
  readonly hasData: boolean;
}

/** Why a lost key is not created again, by the name of its Secret. */
const losses: Readonly<Record<string, { readonly code: string; readonly why: string }>> = {
  "etcd-ca": {
    code: "PODS_AUTHORITY_LOST",
    why: "the members of etcd trust only certificates of its authority, and members that restart would not find each other with another one",
  },
  encryption: { code: "PODS_ENCRYPTION_KEY_LOST", why: "without its key the tenant's Secrets cannot be read" },
  "etcd-root": {
    code: "PODS_POOL_SECRET_LOST",
    why: "without its password no user of the shared etcd can be made",
  },
};

/**
 * Creates the keys that are missing before there is data, and restores a lost Secret from its copy, or the copy from
 * it.
 */
export function keySteps({ live, hasData }: KeysFrom, roots: readonly Credentials[]): Step[] {
  return roots.flatMap(({ name, entries, inputs, once }): Step[] => {
    const [secret, copy] = pairOfSecrets(live, name);
    if (secret !== undefined && copy !== undefined) return followSteps(secret, copy);
    const restored = secret === undefined ? name : copyName(name);
    const from = secret ?? copy;
    const id = `Secret/${restored}`;
    if (from !== undefined)
      return [
        { type: "copy", id, name: restored, data: from.data ?? {}, annotations: from.metadata.annotations ?? {} },
      ];
    if (hasData) return [];
    const credentials = { name: copyName(name), entries, inputs, once };
    return [{ type: "issue", id: `Secret/${credentials.name}`, credentials }];
  });
}

/**
 * A key that is lost with its copy, or differs from it: while this holds, nothing is signed and nothing is restarted.
 */
export function keyProblem(
  { live, namespaceName, hasData }: KeysFrom,
  roots: readonly Credentials[],
): ControlPlaneProblem | undefined {
  for (const { name } of roots) {
    const [secret, copy] = pairOfSecrets(live, name);
    if (hasData && secret === undefined && copy === undefined) return lost(namespaceName, name);
    if (secret !== undefined && copy !== undefined && !sameData(secret, copy) && turnOf(secret) === turnOf(copy))
      return { code: "PODS_KEY_DIFFERS", message: differing({ live, namespaceName }, name), actor: "operator" };
  }
  return undefined;
}

/** A rotation writes the copy first. A crash in between leaves the two apart, and the newer one wins. */
function followSteps(secret: Secret, copy: Secret): Step[] {
  const [a, b] = [turnOf(secret), turnOf(copy)];
  if (a === b) return [];
  const [older, newer] = a < b ? [secret, copy] : [copy, secret];
  return [{ type: "follow", id: `Secret/${older.metadata.name}`, secret: older, from: newer }];
}

/** How often its content was changed. */
function turnOf({ metadata }: Secret): number {
  return Number(metadata.annotations?.[turnAnnotation] ?? 0);
}

function pairOfSecrets(live: KeysFrom["live"], name: string): readonly [Secret | undefined, Secret | undefined] {
  return [live.get(`Secret/${name}`) as Secret | undefined, live.get(`Secret/${copyName(name)}`) as Secret | undefined];
}

function lost(namespaceName: string, name: string): ControlPlaneProblem {
  const { code, why } = losses[name] ?? { code: "PODS_AUTHORITY_LOST", why: "data depends on it" };
  const message = `Secrets ${namespaceName}/${name} and ${copyName(name)} do not exist and are not created again, since ${why}; restore one of them from a backup`;
  return { code, message, actor: "operator" };
}

function differing({ live, namespaceName }: Pick<KeysFrom, "live" | "namespaceName">, name: string): string {
  const [secret, copy] = pairOfSecrets(live, name);
  const used = (live.get("Secret/etcd") as Secret | undefined)?.data?.["ca.crt"];
  const matching = [secret, copy].find((each) => each?.data?.["ca.crt"] !== undefined && each.data["ca.crt"] === used);
  const advice =
    name !== "etcd-ca" || matching === undefined
      ? "delete the one that was changed"
      : `the members' certificates are of ${matching.metadata.name}: delete the other one`;
  return `Secrets ${namespaceName}/${name} and ${copyName(name)} have different content, and only one of them is what data was written with; ${advice}`;
}

function sameData(a: Secret, b: Secret): boolean {
  const [left, right] = [a.data ?? {}, b.data ?? {}];
  const files = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...files].every((file) => left[file] === right[file]);
}
