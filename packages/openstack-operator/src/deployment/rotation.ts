import type { OpenStackDeploymentSpec, OpenStackDeploymentStatus } from "@causeway/api";
import { readCertificate } from "@causeway/foundation";
import { secretText, type Secret } from "@causeway/kubernetes";
import {
  accountKeys,
  keyGenerationOf,
  readCredentials,
  wantedKeys,
  type Credentials,
} from "../credentials/credentials.ts";
import { SPREAD_MINUTES, stagedKeys, tokenTimes, verifyingMinutes } from "../credentials/keys-kept.ts";
import type { Component } from "../model/component.ts";
import { digestOf } from "../render/context.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** How long own certificates of the APIs are valid, unless the deployment says otherwise. */
export const CERTIFICATE_DAYS = 90;

/** Digest of the names that a certificate was issued for. */
export const hostsAnnotation = "openstack.causeway.dev/hosts";
/** When the keys in a Secret were rotated last, as RFC 3339. */
export const rotatedAtAnnotation = "openstack.causeway.dev/rotated-at";
/** When the keys that wait for their turn were made, in seconds, the newest first. One, where nothing is said. */
export const stagedAnnotation = "openstack.causeway.dev/staged";
/** When the keys that no longer sign ended that, the oldest first, in seconds. */
export const retiredAnnotation = "openstack.causeway.dev/retired";
/** Times that a Secret of keys has in one of its annotations. */
export const timesOf = ({ metadata }: Secret, annotation: string): number[] =>
  (metadata.annotations?.[annotation] ?? "")
    .split(" ")
    .map(Number)
    .filter((time) => time > 0);

/** Missing values come before anything else. */
export function missingCredentials(
  credentials: Credentials | undefined,
  components: readonly Component[],
  { name, wanted }: { readonly name: string; readonly wanted: number },
): Step[] {
  if (!credentials) return [{ type: "write-credentials", name, generation: wanted, accounts: [wanted] }];
  const { generation, accounts, values } = credentials;
  const missing = wantedKeys(components, accounts).some((key) => values[key] === undefined);
  return missing ? [{ type: "write-credentials", name, generation, accounts }] : [];
}

/** Which components have ended their part, by name. */
export type IsDone = (component: string) => boolean;

/** The next step of a rotation of passwords. */
export interface PasswordRotation {
  readonly steps: readonly Step[];
  /** What it does now; undefined: nothing. */
  readonly doing?: string;
}

/**
 * Passwords are replaced in three steps, so that no call fails: second accounts are made next to the first;
 * configuration changes to them, and pods roll; when none of the first is in use, they are removed.
 */
export function rotatePasswords(
  credentials: Credentials,
  components: readonly Component[],
  { name, wanted, isDone }: { readonly name: string; readonly wanted: number; readonly isDone: IsDone },
): PasswordRotation {
  const { generation, accounts } = credentials;
  const step = (next: Pick<Credentials, "generation" | "accounts">): Step => ({
    type: "write-credentials",
    name,
    ...next,
  });
  const all = components.every((component) => isDone(component.name));
  if (accounts.length === 1) {
    if (wanted <= generation) return { steps: [] };
    const next = generation + 1;
    // A deployment that is being changed finishes first: two changes at once would hide which of them fails.
    if (!all) return { steps: [], doing: "waits until every component is ready" };
    return { steps: [step({ generation, accounts: [generation, next] })], doing: "makes second accounts" };
  }
  const next = Math.max(...accounts);
  if (generation < next) {
    const made = accountJobs(components).every(isDone);
    return made
      ? { steps: [step({ generation: next, accounts })], doing: "changes configuration to the second accounts" }
      : { steps: [], doing: "makes second accounts" };
  }
  return all
    ? { steps: [step({ generation, accounts: [generation] })], doing: "removes the first accounts" }
    : { steps: [], doing: "rolls pods to the second accounts" };
}

/**
 * Jobs that make accounts. Those that make schemas have a password, too, and only use it: the first is still in use.
 */
function accountJobs(components: readonly Component[]): string[] {
  const keys = new Set<string>(accountKeys(components));
  return components
    .filter(({ kind, schemas, secrets = [] }) => kind === "Job" && !schemas && secrets.some((key) => keys.has(key)))
    .map(({ name }) => name);
}

/** Keys of tokens rotate by time. The next time is the plan's to wait for. */
export function rotateTokenKeys(
  spec: OpenStackDeploymentSpec,
  { secret, name, now }: { readonly secret: Secret | undefined; readonly name: string; readonly now: number },
): { readonly steps: readonly Step[]; readonly next?: number } {
  const times = tokenTimes(spec);
  const waiting = stagedKeys(times);
  if (!secret) return { steps: [{ type: "create-keys", name, staged: waiting }] };
  const { annotations = {} } = secret.metadata;
  const since = annotations[rotatedAtAnnotation] ?? "";
  const staged = timesOf(secret, stagedAnnotation).at(-1);
  const at = Date.parse(since);
  const due = Number.isFinite(at) ? at + times.everyMinutes * MINUTE : now;
  // Where keys rotate faster than before, the next one may be too new for some Keystone to have it.
  const next = staged === undefined ? due : Math.max(due, staged * 1000 + SPREAD_MINUTES * MINUTE);
  if (now < next) return { steps: [], next };
  return { steps: [{ type: "rotate-keys", name, since, kept: { minutes: verifyingMinutes(times) }, staged: waiting }] };
}

/** How often the credential keys in this Secret were rotated. */
export const keysGenerationAnnotation = "openstack.causeway.dev/keys-generation";
/** 0 for keys that were never rotated, and where there is no Secret. */
export const credentialKeysGeneration = (secret: Secret | undefined): number =>
  Number(secret?.metadata.annotations?.[keysGenerationAnnotation] ?? "0");

/** Staged, encrypting, and the one before, which nothing is encrypted with once the Job that migrates has ended. */
const CREDENTIAL_KEYS = 3;

/** The next step of a rotation of keys; `finished` is the rotation that all keys have had. */
export interface KeyRotation {
  readonly steps: readonly Step[];
  readonly doing?: string;
  readonly finished: number;
}

/**
 * Keys are replaced once for each time that the counter is raised. Every Keystone has had the staged credential key
 * since the rotation before; a Job encrypts what is stored with it, and no other rotation begins before it has ended.
 */
export function rotateKeys(
  found: { readonly credentials: Credentials; readonly secret: Secret | undefined },
  options: {
    readonly names: { readonly credentials: string; readonly credentialKeys: string };
    readonly wanted: number;
    /** Every component is up to date, and no other rotation is under way. */
    readonly isSettled: boolean;
  },
): KeyRotation {
  const { names, wanted, isSettled } = options;
  const shared = keyGenerationOf(found.credentials);
  const stored = credentialKeysGeneration(found.secret);
  const done = Math.min(shared, stored);
  if (wanted <= done) return { steps: [], finished: done };
  const next = done + 1;
  // Twice in a row would remove the key that stored credentials are still encrypted with.
  if (stored < next && !isSettled) return { steps: [], finished: done, doing: "waits until every component is ready" };
  const since = found.secret?.metadata.annotations?.[rotatedAtAnnotation] ?? "";
  const steps: Step[] = [];
  if (stored < next)
    steps.push({
      type: "rotate-keys",
      name: names.credentialKeys,
      since,
      kept: CREDENTIAL_KEYS,
      generation: next,
    });
  if (shared < next) steps.push({ type: "replace-keys", name: names.credentials, generation: next });
  return { steps, finished: done, doing: "replaces keys" };
}

/** What was rotated last, and what is being done. */
export function rotationStatus(
  { deployment, credentials }: Observed,
  {
    all,
    rotation,
    keyRotation,
  }: { readonly all: boolean; readonly rotation: PasswordRotation; readonly keyRotation: KeyRotation },
): NonNullable<OpenStackDeploymentStatus["rotation"]> {
  const before = deployment.status?.rotation;
  const doing = rotation.doing ?? keyRotation.doing;
  const found = readCredentials(credentials?.data);
  const passwords = found?.accounts.length === 1 ? found.generation : before?.passwords;
  // A key that was replaced is in use once everything is up to date with it.
  const keys = all && keyRotation.finished > 0 ? keyRotation.finished : before?.keys;
  return {
    ...(passwords === undefined ? {} : { passwords }),
    ...(keys === undefined ? {} : { keys }),
    ...(doing === undefined ? {} : { step: doing }),
  };
}

/** When the certificate in this Secret was renewed for its age. */
export const renewedAtAnnotation = "openstack.causeway.dev/renewed-at";

/** A certificate is issued again after two thirds of its life, and when its names change. */
export function renewCertificate(
  spec: OpenStackDeploymentSpec,
  wanted: {
    readonly secret: Secret | undefined;
    readonly name: string;
    readonly hosts: readonly string[];
    readonly now: number;
  },
): { readonly steps: readonly Step[]; readonly next?: number } {
  const { secret, name, hosts, now } = wanted;
  const days = spec.rotation?.certificateDays ?? CERTIFICATE_DAYS;
  const issue = (renews: boolean): Step => ({ type: "issue-certificate", name, hosts, days, renews });
  const certificate = secretText(secret, "tls.crt");
  if (certificate === undefined) return { steps: [issue(true)] };
  const { notAfter } = readCertificate(certificate);
  const third = (days * DAY) / 3;
  // Pods that run have the certificate of the last renewal, whatever names were added since.
  const renewed = Date.parse(secret?.metadata.annotations?.[renewedAtAnnotation] ?? "");
  const next = Math.min(notAfter - third, Number.isFinite(renewed) ? renewed + 2 * third : Infinity);
  if (next <= now) return { steps: [issue(true)] };
  const names = secret?.metadata.annotations?.[hostsAnnotation];
  return names === digestOf(hosts) ? { steps: [], next } : { steps: [issue(false)], next };
}
